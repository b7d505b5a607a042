"""The torch modules of the reference against torch's own layers and the NumPy half of the reference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from reference import transformer
from reference.attention import causal_mask, multi_head_attention
from reference.positional import sinusoidal_encoding
from reference.transformer_modules import CausalLM, CausalSelfAttention, PositionalEncoding


def test_transformer_offers_the_classes_without_importing_torch_first():
    assert transformer.PositionalEncoding is PositionalEncoding
    assert transformer.CausalLM is CausalLM
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        transformer.nothing  # noqa: B018 -- looking it up is the test
    code = "import sys, reference.transformer; sys.exit('torch' in sys.modules)"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_positional_encoding_adds_the_table():
    module = PositionalEncoding(10, 12)
    x = torch.randn(3, 7, 10)
    want = x.numpy() + sinusoidal_encoding(7, 10)
    np.testing.assert_allclose(module(x).numpy(), want, atol=1e-6)
    assert list(module.state_dict()) == ["table"]
    assert not list(module.parameters())
    assert module.double()(x.double()).dtype == torch.float64


def test_attention_equals_the_numpy_reference():
    torch.manual_seed(0)
    d, heads, n = 12, 3, 5
    module = CausalSelfAttention(d, heads).double()
    with torch.no_grad():
        module.project_in.bias.zero_()
        module.project_out.bias.zero_()
        x = torch.randn(2, n, d, dtype=torch.float64)
        got = module(x).numpy()
        W = (
            module.project_in.weight.T.numpy().reshape(d, 3, heads, d // heads).transpose(1, 2, 0, 3)
        )  # (3, heads, d, h)
        W_o = module.project_out.weight.T.numpy()
    want = multi_head_attention(x.numpy(), W[0], W[1], W[2], W_o, causal_mask(n))
    np.testing.assert_allclose(got, want, atol=1e-12)


def test_attention_equals_torchs_own():
    torch.manual_seed(0)
    d, heads, n = 8, 2, 6
    module, theirs = CausalSelfAttention(d, heads), nn.MultiheadAttention(d, heads, batch_first=True)
    theirs.in_proj_weight, theirs.in_proj_bias = module.project_in.weight, module.project_in.bias
    theirs.out_proj.weight, theirs.out_proj.bias = module.project_out.weight, module.project_out.bias
    x = torch.randn(3, n, d)
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    want, _ = theirs(x, x, x, attn_mask=hidden)
    np.testing.assert_allclose(module(x).detach().numpy(), want.detach().numpy(), atol=1e-6)


def test_causal_lm_is_causal():
    """The gradient of a logit with respect to later embeddings is exactly zero."""
    torch.manual_seed(0)
    model = CausalLM(5, 8, 2, 2, 6)
    x = torch.randn(1, 6, 8, requires_grad=True)
    logits = model.head(model.norm(model.layers(model.positions(x))))
    for position in range(6):
        (gradient,) = torch.autograd.grad(logits[0, position].sum(), x, retain_graph=True)
        reach = gradient[0].abs().sum(dim=-1)
        assert (reach[: position + 1] > 0).all()
        assert (reach[position + 1 :] == 0).all()
