"""DBOS: agents are workflows, each of their steps a step of its own, recorded in PostgreSQL."""

import argparse
import base64
import importlib.metadata
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
from dbos import DBOS, DBOSConfig


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def asked():
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", required=True)
    parser.add_argument("--scenario", choices=["s10"], default="s10")
    parser.add_argument("--tasks", type=positive, default=500, help="agents")
    parser.add_argument("--steps", type=positive, default=40)
    parser.add_argument("--payload", type=positive, default=4096)
    parser.add_argument("--workers", type=positive, default=16)
    parser.add_argument("--batch", type=positive, default=32, help="there are none of steps")
    parser.add_argument("--warmup", type=positive, default=16)
    parser.add_argument("--store-process", type=int, action="append", default=[])
    return parser.parse_args()


def cpu_seconds(processes):
    """CPU time of processes and their children, those too that have ended, as Linux tells it."""
    ticks = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(name) in processes:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) in processes:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Bodies:
    """How often the body of each step of each agent ran."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ran = {}

    def run(self, agent, step):
        with self.lock:
            self.ran[agent, step] = self.ran.get((agent, step), 0) + 1


BODIES = Bodies()
ASKED = asked()
# No database can make this smaller.
OUTPUT = base64.b64encode(os.urandom(ASKED.payload)).decode()[: ASKED.payload]


@DBOS.step()
def step(agent, number):
    BODIES.run(agent, number)
    return OUTPUT


@DBOS.workflow()
def agent(name):
    for number in range(ASKED.steps):
        step(name, number)


def run(round_name, agents):
    """Starts agents, as many at the same time as there are workers, and waits for all of them."""
    names = [f"{round_name}-{number}" for number in range(agents)]
    with ThreadPoolExecutor(ASKED.workers) as workers:
        for _ in workers.map(agent, names):
            pass
    return names


def check(names):
    """Refuses a run that lost a step or ran one twice."""
    expected = {(name, number): 1 for name in names for number in range(ASKED.steps)}
    if BODIES.ran != expected:
        raise SystemExit("a step was lost, or ran twice")
    with psycopg.connect(ASKED.store) as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'),"
            " (SELECT count(*) FROM dbos.workflow_status), (SELECT count(*) FROM dbos.operation_outputs)"
        ).fetchone()
    if row != (len(names), len(names), len(expected)):
        raise SystemExit(f"{row} agents that are done, agents and steps are recorded of {len(names)} and {len(expected)}")


def main():
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": ASKED.store,
        # A connection for each agent, and some for what DBOS does beside them.
        "sys_db_pool_size": ASKED.workers + 4,
        "log_level": "ERROR",
    }
    DBOS(config=config)
    DBOS.launch()
    names = run("warmup", ASKED.warmup)
    before = cpu_seconds(ASKED.store_process)
    started = time.perf_counter()
    names += run("round", ASKED.tasks)
    seconds = time.perf_counter() - started
    cpu = cpu_seconds(ASKED.store_process) - before
    check(names)
    DBOS.destroy()
    tasks = ASKED.tasks * ASKED.steps
    line = {
        "peer": "dbos",
        "version": importlib.metadata.version("dbos"),
        "store": "PostgreSQL",
        "scenario": "s10",
        "tasks": tasks,
        "seconds": seconds,
        "per_second": tasks / seconds,
        "exact": True,
    }
    if ASKED.store_process:
        line["store_cpu_us_per_task"] = cpu * 1e6 / tasks
    print(json.dumps(line))


main()
