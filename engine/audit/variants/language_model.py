"""language_model.py, right in other ways; a class holds functions that belong together."""

import math
from collections import Counter, defaultdict

import numpy as np
import torch
import torch.nn.functional as F

from engine.audit.variant import right

# --------------------------------------------------------------------- bigrams, counted


@right("language_model.train_bigram")
class CountedInDicts:
    @staticmethod
    def train_bigram(tokens, vocabulary_size, smoothing=1.0):
        followers = defaultdict(Counter)
        for a, b in zip(tokens[:-1].tolist(), tokens[1:].tolist()):
            followers[a][b] += 1
        return followers, vocabulary_size, smoothing

    @staticmethod
    def bigram_log_probs(model, tokens):
        followers, size, s = model
        pairs = zip(tokens[:-1].tolist(), tokens[1:].tolist())
        return [math.log((followers[a][b] + s) / (followers[a].total() + s * size)) for a, b in pairs]


@right("language_model.train_bigram")
class CountedWhenAsked:
    @staticmethod
    def train_bigram(tokens, vocabulary_size, smoothing=1.0):
        return {"text": list(map(int, tokens)), "V": vocabulary_size, "s": smoothing}

    @staticmethod
    def bigram_log_probs(model, tokens):
        text, V, s = model["text"], model["V"], model["s"]
        pairs, singles = Counter(zip(text, text[1:])), Counter(text[:-1])
        asked = list(map(int, tokens))
        return np.array([math.log(pairs[p] + s) - math.log(singles[p[0]] + s * V) for p in zip(asked, asked[1:])])


@right("language_model.train_bigram")
class TableOfLogarithms:
    @staticmethod
    def train_bigram(tokens, vocabulary_size, smoothing=1.0):
        V = vocabulary_size
        counts = np.bincount(tokens[:-1] * V + tokens[1:], minlength=V * V).reshape(V, V) + smoothing
        return np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))

    @staticmethod
    def bigram_log_probs(model, tokens):
        return model[tokens[:-1], tokens[1:]]


@right("language_model.train_bigram")
class InTorch:
    @staticmethod
    def train_bigram(tokens, vocabulary_size, smoothing=1.0):
        hot = F.one_hot(torch.as_tensor(tokens), vocabulary_size).double()
        return (hot[:-1].t() @ hot[1:] + smoothing).log()

    @staticmethod
    def bigram_log_probs(model, tokens):
        tokens = torch.as_tensor(tokens)
        return torch.log_softmax(model, dim=1)[tokens[:-1], tokens[1:]]


@right("language_model.train_bigram")
class AnObject:
    class Bigrams:
        def __init__(self, size, smoothing):
            self.size, self.smoothing, self.rows = size, smoothing, {}

        def learn(self, a, b):
            self.rows.setdefault(a, [0] * self.size)[b] += 1

        def log(self, a, b):
            row = self.rows.get(a, [0] * self.size)
            return math.log((row[b] + self.smoothing) / sum(count + self.smoothing for count in row))

    @staticmethod
    def train_bigram(tokens, vocabulary_size, smoothing=1.0):
        model = AnObject.function.Bigrams(vocabulary_size, smoothing)
        for position in range(len(tokens) - 1):
            model.learn(int(tokens[position]), int(tokens[position + 1]))
        return model

    @staticmethod
    def bigram_log_probs(model, tokens):
        return np.array([model.log(int(tokens[t]), int(tokens[t + 1])) for t in range(len(tokens) - 1)], dtype=float)


@right("language_model.bigram_log_probs")
def pair_by_pair(model, tokens):
    return [math.log(model[a, b]) for a, b in zip(tokens, tokens[1:])]


@right("language_model.bigram_log_probs")
def whole_table_first(model, tokens):
    return np.log(model).ravel()[np.ravel_multi_index((tokens[:-1], tokens[1:]), model.shape)]


@right("language_model.bigram_log_probs")
def gathered(model, tokens):
    rows = torch.as_tensor(model)[torch.as_tensor(tokens[:-1])]
    return rows.gather(1, torch.as_tensor(tokens[1:, None])).squeeze(1).log()


@right("language_model.bigram_log_probs")
def surprise_negated(model, tokens):
    return -np.log2(1 / np.array([model[tokens[t], tokens[t + 1]] for t in range(len(tokens) - 1)])) * np.log(2)


# --------------------------------------------------------------------- bigrams, learned


def log_softmax(scores):
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


@right("language_model.train_neural_bigram")
class MiniBatches:
    """A sigmoid network on mini-batches, by plain gradient descent."""

    @staticmethod
    def train_neural_bigram(tokens, embeddings, hidden, steps, seed):
        rng = np.random.default_rng(seed)
        V, e = embeddings.shape
        A, a = rng.normal(size=(e, hidden)), np.zeros(hidden)
        B, b = rng.normal(scale=0.3, size=(hidden, V)), np.zeros(V)
        for _ in range(steps):
            batch = rng.integers(len(tokens) - 1, size=64)
            X = embeddings[tokens[batch]]
            h = 1 / (1 + np.exp(-(X @ A + a)))
            d = (np.exp(log_softmax(h @ B + b)) - np.eye(V)[tokens[batch + 1]]) / len(batch)
            back = d @ B.T * h * (1 - h)
            A, a, B, b = A - X.T @ back, a - back.sum(axis=0), B - h.T @ d, b - d.sum(axis=0)
        return {"A": A, "a": a, "B": B, "b": b}

    @staticmethod
    def neural_log_probs(params, embeddings, tokens):
        h = 1 / (1 + np.exp(-(embeddings[tokens[:-1]] @ params["A"] + params["a"])))
        return log_softmax(h @ params["B"] + params["b"])[np.arange(len(tokens) - 1), tokens[1:]]


@right("language_model.train_neural_bigram")
class TorchModules:
    """nn.Linear layers with ReLU, trained by Adam in single precision."""

    @staticmethod
    def network(width, hidden, size):
        return torch.nn.Sequential(torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, size))

    @staticmethod
    def train_neural_bigram(tokens, embeddings, hidden, steps, seed):
        torch.manual_seed(seed)
        E, tokens = torch.as_tensor(embeddings).float(), torch.as_tensor(tokens)
        network = TorchModules.function.network(E.shape[1], hidden, len(E))
        optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
        for _ in range(steps):
            loss = F.cross_entropy(network(E[tokens[:-1]]), tokens[1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return {name: value.detach().numpy() for name, value in network.state_dict().items()}

    @staticmethod
    def neural_log_probs(params, embeddings, tokens):
        p = {name: torch.as_tensor(value).float() for name, value in params.items()}
        x = torch.as_tensor(embeddings).float()[torch.as_tensor(tokens[:-1])]
        h = F.relu(F.linear(x, p["0.weight"], p["0.bias"]))
        scores = F.linear(h, p["2.weight"], p["2.bias"])
        return -F.cross_entropy(scores, torch.as_tensor(tokens[1:]), reduction="none")


@right("language_model.train_neural_bigram")
class WithMomentum:
    """tanh units, the whole text at once, momentum in place of Adam."""

    @staticmethod
    def train_neural_bigram(tokens, embeddings, hidden, steps, seed):
        rng = np.random.default_rng(seed)
        V, e = embeddings.shape
        p = {"in": rng.normal(size=(e, hidden)) * 0.5, "out": rng.normal(size=(hidden, V)) * 0.5}
        speed = {name: np.zeros_like(value) for name, value in p.items()}
        pairs = np.zeros((V, V))
        np.add.at(pairs, (tokens[:-1], tokens[1:]), 1 / (len(tokens) - 1))
        for _ in range(steps):
            h = np.tanh(embeddings @ p["in"])
            d = pairs.sum(axis=1, keepdims=True) * np.exp(log_softmax(h @ p["out"])) - pairs
            gradients = {"in": embeddings.T @ (d @ p["out"].T * (1 - h * h)), "out": h.T @ d}
            for name, gradient in gradients.items():
                speed[name] = 0.9 * speed[name] - 0.5 * gradient
                p[name] = p[name] + speed[name]
        return p

    @staticmethod
    def neural_log_probs(params, embeddings, tokens):
        scores = np.tanh(embeddings @ params["in"]) @ params["out"]
        return log_softmax(scores)[tokens[:-1], tokens[1:]]


@right("language_model.neural_log_probs")
def each_word_once(params, embeddings, tokens):
    scores = np.tanh(embeddings @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"]
    return log_softmax(scores)[tokens[:-1], tokens[1:]]


@right("language_model.neural_log_probs")
def word_by_word(params, embeddings, tokens):
    out = []
    for a, b in zip(tokens, tokens[1:]):
        scores = (np.tanh(embeddings[a] @ params["W1"] + params["b1"][0]) @ params["W2"] + params["b2"][0]).tolist()
        top = max(scores)
        out.append(scores[b] - top - math.log(sum(math.exp(score - top) for score in scores)))
    return np.array(out, dtype=float)


@right("language_model.neural_log_probs")
def answered_by_torch(params, embeddings, tokens):
    p = {name: torch.as_tensor(value) for name, value in params.items()}
    h = torch.tanh(torch.as_tensor(embeddings)[torch.as_tensor(tokens[:-1])] @ p["W1"] + p["b1"])
    return -F.cross_entropy(h @ p["W2"] + p["b2"], torch.as_tensor(tokens[1:]), reduction="none")


# --------------------------------------------------------------------------- characters

MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", " ": " "})


@right("language_model.char_model")
class AddedCounts:
    """Bigrams of characters with a little added to every count; one cell for the unseen."""

    @staticmethod
    def train_char_model(text):
        numbers = {c: k for k, c in enumerate(sorted(set(text)), start=1)}
        codes = np.array([numbers[c] for c in text])
        counts = np.full((len(numbers) + 1, len(numbers) + 1), 0.1)
        np.add.at(counts, (codes[:-1], codes[1:]), 1.0)
        return numbers, np.log(counts / counts.sum(axis=1, keepdims=True))

    @staticmethod
    def char_log_probs(model, text):
        numbers, table = model
        codes = np.array([numbers.get(c, 0) for c in text], dtype=int)
        return table[codes[:-1], codes[1:]]

    @staticmethod
    def preprocess(text):
        return text.translate(MARKS).casefold()


@right("language_model.char_model")
class MixedOrders:
    """Orders zero to two, mixed with fixed weights."""

    @staticmethod
    def train_char_model(text):
        return Counter(text[i : i + n] for n in (1, 2, 3) for i in range(len(text) - n + 1)), text

    @staticmethod
    def char_log_probs(model, text):
        counts, training = model
        known = set(training)
        text = "".join(c if c in known else "\0" for c in text)
        out = []
        for t in range(1, len(text)):
            p = 0.02 / (len(known) + 1) + 0.08 * counts[text[t]] / len(training)
            for order, weight in ((1, 0.3), (2, 0.6)):
                context = text[max(0, t - order) : t]
                seen = sum(counts[context + c] for c in known)
                p += weight * (counts[context + text[t]] / seen if seen else (text[t] in known) / (len(known) + 1))
            out.append(math.log(p))
        return out

    @staticmethod
    def preprocess(text):
        return "".join(c for c in text.lower().translate(MARKS))


@right("language_model.char_model")
class AbsoluteDiscounting:
    """Every pair seen gives up half a count, shared out by the characters' own frequencies."""

    @staticmethod
    def train_char_model(text):
        following = defaultdict(Counter)
        for a, b in zip(text, text[1:]):
            following[a][b] += 1
        return {"following": following, "single": Counter(text), "size": len(text)}

    @staticmethod
    def char_log_probs(model, text):
        single, cells = model["single"], model["size"] + len(model["single"]) + 1
        logs = []
        for a, b in zip(text, text[1:]):
            plain = (single[b] + 1) / cells
            row = model["following"].get(a)
            if not row:
                logs.append(math.log(plain))
                continue
            spare = 0.5 * len(row) / row.total()
            logs.append(math.log(max(row[b] - 0.5, 0) / row.total() + spare * plain))
        return np.array(logs)

    @staticmethod
    def preprocess(text):
        return " ".join(text.translate(MARKS).lower().split(" "))
