#!/usr/bin/env python3
"""Times one training step (forward, loss, backward, Adam) of the networks of network_bench.cpp with PyTorch.

    torch_step.py [--threads N] [--seconds S] [--by-site] [NETWORK/SITES ...]

Prints lines "NETWORK/SITES milliseconds cpu-milliseconds": wall-clock time and processor time of the fastest step. A site has
32 rows. The rows of all sites are one batch, which gives only the sum of the sites' gradients. With --by-site, each site's rows
are a batch, and the gradients are summed.

Results depend on PyTorch's BLAS. Debian's PyTorch uses the provider of libblas.so.3, which should be OpenBLAS
(libopenblas0-openmp) and not the reference implementation (libblas3). OpenBLAS 0.3.21 chooses its kernels by the processor. If
it does not recognise the processor (OPENBLAS_VERBOSE=2 prints its choice), set OPENBLAS_CORETYPE, e.g. SkylakeX for AVX-512.
"""
import argparse
import os
import sys
import time

ROWS = 32


def mlp():
    return torch.nn.Sequential(
        torch.nn.Linear(784, 1024),
        torch.nn.ReLU(),
        torch.nn.Linear(1024, 1024),
        torch.nn.ReLU(),
        torch.nn.Linear(1024, 10),
    )


def recurrent(cell):
    class Recurrent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = cell(13, 64, bias=False, batch_first=True)
            self.classifier = torch.nn.Sequential(
                torch.nn.Linear(93 * 64, 512, bias=False),
                torch.nn.ReLU(),
                torch.nn.Linear(512, 256, bias=False),
                torch.nn.ReLU(),
                torch.nn.Linear(256, 10, bias=False),
            )

        def forward(self, x):
            h, _ = self.cell(x)
            return self.classifier(h.flatten(1))

    return Recurrent()


def transformer():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1 = torch.nn.LayerNorm(64)
            self.attention = torch.nn.MultiheadAttention(64, 4, batch_first=True)
            self.norm2 = torch.nn.LayerNorm(64)
            self.mlp = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))

        def forward(self, x, mask):
            y = self.norm1(x)
            x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
            return x + self.mlp(self.norm2(x))

    class Transformer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(64, 64)
            self.positions = torch.nn.Parameter(0.02 * torch.randn(64, 64))
            self.blocks = torch.nn.ModuleList(Block() for _ in range(2))
            self.norm = torch.nn.LayerNorm(64)
            self.last = torch.nn.Linear(64, 64)
            self.mask = torch.ones(64, 64, dtype=torch.bool).triu(1)

        def forward(self, x):
            x = self.table(x) + self.positions
            for block in self.blocks:
                x = block(x, self.mask)
            return self.last(self.norm(x)).flatten(0, 1)

    return Transformer()


def lenet():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5, padding=2),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(6, 16, 5),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(400, 120),
        torch.nn.ReLU(),
        torch.nn.Linear(120, 84),
        torch.nn.ReLU(),
        torch.nn.Linear(84, 10),
    )


def resnet_8():
    def convolution(before, after, kernel, stride):
        return torch.nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)

    class Block(torch.nn.Module):
        def __init__(self, before, after, stride):
            super().__init__()
            self.layers = torch.nn.Sequential(
                convolution(before, after, 3, stride),
                torch.nn.BatchNorm2d(after),
                torch.nn.ReLU(inplace=True),
                convolution(after, after, 3, 1),
                torch.nn.BatchNorm2d(after),
            )
            self.shortcut = torch.nn.Sequential()
            if stride > 1:
                self.shortcut = torch.nn.Sequential(convolution(before, after, 1, stride), torch.nn.BatchNorm2d(after))

        def forward(self, x):
            return torch.relu(self.layers(x) + self.shortcut(x))

    return torch.nn.Sequential(
        convolution(3, 16, 3, 1),
        torch.nn.BatchNorm2d(16),
        torch.nn.ReLU(inplace=True),
        Block(16, 16, 1),
        Block(16, 32, 2),
        Block(32, 64, 2),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 10),
    )


def network(name):
    if name in ("gru", "lstm"):
        return recurrent({"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[name])
    return {"mlp": mlp, "transformer": transformer, "lenet": lenet, "resnet-8": resnet_8}[name]()


def batch(name, sites):
    samples = sites * ROWS
    if name == "mlp":
        return torch.randn(samples, 784), torch.arange(samples) % 10
    if name in ("gru", "lstm"):
        return torch.randn(samples, 93, 13), torch.arange(samples) % 10
    if name in ("lenet", "resnet-8"):
        image = (1, 28, 28) if name == "lenet" else (3, 32, 32)
        return torch.randn(samples, *image), torch.arange(samples) % 10
    return torch.arange(samples * 64).reshape(samples, 64) % 64, torch.arange(samples * 64) % 64


def quickest(step, seconds):
    """Returns wall-clock and processor milliseconds of the fastest call among those that fit into the time, at least 3."""
    for _ in range(2):
        step()
    wall, cpu = [], []
    end = time.perf_counter() + seconds
    while len(wall) < 3 or time.perf_counter() < end:
        start, used = time.perf_counter(), time.process_time()
        step()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    return 1e3 * min(wall), 1e3 * min(cpu)


def measure(case, seconds, by_site):
    name, sites = case.split("/")
    if name == "product":
        a, b = torch.randn(int(sites), int(sites)), torch.randn(int(sites), int(sites))
        return quickest(lambda: a @ b, seconds)
    model = network(name)
    inputs, labels = batch(name, int(sites))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    parts = int(sites) if by_site else 1
    per_input = [part.contiguous() for part in inputs.chunk(parts)]
    per_label = [part.contiguous() for part in labels.chunk(parts)]

    def step():
        optimizer.zero_grad(set_to_none=True)
        for some, wanted in zip(per_input, per_label):
            torch.nn.functional.cross_entropy(model(some), wanted).backward()
        optimizer.step()

    return quickest(step, seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1, help="0: all")
    parser.add_argument("--seconds", type=float, default=1.0, help="per case")
    parser.add_argument("--by-site", action="store_true")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    count = arguments.threads or len(os.sched_getaffinity(0))
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(count)  # set before the libraries are loaded, which read it then
    import torch

    torch.set_num_threads(count)
    torch.manual_seed(1)
    cases = arguments.cases or [f"{n}/{s}" for n in ("mlp", "gru", "lstm", "transformer", "lenet", "resnet-8") for s in (1, 8, 64)]
    for case in cases:
        wall_ms, cpu_ms = measure(case, arguments.seconds, arguments.by_site)
        print(f"{case} {wall_ms:.3f} {cpu_ms:.3f}")
        sys.stdout.flush()
