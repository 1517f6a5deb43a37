"""A learned class token before the other positions, learned vectors added to all positions, and the first or last read."""

import torch

from golden import Golden

for name, chosen in [("class_token", 0), ("class_token_last", -1)]:
    golden = Golden(name, seed=3)
    x = golden.random(4, 5, 3)
    first = torch.nn.Linear(3, 6)
    token = torch.nn.Parameter(golden.random(1, 1, 6))
    positions = torch.nn.Parameter(golden.random(1, 6, 6))
    attention = torch.nn.MultiheadAttention(6, 2, bias=False, batch_first=True)
    last = torch.nn.Linear(6, 3)
    golden.matrix(0, first.weight, first.bias)
    golden.matrix(1, attention.in_proj_weight)
    golden.matrix(2, attention.out_proj.weight)
    golden.matrix(3, last.weight, last.bias)
    golden.vector(0, token)
    golden.vector(1, positions)
    y = torch.cat([token.expand(4, -1, -1), first(x)], dim=1) + positions
    y, _ = attention(y, y, y)
    golden.learn(x, last(y[:, chosen]), torch.randint(3, (4,)))
    golden.write()
