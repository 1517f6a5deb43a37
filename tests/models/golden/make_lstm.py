"""Two stacked LSTM layers, the first without biases, and a dense layer over all positions together."""

import torch

from golden import Golden

golden = Golden("lstm", seed=4)
x = 2 * golden.random(5, 7, 3)  # samples x positions x channels
first = torch.nn.LSTM(3, 6, bias=False, batch_first=True)
second = torch.nn.LSTM(6, 5, batch_first=True)
dense = torch.nn.Linear(7 * 5, 4)

h, _ = first(x)
h, _ = second(h)

golden.matrix(0, first.weight_ih_l0)
golden.matrix(1, first.weight_hh_l0)
golden.matrix(2, second.weight_ih_l0, second.bias_ih_l0)
golden.matrix(3, second.weight_hh_l0, second.bias_hh_l0)
golden.matrix(4, dense.weight, dense.bias)
golden.learn(x, dense(h.reshape(5, -1)), labels=[2, 0, 1, 3, 3])
golden.write()
