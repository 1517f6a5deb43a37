"""Sweeps on many machines, by Dask (docs/many-machines.md).

    dadsim.sweep("x.xml", client=distributed.Client("tcp://scheduler:8786"))
    python3 -m dadsim.many --on tcp://scheduler:8786 x.xml     # what `dadsim sweep --on` starts

Dask decides who does what, moves data between workers, and does again what a lost worker had in hand. Here is what it
is asked for: pieces, each of some points that learn the same, and what they learn, once. A piece is data: the point's
settings and its hash, for the module `dadsim` that every worker has; results are files of results in a few kilobytes.
"""

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules are loaded, which takes seconds

import argparse
import collections
import hashlib
import logging
import os
import queue
import sys
import tempfile
import threading
import time

import distributed

from . import _dadsim
from ._dadsim import InputError, OutputError, ResourceError, SimulationError, Stopped

SECONDS_OF_A_PIECE = 1.0  # the scheduler takes milliseconds for one
PIECES_PER_THREAD = 2  # with a worker: one in hand and one that waits
TRIES = 4  # on as many workers, where a piece ends them or finds no room there
SCHEDULER_IS_GONE = 20.0  # seconds without it


# ---- on a worker ----

_unpacking = threading.Lock()
_folders = {}


def _unpacked(files, name):
    """A folder with these files under their own paths; once per process."""
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
    """What call(path, threads) gives there. What is returned begins with how that went; what is raised is a fault of this
    module."""
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


def _do(files, name, path, data, build, piece, learned):
    """Does a piece."""
    before = learned[3] if learned else b""
    return on_worker(lambda there, threads: _dadsim.do_piece(there, piece, before, threads), files, name, path, data, build)


# ---- at the client ----


class Bundle:
    """Files that go to each worker once, and come back to who lost them."""

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
        # A task of its own, so that it can be had again where the workers that held it are gone.
        self.future = client.submit(deliver, content, key="dadsim-files-" + self.name)


_interrupted, _looks = threading.Event(), threading.Event()


def _interrupt(*_):
    _interrupted.set()
    if not _looks.is_set():  # else Python might let go what is raised, where an object is deleted
        raise KeyboardInterrupt


def is_ours(error):
    return isinstance(error, (_dadsim.Error, KeyboardInterrupt))


def refuse_other_build(address, build):
    raise InputError(f"{address} has build {build} of dadsim, and this is {_dadsim.build()}; the same on all machines")


class _Piece:
    """Trials `first` … of a batch, and of those behind it where it has not so many; or what they learn."""

    def __init__(self, batch, first, count, learn_only=False):
        self.batch, self.first, self.count, self.learn_only = batch, first, count, learn_only
        self.tried = []  # workers without room for it, or that were lost with it

    def halves(self):
        half = self.count // 2
        return [_Piece(self.batch, self.first, half), _Piece(self.batch, self.first + half, self.count - half)]


class _Handing:
    """Hands pieces to a client and takes what comes back."""

    def __init__(self, client, shared, path, data, progress):
        self.client, self.shared, self.path, self.data, self.progress = client, shared, path, data, progress
        self.returned = queue.SimpleQueue()
        self.futures = {}  # key: (future, piece)
        self.learned = {}  # batch: its future
        self.sizes = shared.batches
        self.open_batches = collections.deque(range(len(self.sizes)))
        self.ready = collections.deque()  # pieces whose learning is there
        self.left_of = {}  # trials of a batch that are still to be done, where what it learned is there
        self.todo = sum(self.sizes)
        self.before = shared.trials - self.todo
        self.done = 0
        self.seconds_of_a_trial = None
        self.begun = time.monotonic()
        self.lost = collections.Counter()  # points and seeds that no worker could do, by what was wrong
        self.attempt = 0
        self.bundle = Bundle(client, shared.files)

    def run(self):
        silent_since = None
        _looks.set()
        try:
            while self.todo > 0:
                if _interrupted.is_set():
                    raise KeyboardInterrupt
                self.fill()
                try:
                    key = self.returned.get(timeout=0.5)
                except queue.Empty:
                    key = None
                if self.client.status == "running":
                    silent_since = None
                elif silent_since is None:
                    silent_since = time.monotonic()
                silent = silent_since is not None and time.monotonic() - silent_since > SCHEDULER_IS_GONE
                if silent or self.client.status == "closed":
                    raise OSError
                if key is not None:
                    self.take(key)
                self.say()
        except Exception as error:
            if is_ours(error) or (self.client.status == "running" and not isinstance(error, OSError)):
                raise
            raise ResourceError(f"the scheduler is gone; {self.words()}; the same call goes on") from None
        finally:
            _looks.clear()
            if self.futures or self.learned:
                try:
                    self.client.cancel([future for future, _ in self.futures.values()] + list(self.learned.values()))
                except Exception:  # noqa: BLE001 - the scheduler may be gone
                    pass
        if self.lost:
            lost = "; ".join(f"{count} could be done by no worker: {why}" for why, count in self.lost.items())
            raise ResourceError(f"{lost}; {self.words()}; the same call tries the others again")

    def words(self):
        return f"{self.before + self.done} of {self.shared.trials} points and seeds are in the file"

    def say(self):
        if self.progress is None:
            return
        text = f"sweep: {self.before + self.done} of {self.shared.trials} done"
        if self.done:
            text += f", about {(time.monotonic() - self.begun) / self.done * self.todo:.0f} s left"
        self.progress(text)

    def threads(self):
        return max(1, sum(self.client.nthreads().values()))

    def fill(self):
        """As many pieces under way as the workers can use, those first whose learning is there."""
        room = PIECES_PER_THREAD * self.threads() - len(self.futures)
        while room > 0:
            if self.ready:
                piece = self.next_ready()
            elif self.open_batches:
                piece = self.next_open()
            else:
                return
            self.submit(piece)
            room -= 1

    def next_open(self):
        """What a batch learns; or, of batches of one trial, as many as a piece takes."""
        batch = self.open_batches.popleft()
        size = self.sizes[batch]
        if size > 1:
            return _Piece(batch, 0, size, learn_only=True)
        count = 1
        while count < self.fit() and self.open_batches and self.sizes[batch + count] == 1:
            self.open_batches.popleft()
            count += 1
        return _Piece(batch, 0, count)

    def fit(self):
        """Trials that take about as long as a piece should; fewer at the end, so that nobody waits for one worker."""
        if self.seconds_of_a_trial is None:
            return 1
        fit = int(SECONDS_OF_A_PIECE / max(self.seconds_of_a_trial, 1e-6))
        return max(1, min(fit, self.todo // (PIECES_PER_THREAD * self.threads())))

    def next_ready(self):
        """The next one, cut to what takes about as long as a piece should."""
        piece = self.ready.popleft()
        fit = piece.count if piece.tried else self.fit()
        if fit < piece.count:
            self.ready.appendleft(_Piece(piece.batch, piece.first + fit, piece.count - fit))
            piece = _Piece(piece.batch, piece.first, fit)
        return piece

    def submit(self, piece):
        self.attempt += 1
        elsewhere = [worker for worker in self.client.nthreads() if worker not in piece.tried] if piece.tried else None
        future = self.client.submit(
            _do,
            self.bundle.future,
            self.bundle.name,
            self.path,
            self.data,
            _dadsim.build(),
            self.shared.piece(piece.batch, piece.first, piece.count, piece.learn_only),
            self.learned.get(piece.batch),
            key=f"dadsim-piece-{self.bundle.name[:12]}-{id(self):x}-{self.attempt}",
            workers=elsewhere or None,
            allow_other_workers=bool(elsewhere),
            pure=False,
        )
        self.futures[future.key] = future, piece
        future.add_done_callback(lambda one: self.returned.put(one.key))

    def take(self, key):
        future, piece = self.futures.pop(key, (None, None))
        if future is None:
            return
        if future.status == "cancelled" or future.status == "lost":
            self.again(piece, None, "Dask lost it")
            return
        if future.status == "error":
            error = future.exception()
            if isinstance(error, distributed.scheduler.KilledWorker):
                return self.again(piece, None, f"its worker died, again and again ({error.last_worker.address})")
            raise error
        how, address, what, results = future.result()
        if how == "build":
            refuse_other_build(address, what)
        if how == "input":
            raise InputError(f"{address}: {what}")
        if how == "room":
            return self.again(piece, address, what)
        self.shared.take(results, address)
        if piece.learn_only:
            self.learned[piece.batch] = future
            self.left_of[piece.batch] = piece.count
            self.ready.append(_Piece(piece.batch, piece.first, piece.count))
            return
        share = what / piece.count
        known = self.seconds_of_a_trial
        self.seconds_of_a_trial = share if known is None else 0.7 * known + 0.3 * share
        self.count_off(piece)

    def count_off(self, piece, done=True):
        self.todo -= piece.count
        if done:
            self.done += piece.count
        if piece.batch in self.left_of:
            self.left_of[piece.batch] -= piece.count
            if self.left_of[piece.batch] == 0:
                del self.left_of[piece.batch], self.learned[piece.batch]

    def again(self, piece, address, why):
        """Elsewhere, in halves, so that what ends workers stands alone in the end; and then it is said."""
        piece.tried.append(address or f"a worker {len(piece.tried)}")
        if len(piece.tried) < TRIES and address is not None and len(piece.tried) < len(self.client.nthreads()):
            return self.submit(piece)
        if piece.count > 1 and not piece.learn_only:
            for half in piece.halves():
                half.tried = [address] if address else []
                self.submit(half)
            return
        if address is None and len(piece.tried) < TRIES:
            return self.submit(piece)
        self.lost[why] += piece.count
        self.count_off(piece, done=False)


def sweep(client, path, file, settings, progress):
    """dadsim.sweep() over the workers of a distributed.Client; returns what the C++ side gives."""
    shared = _dadsim.share_sweep(path, file, settings, progress)
    data = os.environ.get("DADSIM_DATA", "")
    handing = _Handing(client, shared, os.path.abspath(path), os.path.abspath(data) if data else "", progress)
    try:
        handing.run()
    finally:
        swept = shared.finish()
    return swept


def main(arguments):
    parser = argparse.ArgumentParser(prog="dadsim sweep --on")
    parser.add_argument("--on", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--csv")
    parser.add_argument("--report")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("scenario")
    asked = parser.parse_args(arguments)
    progress = None
    if not asked.quiet and sys.stderr.isatty():
        progress = lambda text: print("\r\033[K" + text, end="", file=sys.stderr, flush=True)  # noqa: E731
    signal.signal(signal.SIGINT, _interrupt)
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what there is to say of it is said below
    try:
        try:
            client = distributed.Client(asked.on, timeout=10)
        except (OSError, ValueError) as error:
            raise ResourceError(f"no scheduler of Dask at '{asked.on}': {error}") from None
        with client:
            swept = sweep(client, asked.scenario, asked.out, [tuple(one.split("=", 1)) for one in asked.set], progress)
        if progress is not None:
            progress("")
        for name, text in ((asked.csv, swept.csv), (asked.report, swept.html)):
            if name == "-":
                sys.stdout.write(text())
            elif name:
                _write_whole(name, text())
        if not asked.quiet and "-" not in (asked.csv, asked.report):
            sys.stdout.write(swept.table())
        if swept.failed:
            raise SimulationError(f"the simulation of {swept.failed} of {swept.points} points failed; the table has the words")
    except InputError as error:
        return _end(error, 3)
    except OutputError as error:
        return _end(error, 4)
    except (ResourceError, SimulationError) as error:
        return _end(error, 5)
    except (KeyboardInterrupt, Stopped):
        return _end(f"interrupted; what is finished is in '{asked.out}', and the same command goes on", 130)
    return 0


def _write_whole(path, text):
    try:
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(os.path.abspath(path)), delete=False) as beside:
            beside.write(text)
        os.chmod(beside.name, 0o644)
        os.replace(beside.name, path)
    except OSError as error:
        raise OutputError(f"cannot write '{path}': {error}") from None


def _end(error, code):
    print(f"dadsim: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    from dadsim import many  # by that name workers find it

    sys.exit(many.main(sys.argv[1:]))
