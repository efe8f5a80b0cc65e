"""FlowFabric, and the bare queues that are measured beside it."""

import subprocess

from .install import run
from .places import ROOT, TARGET
from .process import Failed, figures

OURS = "FlowFabric"


def cargo_build(package, *more):
    run("cargo", "build", "--release", "--locked", "--quiet", "--package", package, *more, cwd=ROOT)


def program():
    """`ff`, built."""
    cargo_build("ff-cli")
    return TARGET / "release" / "ff"


def by_name(line, name):
    """A line and what stood beside it in the same process, by name."""
    others = line.pop("beside", {})
    found = {other: {"peer": other, "per_second": per_second, "exact": True} for other, per_second in others.items()}
    if len(others) == 1:
        # Lines of one round may each have stood beside the same at another time.
        (per_second,) = others.values()
        line["share"] = line["per_second"] / per_second
    found[name if line["way"] == "in process" else f"{name}, {line['way']}"] = line
    return found


def in_rounds(lines, name):
    """Lines of one process as rounds: the first of every way, the second of every way, and so on."""
    rounds, seen = [], {}
    for line in lines:
        number = seen[line["way"]] = seen.get(line["way"], -1) + 1
        if number == len(rounds):
            rounds.append({})
        rounds[number].update(by_name(line, name))
    return rounds


class Ours:
    """A scenario of `ff bench`."""

    is_ours = True

    def __init__(self, ff, scenario, load, server, folder, name=OURS, more=(), empty=None):
        self.name, self.scenario, self.load, self.server, self.folder = name, scenario, load, server, folder
        self.empty = empty
        self.command = [str(ff), "bench", load.scenario, "--output", "json", *server.options, *more]
        if server.is_served:
            self.command += ["--store", server.address()]
        if empty is not None and server.is_served:
            self.command += ["--empty", empty.address()]

    def rounds(self, count):
        """So many of one process."""
        for server in (self.server, self.empty):
            if server is not None:
                server.clean()
        found = in_rounds(figures([*self.command, *self.scenario.options(self.load, count)], self.folder), self.name)
        if not found:
            raise Failed(f"{self.command} printed no figures")
        return found

    def round(self):
        """One of a process of its own: its figures by name, and those of what stood beside it."""
        self.server.clean()
        before = self.server.stored_bytes()
        (found,) = self.rounds(1)
        if before is not None and self.scenario.name == "s1":
            stored = self.server.stored_bytes() - before
            found[self.name]["stored_bytes_per_task"] = stored / self.load.size
        return found


class RawSqlite:
    """A hand-written queue on SQLite; those on servers stand beside our rounds in the same process."""

    name = "a raw batched queue"
    is_ours = False

    def __init__(self, given, load, folder):
        # Whoever brings an ff may have brought it, too.
        program = given and given.resolve().with_name("raw-sqlite")
        if not program or not program.exists():
            cargo_build("ff-bench", "--bin", "raw-sqlite")
            program = TARGET / "release" / "raw-sqlite"
        self.command, self.folder = [str(program), str(load.size)], folder

    def round(self):
        (line,) = figures(self.command, self.folder)
        return {self.name: line}


def commit():
    """What was measured."""
    asked = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    ended = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return ended.stdout.strip() or None
