"""Tests that a PyTorch module has the layers of the built-in workload. The file format is tested without PyTorch."""

import os
import tempfile
import unittest
import xml.etree.ElementTree as xml

import dadsim
from dadsim import torch_layers

try:
    import torch
except ImportError:
    torch = None
    print("not tried with PyTorch itself, which is not there (Debian: python3-torch)")

SCENARIO = """<scenario name="mine" seed="1">
  <platform><gpu-cluster nodes="1" gpus="2" inside="nvlink-3" rails="1" nic="100Gbps"/></platform>
  <workers><worker hosts="gpu-*" device="a100-sxm4-40"/></workers>
  <timing-only/>
  <timed-as {timed} batch="8"/>
  <run algorithm="gradient-sharing" exchange="peer"/>
</scenario>
"""


class Torch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="dadsim-torch-")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def timed(self, name, text=None, workload=None):
        path = os.path.join(self.folder, name + ".xml")
        if text is not None:
            with open(os.path.join(self.folder, name + "-layers.xml"), "w") as file:
                file.write(text)
        with open(path, "w") as file:
            file.write(SCENARIO.format(timed=f'file="{name}-layers.xml"' if text is not None else f'workload="{workload}"'))
        (run,) = dadsim.run(path).runs()
        return run

    def test_recorded_layers_are_a_workload(self):
        # Layers in the form that hooks record: a convolution, a norm and two dense layers, one of them tied.
        layers = [
            {"name": "0", "kind": "convolution", "in": 27, "out": 16, "rows-per-sample": 1024, "parameters": 448,
             "forward-macs-per-sample": 442368, "outputs-per-sample": 16384, "sequential": 1},
            {"name": "1", "kind": "normalisation", "in": 0, "out": 0, "rows-per-sample": 32, "parameters": 32,
             "forward-macs-per-sample": 0, "outputs-per-sample": 16384},
            {"name": "a<b", "kind": "dense", "in": 4096, "out": 64, "rows-per-sample": 1, "parameters": 262208},
        ]
        text = torch_layers.write_layers("mine & yours", layers)
        root = xml.fromstring(text)
        self.assertEqual(root.get("name"), "mine & yours")
        self.assertEqual([layer.get("name") for layer in root], ["0", "1", "a<b"])
        self.assertEqual(root[1].get("in"), None)
        run = self.timed("recorded", text)
        self.assertGreater(run["step_seconds"], 0)
        with self.assertRaises(TypeError):
            torch_layers.write_layers("x", [{"name": "0", "typ": "dense"}])

    @unittest.skipIf(torch is None, "PyTorch is not there")
    def test_vgg_has_the_layers_of_the_workload(self):
        nn = torch.nn
        modules, channels = [], 3
        for width, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
            for _ in range(count):
                modules += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
                channels = width
            modules.append(nn.MaxPool2d(2))
        modules += [nn.Flatten(), nn.Linear(512 * 49, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(),
                    nn.Linear(4096, 1000)]
        model = nn.Sequential(*modules).to("meta")
        text = dadsim.layers_of_torch(model, torch.empty(2, 3, 224, 224, device="meta"), name="VGG-16")
        layers = list(xml.fromstring(text))
        self.assertEqual(len(layers), 16)
        self.assertEqual(sum(int(layer.get("parameters")) for layer in layers), 138_357_544)
        self.assertEqual(sum(int(layer.get("forward-macs-per-sample")) for layer in layers), 15_470_264_320)
        self.assertEqual([(layer.get("in"), layer.get("out"), layer.get("rows-per-sample")) for layer in layers[:3] + layers[-2:]],
                         [("27", "64", "50176"), ("576", "64", "50176"), ("576", "128", "12544"), ("4096", "4096", "1"), ("4096", "1000", "1")])
        # The file does not state that a convolution is 3 × 3, for which kernels need fewer multiplications. So bytes
        # are equal, but computing takes longer.
        own, built_in = self.timed("vgg", text), self.timed("built-in", workload="vgg-16")
        self.assertEqual(own["bytes_up_per_worker"], built_in["bytes_up_per_worker"])
        self.assertLess(built_in["compute_seconds"], own["compute_seconds"])

    @unittest.skipIf(torch is None, "PyTorch is not there")
    def test_parameters_are_those_of_the_module(self):
        nn = torch.nn

        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.positions = nn.Embedding(100, 16), nn.Parameter(torch.zeros(12, 16))
                self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 64, batch_first=True), 2)
                self.rnn, self.head = nn.LSTM(16, 8, 2, batch_first=True), nn.Linear(8, 16)
                self.decoder = nn.Linear(16, 100, bias=False)
                self.decoder.weight = self.words.weight

            def forward(self, x):
                x = self.blocks(self.words(x) + self.positions)
                scores = x @ x.transpose(1, 2)
                return self.decoder(self.head(self.rnn(scores @ x)[0]))

        model = Tied()
        text = dadsim.layers_of_torch(model, torch.zeros(3, 12, dtype=torch.long))
        layers = {layer.get("name"): layer for layer in xml.fromstring(text)}
        self.assertEqual(sum(int(layer.get("parameters")) for layer in layers.values()), sum(one.numel() for one in model.parameters()))
        self.assertEqual(layers["decoder"].get("parameters"), "0")
        self.assertEqual(layers["product"].get("forward-macs-per-sample"), str(12 * 12 * 16))
        self.assertEqual(layers["rnn.1.hidden"].get("sequential"), "12")
        self.assertEqual(int(layers["blocks.layers.0.self_attn.attention"].get("forward-macs-per-sample")), 2 * 12 * 12 * 16)
        self.assertEqual(layers["others"].get("parameters"), str(12 * 16))
        self.assertGreater(self.timed("tied", text)["step_seconds"], 0)


if __name__ == "__main__":
    unittest.main()
