"""Replaces Dask by one worker, which is the client's own process and runs a task when it is submitted. The variable
FAKE_DASK names an error to produce."""

import os
import time
import types

scheduler = types.SimpleNamespace(KilledWorker=type("KilledWorker", (Exception,), {}))


def get_worker():
    return types.SimpleNamespace(address="fake", state=types.SimpleNamespace(nthreads=1))


class Future:
    status = "finished"

    def __init__(self, key, value):
        self.key, self.value = key, value

    def result(self):
        return self.value

    def add_done_callback(self, call):
        call(self)


class Client:
    status = "running"
    submitted = 0

    def __init__(self, address, timeout):
        how = os.environ.get("FAKE_DASK", "")
        print("words \x1b[31mof others", flush=True)
        if how == "refused":
            raise OSError("nobody is\x1b[2J there")
        if how == "hangs":
            time.sleep(600)
        if how == "fault":
            raise RuntimeError("a fault\x1b[2J of others")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def nthreads(self):
        return {"fake": 1}

    def cancel(self, futures):
        pass

    def submit(self, call, *arguments, key, **_):
        self.submitted += 1
        if os.environ.get("FAKE_DASK") == "stuck" and self.submitted > 3:
            open("STUCK", "w").close()
            time.sleep(600)
        values = [one.value if isinstance(one, Future) else one for one in arguments]
        return Future(key, call(*values))
