"""Hands out pieces of work to Dask, runs them on workers, and takes back their results. remote.py defines the pieces."""

import hashlib
import logging
import os
import queue
import struct
import sys
import tempfile
import threading
import time

import distributed

from . import _dadsim
from ._dadsim import InputError, ResourceError

PIECES_PER_THREAD = 2  # pieces per thread of a worker: one running, and one waiting
TRIES = 4  # number of workers that may try a piece which ends them or finds no room
SCHEDULER_IS_GONE = 20.0  # seconds after which a scheduler without an answer counts as gone


# ---- on a worker ----

_unpacking = threading.Lock()
_folders = {}


def _unpacked(files, name):
    """Returns a folder with these files under their own paths, which is made once per process."""
    with _unpacking:
        if name not in _folders:
            folder = tempfile.TemporaryDirectory(prefix="dadsim-")
            for path, content in files.items():
                there = folder.name + path
                os.makedirs(os.path.dirname(there), exist_ok=True)
                with open(there, "wb") as file:
                    file.write(content)
            _folders[name] = folder
        return _folders[name].name


def deliver(what):
    return what


def on_worker(call, files, name, path, data, build):
    """Returns the result of call(path, threads) on this worker, after a word for its outcome ("done", "input", "room", "build").
    An exception is an error of this module."""
    worker = distributed.get_worker()
    address = worker.address
    if _dadsim.build() != build:
        return "build", address, _dadsim.build(), None
    begun = time.monotonic()
    try:
        folder = _unpacked(files, name)
        if data:
            os.environ["DADSIM_DATA"] = folder + data
        result = call(folder + path, worker.state.nthreads)
        return "done", address, time.monotonic() - begun, result
    except InputError as error:
        return "input", address, str(error).replace(_folders[name].name, "") if name in _folders else str(error), None
    except (ResourceError, OSError, MemoryError) as error:
        return "room", address, str(error) or "out of memory", None


# ---- at the client ----


class Bundle:
    """Files that are sent once to each worker, and again to a worker that lost them."""

    def __init__(self, client, names):
        content = {}
        for name in names:
            if os.path.isfile(name):
                with open(name, "rb") as file:
                    content[os.path.abspath(name)] = file.read()
        digest = hashlib.sha256()
        for name in sorted(content):
            digest.update(name.encode() + b"\0" + hashlib.sha256(content[name]).digest())
        self.name = digest.hexdigest()
        # A separate task, so that it can be repeated if the workers that have its result are gone.
        self.future = client.submit(deliver, content, key="dadsim-files-" + self.name)


def is_ours(error):
    return isinstance(error, (_dadsim.Error, KeyboardInterrupt))


class Handing:
    """Hands pieces to a client and takes their results. A piece is any object with `count`, its number of tasks, and
    `tried`, a list of the workers that had no room for it or were lost with it.

    A subclass defines
      do, name           the function that a worker calls, and a word for the names of its tasks
      bundle()           the files that the function needs
      arguments(piece)   its arguments after those of on_worker()
      took(piece, future, address, results, seconds)   takes the results of a piece
      again(piece, address, why)   repeats a piece that was lost (`address` is None) or that a worker had no room for
    """

    do, name = None, "piece"

    def __init__(self, client, path):
        data = os.environ.get("DADSIM_DATA", "")
        self.client, self.path = client, os.path.abspath(path)
        self.data = os.path.abspath(data) if data else ""
        self.returned = queue.SimpleQueue()
        self.futures = {}  # key: (future, piece)
        self.seconds_of_one = None  # mean seconds per task of a piece
        self.attempt = 0
        self.silent_since = None

    def threads(self):
        return max(1, sum(self.client.nthreads().values()))

    def room(self):
        """Returns the number of further pieces that the workers have room for."""
        return PIECES_PER_THREAD * self.threads() - len(self.futures)

    def fit(self, seconds, left):
        """Returns the number of tasks that take about `seconds`; fewer near the end, so that no worker is waited for."""
        if self.seconds_of_one is None:
            return 1
        return max(1, min(int(seconds / max(self.seconds_of_one, 1e-6)), left))

    def submit(self, piece):
        self.attempt += 1
        bundle = self.bundle()
        there = self.client.nthreads() if piece.tried else ()
        elsewhere = [worker for worker in there if worker not in piece.tried]
        # Without this restriction, an idle worker without room would take the piece back from a busy worker.
        piece.only = elsewhere if len(elsewhere) < len(there) else []
        future = self.client.submit(
            type(self).do, bundle.future, bundle.name, self.path, self.data, _dadsim.build(), *self.arguments(piece),
            key=f"dadsim-{self.name}-{bundle.name[:12]}-{id(self):x}-{self.attempt}",
            workers=piece.only or None, pure=False,
        )
        self.futures[future.key] = future, piece
        future.add_done_callback(lambda one: self.returned.put(one.key))

    def wait(self, seconds):
        """Waits for a piece and takes its results. Raises OSError if the scheduler is gone."""
        try:
            key = self.returned.get(timeout=seconds)
        except queue.Empty:
            key = None
            self.submit_stranded()
        if self.client.status == "running":
            self.silent_since = None
        elif self.silent_since is None:
            self.silent_since = time.monotonic()
        silent = self.silent_since is not None and time.monotonic() - self.silent_since > SCHEDULER_IS_GONE
        if silent or self.client.status == "closed":
            raise OSError("the scheduler is gone")
        if key is not None:
            self.take(key)

    def submit_stranded(self):
        """Submits pieces again whose only possible workers are gone."""
        bound = [key for key, (_, piece) in self.futures.items() if piece.only]
        there = self.client.nthreads() if bound and self.client.status == "running" else ()
        for key in bound if there else ():
            if not any(worker in there for worker in self.futures[key][1].only):
                future, piece = self.futures.pop(key)
                future.cancel()
                self.submit(piece)

    def take(self, key):
        future, piece = self.futures.pop(key, (None, None))
        if future is None:
            return
        if future.status in ("cancelled", "lost"):
            return self.again(piece, None, "Dask lost it")
        if future.status == "error":
            error = future.exception()
            if isinstance(error, distributed.scheduler.KilledWorker):
                return self.again(piece, None, f"its worker died, again and again ({error.last_worker.address})")
            raise error
        how, address, what, results = future.result()
        if how == "build":
            raise InputError(f"{address} has build {what} of dadsim, and this is {_dadsim.build()}; the same on all machines")
        if how == "input":
            raise InputError(f"{address}: {what}")
        if how == "room":
            return self.again(piece, address, what)
        self.took(piece, future, address, results, what)

    def learn_pace(self, piece, seconds):
        share = seconds / piece.count
        self.seconds_of_one = share if self.seconds_of_one is None else 0.7 * self.seconds_of_one + 0.3 * share

    def cancel(self, others=()):
        if not self.futures and not others:
            return
        try:
            self.client.cancel([future for future, _ in self.futures.values()] + list(others))
        except Exception:  # noqa: BLE001 - the scheduler may be gone
            pass


# ---- for the program `dadsim`, which starts a process of Python ----


def of_text(content):
    content = os.fsencode(content) if isinstance(content, str) else content
    return struct.pack("=Q", len(content)) + content


class Parent:
    """The parent process, which answers questions. Questions and answers are frames: a length of 8 bytes, then the content.
    Numbers have 8 bytes, and texts follow their length."""

    def __init__(self):
        # Other code that prints must not write into the answers.
        self.questions, self.answers = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
        os.dup2(2, 1)

    def ask(self, question):
        self.questions.write(struct.pack("=Q", len(question)) + question)
        self.questions.flush()
        self.left = memoryview(self.read(struct.unpack("=Q", self.read(8))[0]))

    def read(self, size):
        content = self.answers.read(size)
        if len(content) < size:
            raise EOFError
        return content

    def taken(self, size):
        content, self.left = self.left[:size], self.left[size:]
        return bytes(content)

    def number(self):
        return struct.unpack("=Q", self.taken(8))[0]

    def truth(self):
        return self.taken(1) != b"\0"

    def text(self):
        return self.taken(self.number())

    def texts(self):
        return [self.text() for _ in range(self.number())]

    def about(self):
        """Returns the parent's build, the scenario's path, and the files that the parent has read."""
        self.ask(b"a")
        return self.text().decode(), os.fsdecode(self.text()), [os.fsdecode(name) for name in self.texts()]

    def fail(self, why, is_input):
        self.ask(b"f" + struct.pack("=B", is_input) + of_text(why))


def work_for(parent, address, hand):
    """Calls hand(client, path), which hands out the parent's work, and reports errors to the parent."""
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # the parent reports errors
    try:
        build, path, _ = parent.about()
        if build != _dadsim.build():
            return parent.fail(f"the Python module has build {_dadsim.build()} of dadsim, and the program {build}", True)
        try:
            client = distributed.Client(address, timeout=10)
        except (OSError, TypeError, ValueError) as error:  # TypeError: tls without certificates
            return parent.fail(f"no scheduler of Dask at '{address}': {error}", False)
        try:
            with client:
                hand(client, path)
        except InputError as error:
            parent.fail(str(error), True)
        except _dadsim.Error as error:
            parent.fail(str(error), False)
    except (EOFError, BrokenPipeError):
        return 130
