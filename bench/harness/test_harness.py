"""What the harness promises: python3 -B -m unittest discover -t bench -s bench/harness"""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from .command import STORES, asked, run_rounds, suits, variant
from .compared import compared
from .load import Load
from .ours import OURS, in_rounds
from .peers import PEERS, wanted
from .plot import HEIGHT, WIDTH, Axis, plot
from .process import Failed, checked, figures
from .report import Report, filled
from .scenarios import ALL
from .table import table
from .targets import EVERY, TARGETS, judged


def line(per_second, **more):
    return {"per_second": per_second, "exact": True, **more}


class Participant:
    def __init__(self, name, rates, told):
        self.name, self.rates, self.told = name, iter(rates), told

    def round(self):
        self.told.append(self.name)
        rate = next(self.rates)
        if isinstance(rate, Exception):
            raise rate
        return {self.name: line(rate)}


def rounds(count, **rates):
    told, failed = [], {}
    with contextlib.redirect_stderr(io.StringIO()):
        found = run_rounds([Participant(name, own, told) for name, own in rates.items()], count, failed)
    return found, failed, told


class Comparison(unittest.TestCase):
    def test_a_ratio_is_between_two_of_one_round(self):
        found = compared([{OURS: line(300), "it": line(100)}, {OURS: line(100), "it": line(100)}, {OURS: line(80), "it": line(20)}], OURS)
        self.assertEqual(found["it"]["ours_to_it"]["each"], [3, 1, 4])
        self.assertEqual(found["it"]["ours_to_it"]["median"], 3)
        self.assertEqual(found[OURS]["per_second"], {"median": 100, "min": 80, "max": 300})
        self.assertNotIn("ours_to_it", found[OURS])

    def test_costs_have_a_median_too(self):
        found = compared([{OURS: line(1, store_cpu_us_per_task=cost)} for cost in (40, 60, 41)], OURS)
        self.assertEqual(found[OURS]["store_cpu_us_per_task"], {"median": 41, "min": 40, "max": 60})

    def test_what_is_no_rate_is_compared_too(self):
        found = compared([{OURS: {"ready_ms": 20, "exact": True}}], OURS)
        self.assertEqual(found, {OURS: {"rounds": 1, "ready_ms": {"median": 20, "min": 20, "max": 20}}})
        self.assertEqual(table(found), ["FlowFabric: ready ms 20.000 (20.000 – 20.000)"])

    def test_the_table_has_a_row_for_everybody(self):
        lines = table(compared([{OURS: line(2_000), "it": line(1_000)}], OURS))
        self.assertEqual(len(lines), 3)
        self.assertIn("2.00 ×", lines[2])


class Rounds(unittest.TestCase):
    def test_nobody_is_always_first(self):
        _, _, told = rounds(2, FlowFabric=[1, 1], it=[1, 1])
        self.assertEqual(told, [OURS, "it", "it", OURS])

    def test_who_fails_once_has_no_figures_and_does_not_run_again(self):
        found, failed, told = rounds(3, FlowFabric=[1, 1, 1], it=[1, Failed("task 3 ran 2 times")])
        self.assertEqual(failed, {"it": "task 3 ran 2 times"})
        self.assertTrue(all(list(figures) == [OURS] for figures in found))
        self.assertEqual(told.count("it"), 2)

    def test_without_ours_there_is_nothing_to_compare(self):
        with self.assertRaises(Failed):
            rounds(1, FlowFabric=[Failed("a task was lost")])


    def test_nobody_begins_another_round_when_time_is_up(self):
        with mock.patch("harness.command.time.monotonic", side_effect=[0, 7, 9]):
            told = []
            with contextlib.redirect_stderr(io.StringIO()):
                found = run_rounds([Participant(OURS, [1, 1, 1], told)], 3, {}, seconds=8)
        self.assertEqual((len(found), len(told)), (2, 2))

    def test_lines_of_one_process_are_rounds(self):
        lines = [
            {"way": way, "per_second": rate, "beside": {"an empty store": other}}
            for way, rate, other in (("10 stored", 8, 10), ("20 stored", 4, 16), ("10 stored", 9, 10))
        ]
        first, second = in_rounds(lines, OURS)
        self.assertEqual([first[f"{OURS}, {way} stored"]["share"] for way in (10, 20)], [0.8, 0.25])
        self.assertEqual(set(second), {f"{OURS}, 10 stored", "an empty store"})


class Promises(unittest.TestCase):
    def test_a_target_is_held_by_the_median_of_its_rounds(self):
        rounds = [{f"{OURS}, among 10000 unmatched": line(rate), "an empty lane": line(100)} for rate in (95, 10, 91)]
        (one,) = judged("s5", "valkey", rounds, 10_000)
        self.assertEqual((one["median"], one["met"]), (0.91, True))
        (one,) = judged("s5", "valkey", rounds[1:2], 10_000)
        self.assertFalse(one["met"])

    def test_what_was_not_measured_is_not_judged(self):
        self.assertEqual(judged("s1", "valkey", [{"bullmq": line(1)}], 1), [])
        self.assertEqual(judged("s1", "valkey", [{OURS: line(9), "bullmq": line(0)}], 1), [])

    def test_every_target_is_of_a_scenario_and_every_scenario_has_one(self):
        self.assertLessEqual({target.scenario for target in TARGETS}, set(ALL))
        self.assertEqual(set(ALL) - {target.scenario for target in TARGETS}, {"workers"})
        self.assertLessEqual({store for target in TARGETS for store in target.stores}, set(STORES))


class Plots(unittest.TestCase):
    def drawn(self, x, y, series):
        return ElementTree.fromstring(plot("A title", x, y, series))

    def test_a_plot_is_well_formed_and_says_what_its_axes_are(self):
        svg = self.drawn(Axis("workers"), Axis("tasks & more a second"), {"<it>": [(1, 10, 9, 12), (4, 30, 30, 30)]})
        words = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
        for word in ("A title", "workers", "tasks & more a second", "<it>"):
            self.assertIn(word, words)

    def test_every_point_is_inside_and_more_is_higher(self):
        for is_log in (False, True):
            points = [(count, 10.0**count, 10.0**count / 2, 10.0**count) for count in range(1, 5)]
            svg = self.drawn(Axis("x"), Axis("y", is_log), {"it": points})
            circles = [(float(it.get("cx")), float(it.get("cy"))) for it in svg.iter("{http://www.w3.org/2000/svg}circle")]
            self.assertEqual(len(circles), 4)
            self.assertTrue(all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in circles))
            self.assertEqual(circles, sorted(circles, key=lambda place: -place[1]))

    def test_of_nothing_there_is_no_plot(self):
        with self.assertRaises(ValueError):
            plot("A title", Axis("x"), Axis("y"), {"it": []})


class Reports(unittest.TestCase):
    PAGE = "".join(f"<!-- {name}: written by bench/run -->\nold\n<!-- end of {name} -->\n" for name in ("targets", "costs", "plots", "where"))

    def run_of(self, rounds, scenario, size=1):
        machine = {"cores": 2, "load_before": 0.5}
        run = {"store": "a store", "size": size, "started": "2026-01-02T03:04:05", "commit": "abc", "machine": machine}
        return {**run, "compared": compared(rounds, OURS), "targets": judged(scenario, "valkey", rounds, size)}

    def test_a_report_keeps_what_was_there_and_fills_its_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "performance.md"
            page.write_text(f"# Title\n{self.PAGE}The end.\n")
            Report(page.with_suffix("")).add("s5", "valkey", self.run_of([{OURS: line(1)}], "s5"))
            rounds = [{f"{OURS}, servers: {count}": line(rate, all_cpu_us_per_task=10)} for count, rate in ((1, 50), (2, 60))]
            both = {**rounds[0], **rounds[1]}
            Report(page.with_suffix("")).add("s1-servers", "valkey", self.run_of([both], "s1-servers"))
            kept = json.loads((page.with_suffix("") / "figures.json").read_text())
            self.assertEqual(sorted(kept["runs"]), ["valkey/s1-servers", "valkey/s5"])
            text = page.read_text()
            self.assertIn("1.2 of the throughput of one server, with two | ≥ 1 | met |", text)
            self.assertTrue(text.startswith("# Title\n") and text.endswith("The end.\n") and "old" not in text)
            self.assertIn("![S1 over servers](performance/servers.svg)", text)
            ElementTree.parse(page.with_suffix("") / "servers.svg")

    def test_a_page_without_a_place_for_a_table_is_refused(self):
        with self.assertRaisesRegex(ValueError, "targets"):
            filled("# Title\n", {"targets": []})


class Figures(unittest.TestCase):
    def run_program(self, program):
        with tempfile.TemporaryDirectory() as folder:
            return figures([sys.executable, "-c", program], folder)

    def test_what_is_not_exact_does_not_count(self):
        for text in ('{"per_second": 1}', '{"per_second": 1, "exact": false}', "12 tasks"):
            with self.assertRaises(Failed):
                checked(text)
        self.assertEqual(checked('{"exact": true}'), {"exact": True})

    def test_a_program_that_fails_has_no_figures(self):
        with self.assertRaisesRegex(Failed, "a task was lost"):
            self.run_program("print('{\"exact\": true}'); raise SystemExit('a task was lost')")

    def test_every_line_is_read(self):
        self.assertEqual(len(self.run_program("print('{\"exact\": true}\\n' * 2)")), 2)


class Asking(unittest.TestCase):
    def test_all_peers_of_a_store_are_the_usual_ones(self):
        ask = asked(["--store", "postgres"])
        names = [peer.name for peer in wanted(ask.peer, *ask.store, "s1")]
        self.assertEqual(names, ["graphile-worker", "pg-boss", "apalis", "apalis-leases"])

    def test_a_peer_that_is_not_on_a_store_is_refused(self):
        with self.assertRaises(SystemExit):
            wanted(["bullmq"], "postgres", "s1")

    def test_every_scenario_says_how_much_is_to_be_done(self):
        for scenario in ALL.values():
            told = scenario.options(Load("s1", scenario.quick), 2)
            self.assertTrue(all(isinstance(word, str) for word in told), scenario.name)
            self.assertEqual("--workers" in told, "workers" in scenario.takes)

    def test_servers_and_clients_are_for_stores_that_have_them(self):
        self.assertEqual(variant("s1", asked(["--servers", "2"])).name, "s1-servers")
        self.assertEqual(variant("s1", asked(["--through"])).name, "s1-through")
        self.assertFalse(suits(ALL["s1-servers"], "sqlite", True))
        self.assertTrue(all(suits(ALL["s4"], store, False) for store in EVERY))
        self.assertEqual([name for name in ALL if suits(ALL[name], "sqlite-normal", False)], ["s2", "s1-through"])

    def test_every_peer_has_its_folder(self):
        from .places import PEERS as FOLDER

        for peer in PEERS:
            self.assertTrue((FOLDER / peer.folder).is_dir(), peer.name)


if __name__ == "__main__":
    unittest.main()
