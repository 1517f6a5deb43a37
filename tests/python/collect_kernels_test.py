"""Tests scripts/collect-kernels with a fake PyTorch that only advances a clock; `dadsim calibrate` reads the table back."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

SCRIPT = os.path.join(os.environ["DADSIM_SOURCE_DIR"], "scripts", "collect-kernels")
PEAK, BANDWIDTH = 400e12, 2e12
SHARE, STREAMED, ATTENTION = 0.6, 0.75, 0.35


class Clock:
    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


class Tensor:
    def __init__(self, clock, shape, size):
        self.clock, self.shape, self.size = clock, shape, size

    def copy_(self, other):
        self.clock.now += 5e-6 + 2 * other.shape[0] * other.size / (STREAMED * BANDWIDTH)


def torch_of(clock):
    """Returns a fake PyTorch whose device reaches these shares of its peaks. Products and attention advance the clock and use no memory."""
    torch = types.ModuleType("torch")
    torch.__version__ = "2.0"
    torch.float32, torch.float16, torch.bfloat16 = 4, 2, 2
    torch.no_grad = contextlib.nullcontext

    def randn(*shape, device, dtype):
        return Tensor(clock, shape[0] if isinstance(shape[0], tuple) else shape, dtype)

    def matmul(a, b):
        if a.size == 4:
            raise RuntimeError("no products of this kind\nmore words")
        (m, k), n = a.shape, b.shape[1]
        work, least = 2 * m * n * k / (SHARE * PEAK), 2 * (m * k + k * n + m * n) / (STREAMED * BANDWIDTH)
        clock.now += 5e-6 + max(work + 10e-6 / SHARE, least)

    def attention(q, k, v):
        _, heads, positions, size = q.shape
        clock.now += 5e-6 + (4 * heads * positions * positions * size / PEAK + 10e-6) / ATTENTION

    torch.randn, torch.matmul = randn, matmul
    torch.empty_like = lambda other: Tensor(clock, other.shape, other.size)
    torch.nn = types.SimpleNamespace(functional=types.SimpleNamespace(scaled_dot_product_attention=attention))
    torch.cuda = types.SimpleNamespace(is_available=lambda: False)
    torch.backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)))
    return torch


class CollectKernels(unittest.TestCase):
    def collected(self, *arguments):
        """Returns the table and the messages."""
        loader = importlib.machinery.SourceFileLoader("collect_kernels", SCRIPT)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(module)
        clock = Clock()
        out, error = io.StringIO(), io.StringIO()
        with (mock.patch.dict(sys.modules, {"torch": torch_of(clock)}), mock.patch.object(module, "time", clock),
              mock.patch.object(sys, "argv", [SCRIPT, *arguments]), contextlib.redirect_stdout(out),
              contextlib.redirect_stderr(error)):
            module.main()
        return out.getvalue(), error.getvalue()

    def test_calibrate_reads_the_constants_back(self):
        table, said = self.collected("--device", "cpu", "--precisions", "bf16")
        self.assertEqual(said, "")
        with tempfile.TemporaryDirectory(prefix="dadsim-kernels-") as folder:
            file = os.path.join(folder, "kernels.csv")
            with open(file, "w") as out:
                out.write(table)
            run = subprocess.run(
                [os.environ["DADSIM_BINARY"], "calibrate", file, "--device", "mine", "--peak", f"bf16={PEAK / 1e12}TF",
                 "--bandwidth", f"{BANDWIDTH / 1e9}GBps", "--json", os.path.join(folder, "fit.json")],
                capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(os.path.join(folder, "fit.json")) as fit:
                fitted = {one["constant"]: one["value"] for one in json.load(fit)["constants"]}
        self.assertAlmostEqual(fitted["efficiency of attention in bf16"], ATTENTION, delta=0.01)
        self.assertAlmostEqual(fitted["memory efficiency"], STREAMED, delta=0.01)
        # Training steps are assumed to reach 0.70 of the rate of single products.
        written = re.search(r'of="dense" precision="bf16" share="([\d.]+)"', run.stdout)
        self.assertIsNotNone(written, run.stdout)
        self.assertAlmostEqual(float(written.group(1)), 0.70 * SHARE, delta=0.01)

    def test_kernels_that_a_device_lacks_are_left_out_with_a_word(self):
        table, said = self.collected("--device", "cpu", "--precisions", "fp32,fp16", "--scale", "8")
        self.assertIn("product 128x512x128 in fp32 is left out: no products of this kind\n", said)
        self.assertNotIn("more words", said)
        self.assertNotIn("product 128x512x128,fp32", table)
        self.assertIn("product 128x512x128,fp16,", table)

    def test_a_gpu_that_is_not_there_is_told(self):
        with self.assertRaisesRegex(SystemExit, "use --device cpu"):
            self.collected()
        with self.assertRaises(SystemExit):
            self.collected("--precisions", "fp8")


if __name__ == "__main__":
    unittest.main()
