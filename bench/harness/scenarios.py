"""The scenarios: what each of them is told, how much is usual, and how much is enough for a first look."""

from dataclasses import dataclass, replace
from typing import Callable

from .load import NODES, STEPS, Load

# Shares of S1 that S3 looks at, in percent.
PERCENT = (25, 50, 75, 90)
# Parts of the volume that S9 looks at on its way.
PARTS = (10, 3, 1)
# Workers that S1 is done by, one number after the other.
WORKERS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    # What the size counts.
    counts: str
    usual: int
    quick: int
    # What `ff bench` is told, from the load and the number of rounds.
    amount: Callable[[Load, int], list]
    # Nobody stands beside it: all rounds are one run, which compares inside of itself.
    alone: bool = True
    rounds: int = 5
    quick_rounds: int = 1
    # Options of the load it takes.
    takes: tuple = ("workers", "batch", "payload")

    def options(self, load, rounds):
        told = [str(word) for word in self.amount(load, rounds)]
        for name in self.takes:
            told += [f"--{name}", str(getattr(load, name))]
        return told


def listed(numbers):
    return ",".join(str(number) for number in numbers)


def members(most):
    return [count for count in (10, 1_000, 10_000) if count <= most]


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            "s1", "submit, claim, complete", "tasks", 20_000, 4_000,
            lambda load, rounds: ["--rounds", rounds, "--tasks", load.size], alone=False, quick_rounds=3,
        ),
        Scenario(
            "s2", "suspend, signal, resume", "waits", 1_000, 200,
            lambda load, rounds: ["--rounds", rounds, "--waits", load.size, "--cancels", max(1, load.size // 5)], takes=(),
            rounds=3,
        ),
        Scenario(
            "s3", "a steady load", "tasks of the S1 before it", 20_000, 4_000,
            lambda load, rounds: [
                "--rounds", rounds, "--tasks", load.size, "--percent", listed(PERCENT), "--seconds", load.size / 2_000
            ],
            rounds=3,
        ),
        Scenario(
            "s4", f"linear flows of {NODES} nodes", "nodes", 10_000, 3_000,
            lambda load, rounds: ["--flows", load.flows, "--nodes", NODES], alone=False, quick_rounds=2,
        ),
        Scenario(
            "s5", "claims among many that no worker matches", "of them", 10_000, 10_000,
            lambda load, rounds: ["--rounds", rounds, "--unmatched", load.size], rounds=21, quick_rounds=5,
        ),
        Scenario(
            "s6", "cancelling flows", "members of the largest", 10_000, 1_000,
            lambda load, rounds: ["--rounds", rounds, "--members", listed(members(load.size))], quick_rounds=3,
        ),
        Scenario(
            "s7", "frames to readers", "frames", 200, 60,
            lambda load, rounds: ["--rounds", rounds, "--frames", load.size], takes=(), rounds=3,
        ),
        Scenario(
            "s8", "an engine without work", "seconds", 20, 5,
            lambda load, rounds: ["--seconds", load.size], rounds=1,
        ),
        Scenario(
            "s9", "S1 with much stored", "stored executions", 1_000_000, 40_000,
            lambda load, rounds: [
                "--rounds", rounds, "--stored", listed(load.size // part for part in PARTS), "--tasks",
                min(10_000, load.size // 20),
            ],
        ),
        Scenario(
            "s10", f"agents of {STEPS} recorded steps", "steps", 20_000, 4_000,
            lambda load, rounds: ["--rounds", 1, "--agents", load.agents, "--steps", STEPS], alone=False, quick_rounds=2,
        ),
        Scenario("start", "a server starts", "starts", 10, 5, lambda load, rounds: ["--rounds", load.size], takes=(), rounds=1),
        Scenario(
            "workers", "S1 with few and with many workers", "tasks", 10_000, 2_000,
            lambda load, rounds: ["--rounds", rounds, "--tasks", load.size], alone=False, rounds=3,
        ),
    )
}
# S1 in other ways than in process.
THROUGH = replace(SCENARIOS["s1"], name="s1-through", title="S1 through a server", rounds=5, quick_rounds=1)
SERVERS = replace(
    SCENARIOS["s1"], name="s1-servers", title="S1 through servers in processes of their own", alone=True, quick_rounds=2
)
ALL = {**SCENARIOS, THROUGH.name: THROUGH, SERVERS.name: SERVERS}
