"""Tests that Python has the figures of the JSON result, for runs and one-point sweeps of the scenarios that tests/api draws."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import pandas
except ImportError:
    print("pandas is not there")
    sys.exit(77)
import dadsim

SCENARIOS = 200
EVERY = 1 if "DADSIM_ALL_DRAWN" in os.environ else 10


class SameFigures(unittest.TestCase):
    def same(self, ours, theirs, name):
        if theirs is None:
            unknown = ours is None or ours == "" or (isinstance(ours, float) and math.isnan(ours))
            self.assertTrue(unknown, f"{name}: {ours}")
        else:
            self.assertEqual(ours, theirs, name)

    def test_of_runs_and_of_sweeps_of_one_point(self):
        names = [figure["name"] for figure in dadsim.figures()]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["DADSIM_DRAWER"], folder, str(SCENARIOS), str(EVERY)], check=True)
            for number in range(1, SCENARIOS + 1, EVERY):
                path = os.path.join(folder, f"{number}.xml")
                with open(os.path.join(folder, f"{number}.json"), encoding="utf-8") as file:
                    theirs = json.load(file)
                result = dadsim.run(path, threads=1)
                swept = dadsim.sweep(os.path.join(folder, f"{number}-swept.xml"), threads=1).to_pandas()
                self.assertEqual(len(swept), len(theirs["runs"]))
                self.assertEqual(result.to_dict()["answer"], theirs["answer"])
                for run, row, their in zip(result.runs(), swept.to_dict("records"), theirs["runs"]):
                    with self.subTest(scenario=number, run=run["label"]):
                        for name in names:
                            self.same(run[name], their[name], name)
                            if name in row and not isinstance(their[name], (bool, str)):
                                self.same(row[name], their[name], name)


if __name__ == "__main__":
    unittest.main()
