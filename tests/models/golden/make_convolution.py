"""Two convolutions (one with a stride, padding and GELU), pooling of both kinds, and a dense layer."""

import torch

from golden import Golden, kernel, pixels

golden = Golden("convolution", seed=3)
images = golden.random(3, 2, 9, 8)
first = torch.nn.Conv2d(2, 4, kernel_size=3, stride=1, padding=1)
second = torch.nn.Conv2d(4, 5, kernel_size=3, stride=2, padding=2)
# The picture has 9 x 8 pixels, 4 x 4 after max pooling, 3 x 3 after the second convolution, and 2 x 2 after the mean.
dense = torch.nn.Linear(5 * 2 * 2, 3)

x = torch.relu(first(images))
x = torch.nn.functional.max_pool2d(x, kernel_size=3, stride=2)
x = torch.nn.functional.gelu(second(x))
x = torch.nn.functional.avg_pool2d(x, kernel_size=2, stride=1)
logits = dense(pixels(x))

golden.matrix(0, first.weight, first.bias, layout=kernel)
golden.matrix(1, second.weight, second.bias, layout=kernel)
golden.matrix(2, dense.weight, dense.bias)
golden.learn(images, logits, labels=[2, 0, 1], layout=pixels)
golden.write()
