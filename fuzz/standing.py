"""Runs a program at the cost of a fork instead of a start (standing.c)."""

import array
import mmap
import os
import pathlib
import resource
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import time

SOURCE = pathlib.Path(__file__).resolve().parent / "standing.c"


def compiled(folder):
    """Compiles the library in this folder and returns its path; None without a C compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    library = pathlib.Path(folder) / "standing.so"
    subprocess.run([compiler, "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    return library


def sanitized(binary):
    """Returns True if the program is built with AddressSanitizer or ThreadSanitizer. These need terabytes of address space, are slow,
    and must be loaded before other libraries, so the program cannot be preloaded."""
    with open(binary, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        return any(image.find(mark) >= 0 for mark in (b"__asan_init", b"__tsan_init"))


def longer(binary):
    """Returns the factor on time limits for this program."""
    return 10 if sanitized(binary) else 1


def in_line():
    """Returns the factor by which the present load makes this machine slower than an idle one."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Ended:
    """The end of a run: exit code as in subprocess, and output. `late`: exceeded the limit and was interrupted. `killed`: did not
    end after the interrupt either. `orphan`: left a process behind."""

    def __init__(self):
        self.code, self.out, self.err, self.late, self.killed, self.orphan = None, b"", b"", False, False, False


class Standing:
    """A process in which the program is loaded, and which forks for each run. `preload`: libraries in addition to that of standing.c."""

    def __init__(self, binary, library, preload=(), environment=None):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.socket, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        preloads = ":".join(map(str, [*preload, library]))
        self.process = subprocess.Popen([os.path.abspath(binary)], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                                        env=dict(environment or os.environ, LD_PRELOAD=preloads, DADSIM_STANDING=str(theirs.fileno())))  # fmt: skip
        theirs.close()

    def close(self):
        """Ends the process, which adds the resources of all runs to those of this process's children."""
        self.socket.close()
        self.process.wait()

    def warm_up(self, arguments, cwd):
        """Runs a command in the loaded process itself, so that all later runs have its caches. The command must succeed."""
        order = struct.pack("=QQQ", (1 << 64) - 1, 0, 0) + b"".join(os.fsencode(text) + b"\0" for text in [cwd, "0", *arguments])
        with open(os.devnull, "wb") as nowhere:
            self.socket.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [nowhere.fileno(), nowhere.fileno()]))])
            if self.answer() != 0:
                raise RuntimeError(f"{arguments} leaves threads behind")

    def answer(self):
        (number,) = struct.unpack("=i", self.socket.recv(4))
        return number

    def run(self, arguments, cwd, limit, grace=0, environment=(), memory=0, file_size=0, hasty=False):
        """Runs a command for at most `limit` seconds of an idle machine; then sends SIGINT, and SIGKILL after `grace` seconds. Without
        grace, sends SIGKILL at once. Raises OSError if the arguments exceed the system's limit, as exec does. `hasty`: skips what
        libraries do at the end of a process."""
        words = [os.fsencode(word) for word in arguments]
        if any(len(word) >= 131072 for word in words):
            raise OSError("an argument of 128 KiB")  # Linux's MAX_ARG_STRLEN
        texts = [os.fsencode(cwd), b"%d" % len(environment), *map(os.fsencode, environment), *words]
        order = struct.pack("=QQQ", memory, file_size, hasty) + b"".join(text + b"\0" for text in texts)
        if len(order) > 1 << 18:
            raise OSError("arguments of 256 KiB")
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        self.socket.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [out_end, err_end]))])
        os.close(out_end)
        os.close(err_end)
        pid = self.answer()
        if pid < 0:
            raise RuntimeError("no process to be had")
        ended, said = Ended(), {out: [], err: []}
        deadline = time.monotonic() + limit * in_line()
        # Waits for two pipes and the answer. Pipes may end long before the process, or after it if children keep them
        # open.
        with selectors.DefaultSelector() as waiting:
            for one in (out, err, self.socket):
                waiting.register(one, selectors.EVENT_READ)
            while waiting.get_map():
                events = waiting.select(max(0.0, deadline - time.monotonic()))
                for key, _ in events:
                    if key.fileobj is self.socket:
                        status = self.answer()
                        waiting.unregister(self.socket)
                        ended.code = os.waitstatus_to_exitcode(status)
                        ended.orphan = self.left_behind(pid)
                        continue
                    piece = os.read(key.fd, 65536)
                    said[key.fd].append(piece)
                    if not piece:
                        waiting.unregister(key.fd)
                if events or time.monotonic() < deadline:
                    continue
                deadline = time.monotonic() + max(grace, 1) * in_line()
                if grace and not ended.late:
                    ended.late = True
                    os.kill(pid, signal.SIGINT)
                else:
                    ended.killed = True
                    os.killpg(pid, signal.SIGKILL)
        os.close(out)
        os.close(err)
        ended.out, ended.err = b"".join(said[out]), b"".join(said[err])
        return ended

    @staticmethod
    def left_behind(pid):
        """Returns True if a process remains. Waits a moment first, as a child needs time to end after its parent."""
        deadline = time.monotonic() + in_line()
        try:
            while time.monotonic() < deadline:
                os.killpg(pid, 0)
                time.sleep(0.005)
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


def started(command, cwd, limit, grace=0, environment=None, memory=0, file_size=0):
    """Runs a command like Standing.run(), but in a process that is started normally."""

    def limits():
        os.setpgid(0, 0)
        for what, size in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, file_size)):
            if size:
                resource.setrlimit(what, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=limits)  # fmt: skip
    ended = Ended()
    try:
        ended.out, ended.err = process.communicate(timeout=limit * in_line())
    except subprocess.TimeoutExpired:
        if grace:
            ended.late = True
            process.send_signal(signal.SIGINT)
        try:
            ended.out, ended.err = process.communicate(timeout=grace * in_line() or 0.001)
        except subprocess.TimeoutExpired:
            ended.killed = True
            os.killpg(process.pid, signal.SIGKILL)
            ended.out, ended.err = process.communicate()
    ended.code = process.returncode
    ended.orphan = Standing.left_behind(process.pid)
    return ended
