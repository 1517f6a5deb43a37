"""Learning of event-driven runs, and of the rungs of scale studies, by the workers of Dask (docs/many-machines.md).

    dadsim.run("federated.xml", client=distributed.Client("tcp://scheduler:8786"))
    python3 -m dadsim.remote tcp://scheduler:8786     # what `dadsim --on` starts, and talks to by its standard streams

Tasks come from a call of the C++ side, which waits for them: local training, gradients, evaluations, each from weights
that have a name. They travel in batches of about a second; weights that several need travel once to each worker.
"""

import collections
import logging
import os
import queue
import signal
import struct
import sys
import threading
import time

import distributed

from . import _dadsim
from . import many
from ._dadsim import InputError, ResourceError

SECONDS_OF_A_PIECE = 0.5  # a round waits for the last one
STATES_KEPT = 32  # by the scheduler, beside those in use
GONE = "the scheduler is gone; what was learned is lost with this call"


# ---- on a worker ----


def _do(files, name, path, data, build, piece, names, *states):
    """Does a piece."""
    return many.on_worker(
        lambda there, threads: _dadsim.do_tasks(there, piece, list(zip(names, states)), threads),
        files, name, path, data, build)


# ---- at the client ----


class _Piece:
    def __init__(self, number, tasks, content, states):
        self.number, self.tasks, self.content, self.states = number, tasks, content, states
        self.tried = []


class Handing:
    """Hands tasks to a client as long as there may be any. `tasks`: RemoteTasks, or who speaks for them elsewhere;
    `files`: called for the names of all files that tasks may need by now."""

    def __init__(self, client, tasks, path, files):
        self.client, self.tasks, self.path, self.files = client, tasks, path, files
        data = os.environ.get("DADSIM_DATA", "")
        self.data = os.path.abspath(data) if data else ""
        self.returned = queue.SimpleQueue()
        self.futures = {}  # key: (future, piece)
        self.states = collections.OrderedDict()  # name: future
        self.seconds_of_a_task = None
        self.open = 0  # tasks that were left when the last piece was taken
        self.attempt = 0
        self.names = None  # of the files in the bundle
        self.bundle = None

    def run(self):
        """Until the call is over. What goes wrong ends the call."""
        try:
            silent_since = None
            while True:
                self.fill()
                if not self.futures and self.tasks.over():
                    return
                if self.futures:
                    try:
                        self.take(self.returned.get(timeout=0.05))
                    except queue.Empty:
                        pass
                if self.client.status == "running":
                    silent_since = None
                elif silent_since is None:
                    silent_since = time.monotonic()
                if self.client.status == "closed" or (
                    silent_since is not None and time.monotonic() - silent_since > many.SCHEDULER_IS_GONE
                ):
                    raise ResourceError(GONE)
                if self.futures and self.tasks.over():
                    return
        except InputError as error:
            self.tasks.fail(str(error), True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the call must not wait for ever
            gone = not many.is_ours(error) and (self.client.status != "running" or isinstance(error, OSError))
            self.tasks.fail(GONE if gone else str(error) or repr(error), False)
        finally:
            try:
                self.client.cancel([future for future, _ in self.futures.values()])
            except Exception:  # noqa: BLE001 - the scheduler may be gone
                pass

    def threads(self):
        return max(1, sum(self.client.nthreads().values()))

    def most(self):
        """Tasks of a piece: as many as take about as long as a piece should, and fewer where others would stand idle."""
        if self.seconds_of_a_task is None:
            return 1
        fit = int(SECONDS_OF_A_PIECE / max(self.seconds_of_a_task, 1e-6))
        return max(1, min(fit, self.open // (many.PIECES_PER_THREAD * self.threads()) + 1))

    def fill(self):
        room = many.PIECES_PER_THREAD * self.threads() - len(self.futures)
        while room > 0:
            number, count, self.open, content, states = self.tasks.next(self.most(), 0.0 if self.futures else 0.1)
            if number == 0:
                return
            self.submit(_Piece(number, count, content, states))
            room -= 1

    def state(self, name):
        if name in self.states:
            self.states.move_to_end(name)
        else:
            self.states[name] = self.client.submit(many.deliver, self.tasks.state(name), key="dadsim-state-" + name)
        while len(self.states) > STATES_KEPT:
            self.states.popitem(last=False)
        return self.states[name]

    def submit(self, piece):
        self.attempt += 1
        names = self.files()
        if names != self.names:
            self.names, self.bundle = names, many.Bundle(self.client, names)
        elsewhere = [worker for worker in self.client.nthreads() if worker not in piece.tried] if piece.tried else None
        future = self.client.submit(
            _do,
            self.bundle.future,
            self.bundle.name,
            self.path,
            self.data,
            _dadsim.build(),
            piece.content,
            piece.states,
            *[self.state(name) for name in piece.states],
            key=f"dadsim-tasks-{self.bundle.name[:12]}-{id(self):x}-{self.attempt}",
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
        if future.status in ("cancelled", "lost"):
            return self.again(piece, None, "Dask lost it")
        if future.status == "error":
            error = future.exception()
            if isinstance(error, distributed.scheduler.KilledWorker):
                return self.again(piece, None, f"its worker died, again and again ({error.last_worker.address})")
            raise error
        how, address, what, results = future.result()
        if how == "build":
            many.refuse_other_build(address, what)
        if how == "input":
            raise InputError(f"{address}: {what}")
        if how == "room":
            return self.again(piece, address, what)
        self.tasks.take(piece.number, results, address)
        share = what / piece.tasks
        known = self.seconds_of_a_task
        self.seconds_of_a_task = share if known is None else 0.7 * known + 0.3 * share

    def again(self, piece, address, why):
        """Elsewhere; then in halves, so that what ends workers stands alone in the end; and then the call ends."""
        piece.tried.append(address or f"a worker {len(piece.tried)}")
        if piece.tasks > 1 and (address is None or len(piece.tried) >= len(self.client.nthreads())):
            return self.tasks.put_back(piece.number)
        if len(piece.tried) < many.TRIES and (address is None or len(piece.tried) < len(self.client.nthreads())):
            return self.submit(piece)
        raise ResourceError(f"an operation of learning could be done by no worker: {why}")


def run(client, path, settings, threads, progress):
    """dadsim.run() over the workers of a distributed.Client; returns what the C++ side gives."""
    scenario = _dadsim.load(path, settings)  # whereupon the files that it names are known
    del scenario
    tasks = _dadsim.RemoteTasks()
    handing = Handing(client, tasks, os.path.abspath(path), _dadsim.input_files)
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
        except (OSError, ValueError) as error:
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
