"""The command line of bench/run."""

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from .compared import compared
from .install import NotInstalled
from .load import USUAL, Load
from .ours import OURS, Ours, RawSqlite, can_be_read, commit, program
from .peers import PEERS, PeerUnderTest, wanted
from .places import RESULTS
from .postgres import Postgres
from .process import Failed
from .sqlite import Sqlite
from .table import table
from .valkey import Valkey, ValkeyCluster

SERVERS = {server.kind: server for server in (Sqlite, Valkey, ValkeyCluster, Postgres)}
SCENARIOS = [f"s{number}" for number in range(1, 11)]


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def asked(arguments):
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures FlowFabric beside its peers and a bare queue, in turn, on one store server with a clean "
        "database each time. Figures count only when every task was delivered exactly once, which each run checks.",
    )
    parser.add_argument("--store", choices=SERVERS, default="sqlite")
    parser.add_argument("--scenario", choices=SCENARIOS, default="s1")
    names = ", ".join(sorted(peer.name for peer in PEERS))
    parser.add_argument(
        "--peer", nargs="+", metavar="NAME", default=["all"], help=f"all there are for the store, none, or some of {names}"
    )
    parser.add_argument("--rounds", type=positive, default=5, help="the median of them counts (default: 5)")
    parser.add_argument("--size", type=positive, help="tasks, nodes or steps in a round")
    parser.add_argument("--workers", type=positive, default=16, help="workers that take tasks at the same time (default: 16)")
    parser.add_argument("--batch", type=positive, default=32, help="tasks a worker takes at once (default: 32)")
    parser.add_argument("--payload", type=positive, default=4_096, help="bytes of a task or a step (default: 4096)")
    parser.add_argument("--server", action="store_true", help="s1 through a server besides, as workers elsewhere reach it")
    parser.add_argument("--ff", type=Path, help="an ff that is there, instead of building one")
    return parser.parse_args(arguments)


def main(arguments=None):
    ask = asked(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench/run: ended"))
    if ask.server and ask.scenario != "s1":
        sys.exit("bench/run: only s1 runs through a server")
    if ask.scenario not in USUAL:
        sys.exit(f"bench/run: ff bench has no figures for programs of {ask.scenario}; there are those of {', '.join(USUAL)}")
    peers = wanted(ask.peer, ask.store, ask.scenario)
    try:
        ff = ask.ff or program()
    except NotInstalled as error:
        sys.exit(f"bench/run: {error}")
    if not can_be_read(ff, ask.scenario):
        sys.exit(f"bench/run: {ff} prints no figures for programs")
    # On a disk, where everybody can go: PostgreSQL is not run by root.
    folder = Path(tempfile.mkdtemp(prefix="ff-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    folder.chmod(0o755)
    servers = []
    try:
        return measure(ask, peers, ff, folder, servers)
    except (Failed, NotInstalled) as error:
        sys.exit(f"bench/run: {error}")
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def measure(ask, peers, ff, folder, servers):
    size = ask.size or USUAL[ask.scenario]
    load = Load(ask.scenario, size, ask.workers, ask.batch, ask.payload)
    server = SERVERS[ask.store](folder / "store")
    servers.append(server)
    work = folder / "work"
    work.mkdir()
    ours = Ours(ff, load, server, work, through_server=ask.server)
    participants = [ours, *baselines(ask, ff, load, server, folder, work, servers)]
    failed = {}
    for peer in peers:
        try:
            participants.append(PeerUnderTest(peer, load, server, work))
        except NotInstalled as error:
            failed[peer.name] = str(error)
    started = datetime.now(timezone.utc)
    report = {
        "scenario": ask.scenario,
        "store": server.version,
        "size": size,
        "workers": ask.workers,
        "batch": ask.batch,
        "payload": ask.payload,
        "started": started.isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {"cores": os.cpu_count(), "system": platform.platform(), "load_before": os.getloadavg()[0]},
    }
    say(f"{ask.scenario} on {server.version}: {size} in a round, {ask.rounds} rounds, {len(participants)} in turn")
    rounds = run_rounds(participants, ask.rounds, failed)
    report["rounds"] = rounds
    report["compared"] = compared(rounds, OURS)
    report["failed"] = failed
    for line in table(report["compared"]):
        print(line)
    for name, why in failed.items():
        print(f"{name}: no figures, because {why}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    result = RESULTS / f"{ask.scenario}-{ask.store}-{started:%Y%m%dT%H%M%SZ}.json"
    result.write_text(json.dumps(report, indent=2) + "\n")
    print(result)
    return 1 if failed else 0


def baselines(ask, ff, load, server, folder, work, servers):
    """What ours is measured by, besides peers."""
    if ask.scenario == "s4":
        yield Ours(ff, Load("s1", load.size, load.workers, load.batch, load.payload), server, work, "FlowFabric S1")
    if ask.scenario == "s1" and ask.store == "sqlite":
        yield RawSqlite(load, work)
    if ask.store == "valkey-cluster":
        alone = Valkey(folder / "alone")
        servers.append(alone)
        yield Ours(ff, load, alone, work, "FlowFabric on one server")


def run_rounds(participants, count, failed):
    """The figures of every round by name. Who failed once has no figures at all, and stands in `failed` with the reason."""
    rounds = []
    for number in range(count):
        # Nobody is always first, or always behind the same one.
        order = participants[number % len(participants) :] + participants[: number % len(participants)]
        figures = {}
        for participant in order:
            if participant.name in failed:
                continue
            try:
                found = participant.round()
            except Failed as error:
                if participant.name == OURS:
                    raise
                failed[participant.name] = str(error)
                say(f"  {participant.name} failed: {error}")
                continue
            for name, line in found.items():
                say(f"  round {number + 1}: {name}: {line['per_second']:,.0f}/s")
            figures.update(found)
        rounds.append(figures)
    return [{name: line for name, line in figures.items() if name not in failed} for figures in rounds]


def say(text):
    print(text, file=sys.stderr, flush=True)
