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
import logging
import os
import sys
import tempfile
import threading
import time

import distributed

from . import _dadsim, pieces
from ._dadsim import InputError, OutputError, ResourceError, SimulationError, Stopped

SECONDS_OF_A_PIECE = 1.0  # the scheduler takes milliseconds for one


def _do(files, name, path, data, build, piece, learned):
    """Does a piece, on a worker."""
    before = learned[3] if learned else b""
    return pieces.on_worker(lambda there, threads: _dadsim.do_piece(there, piece, before, threads), files, name, path, data, build)


_interrupted, _looks = threading.Event(), threading.Event()


def _interrupt(*_):
    _interrupted.set()
    if not _looks.is_set():  # else Python might let go what is raised, where an object is deleted
        raise KeyboardInterrupt


class _Piece:
    """Trials `first` … of a batch, and of those behind it where it has not so many; or what they learn."""

    def __init__(self, batch, first, count, learn_only=False):
        self.batch, self.first, self.count, self.learn_only = batch, first, count, learn_only
        self.tried = []  # workers without room for it, or that were lost with it

    def halves(self):
        half = self.count // 2
        return [_Piece(self.batch, self.first, half), _Piece(self.batch, self.first + half, self.count - half)]


class _Handing(pieces.Handing):
    """Hands the pieces of a sweep to a client."""

    do = staticmethod(_do)

    def __init__(self, client, shared, path, progress):
        super().__init__(client, path)
        self.shared, self.progress = shared, progress
        self.learned = {}  # batch: its future
        self.sizes = shared.batches
        self.open_batches = collections.deque(range(len(self.sizes)))
        self.ready = collections.deque()  # pieces whose learning is there
        self.left_of = {}  # trials of a batch that are still to be done, where what it learned is there
        self.todo = sum(self.sizes)
        self.before = shared.trials - self.todo
        self.done = 0
        self.begun = time.monotonic()
        self.lost = collections.Counter()  # points and seeds that no worker could do, by what was wrong
        self.files = pieces.Bundle(client, shared.files)

    def bundle(self):
        return self.files

    def arguments(self, piece):
        return self.shared.piece(piece.batch, piece.first, piece.count, piece.learn_only), self.learned.get(piece.batch)

    def run(self):
        _looks.set()
        try:
            while self.todo > 0:
                if _interrupted.is_set():
                    raise KeyboardInterrupt
                self.fill()
                self.wait(0.5)
                self.say()
        except Exception as error:
            if pieces.is_ours(error) or (self.client.status == "running" and not isinstance(error, OSError)):
                raise
            raise ResourceError(f"the scheduler is gone; {self.words()}; the same call goes on") from None
        finally:
            _looks.clear()
            self.cancel(self.learned.values())
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

    def fill(self):
        """As many pieces under way as the workers can use, those first whose learning is there."""
        for _ in range(self.room()):
            if self.ready:
                self.submit(self.next_ready())
            elif self.open_batches:
                self.submit(self.next_open())
            else:
                return

    def next_open(self):
        """What a batch learns; or, of batches of one trial, as many as a piece takes."""
        batch = self.open_batches.popleft()
        size = self.sizes[batch]
        if size > 1:
            return _Piece(batch, 0, size, learn_only=True)
        count = 1
        while count < self.fit_now() and self.open_batches and self.sizes[batch + count] == 1:
            self.open_batches.popleft()
            count += 1
        return _Piece(batch, 0, count)

    def fit_now(self):
        return self.fit(SECONDS_OF_A_PIECE, self.todo // (pieces.PIECES_PER_THREAD * self.threads()))

    def next_ready(self):
        """The next one, cut to what takes about as long as a piece should."""
        piece = self.ready.popleft()
        fit = piece.count if piece.tried else self.fit_now()
        if fit < piece.count:
            self.ready.appendleft(_Piece(piece.batch, piece.first + fit, piece.count - fit))
            piece = _Piece(piece.batch, piece.first, fit)
        return piece

    def took(self, piece, future, address, results, seconds):
        self.shared.take(results, address)
        if piece.learn_only:
            self.learned[piece.batch] = future
            self.left_of[piece.batch] = piece.count
            self.ready.append(_Piece(piece.batch, piece.first, piece.count))
            return
        self.learn_pace(piece, seconds)
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
        if len(piece.tried) < pieces.TRIES and address is not None and len(piece.tried) < len(self.client.nthreads()):
            return self.submit(piece)
        if piece.count > 1 and not piece.learn_only:
            for half in piece.halves():
                half.tried = [address] if address else []
                self.submit(half)
            return
        if address is None and len(piece.tried) < pieces.TRIES:
            return self.submit(piece)
        self.lost[why] += piece.count
        self.count_off(piece, done=False)


def sweep(client, path, file, settings, progress):
    """dadsim.sweep() over the workers of a distributed.Client; returns what the C++ side gives."""
    shared = _dadsim.share_sweep(path, file, settings, progress)
    handing = _Handing(client, shared, path, progress)
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
        except (OSError, TypeError, ValueError) as error:  # TypeError: tls without certificates
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
