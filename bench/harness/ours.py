"""FlowFabric, and the bare queues that are measured beside it."""

import subprocess

from .install import run
from .load import NODES, STEPS
from .places import ROOT, TARGET
from .process import Failed, figures

OURS = "FlowFabric"


def cargo_build(package, *more):
    run("cargo", "build", "--release", "--locked", "--quiet", "--package", package, *more, cwd=ROOT)


def program():
    """`ff`, built."""
    cargo_build("ff-cli")
    return TARGET / "release" / "ff"


def can_be_read(ff, scenario):
    """Whether a scenario of `ff bench` prints figures for programs."""
    ended = subprocess.run([ff, "bench", scenario, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return ended.returncode == 0 and "--output" in ended.stdout


class Ours:
    """A scenario of `ff bench`, one round each time."""

    is_ours = True

    def __init__(self, ff, load, server, folder, name=OURS, through_server=False):
        self.name, self.load, self.server, self.folder = name, load, server, folder
        self.through_server = through_server
        self.command = [str(ff), "bench", load.scenario, "--output", "json", *self._amount()]
        self.command += ["--workers", str(load.workers), "--batch", str(load.batch), "--payload", str(load.payload)]
        if server.kind != "sqlite":
            self.command += ["--store", server.address()]
        if through_server:
            self.command += ["--through", "http"]

    def _amount(self):
        load = self.load
        return {
            "s1": ["--rounds", "1", "--tasks", str(load.size)],
            "s4": ["--flows", str(load.flows), "--nodes", str(NODES)],
            "s10": ["--rounds", "1", "--agents", str(load.agents), "--steps", str(STEPS)],
        }[load.scenario]

    def round(self):
        """Its figures by name, and those of what stood beside it in the same process."""
        self.server.clean()
        before = self.server.stored_bytes()
        found = {}
        for line in figures(self.command, self.folder):
            name = self.name if line["way"] == "in process" else f"{self.name} {line['way']}"
            for other, per_second in line.pop("beside", {}).items():
                found[other] = {"peer": other, "per_second": per_second, "exact": True}
            found[name] = line
        if self.name not in found:
            raise Failed(f"{self.command} printed no figures")
        if before is not None and self.load.scenario == "s1" and not self.through_server:
            stored = self.server.stored_bytes() - before
            found[self.name]["stored_bytes_per_task"] = stored / self.load.size
        return found


class RawSqlite:
    """A hand-written queue on SQLite; those on servers stand beside our rounds in the same process."""

    name = "a raw batched queue"
    is_ours = False

    def __init__(self, load, folder):
        cargo_build("ff-bench", "--bin", "raw-sqlite")
        self.command, self.folder = [str(TARGET / "release" / "raw-sqlite"), str(load.size)], folder

    def round(self):
        (line,) = figures(self.command, self.folder)
        return {self.name: line}


def commit():
    """What was measured."""
    asked = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    ended = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return ended.stdout.strip() or None
