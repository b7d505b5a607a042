"""A transformer layer in PyTorch. All functions take and return tensors."""

import torch
import torch.nn.functional as F

# ---------------------------------------------------------------- functions


def layer_norm(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, eps)


def feed_forward(X, W1, b1, W2, b2):
    return F.linear(F.relu(F.linear(X, W1.t(), b1)), W2.t(), b2)


def attend(X, params):
    q, k, v = (torch.matmul(X, params[name]) for name in ("W_q", "W_k", "W_v"))
    return F.scaled_dot_product_attention(q, k, v)


def transformer_layer(X, params, norm_first=False):
    ln1 = lambda x: layer_norm(x, params["gamma1"], params["beta1"])
    ln2 = lambda x: layer_norm(x, params["gamma2"], params["beta2"])
    ffn = lambda x: feed_forward(x, params["W1"], params["b1"], params["W2"], params["b2"])
    if norm_first:
        x = X + attend(ln1(X), params)
        return x + ffn(ln2(x))
    x = ln1(X + attend(X, params))
    return ln2(x + ffn(x))


# ---------------------------------------------------------------- modules


class PositionalEncoding(torch.nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        k = torch.arange(max_len, dtype=torch.float64)[:, None]
        i = torch.arange(d_model // 2, dtype=torch.float64)
        angle = k / 10000 ** (2 * i / d_model)
        table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        self.register_buffer("table", table.float())
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(x + self.table[: x.shape[1]])


class CausalLM(torch.nn.Module):
    def __init__(self, vocabulary_size, d_model, heads, layers, max_len):
        super().__init__()
        self.embed = torch.nn.Embedding(vocabulary_size, d_model)
        self.positions = PositionalEncoding(d_model, max_len)
        layer = torch.nn.TransformerEncoderLayer(d_model, heads, dim_feedforward=4 * d_model, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, num_layers=layers)
        self.head = torch.nn.Linear(d_model, vocabulary_size)

    def forward(self, tokens):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        x = self.positions(self.embed(tokens))
        return self.head(self.encoder(x, mask=mask, is_causal=True))
