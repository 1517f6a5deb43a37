"""A residual block with batch norms and a projection, as in a ResNet. Also the running averages, and the
network's output in evaluation, after one training step."""

import torch

from golden import Golden, kernel, pixels, rows

golden = Golden("batch_norm", seed=4)
images = golden.random(6, 2, 6, 5) + 0.5
first = torch.nn.Conv2d(2, 4, kernel_size=3, stride=2, padding=1, bias=False)
first_norm = torch.nn.BatchNorm2d(4, eps=1e-3, momentum=0.2)
second = torch.nn.Conv2d(4, 4, kernel_size=3, stride=1, padding=1, bias=False)
second_norm = torch.nn.BatchNorm2d(4)
projection = torch.nn.Conv2d(2, 4, kernel_size=1, stride=2, padding=0, bias=False)
projection_norm = torch.nn.BatchNorm2d(4)
dense = torch.nn.Linear(4, 3)
for norm in (first_norm, second_norm, projection_norm):
    norm.weight.data = 1 + golden.random(4) / 2
    norm.bias.data = golden.random(4) / 2


def network(x):
    inner = torch.relu(first_norm(first(x)))
    inner = second_norm(second(inner))
    x = torch.relu(inner + projection_norm(projection(x)))
    return dense(x.mean(dim=(2, 3)))


golden.matrix(0, first.weight, layout=kernel)
golden.matrix(1, second.weight, layout=kernel)
golden.matrix(2, projection.weight, layout=kernel)
golden.matrix(3, dense.weight, dense.bias)
for number, norm in enumerate((first_norm, second_norm, projection_norm)):
    golden.vector(2 * number, norm.weight)
    golden.vector(2 * number + 1, norm.bias)
golden.learn(images, network(images), labels=[2, 0, 1, 1, 0, 2], layout=pixels)
for number, norm in enumerate((first_norm, second_norm, projection_norm)):
    golden.put(f"average{2 * number}", norm.running_mean)
    golden.put(f"average{2 * number + 1}", norm.running_var)
for norm in (first_norm, second_norm, projection_norm):
    norm.eval()
golden.put("evaluated", rows(network(images)))
golden.write()
