"""The command line of bench/run."""

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from .compared import compared
from .install import NotInstalled
from .load import Load
from .ours import OURS, Ours, RawSqlite, commit, program
from .peers import PEERS, PeerUnderTest, wanted
from .places import RESULTS
from .postgres import Postgres
from .process import Failed
from .report import Report
from .scenarios import ALL, SCENARIOS, SERVERS, THROUGH, WORKERS
from .sqlite import Sqlite, SqliteNormal
from .table import table
from .table import targets as target_lines
from .targets import judged
from .valkey import Valkey, ValkeyCluster

STORES = {server.kind: server for server in (Sqlite, SqliteNormal, Valkey, ValkeyCluster, Postgres)}
# What is promised of SQLite when a commit is on disk a little later.
OF_NORMAL = ("s1-through", "s2")
# Rounds of a first look end after so many seconds, whoever is behind.
QUICK_SECONDS = 8


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
    parser.add_argument("--store", nargs="+", choices=STORES, help="default: sqlite; with --report: every one")
    parser.add_argument("--scenario", nargs="+", choices=ALL, metavar="NAME", help=f"of {', '.join(ALL)}; default: s1, or every one")
    names = ", ".join(sorted(peer.name for peer in PEERS))
    parser.add_argument(
        "--peer", nargs="+", metavar="NAME", default=["all"], help=f"all there are for the store, none, or some of {names}"
    )
    parser.add_argument("--rounds", type=positive, help="the median of them counts (default: 5 in most scenarios)")
    sizes = ", ".join(f"{scenario.usual:,} {scenario.counts} in {name}" for name, scenario in SCENARIOS.items())
    parser.add_argument("--size", type=positive, help=f"how much is done in a round; usual are {sizes}")
    parser.add_argument("--workers", type=positive, default=16, help="workers that take tasks at the same time (default: 16)")
    parser.add_argument("--batch", type=positive, default=32, help="tasks a worker takes at once (default: 32)")
    parser.add_argument("--payload", type=positive, default=4_096, help="bytes of a task or a step (default: 4096)")
    parser.add_argument("--through", action="store_true", help="through a client and a server; s1 then stands beside the same in process")
    parser.add_argument("--servers", type=positive, help="s1 through so many servers in processes of their own, beside one")
    parser.add_argument("--quick", action="store_true", help="a first look: little is done, in few rounds")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="keep figures there and draw them, and fill the tables of FOLDER.md")
    parser.add_argument("--ff", type=Path, help="an ff that is there, instead of building one")
    return parser.parse_args(arguments)


def variant(name, ask):
    """A scenario as the options have it."""
    if name == "s1" and ask.through:
        return THROUGH
    if name == "s1" and ask.servers:
        return SERVERS
    return ALL[name]


def suits(scenario, store, chosen):
    """Whether a scenario says something about a store; what was chosen by name does unless it cannot be."""
    if scenario.name == "s1-servers":
        return STORES[store].is_served
    return chosen or store != "sqlite-normal" or scenario.name in OF_NORMAL


def main(arguments=None):
    ask = asked(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench/run: ended"))
    everything = ask.report is not None
    stores = ask.store or (list(STORES) if everything else ["sqlite"])
    scenarios = [variant(name, ask) for name in ask.scenario or (ALL if everything else ["s1"])]
    if ask.peer not in (["all"], ["none"]):
        for store in stores:
            for scenario in scenarios:
                wanted(ask.peer, store, scenario.name)
    try:
        ff = (ask.ff or program()).resolve()
    except NotInstalled as error:
        sys.exit(f"bench/run: {error}")
    report = Report(ask.report) if everything else None
    failed = False
    for store in stores:
        suitable = [scenario for scenario in scenarios if suits(scenario, store, ask.store and ask.scenario)]
        if not suitable:
            sys.exit(f"bench/run: {', '.join(scenario.name for scenario in scenarios)} cannot be measured on {store}")
        failed |= measure_store(ask, ff, store, suitable, report)
    return 1 if failed else 0


def measure_store(ask, ff, store, scenarios, report):
    """Measures scenarios on a store server of their own; whether something failed."""
    # On a disk, where everybody can go: PostgreSQL is not run by root.
    folder = Path(tempfile.mkdtemp(prefix="ff-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    folder.chmod(0o755)
    place = Place(folder, store)
    failed = False
    try:
        for scenario in scenarios:
            try:
                failed |= measure(ask, ff, place, scenario, report)
            except (Failed, NotInstalled) as error:
                # Others may still say something.
                say(f"bench/run: {scenario.name} on {store}: {error}")
                failed = True
    finally:
        place.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return failed


class Place:
    """Servers of a store that are started when somebody wants them, and a folder for those who work."""

    def __init__(self, folder, store):
        self.folder, self.store = folder, store
        self.work = folder / "work"
        self.work.mkdir()
        self.servers = {}

    def server(self, name="store", kind=None):
        if name not in self.servers:
            self.servers[name] = (kind or STORES[self.store])(self.folder / name)
        return self.servers[name]

    def stop(self):
        for server in self.servers.values():
            server.stop()


def measure(ask, ff, place, scenario, report):
    """Measures one scenario, and prints and keeps what was found; whether a peer failed."""
    size = ask.size or (scenario.quick if ask.quick else scenario.usual)
    count = ask.rounds or (scenario.quick_rounds if ask.quick else scenario.rounds)
    load = Load(scenario.name.partition("-")[0], size, ask.workers, ask.batch, ask.payload)
    server = place.server()
    started = datetime.now(timezone.utc)
    run = {
        "scenario": scenario.name,
        "store": server.version,
        "size": size,
        "workers": ask.workers,
        "batch": ask.batch,
        "payload": ask.payload,
        "started": started.isoformat(timespec="seconds"),
        # What was brought along may have been built from something else.
        "commit": "unknown, --ff" if ask.ff else commit(),
        "machine": {"cores": os.cpu_count(), "system": platform.platform(), "load_before": os.getloadavg()[0]},
    }
    say(f"{scenario.name} on {server.version}: {size:,} {scenario.counts} in a round, {count} rounds")
    failed = {}
    if scenario.alone:
        rounds = ours(ask, ff, place, scenario, load).rounds(count)
    else:
        participants = list(all_of(ask, ff, place, scenario, load, failed))
        seconds = QUICK_SECONDS if ask.quick else None
        rounds = run_rounds(participants, count, failed, seconds)
    found = {
        "compared": compared(rounds, OURS),
        "targets": judged(scenario.name, place.store, rounds, size),
        "failed": failed,
    }
    for line in [*table(found["compared"]), *target_lines(found["targets"])]:
        print(line)
    for name, why in failed.items():
        print(f"{name}: no figures, because {why}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    result = RESULTS / f"{scenario.name}-{place.store}-{started:%Y%m%dT%H%M%SZ}.json"
    result.write_text(json.dumps({**run, "rounds": rounds, **found}, indent=2) + "\n")
    print(result)
    if report is not None:
        report.add(scenario.name, place.store, {**run, **found})
    return bool(failed)


def ours(ask, ff, place, scenario, load, name=OURS):
    more, empty = [], None
    if scenario is THROUGH or (ask.through and scenario.name in ("s3", "s4", "s5", "s6", "s8", "s10")):
        more = ["--through", "http"]
    if scenario is SERVERS:
        more = ["--servers", str(ask.servers or 2)]
    if scenario.name == "s9":
        empty = place.server("empty")
    if scenario.name == "workers":
        load = replace(load, scenario="s1")
    return Ours(ff, scenario, load, place.server(), place.work, name, more, empty)


def all_of(ask, ff, place, scenario, load, failed):
    """Who is measured in turn."""
    if scenario.name == "workers":
        for workers in WORKERS:
            yield ours(ask, ff, place, scenario, replace(load, workers=workers), f"{OURS}, workers: {workers}")
        return
    yield ours(ask, ff, place, scenario, load)
    if scenario.name == "s4":
        yield ours(ask, ff, place, SCENARIOS["s1"], replace(load, scenario="s1"), f"{OURS} S1")
    if scenario.name == "s1" and place.store == "sqlite":
        yield RawSqlite(ask.ff, load, place.work)
    if scenario.name == "s1" and place.store == "cluster":
        alone = place.server("alone", Valkey)
        yield Ours(ff, scenario, load, alone, place.work, f"{OURS} on one server")
    for peer in wanted(ask.peer, place.store, scenario.name):
        try:
            yield PeerUnderTest(peer, load, place.server(), place.work)
        except NotInstalled as error:
            failed[peer.name] = str(error)


def run_rounds(participants, count, failed, seconds=None):
    """The figures of every round by name; no round begins after so many seconds.

    Who failed once has no figures at all, and stands in `failed` with the reason.
    """
    rounds, started = [], time.monotonic()
    for number in range(count):
        if number and seconds is not None and time.monotonic() - started > seconds:
            break
        # Nobody is always first, or always behind the same one.
        first = number % len(participants)
        figures = {}
        for participant in participants[first:] + participants[:first]:
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
                if "per_second" in line:
                    say(f"  round {number + 1}: {name}: {line['per_second']:,.0f}/s")
            figures.update(found)
        rounds.append(figures)
    return [{name: line for name, line in figures.items() if name not in failed} for figures in rounds]


def say(text):
    print(text, file=sys.stderr, flush=True)
