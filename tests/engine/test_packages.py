"""Right implementations that nobody here wrote, wrapped to the contract, are accepted in the real sandbox."""

import importlib

import pytest

from engine.corpus import draw
from engine.intake import take_in
from engine.pipeline import Judge, tier_for
from engine.records import Outcome
from engine.rubric import read_rubric

WRAPPED = {
    "torch's attention": (
        "attention.scaled_dot_product_attention",
        "attention.py",
        """
import torch.nn.functional as F
def scaled_dot_product_attention(Q, K, V, mask=None):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
""",
    ),
    "torch's softmax": (
        "attention.softmax",
        "attention.py",
        """
import torch
def softmax(x, axis=-1):
    return torch.softmax(x, dim=axis)
""",
    ),
    "torch's GRU cell": (
        "gates.gru_cell",
        "gates.py",
        """
import torch
def gru_cell(x, h, params):
    cell = torch.nn.GRUCell(len(x), len(h), bias=False, dtype=x.dtype)
    # torch keeps z * h: a gate of the opposite sign is the sheet's 1 - z
    cell.weight_ih.data = torch.cat([params["W_r"], -params["W_z"], params["W"]])
    cell.weight_hh.data = torch.cat([params["U_r"], -params["U_z"], params["U"]])
    return cell(x, h)
""",
    ),
    "torch's LSTM cell": (
        "gates.lstm_cell",
        "gates.py",
        """
import torch
def lstm_cell(x, h, c, params):
    cell = torch.nn.LSTMCell(len(x), len(h), bias=False, dtype=x.dtype)
    cell.weight_ih.data = torch.cat([params["W_" + gate] for gate in "ifco"])
    cell.weight_hh.data = torch.cat([params["U_" + gate] for gate in "ifco"])
    return cell(x, (h, c))
""",
    ),
    "torch's layer norm": (
        "transformer.layer_norm",
        "transformer.py",
        """
import torch.nn.functional as F
def layer_norm(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, eps)
""",
    ),
    "torch's cross-entropy": (
        "network.softmax_cross_entropy",
        "network.py",
        """
import torch.nn.functional as F
def softmax_cross_entropy(theta, y):
    return F.cross_entropy(theta[None], y[None])
""",
    ),
    "another package's positional encoding": (
        "positional.sinusoidal_encoding",
        "positional.py",
        """
import torch
from positional_encodings.torch_encodings import PositionalEncoding1D
def sinusoidal_encoding(length, d, base=10000.0):
    encoding = PositionalEncoding1D(d)
    encoding.inv_freq = 1.0 / base ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
    return encoding(torch.zeros(1, length, d, dtype=torch.float64))[0]
""",
    ),
}


def judge(item, name, text, folder, only=()):
    (folder / name).write_text(text, encoding="utf-8")
    (submission,) = take_in([folder])
    rubric = read_rubric().only(only or [item])
    with Judge(rubric, draw(rubric.checks, number=0, examples=25), tier_for(trusted=False)) as judge_:
        return judge_.result(submission).items[0]


@pytest.mark.parametrize(("item", "name", "text"), WRAPPED.values(), ids=WRAPPED.keys())
def test_implementations_of_packages_are_accepted(item, name, text, tmp_path):
    result = judge(item, name, text, tmp_path)
    assert result.outcome is Outcome.HELD, [(c.verdict.check, c.verdict.message) for c in result.checks]


def test_perplexity_of_nltk_is_accepted(tmp_path):
    """Its bigram model and its own perplexity; on short texts only, as it looks every word up one by one."""
    importlib.import_module("nltk.lm")
    text = """
from nltk.lm.api import LanguageModel
class Given(LanguageModel):
    def __init__(self, probabilities):
        self.probabilities = probabilities
    def score(self, word, context=None):
        return self.probabilities[word]
    def logscore(self, word, context=None):
        import math
        return math.log2(self.score(word, context))
    def unmasked_score(self, word, context=None):
        return self.score(word, context)
def perplexity(log_probs, base=2.718281828459045):
    model = Given([base ** float(entry) for entry in log_probs])
    return model.perplexity([(position,) for position in range(len(model.probabilities))])
"""
    only = ["perplexity.perplexity.agrees_with_definition"]
    result = judge("perplexity.perplexity", "perplexity.py", text, tmp_path, only)
    assert result.outcome is Outcome.HELD, [(c.verdict.check, c.verdict.message) for c in result.checks]
