"""Time to accuracy of distributed training, simulated.

    import dadsim
    dadsim.run("hospitals.xml", set={"training.batch": 64}).to_pandas()
    dadsim.sweep("crossover.xml").to_pandas()

Settings are those of `--set`: paths into the scenario, and values. Seconds are simulated, bytes are bytes, accuracies are
shares from 0 to 1; what is not known is NaN. pandas is needed by what gives data frames alone.
"""

import html
import io
import json
import os
import sys
import tempfile

try:
    from . import _dadsim
except ImportError as error:
    raise ImportError(
        f"dadsim's module needs the Python and the C library that it was compiled for, which Python {sys.version.split()[0]} here "
        f"does not offer ({error}); call the program, which needs neither: subprocess.run(['dadsim', 'FILE.xml', '--json', "
        f"'RESULT.json']); or have the module compiled: pip install . in dadsim's source") from error
from ._dadsim import (
    Error,
    InputError,
    Learned,
    OutputError,
    ResourceError,
    Scenario,
    SimulationError,
    Stopped,
    build,
    stop,
    version,
)

__version__ = version()
__all__ = [
    "Error", "InputError", "Learned", "OutputError", "ResourceError", "Result", "Scenario", "SimulationError", "Stopped",
    "Sweep", "build", "figures", "layers_of_torch", "load", "run", "stop", "sweep", "version",
]


def _text(value):
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _settings(changes):
    return [(str(path), _text(value)) for path, value in dict(changes or {}).items()]


class _Pages:
    """What a result and a sweep have in common: they are text in several ways."""

    def __init__(self, inner):
        self._inner = inner

    def csv(self):
        """The CSV that `--csv` writes."""
        return self._inner.csv()

    def html(self):
        """The page that `--report` writes; of a run without the picture of the platform."""
        return self._inner.html()

    def __str__(self):
        """As a terminal shows it."""
        return self._inner.table()

    def _repr_html_(self):
        """As a notebook shows it: the table of a terminal."""
        return f"<pre>{html.escape(str(self))}</pre>"


class Result(_Pages):
    """The result of a scenario."""

    def to_pandas(self):
        """A row for every run, by its label, and a column for every figure (docs/figures.md)."""
        import pandas

        return pandas.DataFrame(self._inner.figures()).set_index("label")

    def curves(self):
        """The learning curves: a row for every run and evaluation (docs/output-csv.md)."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv()), float_precision="round_trip")

    def plot(self, y=None, x="seconds", **more):
        """A line for every run: `y` (the accuracy) over `x`, columns of curves(); of a scenario that learns nothing a bar for
        the step of each. By pandas, which draws with matplotlib; gives its axes. `more` goes to pandas."""
        curves = self.curves()
        if y is None and curves.accuracy.isna().all():
            return self.to_pandas().step_seconds.plot(kind="barh", **{"xlabel": "seconds of a step", **more})
        y = y or "accuracy"
        return curves.pivot_table(index=x, columns="label", values=y).interpolate("index", limit_area="inside").plot(**{"ylabel": y, **more})

    def to_dict(self):
        """All there is to say, as the JSON result has it (docs/output-json.md)."""
        return json.loads(self._inner.json())

    def runs(self):
        """The rows of to_pandas() as dictionaries."""
        return self._inner.figures()

    def assumptions(self):
        """Sentences that hold for every run."""
        return self._inner.assumptions()


class Sweep(_Pages):
    """The results of a sweep."""

    @property
    def points(self):
        return self._inner.points

    @property
    def failed(self):
        """How many simulations failed, of points and seeds."""
        return self._inner.failed

    def to_pandas(self):
        """A row for every point, seed and run (docs/sweep.md)."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv()), float_precision="round_trip")

    def plot(self, y, x=None, **more):
        """A line for every run: the figure `y`, mean over all else, at the values of the path `x` (the first that is varied). By
        pandas, which draws with matplotlib; gives its axes. `more` goes to pandas."""
        frame = self.to_pandas()
        x = x or frame.columns[2]
        return frame.pivot_table(index=x, columns="label", values=y, sort=False).plot(**{"ylabel": y, **more})


def figures():
    """The figures of a run, in the order of every output (docs/figures.md): dictionaries of name, kind, unit, meaning."""
    return [dict(zip(("name", "kind", "unit", "meaning"), figure)) for figure in _dadsim.figures()]


def layers_of_torch(model, *example, name=None):
    """A module of PyTorch as the content of a workload file, `<timed-as file="…"/>`: the layers that a pass with `example`
    goes through, whose first dimension is that of the samples (docs/workloads.md)."""
    from . import torch_layers

    return torch_layers.layers_of_torch(model, *example, name=name)


def load(path, *, set=None):
    """Reads a scenario and checks it. Raises InputError with everything that is wrong; its `diagnostics` are tuples of
    file, line, what is wrong and what would be right."""
    return _dadsim.load(os.fspath(path), _settings(set))


def run(scenario, *, set=None, learned=None, threads=0, progress=None, client=None):
    """Learns a scenario (a path, or what load() gave) for real and times it.

    `learned`, a Learned, is where what has been learned is kept for the next call; `threads` 0 is as many as the machine
    has; `progress` is called with a line of text now and then. `client`, a distributed.Client, has event-driven runs of
    the scenario at that path learned by the workers of Dask (docs/many-machines.md). Raises InputError, SimulationError,
    ResourceError, and KeyboardInterrupt soon after one was asked for."""
    if client is not None:
        if isinstance(scenario, Scenario) or learned is not None:
            raise TypeError("by a client a scenario is run from its path, and what was learned before is not taken")
        from . import remote

        return Result(remote.run(client, os.fspath(scenario), _settings(set), threads, progress))
    if not isinstance(scenario, Scenario):
        scenario = load(scenario, set=set)
    elif set:
        raise TypeError("set changes a scenario before it is loaded: load(path, set=…), or run(path, set=…)")
    return Result(_dadsim.run(scenario, learned if learned is not None else Learned(), threads, progress))


def sweep(path, *, set=None, file=None, threads=0, progress=None, client=None):
    """Runs a scenario at every point of its <sweep>.

    `file`, an SQLite database, keeps what is finished, so that the same call goes on after it was interrupted; without
    it nothing is kept. `client`, a distributed.Client, does it by the workers of Dask (docs/many-machines.md). Raises
    what run() raises, and OutputError."""
    if file is None:
        with tempfile.TemporaryDirectory(prefix="dadsim-") as folder:
            database = os.path.join(folder, "sweep.sqlite")
            return sweep(path, set=set, file=database, threads=threads, progress=progress, client=client)
    if client is None:
        return Sweep(_dadsim.sweep(os.fspath(path), os.fspath(file), _settings(set), threads, progress))
    from . import remote

    return Sweep(remote.sweep(client, os.fspath(path), os.fspath(file), _settings(set), progress))
