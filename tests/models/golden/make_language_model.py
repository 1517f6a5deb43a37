"""A small network of the preset language-model: embedding, positions, causal pre-norm blocks, layer norm, dense."""

import torch

from golden import Golden

VOCABULARY, WIDTH, HEADS, BLOCKS, HIDDEN, POSITIONS, SAMPLES = 9, 8, 2, 2, 12, 6, 3

golden = Golden("language_model", seed=4)
symbols = torch.randint(VOCABULARY, (SAMPLES, POSITIONS))
table = torch.nn.Embedding(VOCABULARY, WIDTH)
positions = torch.nn.Parameter(golden.random(1, POSITIONS, WIDTH))
blocks = [
    torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, HIDDEN, dropout=0, activation="gelu", batch_first=True, norm_first=True
    )
    for _ in range(BLOCKS)
]
norm = torch.nn.LayerNorm(WIDTH)
last = torch.nn.Linear(WIDTH, VOCABULARY)
for parameter in [p for block in blocks + [norm] for p in block.parameters() if p.dim() == 1]:
    with torch.no_grad():
        parameter.add_(golden.random(*parameter.shape) / 2)

golden.matrix(0, table.weight)
golden.vector(0, positions)
for i, block in enumerate(blocks):
    golden.vector(1 + 4 * i, block.norm1.weight)
    golden.vector(2 + 4 * i, block.norm1.bias)
    golden.matrix(1 + 4 * i, block.self_attn.in_proj_weight, block.self_attn.in_proj_bias)
    golden.matrix(2 + 4 * i, block.self_attn.out_proj.weight, block.self_attn.out_proj.bias)
    golden.vector(3 + 4 * i, block.norm2.weight)
    golden.vector(4 + 4 * i, block.norm2.bias)
    golden.matrix(3 + 4 * i, block.linear1.weight, block.linear1.bias)
    golden.matrix(4 + 4 * i, block.linear2.weight, block.linear2.bias)
golden.vector(1 + 4 * BLOCKS, norm.weight)
golden.vector(2 + 4 * BLOCKS, norm.bias)
golden.matrix(1 + 4 * BLOCKS, last.weight, last.bias)

mask = torch.ones(POSITIONS, POSITIONS, dtype=torch.bool).triu(1)
x = table(symbols) + positions
for block in blocks:
    x = block(x, src_mask=mask)
golden.learn(symbols, last(norm(x)), torch.randint(VOCABULARY, (SAMPLES, POSITIONS)))
golden.write()
