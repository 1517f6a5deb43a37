"""Turns a PyTorch module into a workload for <timed-as file="…"/>: the layers that a forward pass uses (docs/workloads.md).

    text = dadsim.layers_of_torch(model, torch.empty(1, 3, 224, 224), name="mine")

Observes a forward pass. Hooks see inputs and outputs of modules with parameters, and a TorchFunctionMode sees other products
(attention). Activations, additions and pooling count as fused into their neighbours. A model and an example on the device
`meta` compute nothing, whatever their size. Needs PyTorch 1.13 or later.
"""

import math
from xml.sax.saxutils import quoteattr

COLUMNS = ("name", "kind", "in", "out", "rows-per-sample", "parameters", "forward-macs-per-sample", "outputs-per-sample", "sequential")


def write_layers(name, layers):
    """Returns the file. `layers` are dictionaries with the keys COLUMNS. Leaves out values of 0, and a `sequential` of 1."""
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<workload name={quoteattr(name)}>\n'
    for layer in layers:
        unknown = set(layer) - set(COLUMNS)
        if unknown:
            raise TypeError(f"a layer has no {', '.join(sorted(unknown))}")
        said = [(column, layer[column]) for column in COLUMNS if column in layer]
        said = [(column, value) for column, value in said
                if not (column in ("in", "out") and value == 0) and not (column == "sequential" and value == 1)]
        text += "  <layer " + " ".join(f"{column}={quoteattr(str(value))}" for column, value in said) + "/>\n"
    return text + "</workload>\n"


class _Observer:
    """Collects layers in the order in which a pass reaches them."""

    def __init__(self, torch, samples):
        self.torch, self.samples = torch, samples
        self.layers, self.names, self.counted = [], set(), set()
        self.inside = 0  # depth of modules that account for their own products

    def parameters(self, module):
        """Returns the number of a module's parameters that no earlier layer has, so that a shared table is counted once."""
        own = [one for one in module.parameters(recurse=False) if id(one) not in self.counted]
        self.counted.update(id(one) for one in own)
        return sum(one.numel() for one in own)

    def add(self, name, kind, rows=1, parameters=0, macs=0, outputs=0, inputs=0, width=0, sequential=1):
        base, number = name, 2
        while name in self.names:
            name, number = f"{base}.{number}", number + 1
        self.names.add(name)
        self.layers.append({"name": name, "kind": kind, "in": inputs, "out": width, "rows-per-sample": max(1, round(rows)),
                            "parameters": parameters, "forward-macs-per-sample": round(macs), "outputs-per-sample": round(outputs),
                            "sequential": sequential})

    def matrix(self, name, kind, module, inputs, width, outputs):
        rows = outputs / width
        self.add(name, kind, rows, self.parameters(module), inputs * width * rows, outputs, inputs, width)

    def module(self, name, module, given, result):
        nn = self.torch.nn
        result = result[0] if isinstance(result, tuple) else result
        outputs = result.numel() / self.samples
        if isinstance(module, nn.Linear):
            self.matrix(name, "dense", module, module.in_features, module.out_features, outputs)
        elif isinstance(module, nn.modules.conv._ConvNd):
            inputs = module.in_channels // module.groups * math.prod(module.kernel_size)
            if module.transposed:  # each input pixel is multiplied with the kernel of every output channel
                rows = given.numel() / self.samples / module.in_channels
                self.add(name, "convolution", rows, self.parameters(module), rows * module.in_channels * module.out_channels
                         // module.groups * math.prod(module.kernel_size), outputs, inputs, module.out_channels)
            else:
                self.matrix(name, "convolution", module, inputs, module.out_channels, outputs)
        elif isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
            self.add(name, "embedding", outputs / module.embedding_dim, self.parameters(module), 0, outputs,
                     module.embedding_dim, module.num_embeddings)
        elif isinstance(module, nn.MultiheadAttention):
            self.attention(name, module, given, outputs)
        elif isinstance(module, nn.RNNBase):
            self.recurrence(name, module, given, outputs)
        else:
            parameters = self.parameters(module)
            if parameters > 0:
                self.add(name, "normalisation", outputs / max(1, result.shape[-1]), parameters, 0, outputs)

    def attention(self, name, module, given, outputs):
        width, tokens = module.embed_dim, outputs / module.embed_dim
        in_parameters = self.parameters(module)
        self.add(name + ".qkv", "dense", tokens, in_parameters, 3 * width * width * tokens, 3 * outputs, width, 3 * width)
        scores = tokens * tokens
        self.add(name + ".attention", "attention", tokens, 0, 2 * scores * width, outputs + scores * module.num_heads)
        self.matrix(name + ".projection", "dense", module.out_proj, width, width, outputs)

    def recurrence(self, name, module, given, outputs):
        gates = {"LSTM": 4, "GRU": 3}.get(module.mode, 1)
        ways = 2 if module.bidirectional else 1
        hidden, steps = module.hidden_size, outputs / (module.hidden_size * ways)
        for layer in range(module.num_layers):
            for way in range(ways):
                inputs = module.input_size if layer == 0 else hidden * ways
                suffix = f".{layer + 1}" + (".back" if way else "")
                width = gates * hidden
                own = [getattr(module, f"{part}_{which}_l{layer}" + ("_reverse" if way else ""))
                       for which in ("ih", "hh") for part in (("weight", "bias") if module.bias else ("weight",))]
                half = sum(one.numel() for one in own[: len(own) // 2])
                self.add(name + suffix + ".input", "dense", steps, half, inputs * width * steps, width * steps, inputs, width)
                self.add(name + suffix + ".hidden", "dense", steps, sum(one.numel() for one in own) - half, hidden * width * steps,
                         width * steps, hidden, width, round(steps))
        self.counted.update(id(one) for one in module.parameters())

    def product(self, function, given, result):
        """Adds a product of two computed values, as in attention."""
        torch = self.torch
        tensors = [one for one in given if isinstance(one, torch.Tensor)]
        if self.inside or len(tensors) < 2 or any(isinstance(one, torch.nn.Parameter) for one in tensors):
            return
        name = getattr(function, "__name__", "")
        outputs = result.numel() / self.samples
        if name == "scaled_dot_product_attention":
            query, key = tensors[:2]
            scores = query.numel() / query.shape[-1] * key.shape[-2] / self.samples
            self.add("attention", "attention", query.shape[-2], 0, scores * (query.shape[-1] + tensors[2].shape[-1]), outputs)
        elif name in ("matmul", "bmm", "__matmul__", "baddbmm"):
            inner = tensors[-2].shape[-1]
            self.add("product", "attention", result.shape[-2] if result.dim() > 1 else 1, 0, outputs * inner, outputs)


def layers_of_torch(model, *example, name=None):
    """Returns the layers that model(*example) uses; the first dimension of `example` must be the samples."""
    import torch
    from torch.overrides import TorchFunctionMode

    tensors = [one for one in example if isinstance(one, torch.Tensor)]
    if not tensors or tensors[0].dim() == 0:
        raise TypeError("an example of what the model is called with is needed; its first dimension is that of the samples")
    observer = _Observer(torch, tensors[0].shape[0])
    whole = (torch.nn.Linear, torch.nn.modules.conv._ConvNd, torch.nn.Embedding, torch.nn.EmbeddingBag, torch.nn.MultiheadAttention,
             torch.nn.RNNBase)

    class Products(TorchFunctionMode):
        def __torch_function__(self, function, types, given=(), keywords=None):
            result = function(*given, **(keywords or {}))
            if isinstance(result, torch.Tensor):
                observer.product(function, given, result)
            return result

    def before(module, given):
        observer.inside += 1

    def after(path):
        def hook(module, given, result):
            observer.inside -= 1
            if observer.inside == 0:
                observer.module(path, module, given[0] if given else None, result)

        return hook

    hooks = []
    for path, module in model.named_modules():
        own = any(True for _ in module.parameters(recurse=False))
        if isinstance(module, whole) or (own and not any(True for _ in module.children())):
            hooks.append(module.register_forward_pre_hook(before))
            hooks.append(module.register_forward_hook(after(path or type(module).__name__)))
    training = model.training
    try:
        model.train()  # in evaluation mode some modules use fused code, which hooks do not see
        with torch.no_grad(), Products():
            model(*example)
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()
    missed = sum(one.numel() for one in model.parameters() if id(one) not in observer.counted)
    if missed:  # class tokens, tables of positions, scales: parameters of modules that contain other modules
        observer.add("others", "normalisation", 1, missed, 0, 0)
    return write_layers(name or type(model).__name__, observer.layers)
