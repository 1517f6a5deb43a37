"""Multi-head self-attention between two dense layers, with and without a causal mask."""

import torch

from golden import Golden

WIDTH, HEADS, POSITIONS, SAMPLES = 12, 3, 7, 4

for name, causal in [("attention", False), ("attention_causal", True)]:
    golden = Golden(name, seed=1)
    x = 3 * golden.random(SAMPLES, POSITIONS, WIDTH)  # large inputs, so that attention is far from uniform
    attention = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    with torch.no_grad():
        attention.in_proj_bias.copy_(golden.random(3 * WIDTH))
        attention.out_proj.bias.copy_(golden.random(WIDTH))
    classifier = torch.nn.Linear(WIDTH, 5)
    golden.matrix(0, attention.in_proj_weight, attention.in_proj_bias)
    golden.matrix(1, attention.out_proj.weight, attention.out_proj.bias)
    golden.matrix(2, classifier.weight, classifier.bias)
    mask = torch.ones(POSITIONS, POSITIONS, dtype=torch.bool).triu(1) if causal else None
    y, _ = attention(x, x, x, attn_mask=mask)
    labels = torch.randint(5, (SAMPLES, POSITIONS))
    golden.learn(x, classifier(y), labels)
    golden.write()
