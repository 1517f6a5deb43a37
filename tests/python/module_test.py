"""Tests that the Python module gives the program's results, and behaves as Python's own modules do."""

import contextlib
import html
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

try:
    import pandas
except ImportError:
    print("skipped: pandas is not there (Debian: python3-pandas)")
    sys.exit(77)
import dadsim

SOURCE = os.environ["DADSIM_SOURCE_DIR"]
CLINICS = os.path.join(SOURCE, "examples", "embed", "clinics.xml")
QUICK = {"training.epochs": 1, "data.digits.train": 600, "data.digits.test": 200}


def said_by_program(*arguments):
    return subprocess.run([os.environ["DADSIM_BINARY"], *arguments], check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def drawn_by_nobody():
    """Replaces matplotlib, which may be missing: returns the data that would be drawn."""
    backend = types.ModuleType("drawn_by_nobody")
    backend.plot = lambda data, kind, x=None, y=None, **more: (data, kind, more)
    sys.modules[backend.__name__] = backend
    with pandas.option_context("plotting.backend", backend.__name__):
        yield


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
            self.assertEqual(frame.step_seconds[label], by_label[label]["step_seconds"])
        self.assertLess(frame.bytes_up_per_worker["rank-dad"], frame.bytes_up_per_worker["dad"])
        self.assertTrue(math.isnan(frame.money["dad"]))

    def test_has_the_figures_of_the_json_and_of_the_csv(self):
        names = [figure["name"] for figure in dadsim.figures()]
        frame = self.result.to_pandas()
        self.assertEqual(["label", *frame.columns], names)
        last = self.result.curves().groupby("label").last()
        for run, theirs in zip(self.result.runs(), self.result.to_dict()["runs"]):
            for name in names:
                ours = run[name]
                if ours is None or ours != ours or ours == "":
                    self.assertIsNone(theirs[name], name)
                else:
                    self.assertEqual(ours, theirs[name], name)
                    if name in last.columns and not isinstance(ours, str):
                        self.assertEqual(ours, last[name][run["label"]], name)

    def test_has_learning_curves(self):
        curves = self.result.curves()
        self.assertEqual(set(curves.label), set(self.result.to_pandas().index))
        last = curves.groupby("label").last()
        frame = self.result.to_pandas()
        for label in frame.index:
            self.assertEqual(last.accuracy[label], frame.final_accuracy[label])

    def test_is_the_table_as_text(self):
        self.assertIn("rank-dad", str(self.result))
        self.assertEqual(self.result._repr_html_(), "<pre>" + html.escape(str(self.result)) + "</pre>")

    def test_draws_its_curves(self):
        with drawn_by_nobody():
            drawn, kind, more = self.result.plot(title="clinics")
        curves = self.result.curves()
        self.assertEqual((kind, more["ylabel"], more["title"]), ("line", "accuracy", "clinics"))
        self.assertEqual(set(drawn.columns), set(curves.label))
        for label in drawn.columns:
            self.assertEqual(drawn[label].dropna().iloc[-1], curves[curves.label == label].accuracy.iloc[-1])
        with drawn_by_nobody():
            self.assertEqual(self.result.plot(y="loss", x="bytes")[0].index.name, "bytes")


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
        swept = dadsim.sweep(self.scenario, set=QUICK, file=database)
        self.assertEqual(swept.csv(), theirs)
        self.assertIn("<pre>", swept._repr_html_())
        with drawn_by_nobody():
            drawn, kind, _ = swept.plot("step_seconds")
        self.assertEqual((kind, list(drawn.index)), ("line", ["1Mbps", "10Mbps", "100Mbps"]))
        self.assertEqual(drawn["dad"]["1Mbps"], frame[frame.label == "dad"].step_seconds.iloc[0])


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
        # Sends SIGINT, as a terminal does, once the run is learning.
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            dadsim.run(CLINICS, set=LONG)
        timer.join()
        self.assertLess(time.monotonic() - begin, 30)
        # Later calls must not be stopped.
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


    def test_as_many_as_the_program_takes_and_no_more(self):
        for threads in (1025, 10**9):
            with self.assertRaises(dadsim.InputError) as caught:
                dadsim.run(CLINICS, set=QUICK, threads=threads)
            self.assertIn("1 to 1024", str(caught.exception))
            self.assertNotEqual(subprocess.run([os.environ["DADSIM_BINARY"], CLINICS, "--threads", str(threads)],
                                               capture_output=True, check=False).returncode, 0)
        self.assertEqual(len(dadsim.run(CLINICS, set=QUICK, threads=2).runs()), 3)

    def test_who_waits_for_a_turn_stops_nobody_but_itself(self):
        outcome = []

        learning = threading.Event()
        first = threading.Thread(target=lambda: call_under_way(learning, outcome))
        first.start()
        self.assertTrue(learning.wait(60))
        # This thread waits for its turn, and is interrupted while waiting.
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            dadsim.run(CLINICS, set=QUICK)
        timer.join()
        self.assertTrue(first.is_alive())
        self.assertEqual(outcome, [])
        dadsim.stop()
        first.join()
        self.assertIsInstance(outcome[0], dadsim.Stopped)

    def test_warnings_leave_the_lock_to_others(self):
        self.assertEqual(dadsim.load(CLINICS, set=QUICK).warnings, [])


def call_under_way(learning, outcome):
    """Makes a long call in a thread. Sets `learning` when it is in progress, and appends its end to `outcome`."""
    try:
        outcome.append(dadsim.run(CLINICS, set=LONG, progress=lambda text: learning.set()))
    except dadsim.Error as error:
        outcome.append(error)


# Start of programs that end or fork while one of their threads is in a call. Each runs in its own process.
BESIDE_A_CALL = """
import os, sys, threading, time
import dadsim
clinics, long, quick = {clinics!r}, {long!r}, {quick!r}
under_way = threading.Event()
def call():
    try:
        dadsim.run(clinics, set=long, progress=lambda text: under_way.set())
    except dadsim.Stopped:
        pass
thread = threading.Thread(target=call, daemon=True)
thread.start()
assert under_way.wait(60)
"""


def beside_a_call(code, timeout=60):
    text = BESIDE_A_CALL.format(clinics=CLINICS, long=LONG, quick=QUICK) + code
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=timeout, check=False)


class Ends(unittest.TestCase):
    def test_python_ends_beside_a_call_of_a_daemon(self):
        for code in ("", "sys.exit(3)", "raise SystemExit(3)"):
            ended = beside_a_call(code)
            self.assertEqual(ended.returncode, 3 if code else 0, ended.stderr)
            self.assertNotIn("terminate", ended.stderr)

    def test_a_call_that_was_stopped_leaves_room_for_the_next(self):
        ended = beside_a_call("dadsim.stop(); thread.join(60); print(len(dadsim.run(clinics, set=quick).runs()))")
        self.assertEqual((ended.returncode, ended.stdout.strip()), (0, "3"), ended.stderr)


class Forks(unittest.TestCase):
    def test_a_fork_beside_a_call_says_so_and_does_not_hang(self):
        ended = beside_a_call("""
child = os.fork()
if child == 0:
    try:
        dadsim.run(clinics, set=quick)
        os._exit(1)
    except dadsim.ResourceError as error:
        os._exit(7 if "spawn" in str(error) else 2)
begin = time.monotonic()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert time.monotonic() - begin < 30
# A child that ends as Python does, rather than at once.
child = os.fork()
if child == 0:
    sys.exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
# The remedy that is named.
import multiprocessing
with multiprocessing.get_context("spawn").Pool(1) as pool:
    told = "len(__import__('dadsim').run(%r, set=%r).runs())" % (clinics, quick)
    assert pool.apply(eval, (told,)) == 3
assert thread.is_alive()
""")
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_a_fork_between_calls_goes_on(self):
        dadsim.run(CLINICS, set=QUICK)
        child = os.fork()
        if child == 0:
            try:
                os._exit(len(dadsim.run(CLINICS, set=QUICK).runs()))
            except BaseException:
                os._exit(99)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)


if __name__ == "__main__":
    unittest.main()
