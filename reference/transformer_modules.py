"""The torch half of transformer.py: a positional encoding and a causal language model.

In a file of its own because torch takes seconds to import; reference/transformer.py
offers these classes by name.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from reference.positional import sinusoidal_encoding


class PositionalEncoding(nn.Module):
    """Add PE[k, 2i] = sin(k / 10000^(2i/d)), PE[k, 2i+1] = cos(k / 10000^(2i/d)) to position k.

    The table is a buffer: saved in a checkpoint and moved with the module, but not trained.

    >>> module = PositionalEncoding(4, 10)
    >>> list(module.state_dict()), list(module.parameters())
    (['table'], [])
    >>> module(torch.zeros(1, 2, 4))[0, 0]
    tensor([0., 1., 0., 1.])
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.table: Tensor
        self.register_buffer("table", torch.from_numpy(sinusoidal_encoding(max_len, d_model)).float())  # (max_len, d)

    def forward(self, x: Tensor) -> Tensor:
        """Return x + PE for x (B, n, d)."""
        return x + self.table[: x.shape[1]]  # (B, n, d)


class CausalSelfAttention(nn.Module):
    """Multi-head self-attention in which position t sees positions up to t."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(d_model, 3 * d_model)
        self.project_out = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Return the attended values of x (B, n, d)."""
        batch, n, d = x.shape
        q, k, v = self.project_in(x).view(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # each (B, heads, n, h)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)  # (B, heads, n, n)
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)  # (n, n): True where j > i
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)  # (B, heads, n, n)
        joined = (weights @ v).transpose(1, 2).reshape(batch, n, d)  # (B, n, d)
        out: Tensor = self.project_out(joined)  # (B, n, d)
        return out


class Layer(nn.Module):
    """A pre-norm transformer layer."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = CausalSelfAttention(d_model, heads)
        self.network = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output for x (B, n, d)."""
        x = x + self.attention(self.first_norm(x))  # (B, n, d)
        out: Tensor = x + self.network(self.second_norm(x))  # (B, n, d)
        return out


class CausalLM(nn.Module):
    """A language model whose logits at position t depend on tokens up to t only.

    >>> _ = torch.manual_seed(0)
    >>> model = CausalLM(vocabulary_size=5, d_model=8, heads=2, layers=1, max_len=6)
    >>> model(torch.tensor([[0, 1, 2]])).shape
    torch.Size([1, 3, 5])
    """

    def __init__(self, vocabulary_size: int, d_model: int, heads: int, layers: int, max_len: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        self.positions = PositionalEncoding(d_model, max_len)
        self.layers = nn.Sequential(*(Layer(d_model, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, n, V) for tokens (B, n)."""
        x = self.positions(self.embedding(tokens))  # (B, n, d)
        logits: Tensor = self.head(self.norm(self.layers(x)))  # (B, n, V)
        return logits
