"""Sweeps on many machines, by Dask (docs/many-machines.md).

    dadsim.sweep("x.xml", client=distributed.Client("tcp://scheduler:8786"))
    dadsim sweep x.xml --on tcp://scheduler:8786     # starts main() in a process that it talks to by standard streams

Dask decides who does what, moves data between workers, and does again what a lost worker had in hand. Here is what it
is asked for: pieces, each of some points that learn the same, and what they learn, once. A piece is data: the point's
settings and its hash, for the module `dadsim` that every worker has; results are files of results in a few kilobytes.
"""

import collections
import struct
import time

from . import _dadsim, pieces
from ._dadsim import ResourceError

SECONDS_OF_A_PIECE = 1.0  # the scheduler takes milliseconds for one


def _do(files, name, path, data, build, piece, learned):
    """Does a piece, on a worker."""
    before = learned[3] if learned else b""
    return pieces.on_worker(lambda there, threads: _dadsim.do_piece(there, piece, before, threads), files, name, path, data, build)


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
        try:
            while self.todo > 0:
                self.fill()
                self.wait(0.5)
                self.say()
        except Exception as error:
            if pieces.is_ours(error) or (self.client.status == "running" and not isinstance(error, OSError)):
                raise
            raise ResourceError(f"the scheduler is gone; {self.words()}; the same call goes on") from None
        finally:
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


class _SweepOfParent:
    """A sweep whose points and file are those of the process that has started this one."""

    def __init__(self, parent):
        self.parent = parent
        self.files = parent.about()[2]
        self.trials = parent.number()
        self.batches = [parent.number() for _ in range(parent.number())]

    def piece(self, batch, first, count, learn_only):
        self.parent.ask(b"n" + struct.pack("=QQQB", batch, first, count, learn_only))
        return self.parent.text()

    def take(self, results, address):
        self.parent.ask(b"t" + pieces.of_text(results) + pieces.of_text(address))


def main(address):
    parent = pieces.Parent()
    return pieces.work_for(parent, address, lambda client, path: _Handing(
        client, _SweepOfParent(parent), path, lambda text: parent.ask(b"p" + pieces.of_text(text))).run())
