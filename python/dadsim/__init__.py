"""Simulates the time to accuracy of distributed training.

    import dadsim
    dadsim.run("hospitals.xml", set={"training.batch": 64}).to_pandas()
    dadsim.sweep("crossover.xml").to_pandas()

Settings are those of `--set`: paths into the scenario, and values. Seconds are simulated, sizes are in bytes, accuracies are
from 0 to 1, and unknown figures are NaN. Only functions that return data frames need pandas.
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
    """Returns a value in the form of `--set`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _settings(changes):
    return [(str(path), _text(value)) for path, value in dict(changes or {}).items()]


class _Pages:
    """Common part of a result and a sweep: both can be printed in several forms."""

    def __init__(self, inner):
        self._inner = inner

    def csv(self):
        """Returns the CSV that `--csv` writes."""
        return self._inner.csv()

    def html(self):
        """Returns the page that `--report` writes; a run's page lacks the picture of the platform."""
        return self._inner.html()

    def __str__(self):
        """Returns the text that a terminal shows."""
        return self._inner.table()

    def _repr_html_(self):
        """Returns what a notebook shows: the terminal's table."""
        return f"<pre>{html.escape(str(self))}</pre>"


class Result(_Pages):
    """The result of a scenario."""

    def to_pandas(self):
        """Returns a data frame with a row per run, named by its label, and a column per figure (docs/figures.md)."""
        import pandas

        return pandas.DataFrame(self._inner.figures()).set_index("label")

    def curves(self):
        """Returns the learning curves as a data frame with a row per run and evaluation (docs/output-csv.md)."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv()), float_precision="round_trip")

    def plot(self, y=None, x="seconds", **more):
        """Plots a line per run: `y` (default: the accuracy) over `x`, both columns of curves(). If the scenario learns nothing,
        plots the step time of each run as a bar. Passes `more` to pandas, which draws with matplotlib. Returns the axes."""
        curves = self.curves()
        if y is None and curves.accuracy.isna().all():
            return self.to_pandas().step_seconds.plot(kind="barh", **{"xlabel": "seconds of a step", **more})
        y = y or "accuracy"
        return curves.pivot_table(index=x, columns="label", values=y).interpolate("index", limit_area="inside").plot(**{"ylabel": y, **more})

    def to_dict(self):
        """Returns the whole JSON result as a dictionary (docs/output-json.md)."""
        return json.loads(self._inner.json())

    def runs(self):
        """Returns the rows of to_pandas() as dictionaries."""
        return self._inner.figures()

    def assumptions(self):
        """Returns sentences with the assumptions of all runs."""
        return self._inner.assumptions()


class Sweep(_Pages):
    """The results of a sweep."""

    @property
    def points(self):
        return self._inner.points

    @property
    def failed(self):
        """Number of failed simulations, over all points and seeds."""
        return self._inner.failed

    def to_pandas(self):
        """Returns a data frame with a row per point, seed and run (docs/sweep.md)."""
        import pandas

        return pandas.read_csv(io.StringIO(self.csv()), float_precision="round_trip")

    def plot(self, y, x=None, **more):
        """Plots a line per run: the figure `y` over the values of the path `x` (default: the first varied path), averaged over
        all other paths and seeds. Passes `more` to pandas, which draws with matplotlib. Returns the axes."""
        frame = self.to_pandas()
        x = x or frame.columns[2]
        return frame.pivot_table(index=x, columns="label", values=y, sort=False).plot(**{"ylabel": y, **more})


def figures():
    """Returns the figures of a run in the order of all outputs (docs/figures.md), as dictionaries of name, kind, unit, meaning."""
    return [dict(zip(("name", "kind", "unit", "meaning"), figure)) for figure in _dadsim.figures()]


def layers_of_torch(model, *example, name=None):
    """Returns a PyTorch module as the content of a workload file for `<timed-as file="…"/>`: the layers that a forward pass
    with `example` uses (docs/workloads.md). The first dimension of `example` must be the samples."""
    from . import torch_layers

    return torch_layers.layers_of_torch(model, *example, name=name)


def load(path, *, set=None):
    """Reads and checks a scenario. Raises InputError with all errors; its `diagnostics` are tuples of file, line, error
    and remedy."""
    return _dadsim.load(os.fspath(path), _settings(set))


def run(scenario, *, set=None, learned=None, threads=0, progress=None, client=None):
    """Learns a scenario (a path, or the result of load()) by real training, and times it.

    `learned`, a Learned, keeps learned runs for later calls. `threads`: 0 uses all processors. `progress` is called with a
    line of text from time to time. With `client`, a distributed.Client, Dask's workers learn the event-driven runs of the
    scenario, which must be a path (docs/many-machines.md). Raises InputError, SimulationError or ResourceError, and
    KeyboardInterrupt soon after an interrupt."""
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

    `file`, an SQLite database, keeps finished results, so that the same call continues after an interrupt; without `file`,
    no result is kept. With `client`, a distributed.Client, Dask's workers run the sweep (docs/many-machines.md). Raises
    the exceptions of run(), and OutputError."""
    if file is None:
        with tempfile.TemporaryDirectory(prefix="dadsim-") as folder:
            database = os.path.join(folder, "sweep.sqlite")
            return sweep(path, set=set, file=database, threads=threads, progress=progress, client=client)
    if client is None:
        return Sweep(_dadsim.sweep(os.fspath(path), os.fspath(file), _settings(set), threads, progress))
    from . import remote

    return Sweep(remote.sweep(client, os.fspath(path), os.fspath(file), _settings(set), progress))
