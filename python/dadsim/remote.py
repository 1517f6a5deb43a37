"""Learning of event-driven runs, and of the rungs of scale studies, by the workers of Dask (docs/many-machines.md).

    dadsim.run("federated.xml", client=distributed.Client("tcp://scheduler:8786"))
    dadsim federated.xml --on tcp://scheduler:8786    # starts main() in a process that it talks to by standard streams

Tasks come from a call of the C++ side, which waits for them: local training, gradients, evaluations, each from weights
that have a name. They travel in batches of about a second; weights that several need travel once to each worker.
"""

import collections
import os
import struct
import threading

from . import _dadsim, pieces
from ._dadsim import InputError, ResourceError

SECONDS_OF_A_PIECE = 0.5  # a round waits for the last one
STATES_KEPT = 32  # by the scheduler, beside those in use
GONE = "the scheduler is gone; what was learned is lost with this call"


def _do(files, name, path, data, build, piece, names, *states):
    """Does a piece, on a worker."""
    return pieces.on_worker(
        lambda there, threads: _dadsim.do_tasks(there, piece, list(zip(names, states)), threads),
        files, name, path, data, build)


class _Piece:
    def __init__(self, number, count, content, states):
        self.number, self.count, self.content, self.states = number, count, content, states
        self.tried = []


class Handing(pieces.Handing):
    """Hands tasks to a client as long as there may be any. `tasks`: RemoteTasks, or who speaks for them elsewhere;
    `files`: called for the names of all files that tasks may need by now."""

    do, name = staticmethod(_do), "tasks"

    def __init__(self, client, tasks, path, files):
        super().__init__(client, path)
        self.tasks, self.files = tasks, files
        self.states = collections.OrderedDict()  # name: future
        self.open = 0  # tasks that were left when the last piece was taken
        self.names = None  # of the files in the bundle
        self.bundle_of_names = None

    def run(self):
        """Until the call is over. What goes wrong ends the call."""
        try:
            while True:
                self.fill()
                if not self.futures and self.tasks.over():
                    return
                if self.futures:
                    self.wait(0.05)
                    if self.tasks.over():
                        return
        except InputError as error:
            self.tasks.fail(str(error), True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the call must not wait for ever
            gone = not pieces.is_ours(error) and (self.client.status != "running" or isinstance(error, OSError))
            self.tasks.fail(GONE if gone else str(error) or repr(error), False)
        finally:
            self.cancel()

    def fill(self):
        for _ in range(self.room()):
            # Fewer where others would stand idle.
            most = self.fit(SECONDS_OF_A_PIECE, self.open // (pieces.PIECES_PER_THREAD * self.threads()) + 1)
            number, count, self.open, content, states = self.tasks.next(most, 0.0 if self.futures else 0.1)
            if number == 0:
                return
            self.submit(_Piece(number, count, content, states))

    def bundle(self):
        names = self.files()
        if names != self.names:
            self.names, self.bundle_of_names = names, pieces.Bundle(self.client, names)
        return self.bundle_of_names

    def state(self, name):
        """Weights of that name, which go to each worker that needs them once."""
        if name in self.states:
            self.states.move_to_end(name)
        else:
            self.states[name] = self.client.submit(pieces.deliver, self.tasks.state(name), key="dadsim-state-" + name)
        while len(self.states) > STATES_KEPT:
            self.states.popitem(last=False)
        return self.states[name]

    def arguments(self, piece):
        return piece.content, piece.states, *[self.state(name) for name in piece.states]

    def took(self, piece, future, address, results, seconds):
        self.tasks.take(piece.number, results, address)
        self.learn_pace(piece, seconds)

    def again(self, piece, address, why):
        """Elsewhere; then in halves, so that what ends workers stands alone in the end; and then the call ends."""
        piece.tried.append(address or f"a worker {len(piece.tried)}")
        if piece.count > 1 and (address is None or len(piece.tried) >= len(self.client.nthreads())):
            return self.tasks.put_back(piece.number)
        if len(piece.tried) < pieces.TRIES and (address is None or len(piece.tried) < len(self.client.nthreads())):
            return self.submit(piece)
        raise ResourceError(f"an operation of learning could be done by no worker: {why}")


def run(client, path, settings, threads, progress):
    """dadsim.run() over the workers of a distributed.Client; returns what the C++ side gives."""
    scenario = _dadsim.load(path, settings)  # whereupon the files that it names are known
    del scenario
    tasks = _dadsim.RemoteTasks()
    handing = Handing(client, tasks, path, _dadsim.input_files)
    thread = threading.Thread(target=handing.run, name="dadsim-remote")
    thread.start()
    try:
        return _dadsim.run_remotely(path, settings, tasks, threads, progress)
    finally:
        thread.join()


# ---- what the program `dadsim` starts ----


class _TasksOfParent:
    """The tasks of the process that has started this one."""

    def __init__(self, parent):
        self.parent = parent
        self.put_back = lambda number: parent.ask(b"b" + struct.pack("=Q", number))
        self.fail = parent.fail
        self.is_over = False

    def next(self, most, seconds):
        parent = self.parent
        parent.ask(b"n" + struct.pack("=Qd", most, seconds))
        number, count, left = parent.number(), parent.number(), parent.number()
        self.is_over = parent.truth()
        return number, count, left, parent.text(), [os.fsdecode(name) for name in parent.texts()]

    def state(self, name):
        self.parent.ask(b"s" + pieces.of_text(name))
        return self.parent.text()

    def take(self, number, results, address):
        self.parent.ask(b"t" + struct.pack("=Q", number) + pieces.of_text(results) + pieces.of_text(address))

    def over(self):
        if not self.is_over:
            self.next(0, 0.0)
        return self.is_over


def main(address):
    parent = pieces.Parent()
    return pieces.work_for(parent, address, lambda client, path: Handing(
        client, _TasksOfParent(parent), path, lambda: parent.about()[2]).run())
