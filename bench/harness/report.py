"""A page of figures: kept as JSON, put into the page as tables, and drawn."""

import json
from pathlib import Path

from .ours import OURS
from .plot import Axis, plot
from .scenarios import ALL

STORES = {
    "sqlite": "SQLite, FULL",
    "sqlite-normal": "SQLite, NORMAL",
    "valkey": "Valkey",
    "cluster": "Valkey, three primaries",
    "postgres": "PostgreSQL",
}
# What the figures of S1 cost, as a table has it.
COSTS = (
    ("per_second", "tasks a second", 0),
    ("cpu_us_per_task", "our CPU, µs", 0),
    ("store_cpu_us_per_task", "store CPU, µs", 0),
    ("store_calls_per_task", "store calls", 2),
    ("syncs_per_task", "syncs", 3),
    ("wal_bytes_per_task", "bytes of WAL", 0),
    ("stored_bytes_per_task", "bytes stored", 0),
)


class Report:
    """What was measured so far, in a folder beside the page of the same name."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.page = self.folder.with_suffix(".md")
        self.kept = self.folder / "figures.json"
        self.runs = json.loads(self.kept.read_text())["runs"] if self.kept.exists() else {}

    def add(self, scenario, store, run):
        """Replaces what was there of a scenario on a store, and writes everything anew."""
        self.runs[f"{store}/{scenario}"] = run
        self.write()

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.kept.write_text(json.dumps({"runs": dict(sorted(self.runs.items()))}, indent=1, ensure_ascii=False) + "\n")
        pictures = []
        for name, title, svg in self.plots():
            (self.folder / f"{name}.svg").write_text(svg)
            pictures += [f"![{title}]({self.folder.name}/{name}.svg)", ""]
        if self.page.exists():
            tables = {"targets": self.targets(), "costs": self.costs(), "plots": pictures[:-1], "where": self.where()}
            self.page.write_text(filled(self.page.read_text(), tables))

    def each(self, scenario):
        """The runs of a scenario, by the names of their stores."""
        return {name: self.runs[f"{store}/{scenario}"] for store, name in STORES.items() if f"{store}/{scenario}" in self.runs}

    def targets(self):
        yield "| scenario | store | found | wanted | |"
        yield "|---|---|---|---|---|"
        for scenario in ALL.values():
            for store, run in self.each(scenario.name).items():
                for found in run["targets"]:
                    spread = f" ({short(found['min'])} – {short(found['max'])})" if found["max"] > found["min"] else ""
                    mark = "met" if found["met"] else "**missed**"
                    middle = short(found["median"])
                    yield f"| {scenario.name} | {store} | {middle} {found['target']}{spread} | {found['bound']} | {mark} |"

    def costs(self):
        yield "| S1, per task | " + " | ".join(heading for _, heading, _ in COSTS) + " |"
        yield "|---" * (len(COSTS) + 1) + "|"
        for store, run in self.each("s1").items():
            for name, row in run["compared"].items():
                cells = [f"{row[field]['median']:,.{digits}f}" if field in row else "" for field, _, digits in COSTS]
                yield f"| {store}: {name} | " + " | ".join(cells) + " |"

    def where(self):
        yield "| store | scenario | version | cores | load before | size | rounds | when | commit |"
        yield "|---|---|---|---|---|---|---|---|---|"
        for key, run in sorted(self.runs.items()):
            store, scenario = key.split("/")
            machine, counts = run["machine"], ALL[scenario].counts
            rounds = max(row["rounds"] for row in run["compared"].values())
            yield (
                f"| {STORES[store]} | {scenario} | {run['store']} | {machine['cores']} | {machine['load_before']:.1f} "
                f"| {run['size']:,} {counts} | {rounds} | {run['started'][:16].replace('T', ' ')} | {run['commit']} |"
            )

    def plots(self):
        """What there is to draw: its name, its title and how it looks."""
        share, rate = Axis("% of S1 on an empty store, in the same round"), Axis("tasks a second")
        wanted = (
            ("volume", "S1 over what is stored", "s9", Axis("executions stored"), share, by_volume),
            ("latency", "From submit to start, over the load", "s3", Axis("load, % of S1"), Axis("ms", is_log=True), by_load),
            ("workers", "S1 over workers", "workers", Axis("workers"), rate, by_workers),
            ("servers", "S1 over servers", "s1-servers", Axis("servers"), rate, by_servers),
        )
        for name, title, scenario, x, y, lines in wanted:
            series = {}
            for store, run in self.each(scenario).items():
                series.update(lines(store, run["compared"]))
            if any(series.values()):
                yield name, title, plot(title, x, y, series, of_a_colour=2 if lines is by_load else 1)


def point(x, spread, factor=1):
    return (x, factor * spread["median"], factor * spread["min"], factor * spread["max"])


def by_volume(store, rows):
    points = [
        point(row["stored_executions"]["median"], row["share"], 100) for row in rows.values() if "stored_executions" in row
    ]
    return {store: points}


def by_load(store, rows):
    loads = [row for row in rows.values() if "load_percent" in row]
    return {
        f"{store}, {percentile}": [point(row["load_percent"]["median"], row[f"start_{percentile}_ms"]) for row in loads]
        for percentile in ("p99", "p50")
    }


def by_workers(store, rows):
    return {store: numbered(rows, f"{OURS}, workers: ")}


def by_servers(store, rows):
    return {store: numbered(rows, f"{OURS}, servers: ")}


def numbered(rows, prefix):
    return [point(int(name[len(prefix) :]), row["per_second"]) for name, row in rows.items() if name.startswith(prefix)]


def filled(page, tables):
    """The page, with the lines between its marks replaced."""
    for name, lines in tables.items():
        begin, end = f"<!-- {name}: written by bench/run -->", f"<!-- end of {name} -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"the page has no place for {name}: {begin} and {end}")
        page = "\n".join([before + begin, "", *lines, "", end]) + after
    return page


def short(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
