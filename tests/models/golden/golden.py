"""Writes golden values, which are PyTorch 1.13's results for a network, as plain text next to the script.

A file contains named tensors, one after the other: a line "name rows cols", then one line of values per row.
tests/models/golden.hpp reads the names input, labels, loss, logits, matrix<k>.weight, matrix<k>.bias and vector<v>, and
the gradients of the last three, which begin with "gradient.". The layout is dadsim's: samples are rows, images are row
by row and pixel by pixel with adjacent channels, kernels are out x (ky, kx, channel). Numbers are doubles.

EXAMPLE (make_something.py)
    from golden import Golden
    golden = Golden("something", seed=1)
    x = golden.random(3, 8)
    layer = torch.nn.Linear(8, 4)
    golden.matrix(0, layer.weight, layer.bias)
    golden.learn(x, layer(x), labels=[0, 3, 1])
    golden.write()
"""

import pathlib

import torch


def rows(tensor):
    """Returns a tensor as samples x values."""
    return tensor.reshape(tensor.shape[0], -1)


def pixels(images):
    """Returns images N x C x H x W as N x (H W C)."""
    return rows(images.permute(0, 2, 3, 1))


def kernel(weight):
    """Returns a convolution's weights out x in x ky x kx as out x (ky kx in)."""
    return rows(weight.permute(0, 2, 3, 1))


class Golden:
    def __init__(self, name, seed):
        self.path = pathlib.Path(__file__).parent / f"{name}.txt"
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(seed)
        self.tensors = {}
        self.learned = {}

    def random(self, *shape):
        """Returns numbers that are uniform in (-1, 1)."""
        return torch.rand(*shape) * 2 - 1

    def put(self, name, tensor):
        """Writes a tensor of one or two dimensions; one dimension becomes a column."""
        tensor = torch.as_tensor(tensor).detach()
        self.tensors[name] = tensor.reshape(tensor.shape[0] if tensor.dim() else 1, -1).clone()

    def matrix(self, k, weight, bias=None, layout=rows):
        """Writes matrix k of the network: its weights, which `layout` brings into dadsim's layout, and its biases."""
        self._learned(f"matrix{k}.weight", weight, layout)
        if bias is not None:
            self._learned(f"matrix{k}.bias", bias, lambda b: b.reshape(-1, 1))

    def vector(self, v, parameter, layout=lambda p: p.reshape(-1, 1)):
        self._learned(f"vector{v}", parameter, layout)

    def _learned(self, name, parameter, layout):
        self.learned[name] = (parameter, layout)
        self.put(name, layout(parameter))

    def learn(self, inputs, logits, labels, layout=rows):
        """Writes the softmax cross-entropy, averaged over all rows of logits (samples, or samples x positions), and all
        gradients. `layout` brings the inputs into dadsim's layout."""
        labels = torch.as_tensor(labels)
        self.put("input", layout(inputs))
        self.put("labels", labels.reshape(-1, 1))
        self.put("logits", rows(logits))
        loss = torch.nn.functional.cross_entropy(logits.reshape(labels.numel(), -1), labels.reshape(-1))
        loss.backward()
        self.put("loss", loss)
        for name, (parameter, brought) in self.learned.items():
            self.put("gradient." + name, brought(parameter.grad))

    def write(self):
        with open(self.path, "w", encoding="ascii") as file:
            for name, tensor in self.tensors.items():
                file.write(f"{name} {tensor.shape[0]} {tensor.shape[1]}\n")
                for row in tensor.tolist():
                    file.write(" ".join(f"{value:.9g}" for value in row) + "\n")
