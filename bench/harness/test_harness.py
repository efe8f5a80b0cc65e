"""What the harness promises: python3 -B -m unittest discover -t bench -s bench/harness"""

import contextlib
import io
import sys
import tempfile
import unittest

from .command import asked, run_rounds
from .compared import compared
from .ours import OURS
from .peers import PEERS, wanted
from .process import Failed, checked, figures
from .table import table


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
        names = [peer.name for peer in wanted(ask.peer, ask.store, ask.scenario)]
        self.assertEqual(names, ["graphile-worker", "pg-boss", "apalis", "apalis-leases"])

    def test_a_peer_that_is_not_on_a_store_is_refused(self):
        with self.assertRaises(SystemExit):
            wanted(["bullmq"], "postgres", "s1")

    def test_every_peer_has_its_folder(self):
        from .places import PEERS as FOLDER

        for peer in PEERS:
            self.assertTrue((FOLDER / peer.folder).is_dir(), peer.name)


if __name__ == "__main__":
    unittest.main()
