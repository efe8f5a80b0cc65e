"""What is promised: ratios between two things of the same round, and figures that noise does not touch."""

from dataclasses import dataclass
from typing import Optional

from .compared import spread
from .ours import OURS

SQLITE, NORMAL, VALKEY, CLUSTER, POSTGRES = "sqlite", "sqlite-normal", "valkey", "cluster", "postgres"
EVERY = (SQLITE, VALKEY, CLUSTER, POSTGRES)
SERVED = (VALKEY, CLUSTER, POSTGRES)
RATE = "per_second"
CPU = "all_cpu_us_per_task"


@dataclass(frozen=True)
class Target:
    scenario: str
    stores: tuple
    text: str
    # Whose figure, and which. The size of the run may stand in a name.
    of: tuple
    # What it is divided by, if by anything, of the same round.
    by: Optional[tuple] = None
    least: Optional[float] = None
    most: Optional[float] = None

    def found(self, rounds, size):
        """The median and spread of the rounds that have it, and whether it holds; nothing if no round has it."""
        values = [value for value in (self._of_round(figures, size) for figures in rounds) if value is not None]
        if not values:
            return None
        values = spread(values)
        middle = values["median"]
        holds = (self.least is None or middle >= self.least) and (self.most is None or middle <= self.most)
        return {"target": self.text, "bound": self.bound, **values, "met": holds}

    @property
    def bound(self):
        return f"≥ {self.least:g}" if self.most is None else f"≤ {self.most:g}"

    def _of_round(self, figures, size):
        value = figure(figures, self.of, size)
        if self.by is None or value is None:
            return value
        divisor = figure(figures, self.by, size)
        return value / divisor if divisor else None


def figure(figures, place, size):
    name, field = place
    return figures.get(name.format(size=size), {}).get(field)


def ours(way=""):
    return f"{OURS}, {way}" if way else OURS


def rate(scenario, stores, text, other, least, way=""):
    return Target(scenario, stores, text, (ours(way), RATE), (other, RATE), least=least)


def at_most(scenario, stores, text, field, most, way=""):
    return Target(scenario, stores, text, (ours(way), field), most=most)


LIST, QUEUE = "a bare list on the same server", "a raw SKIP LOCKED queue on the same server"

TARGETS = (
    rate("s1", (VALKEY,), "of a bare list", LIST, 0.25),
    rate("s1", (VALKEY, CLUSTER), "times BullMQ", "bullmq", 3),
    rate("s1", (SQLITE, VALKEY, POSTGRES), "times apalis", "apalis", 5),
    rate("s1", (POSTGRES,), "of a raw SKIP LOCKED queue", QUEUE, 0.4),
    rate("s1", (POSTGRES,), "times graphile-worker, batched", "graphile-worker", 1.5),
    rate("s1", (POSTGRES,), "times pg-boss", "pg-boss", 3),
    rate("s1", (SQLITE,), "of a raw batched queue", "a raw batched queue", 0.45),
    at_most("s1", (VALKEY,), "µs of Valkey's CPU per task", "store_cpu_us_per_task", 55),
    at_most("s1", (VALKEY,), "bytes stored per task", "stored_bytes_per_task", 6_000),
    at_most("s1", EVERY, "store calls per task", "store_calls_per_task", 3),
    at_most("s1", (SQLITE,), "syncs per task", "syncs_per_task", 0.1),
    Target("s1", (CLUSTER,), "of the CPU on one server", (OURS, CPU), (f"{OURS} on one server", CPU), most=1.15),
    rate("s1", (CLUSTER,), "of the throughput on one server", f"{OURS} on one server", 1),
    rate("s1-through", (*EVERY, NORMAL), "of S1 in process", OURS, 0.6, "through HTTP"),
    at_most(
        "s1-through", (NORMAL,), "ms from submit to result, p50, 16 in flight", "submit_to_result_p50_ms", 5,
        "through HTTP, 16 in flight",
    ),
    Target(
        "s1-servers", SERVED, "of the CPU of one server, with two", (ours("servers: 2"), CPU), (ours("servers: 1"), CPU), most=1.15
    ),
    rate("s1-servers", SERVED, "of the throughput of one server, with two", ours("servers: 1"), 1, "servers: 2"),
    at_most("s2", SERVED, "empty round trips from signal to handler, p50", "signal_to_resumed_in_pings", 5),
    at_most("s2", (NORMAL,), "ms from signal to handler, p50", "signal_to_resumed_p50_ms", 3),
    at_most("s3", EVERY, "p50 to start in its p99, at half of S1", "start_p99_to_p50", 20, "50 % of S1"),
    rate("s4", EVERY, "of S1, counted in nodes", f"{OURS} S1", 0.3),
    at_most("s4", EVERY, "store calls per node", "store_calls_per_task", 2.1),
    rate("s5", EVERY, "of an empty lane", "an empty lane", 0.9, "among {size} unmatched"),
    Target("s6", EVERY, "times ten members, for 1,000", (OURS, "cancel_1000_ms"), (OURS, "cancel_10_ms"), most=20),
    Target("s6", EVERY, "times 1,000 members, for 10,000", (OURS, "cancel_10000_ms"), (OURS, "cancel_1000_ms"), most=12),
    at_most("s7", SERVED, "times the p99 of an empty round trip, p99", "frame_p99_to_ping_p99", 10, "readers: 1"),
    at_most("s7", SERVED, "store connections more for 1,000 readers", "store_connections_more", 10, "readers: 1000"),
    at_most("s8", (VALKEY, CLUSTER), "commands a second per primary", "commands_each_second_per_primary", 10, "parked: 1000"),
    at_most("s8", (SQLITE, POSTGRES), "store calls a second", "store_calls_each_second", 10, "parked: 1000"),
    at_most("s8", EVERY, "% of a core", "core_percent", 0.5, "parked: 1000"),
    at_most("s8", SERVED, "% of a core for the store", "store_core_percent", 0.5, "parked: 1000"),
    rate("s9", EVERY, "of S1 on an empty store", "S1 on an empty store", 0.8, "{size} stored"),
    at_most("start", EVERY, "ms until it is ready", "ready_ms", 100),
    rate("s10", EVERY, "of S1, counted in steps", "S1", 0.6),
    rate("s10", (POSTGRES,), "times DBOS", "dbos", 3),
    at_most("s10", EVERY, "commits per step", "commits_per_step", 1),
    at_most("s10", EVERY, "ms behind 1,000 steps again, p50", "reentry_p50_ms", 50, "1000 recorded steps again"),
)


def judged(scenario, store, rounds, size):
    """What was found of each target of a scenario on a store."""
    targets = [target for target in TARGETS if target.scenario == scenario and store in target.stores]
    return [found for found in (target.found(rounds, size) for target in targets) if found]
