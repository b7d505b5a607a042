import torch
import torch.nn.functional as F
from torch import nn


class CausalLM(nn.Module):
    def __init__(self, vocabulary_size, d_model, heads, layers, max_len):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(d_model, heads, 2 * d_model, dropout=0.0, batch_first=True) for _ in range(layers)]
        )
        self.out = nn.Linear(d_model, vocabulary_size)

    @torch.no_grad()
    def forward(self, tokens):
        n = tokens.shape[1]
        x = self.embedding(tokens) + self.position(torch.arange(n))
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.out(x)
