"""Which peers there are."""

from dataclasses import dataclass
from typing import Callable

from . import install
from .load import STEPS
from .process import Failed, figures

ALL = ("sqlite", "valkey", "cluster", "postgres")


@dataclass(frozen=True)
class Peer:
    name: str
    # The folder it is in.
    folder: str
    install: Callable
    scenario: str
    stores: tuple
    more: tuple = ()

    def suits(self, store, scenario):
        return self.scenario == scenario and store in self.stores


PEERS = [
    Peer("bullmq", "bullmq", install.npm_peer, "s1", ("valkey", "cluster")),
    Peer("graphile-worker", "graphile-worker", install.npm_peer, "s1", ("postgres",)),
    Peer("pg-boss", "pg-boss", install.npm_peer, "s1", ("postgres",)),
    Peer("apalis", "apalis", install.cargo_peer, "s1", ("sqlite", "valkey", "postgres")),
    Peer(
        "apalis-leases", "apalis", install.cargo_peer, "s1", ("sqlite", "valkey", "postgres"), ("--leases", "yes")
    ),
    Peer("dbos", "dbos", install.pip_peer, "s10", ("postgres",)),
    # It is its own store, whatever stands beside it.
    Peer("restate", "restate", install.npm_peer, "s10", ALL),
]

# What their clients call the kind of store.
SCHEMES = {"sqlite": "sqlite", "valkey": "redis", "cluster": "redis", "postgres": "postgresql"}


def wanted(names, store, scenario):
    """The peers of these names, or all there are for the store and the scenario."""
    suitable = [peer for peer in PEERS if peer.suits(store, scenario)]
    if names == ["all"]:
        return suitable
    if names == ["none"]:
        return []
    by_name = {peer.name: peer for peer in suitable}
    for name in names:
        if name not in by_name:
            known = ", ".join(by_name) or "none"
            raise SystemExit(f"bench/run: {name} is no peer for {scenario} on {store}; there is {known}")
    return [by_name[name] for name in names]


class PeerUnderTest:
    """A peer that is installed."""

    is_ours = False

    def __init__(self, peer, load, server, folder):
        self.name, self.load, self.server, self.folder = peer.name, load, server, folder
        tasks = load.agents if load.scenario == "s10" else load.size
        self.command = [
            *peer.install(peer.folder),
            *("--store", server.address(SCHEMES[server.kind])),
            *("--scenario", load.scenario),
            *("--tasks", str(tasks)),
            *("--workers", str(load.workers)),
            *("--batch", str(load.batch)),
            *("--payload", str(load.payload)),
            *("--warmup", str(load.warmup)),
            *(("--steps", str(STEPS)) if load.scenario == "s10" else ()),
            *peer.more,
        ]
        for process in server.processes:
            self.command += ["--store-process", str(process)]

    def round(self):
        """Its figures by name."""
        self.server.clean()
        before = self.server.stored_bytes()
        lines = figures(self.command, self.folder)
        if len(lines) != 1:
            raise Failed(f"{self.name} printed {len(lines)} lines instead of one")
        if before is not None and self.load.scenario == "s1":
            stored = self.server.stored_bytes() - before
            lines[0]["stored_bytes_per_task"] = stored / (self.load.size + self.load.warmup)
        return {self.name: lines[0]}
