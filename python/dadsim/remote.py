"""Learning of event-driven runs, and of the rungs of scale studies, by the workers of Dask (docs/many-machines.md).

    dadsim.run("federated.xml", client=distributed.Client("tcp://scheduler:8786"))
    python3 -m dadsim.remote tcp://scheduler:8786     # what `dadsim --on` starts, and talks to by its standard streams

Tasks come from a call of the C++ side, which waits for them: local training, gradients, evaluations, each from weights
that have a name. They travel in batches of about a second; weights that several need travel once to each worker.
"""

import collections
import logging
import os
import signal
import struct
import sys
import threading

import distributed

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
    """The tasks of the process that has started this one, which answers questions. Each is a frame, and so is its answer:
    its length in 8 bytes, then that. Numbers have 8 bytes, texts their length before them."""

    def __init__(self, questions, answers):
        self.questions, self.answers = questions, answers
        self.is_over = False

    def ask(self, question):
        self.questions.write(struct.pack("=Q", len(question)) + question)
        self.questions.flush()
        answer = self.read(struct.unpack("=Q", self.read(8))[0])
        self.left = memoryview(answer)

    def read(self, size):
        content = self.answers.read(size)
        if len(content) < size:
            raise EOFError
        return content

    def number(self):
        (value,) = struct.unpack("=Q", self.left[:8])
        self.left = self.left[8:]
        return value

    def text(self):
        size = self.number()
        content = bytes(self.left[:size])
        self.left = self.left[size:]
        return content

    def texts(self):
        return [self.text().decode() for _ in range(self.number())]

    @staticmethod
    def of_text(content):
        content = content.encode() if isinstance(content, str) else content
        return struct.pack("=Q", len(content)) + content

    def about(self):
        self.ask(b"a")
        return self.text().decode(), self.text().decode(), self.texts()

    def next(self, most, seconds):
        self.ask(b"n" + struct.pack("=Qd", most, seconds))
        number, count, left = self.number(), self.number(), self.number()
        self.is_over = bool(self.left[0])
        self.left = self.left[1:]
        return number, count, left, self.text(), self.texts()

    def state(self, name):
        self.ask(b"s" + self.of_text(name))
        return self.text()

    def take(self, number, results, address):
        self.ask(b"t" + struct.pack("=Q", number) + self.of_text(results) + self.of_text(address))

    def put_back(self, number):
        self.ask(b"b" + struct.pack("=Q", number))

    def fail(self, why, is_input):
        self.ask(b"f" + struct.pack("=B", is_input) + self.of_text(why))

    def over(self):
        if not self.is_over:
            self.next(0, 0.0)
        return self.is_over


def main(address):
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what there is to say of it the parent says
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent, which gets one too, closes the pipe
    # Whatever prints must not answer in the place of this.
    questions = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tasks = _TasksOfParent(questions, sys.stdin.buffer)
    try:
        build, path, _ = tasks.about()
        if build != _dadsim.build():
            tasks.fail(f"the Python module has build {_dadsim.build()} of dadsim, and the program {build}", True)
            return 3
        try:
            client = distributed.Client(address, timeout=10)
        except (OSError, TypeError, ValueError) as error:  # TypeError: tls without certificates
            tasks.fail(f"no scheduler of Dask at '{address}': {error}", False)
            return 5
        with client:
            Handing(client, tasks, path, lambda: tasks.about()[2]).run()
        return 0
    except (EOFError, BrokenPipeError):
        return 130


if __name__ == "__main__":
    from dadsim import remote  # by that name workers find it

    sys.exit(remote.main(sys.argv[1]))
