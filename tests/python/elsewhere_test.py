"""Tests how `--on` handles files, signals and the current folder. tests/python/fake replaces Dask."""

import os
import pty
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ["DADSIM_SOURCE_DIR"]
BINARY = os.environ["DADSIM_BINARY"]
SWEEP = """<scenario name="t" seed="1">
  <platform file="lines.xml"/>
  <workers><worker hosts="s-[1-2]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="40" test="10"/></data><model><dense units="10"/></model>
  <training batch="4" epochs="1" target-accuracy="0.1"><sgd learning-rate="0.1"/></training>
  <run algorithm="dad"/>
  <sweep><vary path="training.batch" values="{batches}"/></sweep>
</scenario>"""
LINES = """<cluster-platform><federation><sites name="s" count="2" up="10Mbps" down="10Mbps" latency="5ms"/></federation>
</cluster-platform>"""
FEDERATION = """<scenario name="f" seed="3">
  <platform><federation><sites name="s" count="2" up="10Mbps" down="20Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="s-[1-2]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="40" test="10"/></data><model><dense units="10"/></model>
  <training batch="4" epochs="1" target-accuracy="0.1"><sgd learning-rate="0.1"/></training>
  <run algorithm="fedavg" rounds="2"/>
</scenario>"""
ON = ["--on", "tcp://127.0.0.1:9"]


class Elsewhere(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="dadsim-elsewhere-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.write("sweep.xml", SWEEP.format(batches="2 4"))
        self.write("lines.xml", LINES)
        self.write("federation.xml", FEDERATION)
        fake = os.path.join(SOURCE, "tests", "python", "fake")
        self.environment = {**os.environ, "DADSIM_PYTHON": sys.executable, "PYTHONPATH": f"{fake}:{os.environ['PYTHONPATH']}"}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def start(self, *words, **how):
        umask = how.pop("umask", 0o022)
        return subprocess.Popen([BINARY, *words], cwd=self.folder, stdout=how.pop("stdout", subprocess.PIPE),
                                stderr=how.pop("stderr", subprocess.PIPE), text=True, umask=umask, start_new_session=True,
                                env={**self.environment, **how})

    def run_(self, *words, **how):
        process = self.start(*words, **how)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def sweep(self, *words, **how):
        return self.run_("sweep", "sweep.xml", *ON, *words, **how)

    def test_the_same_files_as_of_one_process(self):
        code, out, err = self.sweep("--csv", "many.csv", "--out", "many.sqlite")
        self.assertEqual(code, 0, err)
        self.assertIn("many.sqlite: 2 points new, 0 there before.", out)
        self.assertEqual(self.run_("sweep", "sweep.xml", "--quiet", "--csv", "one.csv")[0], 0)
        self.assertEqual(self.read("many.csv"), self.read("one.csv"))
        self.assertEqual(self.sweep("--csv", "-", "--out", "many.sqlite")[1], self.read("one.csv"))

    def test_no_input_is_written(self):
        os.symlink("lines.xml", self.path("link.xml"))
        os.link(self.path("lines.xml"), self.path("hard.xml"))
        for option in ("--csv", "--report"):
            for name in ("lines.xml", "./lines.xml", "link.xml", "hard.xml", "sweep.xml"):
                code, _, err = self.sweep(option, name)
                self.assertEqual(code, 2, (name, err))
                self.assertIn("would overwrite", err)
        self.assertEqual(self.read("lines.xml"), LINES)
        self.assertFalse(os.path.exists(self.path("sweep.sweep.sqlite")))

    def test_links_devices_and_rights(self):
        self.assertEqual(self.sweep("--quiet", "--csv", "rights.csv", umask=0o077)[0], 0)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("rights.csv")).st_mode), 0o600)
        self.write("target.csv", "old")
        os.symlink("target.csv", self.path("link.csv"))
        self.assertEqual(self.sweep("--quiet", "--csv", "link.csv")[0], 0)
        self.assertTrue(os.path.islink(self.path("link.csv")))
        self.assertEqual(self.read("target.csv"), self.read("rights.csv"))
        self.assertEqual(self.sweep("--quiet", "--csv", "/dev/null")[0], 0)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.assertEqual(self.sweep("--quiet", "--csv", "/dev/stdout")[1], self.read("rights.csv"))
        code, _, err = self.sweep("--quiet", "--csv", "/dev/full")
        self.assertEqual(code, 4, err)
        if os.geteuid() == 0:
            try:
                os.mknod(self.path("null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            except OSError:
                return
            self.assertEqual(self.sweep("--quiet", "--csv", "null")[0], 0)
            self.assertTrue(stat.S_ISCHR(os.stat(self.path("null")).st_mode))

    def test_nothing_of_the_current_folder_runs(self):
        bad = "open('EXECUTED', 'w').close()\nraise SystemExit('this came with the folder')\n"
        for name in ("distributed", "argparse", "logging", "queue", "random", "struct", "sitecustomize", "dadsim/__init__",
                     "dadsim/pieces", "dadsim/remote"):
            self.write(name + ".py", bad)
        for path in (self.environment["PYTHONPATH"], ":" + self.environment["PYTHONPATH"], self.environment["PYTHONPATH"] + "::"):
            self.assertEqual(self.sweep("--out", f"{len(path)}.sqlite", PYTHONPATH=path)[0], 0)
            for command in (["federation.xml"], ["sweep", "sweep.xml"]):
                code, _, err = self.run_(*command, *ON, "--quiet", PYTHONPATH=path)
                self.assertEqual(code, 0, err)
        self.assertFalse(os.path.exists(self.path("EXECUTED")))

    def test_a_terminal_is_shown_what_it_may_be(self):
        for how, code in (("", 0), ("refused", 5), ("fault", 5)):
            for command in (["sweep", "sweep.xml"], ["federation.xml"]):
                controller, terminal = pty.openpty()
                if command[0] == "sweep":
                    command = [*command, "--out", f"{how or 'none'}.sqlite"]
                process = self.start(*command, *ON, stdout=terminal, stderr=terminal, FAKE_DASK=how, NO_COLOR="1")
                os.close(terminal)
                shown = b""
                while True:
                    try:
                        block = os.read(controller, 65536)
                    except OSError:
                        break
                    if not block:
                        break
                    shown += block
                os.close(controller)
                self.assertEqual(process.wait(timeout=60), code, shown)
                self.assertIn(b"words \\x1b[31mof others", shown)
                for sequence in (b"\x1b[31m", b"\x1b[2J"):
                    self.assertNotIn(sequence, shown, (how, command))

    def test_signals_end_it_at_any_time(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for command in (["sweep", "sweep.xml"], ["federation.xml"]):
                for wait in (0.0, 0.1, 1.0):
                    process = self.start(*command, *ON, FAKE_DASK="hangs")
                    time.sleep(wait)
                    begun = time.monotonic()
                    process.send_signal(number)
                    err = process.communicate(timeout=60)[1]
                    # Before the program has installed its handler, a signal ends it.
                    self.assertIn(process.returncode, (130,) if wait >= 1 else (130, -number), (command, wait, err))
                    self.assertLess(time.monotonic() - begun, 10)

    def test_what_is_finished_is_kept(self):
        self.write("sweep.xml", SWEEP.format(batches=" ".join(str(i) for i in range(1, 11))))
        process = self.start("sweep", "sweep.xml", *ON, "--out", "kept.sqlite", FAKE_DASK="stuck")
        deadline = time.monotonic() + 60
        while not os.path.exists(self.path("STUCK")) and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(err, r"interrupted; \d+ points? (is|are) in 'kept.sqlite'; run the same command to continue")
        code, out, err = self.sweep("--out", "kept.sqlite", "--csv", "kept.csv")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.run_("sweep", "sweep.xml", "--quiet", "--csv", "one.csv")[0], 0)
        self.assertEqual(self.read("kept.csv"), self.read("one.csv"))

    def test_a_process_that_ends_is_told(self):
        code, _, err = self.sweep(FAKE_DASK="fault")
        self.assertEqual(code, 5, err)
        self.assertIn("has ended; its error is above", err)
        code, _, err = self.sweep(FAKE_DASK="refused")
        self.assertEqual(code, 5, err)
        self.assertIn("no scheduler of Dask at 'tcp://127.0.0.1:9'", err)
        code, _, err = self.sweep(DADSIM_PYTHON="/nowhere/python3")
        self.assertEqual(code, 5, err)


if __name__ == "__main__":
    unittest.main()
