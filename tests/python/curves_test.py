"""Runs the lines of docs/output-csv.md that pass curves to TensorBoard. Without TensorBoard, a fake writer records its
arguments."""

import os
import re
import subprocess
import sys
import tempfile
import types

SOURCE = os.environ["DADSIM_SOURCE_DIR"]
told = {}


class Writer:
    def __init__(self, folder):
        self.scalars = told.setdefault(folder, [])

    def add_scalar(self, name, value, step):
        self.scalars.append((name, value, step))

    def close(self):
        self.scalars.append(("closed", 0, 0))


try:
    from torch.utils.tensorboard import SummaryWriter  # noqa: F401
    installed = True
except ImportError:
    installed = False
    module = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    sys.modules.setdefault("torch", types.ModuleType("torch"))
    sys.modules.setdefault("torch.utils", types.ModuleType("torch.utils"))
    sys.modules["torch.utils.tensorboard"] = module

with open(os.path.join(SOURCE, "docs", "output-csv.md"), encoding="utf-8") as page:
    lines = re.search(r"```python\n(.*?)```", page.read(), re.DOTALL)[1]

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([os.environ["DADSIM_BINARY"], os.path.join(SOURCE, "examples", "embed", "clinics.xml"), "--quiet", "--set",
                    "training.epochs=1", "--csv", "curves.csv"], check=True)
    exec(compile(lines, "output-csv.md", "exec"), {})
    if installed:
        assert any("tfevents" in name for _, _, files in os.walk("runs") for name in files), "no file of events"
        sys.exit(0)
    with open("curves.csv", encoding="utf-8") as file:
        count = len(file.readlines()) - 1

assert len(told) > 1, told.keys()
assert all(folder.startswith("runs/") for folder in told)
assert all(scalars[-1][0] == "closed" for scalars in told.values())
points = [scalar for scalars in told.values() for scalar in scalars if scalar[0] == "loss"]
assert len(points) == count, (len(points), count)
assert all(0 < value < 10 and step >= 0 for _, value, step in points), points
print(f"{count} points of {len(told)} runs")
