"""Runs the program for `python3 -m dadsim`, and for the `dadsim` that pip installs: the program next to the module, or on PATH."""

import os
import shutil
import sys


def main():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dadsim")
    program = beside if os.access(beside, os.X_OK) else shutil.which("dadsim")
    if program is None or os.path.realpath(program) == os.path.realpath(sys.argv[0]):
        sys.exit("dadsim: the program is not installed beside the module, and not on the path")
    # With --on, this Python starts Dask's client and finds this package.
    os.environ.setdefault("DADSIM_PYTHON", sys.executable)
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
