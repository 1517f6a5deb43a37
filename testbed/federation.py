#!/usr/bin/env python3
"""A small real federation: over the lines of a testbed, clients exchange arrays of numbers with a server, which packs, unpacks and
sums them (docs/testbed.md). `scripts/testbed --federation` measures rounds and prints them next to dadsim's predictions.

    federation.py client ADDRESS FLOATS ROUNDS
    federation.py server CLIENTS FLOATS ROUNDS
"""
import array
import os
import pickle
import socket
import struct
import sys
import threading
import time

PORT = 5078
PART = 1 << 20


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def pack(numbers):
    """Returns the numbers as a list of byte strings, into which a framework would split a large message."""
    step = PART // 4
    return pickle.dumps([numbers[i:i + step].tobytes() for i in range(0, len(numbers), step)], protocol=4)


def unpack(data):
    numbers = array.array("f")
    for part in pickle.loads(data):
        numbers.frombytes(part)
    return numbers


def send(connection, data):
    connection.sendall(struct.pack("<Q", len(data)))
    connection.sendall(data)


def receive(connection):
    head = b""
    while len(head) < 8:
        head += connection.recv(8 - len(head))
    left = struct.unpack("<Q", head)[0]
    data = bytearray(left)
    view, at = memoryview(data), 0
    while at < left:
        got = connection.recv_into(view[at:], min(PART, left - at))
        if got == 0:
            raise SystemExit("a connection was closed")
        at += got
    return data


def new_socket():
    """Makes a socket, with its congestion control set before it has a connection (see Agent::listen_with)."""
    one = socket.socket()
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    return one


def connect(address):
    deadline = now() + 20
    while True:
        one = new_socket()
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            one.connect((address, PORT))
            return one
        except OSError:
            one.close()
            if now() > deadline:
                raise
            time.sleep(0.05)


def client(address, rounds):
    connection = connect(address)
    seconds = []
    for _ in range(rounds):
        data = receive(connection)
        begin = now()
        model = unpack(data)
        seconds.append(now() - begin)
        begin = now()
        data = pack(model)
        seconds.append(now() - begin)
        send(connection, data)
    return f"busy {sum(seconds) / rounds:.6f}"


class Server:
    """Receives and sends in one thread per client, so that lines are used at the same time. Packing, unpacking and summing take
    turns under the interpreter's lock, as on one core."""

    def __init__(self, clients, floats, rounds):
        self.clients, self.rounds = clients, rounds
        self.model = array.array("f", bytes(4 * floats))
        self.barrier = threading.Barrier(clients + 1)
        self.lock = threading.Lock()
        self.busy = {"pack": 0.0, "unpack": 0.0, "sum": 0.0}
        self.total = None
        self.done = [0.0] * rounds

    def work(self, what, function, *words):
        begin = time.thread_time()
        result = function(*words)
        self.busy[what] += time.thread_time() - begin
        return result

    def add(self, update):
        # Without numpy, sums number by number.
        total = self.total
        self.total = update if total is None else array.array("f", map(float.__add__, total, update))

    def serve(self, connection):
        for _ in range(self.rounds):
            self.barrier.wait()
            send(connection, self.work("pack", pack, self.model))
            update = self.work("unpack", unpack, receive(connection))
            with self.lock:
                self.work("sum", self.add, update)
            self.barrier.wait()

    def run(self):
        listener = new_socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", PORT))
        listener.listen(64)
        threads = []
        for _ in range(self.clients):
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threads.append(threading.Thread(target=self.serve, args=(connection,), daemon=True))
        for thread in threads:
            thread.start()
        for number in range(self.rounds):
            begin = now()
            self.barrier.wait()
            self.barrier.wait()
            self.total = None
            self.done[number] = now() - begin
        for thread in threads:
            thread.join()
        each = {name: seconds / self.rounds / self.clients for name, seconds in self.busy.items()}
        return "rounds " + " ".join(f"{one:.6f}" for one in self.done) + \
            f" pack {each['pack']:.6f} unpack {each['unpack']:.6f} sum {each['sum']:.6f}"


def main():
    role, floats, rounds = sys.argv[1], int(sys.argv[3]), int(sys.argv[4])
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    except OSError:
        pass  # without real-time priority, other processes disturb the measurement more
    print(Server(int(sys.argv[2]), floats, rounds).run() if role == "server" else client(sys.argv[2], rounds), flush=True)


if __name__ == "__main__":
    main()
