"""The torch classes of transformer.py, right in other ways."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from engine.audit.variant import right


def table(length, width):
    angles = torch.arange(length).unsqueeze(1) * torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    out = torch.zeros(length, width)
    out[:, 0::2], out[:, 1::2] = angles.sin(), angles.cos()
    return out


# ----------------------------------------------------------------- positional encoding


@right("transformer.PositionalEncoding")
class WithABatchAxis(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", table(max_len, d_model).unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


@right("transformer.PositionalEncoding")
class WithDropout(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("pe", table(max_len, d_model))

    def forward(self, x):
        return self.dropout(x + self.pe[: x.shape[1]].expand_as(x))


@right("transformer.PositionalEncoding")
class LookedUp(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", table(max_len, d_model))

    def forward(self, x):
        return torch.add(F.embedding(torch.arange(x.shape[1], device=x.device), self.pe), x)


@right("transformer.PositionalEncoding")
class Interleaved(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        position = torch.arange(max_len, dtype=torch.float64)[:, None]
        angles = position / 10000.0 ** (torch.arange(d_model // 2, dtype=torch.float64) * 2 / d_model)
        self.register_buffer("codes", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float())

    def forward(self, x):
        return self.codes.narrow(0, 0, x.size(-2)) + x


# ---------------------------------------------------------------- causal language model


class Block(nn.Module):
    """A transformer layer on torch's own attention; post-norm or pre-norm."""

    def __init__(self, d, heads, *, first):
        super().__init__()
        self.heads, self.first = heads, first
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)
        self.feed = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.norms = nn.ModuleList([nn.LayerNorm(d), nn.LayerNorm(d)])

    def attend(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    def forward(self, x):
        for inner, norm in zip((self.attend, self.feed), self.norms):
            x = x + inner(norm(x)) if self.first else norm(x + inner(x))
        return x


class Model(nn.Module):
    """Embeddings, positions, blocks and a head."""

    def __init__(self, size, d, blocks, positions, *, tied=False):
        super().__init__()
        self.embedding, self.positions, self.blocks = nn.Embedding(size, d), positions, nn.ModuleList(blocks)
        self.head = nn.Linear(d, size, bias=False)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@right("transformer.CausalLM")
class LearnedPositions(Model):
    def __init__(self, vocabulary_size, d_model, heads, layers, max_len):
        blocks = [Block(d_model, heads, first=True) for _ in range(layers)]
        super().__init__(vocabulary_size, d_model, blocks, nn.Embedding(max_len, d_model))


@right("transformer.CausalLM")
class NormedAfterwards(Model):
    def __init__(self, vocabulary_size, d_model, heads, layers, max_len):
        blocks = [Block(d_model, heads, first=False) for _ in range(layers)]
        super().__init__(vocabulary_size, d_model, blocks, nn.Embedding(max_len, d_model))


@right("transformer.CausalLM")
class TiedWeights(Model):
    def __init__(self, vocabulary_size, d_model, heads, layers, max_len):
        blocks = [Block(d_model, heads, first=False) for _ in range(layers)]
        super().__init__(vocabulary_size, d_model, blocks, nn.Embedding(max_len, d_model), tied=True)


@right("transformer.CausalLM")
class OnTorchsEncoder(nn.Module):
    def __init__(self, vocabulary_size, d_model, heads, layers, max_len):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        self.register_buffer("pe", table(max_len, d_model))
        layer = nn.TransformerEncoderLayer(d_model, heads, 4 * d_model, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d_model, vocabulary_size)

    def forward(self, tokens):
        n = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        return self.head(self.encoder(self.embedding(tokens) + self.pe[:n], mask=mask))


@right("transformer.CausalLM")
class WithSlopes(nn.Module):
    """Positions as a bias that grows with the distance, a slope for each head; multi-head attention by torch."""

    def __init__(self, vocabulary_size, d_model, heads, layers, max_len):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        self.attention = nn.ModuleList(nn.MultiheadAttention(d_model, heads, batch_first=True) for _ in range(layers))
        self.feed = nn.ModuleList(
            nn.Sequential(nn.Linear(d_model, 64), nn.SiLU(), nn.Linear(64, d_model)) for _ in range(layers)
        )
        self.head = nn.Linear(d_model, vocabulary_size)
        place = torch.arange(max_len)
        distance = (place[None, :] - place[:, None]).float()
        slopes = 2.0 ** -torch.arange(heads).float()
        bias = distance * slopes[:, None, None]
        self.register_buffer("bias", bias.masked_fill(distance > 0, -torch.inf))

    def forward(self, tokens):
        batch, n = tokens.shape
        mask = self.bias[:, :n, :n].repeat(batch, 1, 1)
        x = self.embedding(tokens)
        for attention, feed in zip(self.attention, self.feed):
            x = x + attention(x, x, x, attn_mask=mask, need_weights=False)[0]
            x = x + feed(x)
        return self.head(x)
