"""A layer norm between two dense layers, at each position."""

import torch

from golden import Golden

golden = Golden("layer_norm", seed=2)
x = golden.random(5, 3, 4)
first = torch.nn.Linear(4, 6)
norm = torch.nn.LayerNorm(6, eps=1e-3)
with torch.no_grad():
    norm.weight.copy_(1 + golden.random(6) / 2)
    norm.bias.copy_(golden.random(6))
last = torch.nn.Linear(6, 4)
golden.matrix(0, first.weight, first.bias)
golden.matrix(1, last.weight, last.bias)
golden.vector(0, norm.weight)
golden.vector(1, norm.bias)
golden.learn(x, last(norm(first(x))), torch.randint(4, (5, 3)))
golden.write()
