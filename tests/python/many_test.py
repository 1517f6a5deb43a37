"""Tests that sweeps and runs on Dask give the bytes of one process, also with killed workers, a stopped client or other builds."""

import json
import os
import pickle
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import distributed
except ImportError:
    print("skipped: distributed is not installed (Debian: python3-distributed)")
    sys.exit(77)

import dadsim
from dadsim import pieces, remote

SOURCE = os.environ["DADSIM_SOURCE_DIR"]
BINARY = os.environ["DADSIM_BINARY"]

TINY = """<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Tiny" seed="1">
  <platform>
    <federation>
      <sites name="site" count="3" up="10Mbps" down="10Mbps" latency="1ms"/>
    </federation>
  </platform>
  <workers>
    <worker hosts="site-[1-3]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
  <data>{data}</data>
  <model><dense units="16"/><dense units="{classes}"/></model>
  <training batch="16" epochs="1" target-accuracy="0.2"/>
  {runs}
  <sweep {seeds}>
    <vary path="platform.federation.sites.up" values="{ups}"/>
    <vary path="{path}" values="{values}"/>
  </sweep>
</scenario>
"""
LEARNED = {"runs": '<run algorithm="dad"/><run algorithm="rank-dad" cap="4"/>', "path": "run[rank-dad].cap", "values": "2 8"}
EVENTS = {"runs": '<run algorithm="fedavg" local-steps="2"/>', "path": "run[fedavg].local-steps", "values": "1 3"}


FEDERATION = """<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Federation" seed="3">
  <platform><federation><sites name="site" count="40" up="10Mbps" down="20Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="site-[1-40]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="400" test="60"/><split by="dirichlet" alpha="0.7"/></data>
  <model><dense units="12"/><dense units="10"/></model>
  <training batch="8" epochs="2" target-accuracy="0.9"><sgd learning-rate="0.1"/></training>
  <run algorithm="fedavg" rounds="3" fraction="0.5"/>
  <run algorithm="fedasync"/>
  {more}
</scenario>
"""
FAMILY = '''<scale-study><vary path="model.dense[1].units" values="8 12 16 20"/></scale-study>'''


class Canary:
    """A malicious object, in a place where it might be unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def without_clock(result):
    del result["wall_clock"]
    return result


def csv_of(path, folder, name):
    out = os.path.join(folder, name)
    subprocess.run([BINARY, "sweep", path, "--quiet", "--out", out], check=True, timeout=300)
    return out


def canonical(path, folder):
    """Returns the file as `dadsim merge` writes it, which does not depend on who did which task when."""
    out = os.path.join(folder, "canonical-" + os.path.basename(path))
    subprocess.run([BINARY, "merge", out, path, "--quiet"], check=True, timeout=300)
    with open(out, "rb") as file:
        return file.read()


class Sweeps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dadsim-many-")
        cls.environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
        cls.scheduler = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0",
             "--scheduler-file", cls.path("scheduler.json")],
            env=cls.environment, stderr=subprocess.DEVNULL)
        cls.workers = []
        deadline = time.monotonic() + 60
        while not os.path.exists(cls.path("scheduler.json")) and time.monotonic() < deadline:
            time.sleep(0.1)
        cls.client = distributed.Client(scheduler_file=cls.path("scheduler.json"), timeout=60)
        for _ in range(2):
            cls.start_worker()
        cls.client.wait_for_workers(2, timeout=120)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def start_worker(cls, **environment):
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", cls.path("scheduler.json"), "--nthreads", "1",
             "--no-nanny", "--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--local-directory", cls.path("scratch")],
            env={**cls.environment, **environment}, stderr=subprocess.DEVNULL, cwd=cls.folder.name)
        cls.workers.append(worker)
        return worker

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        for process in cls.workers + [cls.scheduler]:
            process.kill()
            process.wait()
        cls.folder.cleanup()

    def write(self, name, **words):
        ups = words.pop("ups", "1Mbps 3Mbps 9Mbps 27Mbps 81Mbps")
        text = TINY.format(**{"data": '<digits train="200" test="50"/>', "classes": 10, "seeds": "", "ups": ups, **words})
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def test_same_bytes_as_one_process(self):
        csv = "x,y,label\n" + "".join(f"{i % 7 - 3},{i % 5 - 2},{'ab'[i % 2]}\n" for i in range(60))
        with open(self.path("sites.csv"), "w") as file:
            file.write(csv)
        kinds = {
            "learned.xml": {**LEARNED, "seeds": 'seeds="2"'},
            "events.xml": EVENTS,
            # A file that the scenario names is sent together with it.
            "file.xml": {**LEARNED, "data": '<csv file="sites.csv" target="label"/>', "classes": 2},
        }
        for name, words in kinds.items():
            with self.subTest(name):
                path = self.write(name, **words)
                whole = canonical(csv_of(path, self.folder.name, name + ".one.sqlite"), self.folder.name)
                swept = dadsim.sweep(path, file=self.path(name + ".many.sqlite"), client=self.client)
                self.assertEqual(swept.failed, 0)
                with open(self.path(name + ".many.sqlite"), "rb") as file:
                    self.assertEqual(file.read(), whole)

    def test_killed_workers_and_a_stopped_client(self):
        path = self.write("killed.xml", ups=" ".join(f"{i}Mbps" for i in range(1, 21)), **LEARNED)
        whole = canonical(csv_of(path, self.folder.name, "killed.one.sqlite"), self.folder.name)
        random.seed(5)
        stop = threading.Event()

        def kill():
            # Kills a few workers, each only while another one exists, so that the work ends on slow machines too. Every
            # kill starts a new worker, which takes over a second of processor time. scripts/kill-workers kills any
            # number.
            for _ in range(3):
                if stop.wait(random.uniform(0.5, 1.5)):
                    return
                while len(self.client.nthreads()) < 2:
                    if stop.wait(0.2):
                        return
                victim = self.workers.pop(0)
                self.start_worker()
                victim.send_signal(signal.SIGKILL)
                victim.wait()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            class Enough(Exception):
                pass

            def progress(text):
                if "sweep: " in text and int(text.split()[1]) >= 12:
                    raise Enough

            seconds, remote.SECONDS_OF_A_PIECE = remote.SECONDS_OF_A_PIECE, 0.05
            for told in (progress, None):
                try:
                    dadsim.sweep(path, file=self.path("killed.sqlite"), client=self.client, progress=told)
                except Enough:
                    pass
        finally:
            stop.set()
            killer.join()
            remote.SECONDS_OF_A_PIECE = seconds
        with open(self.path("killed.sqlite"), "rb") as file:
            self.assertEqual(file.read(), whole)

    def to_nobody(self, *words):
        """Starts a command that looks for a scheduler where there is none. This takes long, so the caller waits for it later."""
        return subprocess.Popen([BINARY, *words, "--on", "tcp://127.0.0.1:9"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "DADSIM_PYTHON": sys.executable})

    def assert_nobody_is_there(self, looking):
        err = looking.communicate(timeout=300)[1]
        self.assertEqual(looking.returncode, 5, err)
        self.assertIn("no scheduler", err)

    def test_command_line(self):
        path = self.write("command.xml", **LEARNED)
        nobody = self.to_nobody("sweep", path, "--out", self.path("none.sqlite"))
        csv_of(path, self.folder.name, "command.one.sqlite")
        address = self.client.scheduler.address
        environment = {**os.environ, "DADSIM_PYTHON": sys.executable}
        done = subprocess.run(
            [BINARY, "sweep", path, "--on", address, "--out", self.path("command.sqlite"), "--csv", self.path("many.csv")],
            env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("81Mbps", done.stdout)
        subprocess.run([BINARY, "sweep", path, "--quiet", "--out", self.path("command.one.sqlite"), "--csv", self.path("one.csv")],
                       check=True, timeout=300)
        with open(self.path("many.csv")) as one, open(self.path("one.csv")) as other:
            self.assertEqual(one.read(), other.read())
        self.assert_nobody_is_there(nobody)

    def command(self, *words):
        done = subprocess.run([BINARY, *words, "--on", self.client.scheduler.address], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "DADSIM_PYTHON": sys.executable})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_federation_is_learned_by_workers(self):
        with open(self.path("federation.xml"), "w") as file:
            file.write(FEDERATION.format(more=""))
        nobody = self.to_nobody(self.path("federation.xml"))
        alone = without_clock(dadsim.run(self.path("federation.xml"), set={"training.batch": 4}).to_dict())
        many_ = dadsim.run(self.path("federation.xml"), set={"training.batch": 4}, client=self.client)
        self.assertEqual(without_clock(many_.to_dict()), alone)
        printed = self.command(self.path("federation.xml"), "--set", "training.batch=4", "--json", "-")
        self.assertEqual(without_clock(json.loads(printed)), alone)
        with self.assertRaises(TypeError):
            dadsim.run(self.path("federation.xml"), learned=dadsim.Learned(), client=self.client)
        path = self.write("nothing.xml", **LEARNED)
        nothing = subprocess.run([BINARY, path, "--on", "tcp://127.0.0.1:9"], capture_output=True, text=True, timeout=60)
        self.assertEqual(nothing.returncode, 3)
        self.assertIn("no event-driven run", nothing.stderr)
        self.assert_nobody_is_there(nobody)

    def test_a_scale_study_is_learned_by_workers(self):
        with open(self.path("family.xml"), "w") as file:
            file.write(FEDERATION.format(more='<run algorithm="rank-dad" cap="2"/>' + FAMILY)
                       .replace('count="40"', 'count="4"').replace("site-[1-40]", "site-[1-4]")
                       .replace('epochs="2"', 'epochs="2" seeds="3"'))
        alone = subprocess.run([BINARY, "scale-study", self.path("family.xml"), "--json", "-"], check=True, capture_output=True,
                               text=True, timeout=300).stdout
        self.assertEqual(self.command("scale-study", self.path("family.xml"), "--json", "-"), alone)

    @staticmethod
    def refusal_of(call):
        try:
            call()
        except dadsim.InputError:
            return True
        return False

    def test_a_file_of_a_stranger_executes_nothing(self):
        path = self.write("stranger.xml", ups="1Mbps 3Mbps", **LEARNED)
        out = csv_of(path, self.folder.name, "stranger.sqlite")
        canary = self.path("canary")
        poison = pickle.dumps(Canary(canary))
        database = sqlite3.connect(out)
        with database:
            database.execute("DELETE FROM run")
            database.execute("DELETE FROM trial")
            database.execute("UPDATE records SET value = ?", (poison,))
            database.execute("INSERT INTO records VALUES('more', 'weights', ?)", (poison,))
        database.close()
        self.assertEqual(dadsim.sweep(path, file=out, client=self.client).failed, 0)
        with self.assertRaises(dadsim.InputError):
            dadsim._dadsim.do_tasks(path, poison, [("state", poison)], 1)
        # Returns malicious data in place of a batch's learning, then of its trials' results file. Honest tasks run in
        # another process, as a process does one call at a time.
        do = "import sys; from dadsim import _dadsim; sys.stdout.buffer.write(_dadsim.do_tasks(sys.argv[1], sys.stdin.buffer.read(), [], 1))"
        for poisoned in (1, 2):
            tasks, trials = dadsim._dadsim.RemoteTasks(), []
            call = threading.Thread(target=lambda: trials.append(self.refusal_of(
                lambda: dadsim._dadsim.sweep_remotely(path, self.path(f"new{poisoned}.sqlite"), [], tasks, None))))
            call.start()
            while not tasks.over():
                number, _, _, *piece = tasks.next(10, 0.1)
                if number == 0:
                    continue
                content, names = piece
                results = poison
                if content[0] < poisoned:
                    results = subprocess.run([sys.executable, "-c", do, path], input=content, check=True, capture_output=True).stdout
                try:
                    tasks.take(number, results, "a stranger")
                    time.sleep(0.5)  # waits for the trials, which are posted next
                except dadsim.InputError as error:
                    tasks.fail(str(error), True)
            call.join()
            self.assertEqual(trials, [True])
        self.assertTrue(names)
        with self.assertRaises(dadsim.InputError):
            dadsim._dadsim.do_tasks(path, content, [(name, poison) for name in names], 1)
        self.assertFalse(os.path.exists(canary))
        pickle.loads(poison).close()
        self.assertTrue(os.path.exists(canary), "a canary that could not have sung")

    def test_tasks_for_a_shell(self):
        path = self.write("tasks.xml", **LEARNED)
        whole = canonical(csv_of(path, self.folder.name, "tasks.one.sqlite"), self.folder.name)
        bin_folder = self.path("bin")
        os.makedirs(bin_folder, exist_ok=True)
        os.symlink(BINARY, os.path.join(bin_folder, "dadsim"))
        environment = {**os.environ, "PATH": bin_folder + ":" + os.environ["PATH"]}
        lines = subprocess.run([BINARY, "sweep", path, "--tasks", "3", "--out", self.path("it's.sqlite")], check=True,
                               capture_output=True, text=True, timeout=60).stdout.splitlines()
        self.assertEqual(len(lines), 4)
        if shutil.which("parallel"):
            subprocess.run(["parallel", "--will-cite", "-j", "2"], input="\n".join(lines), text=True, check=True, env=environment,
                           timeout=300)
        else:
            print("not tried: GNU parallel (Debian: parallel)")
            for line in lines[:3]:
                subprocess.run(line, shell=True, check=True, env=environment, timeout=300)
        subprocess.run(lines[3].replace("# then:", "") + " --quiet", shell=True, check=True, env=environment, timeout=300)
        with open(self.path("it's.sqlite"), "rb") as file:
            self.assertEqual(file.read(), whole)

    def test_other_build_is_refused_by_name(self):
        path = self.write("build.xml", **LEARNED)
        own = pieces._dadsim.build
        try:
            class Other:
                def __getattr__(self, name):
                    return (lambda: own() + "-other") if name == "build" else getattr(dadsim._dadsim, name)

            pieces._dadsim = Other()
            with self.assertRaisesRegex(dadsim.InputError, "has build .* of dadsim, and this is .*-other"):
                dadsim.sweep(path, client=self.client)
        finally:
            pieces._dadsim = dadsim._dadsim


if __name__ == "__main__":
    unittest.main()
