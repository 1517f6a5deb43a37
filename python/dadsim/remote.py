"""Runs sweeps, and learning of event-driven runs and of scale studies, on the workers of Dask (docs/many-machines.md).

    dadsim.sweep("x.xml", client=distributed.Client("tcp://scheduler:8786"))
    dadsim sweep x.xml --on tcp://scheduler:8786      # starts main() in a process, and talks to it by standard streams

A call on the C++ side makes tasks and waits for them: a trial of a sweep, learning that several trials share, local training,
gradients, evaluations. Data that several tasks need (weights, learned runs) have a name and are sent once to each worker.
Tasks are sent in batches of about half a second. A task is data for the module `dadsim`, which every worker has.
"""

import collections
import os
import struct
import threading

from . import _dadsim, pieces
from ._dadsim import InputError

SECONDS_OF_A_PIECE = 0.5  # a round waits for its last piece; the scheduler takes milliseconds per piece
STATES_KEPT = 32  # states that the scheduler keeps in addition to those in use
LEARNING = 1  # TaskContext::Kind, the first byte of a piece; a task of learning has a duration of its own


def _do(files, name, path, data, build, piece, names, *states):
    """Runs a piece on a worker."""
    return pieces.on_worker(
        lambda there, threads: _dadsim.do_tasks(there, piece, list(zip(names, states)), threads),
        files, name, path, data, build)


class _Piece:
    def __init__(self, number, count, content, states):
        self.number, self.count, self.content, self.states = number, count, content, states
        self.tried = []


class Handing(pieces.Handing):
    """Hands tasks to a client until there can be no more. `tasks`: RemoteTasks, or an object that stands for them in another
    process. `files`: returns the names of all files that tasks may need so far."""

    do, name = staticmethod(_do), "tasks"

    def __init__(self, client, tasks, path, files):
        super().__init__(client, path)
        self.tasks, self.files = tasks, files
        self.states = collections.OrderedDict()  # name: future
        self.open = 0  # number of tasks that were open when the last piece was taken
        self.names = None  # names of the files in the bundle; None: not known yet
        self.bundle_of_names = None

    def run(self):
        """Hands out tasks until the call is over. An error ends the call."""
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
            if not pieces.is_ours(error) and (self.client.status != "running" or isinstance(error, OSError)):
                self.tasks.give_up(0, "the scheduler is gone")
            else:
                self.tasks.fail(str(error) or repr(error), False)
        finally:
            self.cancel()

    def fill(self):
        for _ in range(self.room()):
            # Takes fewer tasks if other workers would be idle.
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
        """Returns the weights of this name, which are sent once to each worker that needs them."""
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
        if piece.content[0] != LEARNING:
            self.learn_pace(piece, seconds)

    def again(self, piece, address, why):
        """Tries a piece on another worker, then in halves, until a task that ends its workers is alone; then gives it up."""
        piece.tried.append(address or f"a worker {len(piece.tried)}")
        workers = min(pieces.TRIES, len(self.client.nthreads()))
        if piece.count > 1 and (address is None or len(piece.tried) >= workers):
            return self.tasks.put_back(piece.number)
        if len(piece.tried) < (pieces.TRIES if address is None else workers):
            return self.submit(piece)
        self.tasks.give_up(piece.number, why)


def _handed_out(client, path, call):
    """Returns the result of call(tasks), whose tasks run on the workers of a distributed.Client."""
    tasks = _dadsim.RemoteTasks()
    handing = Handing(client, tasks, path, _dadsim.input_files)
    thread = threading.Thread(target=handing.run, name="dadsim-remote")
    thread.start()
    try:
        return call(tasks)
    finally:
        thread.join()


def run(client, path, settings, threads, progress):
    """Runs dadsim.run() on the workers of a distributed.Client, and returns the result of the C++ side."""
    scenario = _dadsim.load(path, settings)  # loading finds the files that the scenario names
    del scenario
    return _handed_out(client, path, lambda tasks: _dadsim.run_remotely(path, settings, tasks, threads, progress))


def sweep(client, path, file, settings, progress):
    """Runs dadsim.sweep() on the workers of a distributed.Client, and returns the result of the C++ side."""
    return _handed_out(client, path, lambda tasks: _dadsim.sweep_remotely(path, file, settings, tasks, progress))


# ---- what the program `dadsim` starts ----


class _TasksOfParent:
    """Tasks of the parent process."""

    def __init__(self, parent):
        self.parent = parent
        self.put_back = lambda number: parent.ask(b"b" + struct.pack("=Q", number))
        self.give_up = lambda number, why: parent.ask(b"l" + struct.pack("=Q", number) + pieces.of_text(why))
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
