"""Language models in PyTorch."""

import unicodedata

import torch
import torch.nn.functional as F


class Bigram:
    def __init__(self, counts, smoothing):
        self.log_p = torch.log(counts + smoothing) - torch.log(
            counts.sum(1, keepdim=True) + smoothing * counts.shape[0]
        )


def train_bigram(tokens, vocabulary_size, smoothing=1.0):
    tokens = torch.as_tensor(tokens, dtype=torch.long)
    index = tokens[:-1] * vocabulary_size + tokens[1:]
    counts = torch.bincount(index, minlength=vocabulary_size**2).view(vocabulary_size, vocabulary_size)
    return Bigram(counts.double(), smoothing)


def bigram_log_probs(model, tokens):
    tokens = torch.as_tensor(tokens, dtype=torch.long)
    return model.log_p[tokens[:-1], tokens[1:]]


def train_neural_bigram(tokens, embeddings, hidden, steps, seed):
    gen = torch.Generator().manual_seed(seed)
    tokens = torch.as_tensor(tokens, dtype=torch.long)
    E = torch.as_tensor(embeddings, dtype=torch.float32)
    V, e = E.shape
    params = {
        "hidden.weight": torch.randn(e, hidden, generator=gen) * e**-0.5,
        "hidden.bias": torch.zeros(hidden),
        "out.weight": torch.randn(hidden, V, generator=gen) * hidden**-0.5,
        "out.bias": torch.zeros(V),
    }
    for p in params.values():
        p.requires_grad_()
    opt = torch.optim.Adam(params.values(), lr=0.02)
    for _ in range(steps):
        i = torch.randint(len(tokens) - 1, (64,), generator=gen)
        loss = F.cross_entropy(logits(params, E[tokens[i]]), tokens[i + 1])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return {k: p.detach() for k, p in params.items()}


def logits(params, x):
    h = torch.relu(x @ params["hidden.weight"] + params["hidden.bias"])
    return h @ params["out.weight"] + params["out.bias"]


def neural_log_probs(params, embeddings, tokens):
    params = {k: torch.as_tensor(p, dtype=torch.float32) for k, p in params.items()}
    tokens = torch.as_tensor(tokens, dtype=torch.long)
    E = torch.as_tensor(embeddings, dtype=torch.float32)
    log_p = F.log_softmax(logits(params, E[tokens[:-1]]), dim=-1)
    return log_p.gather(1, tokens[1:, None]).squeeze(1)


def train_char_model(text):
    # 0 is every character that is not in the text
    ids = {c: i for i, c in enumerate(sorted(set(text)), start=1)}
    codes = torch.tensor([ids[c] for c in text])
    return ids, train_bigram(codes, len(ids) + 1, smoothing=0.1)


def char_log_probs(model, text):
    ids, bigram = model
    return bigram_log_probs(bigram, torch.tensor([ids.get(c, 0) for c in text]))


def preprocess(text):
    text = unicodedata.normalize("NFKD", text).casefold()
    return text.replace("“", '"').replace("”", '"').replace("’", "'").replace("—", "-").replace(" ", " ")
