"""The Python module: that it says what the program says, and behaves as Python's own do."""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import pandas
except ImportError:
    print("pandas is not there")
    sys.exit(77)
import dadsim

SOURCE = os.environ["DADSIM_SOURCE_DIR"]
CLINICS = os.path.join(SOURCE, "examples", "embed", "clinics.xml")
QUICK = {"training.epochs": 1, "data.digits.train": 600, "data.digits.test": 200}


def said_by_program(*arguments):
    return subprocess.run([os.environ["DADSIM_BINARY"], *arguments], check=True, capture_output=True, text=True).stdout


def as_arguments(settings):
    return [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = dadsim.run(CLINICS, set=QUICK)

    def test_says_what_the_program_says(self):
        theirs = json.loads(said_by_program(CLINICS, "--quiet", "--json", "-", *as_arguments(QUICK)))
        ours = self.result.to_dict()
        for one in (theirs, ours):
            del one["wall_clock"]
        self.assertEqual(ours, theirs)
        self.assertEqual(self.result.csv(), said_by_program(CLINICS, "--quiet", "--csv", "-", *as_arguments(QUICK)))

    def test_is_a_data_frame_with_a_row_for_every_run(self):
        frame = self.result.to_pandas()
        self.assertEqual(list(frame.index), ["gradient-sharing", "dad", "rank-dad"])
        by_label = {run["label"]: run for run in self.result.to_dict()["runs"]}
        for label in frame.index:
            self.assertEqual(frame.step_seconds[label], by_label[label]["per_step"]["seconds"])
        self.assertLess(frame.bytes_up["rank-dad"], frame.bytes_up["dad"])
        self.assertTrue(math.isnan(frame.money["dad"]))

    def test_has_learning_curves(self):
        curves = self.result.curves()
        self.assertEqual(set(curves.run), set(self.result.to_pandas().index))
        last = curves.groupby("run").last()
        frame = self.result.to_pandas()
        for label in frame.index:
            self.assertEqual(last.accuracy[label], frame.final_accuracy[label])

    def test_is_the_table_as_text(self):
        self.assertIn("rank-dad", str(self.result))


class Memory(unittest.TestCase):
    def test_what_lines_do_not_change_is_learned_once(self):
        learned = dadsim.Learned()
        slow = dadsim.run(CLINICS, set={**QUICK, "platform.federation.sites.up": "1Mbps"}, learned=learned)
        self.assertEqual(len(learned), 3)
        fast = dadsim.run(CLINICS, set={**QUICK, "platform.federation.sites.up": "1Gbps"}, learned=learned)
        self.assertEqual(len(learned), 3)
        again = dadsim.run(CLINICS, set={**QUICK, "platform.federation.sites.up": "1Gbps"})
        self.assertEqual(fast.csv(), again.csv())
        self.assertGreater(slow.to_pandas().step_seconds["dad"], 5 * fast.to_pandas().step_seconds["dad"])


class Sweeps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with open(CLINICS, encoding="utf-8") as file:
            text = file.read()
        cls.scenario = os.path.join(cls.folder.name, "swept.xml")
        with open(cls.scenario, "w", encoding="utf-8") as file:
            file.write(text.replace("</scenario>", '<sweep><vary path="platform.federation.sites.up" '
                                    'values="1Mbps 10Mbps 100Mbps"/></sweep></scenario>'))

    def test_is_a_data_frame(self):
        frame = dadsim.sweep(self.scenario, set=QUICK).to_pandas()
        self.assertEqual(len(frame), 9)
        database = os.path.join(self.folder.name, "theirs.sqlite")
        theirs = said_by_program("sweep", self.scenario, "--out", database, "--quiet", "--csv", "-", *as_arguments(QUICK))
        self.assertEqual(dadsim.sweep(self.scenario, set=QUICK, file=database).csv(), theirs)


class Wrong(unittest.TestCase):
    def test_input_is_told_with_its_line(self):
        with self.assertRaises(dadsim.InputError) as caught:
            dadsim.load(CLINICS, set={"training.batch": 0, "platform.federation.sites.up": "fast"})
        self.assertIsInstance(caught.exception, ValueError)
        self.assertIsInstance(caught.exception, dadsim.Error)
        self.assertIn("--set training.batch=0: ", str(caught.exception))
        self.assertEqual(len(caught.exception.diagnostics), len(str(caught.exception).splitlines()))
        with self.assertRaises(dadsim.InputError) as caught:
            dadsim.run("nowhere.xml")
        self.assertIn("nowhere.xml", str(caught.exception))

    def test_settings_come_before_loading(self):
        with self.assertRaises(TypeError):
            dadsim.run(dadsim.load(CLINICS), set=QUICK)


LONG = {"training.epochs": 2000, "training.target-accuracy": 1}


class Interrupts(unittest.TestCase):
    def test_is_a_keyboard_interrupt_and_soon(self):
        # SIGINT as a terminal sends it, once it learns.
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            dadsim.run(CLINICS, set=LONG)
        timer.join()
        self.assertLess(time.monotonic() - begin, 30)
        # And what follows is not stopped.
        self.assertEqual(len(dadsim.run(CLINICS, set=QUICK).runs()), 3)

    def test_stop_ends_it_with_an_error_of_its_own(self):
        timer = threading.Timer(1.0, dadsim.stop)
        timer.start()
        with self.assertRaises(dadsim.Stopped):
            dadsim.run(CLINICS, set=LONG)
        timer.join()

    def test_progress_is_told_and_what_it_raises_comes_out(self):
        class Enough(Exception):
            pass

        told = []

        def progress(text):
            told.append(text)
            raise Enough

        with self.assertRaises(Enough):
            dadsim.run(CLINICS, set=LONG, progress=progress)
        self.assertEqual(len(told), 1)
        self.assertIn("learning", told[0])


class Threads(unittest.TestCase):
    def test_others_go_on_and_calls_take_turns(self):
        counted = 0
        going = True

        def count():
            nonlocal counted
            while going:
                counted += 1
                time.sleep(0.001)

        counter = threading.Thread(target=count)
        counter.start()
        results = []
        runners = [threading.Thread(target=lambda: results.append(dadsim.run(CLINICS, set=QUICK).csv()))
                   for _ in range(2)]
        for runner in runners:
            runner.start()
        for runner in runners:
            runner.join()
        going = False
        counter.join()
        self.assertEqual(len(results), 2)
        self.assertEqual(results[0], results[1])
        self.assertGreater(counted, 10)

    def test_no_child_and_no_descriptor_is_left(self):
        before = set(os.listdir("/proc/self/fd"))
        dadsim.run(CLINICS, set=QUICK)
        self.assertEqual(set(os.listdir("/proc/self/fd")), before)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


if __name__ == "__main__":
    unittest.main()
