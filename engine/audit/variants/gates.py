"""gates.py, right in other ways."""

import math

import numpy as np
import torch

from engine.audit.variant import right


def squash(x):
    return 0.5 * (1 + np.tanh(np.asarray(x) / 2))


def tensors(*arrays):
    return (torch.as_tensor(np.asarray(array, dtype=np.float64)) for array in arrays)


# ---------------------------------------------------------------------------- sigmoid


@right("gates.sigmoid")
def by_tanh(x):
    return (1 + np.tanh(x / 2)) / 2


@right("gates.sigmoid")
def by_logaddexp(x):
    return np.exp(-np.logaddexp(0, -x))


@right("gates.sigmoid")
def clipped(x):
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))


@right("gates.sigmoid")
def by_torch(x):
    return torch.sigmoid(torch.as_tensor(x))


@right("gates.sigmoid")
def number_by_number(x):
    def one(number):
        return 1 / (1 + math.exp(-number)) if number > 0 else math.exp(number) / (math.exp(number) + 1)

    return np.vectorize(one, otypes=[float])(x)


@right("gates.sigmoid")
def overflowing_to_zero(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))  # exp gives inf, and 1 / inf is 0: right


@right("gates.sigmoid")
def softmax_of_two(x):
    both = np.stack([np.asarray(x, dtype=float), np.zeros(np.shape(x))])
    powers = np.exp(both - both.max(axis=0))
    return powers[0] / powers.sum(axis=0)


@right("gates.sigmoid")
def with_masks(x):
    x = np.asarray(x)
    out = np.empty(x.shape)
    positive = x >= 0
    out[positive] = np.reciprocal(1 + np.exp(-x[positive]))
    out[~positive] = 1 - np.reciprocal(1 + np.exp(x[~positive]))
    return out


# ---------------------------------------------------------------- gated recurrent unit


@right("gates.gru_cell")
def a_step_towards_the_candidate(x, h, params):
    z = squash(params["W_z"] @ x + params["U_z"] @ h)
    r = squash(params["W_r"] @ x + params["U_r"] @ h)
    return h + z * (np.tanh(params["W"] @ x + r * (params["U"] @ h)) - h)


@right("gates.gru_cell")
def gates_stacked(x, h, params):
    from_x = np.vstack([params[name] for name in ("W_z", "W_r", "W")]) @ x
    from_h = np.vstack([params[name] for name in ("U_z", "U_r", "U")]) @ h
    (xz, xr, xc), (hz, hr, hc) = np.split(from_x, 3), np.split(from_h, 3)
    z, r = squash(xz + hz), squash(xr + hr)
    return (1 - z) * h + z * np.tanh(xc + r * hc)


@right("gates.gru_cell")
def gru_in_torch(x, h, params):
    p = {name: torch.as_tensor(value) for name, value in params.items()}
    x, h = tensors(x, h)
    z = torch.sigmoid(p["W_z"].mv(x) + p["U_z"].mv(h))
    r = torch.sigmoid(p["W_r"].mv(x) + p["U_r"].mv(h))
    return torch.lerp(h, torch.tanh(p["W"].mv(x) + r * p["U"].mv(h)), z)


@right("gates.gru_cell")
def unit_by_unit(x, h, params):
    def seen(name_w, name_u, k):
        return math.fsum(params[name_w][k] * x), math.fsum(params[name_u][k] * h)

    new = []
    for k in range(len(h)):
        z, r = (float(squash(sum(seen(f"W_{gate}", f"U_{gate}", k)))) for gate in "zr")
        from_x, from_h = seen("W", "U", k)
        new.append((1 - z) * h[k] + z * math.tanh(from_x + r * from_h))
    return new


@right("gates.gru_cell")
def input_and_state_joined(x, h, params):
    joined = np.concatenate([x, h])
    z, r = (squash(np.hstack([params[f"W_{gate}"], params[f"U_{gate}"]]) @ joined) for gate in "zr")
    candidate = np.tanh(np.hstack([params["W"], r[:, None] * params["U"]]) @ joined)
    return z * candidate + (1 - z) * h


@right("gates.gru_cell")
def gru_by_einsum(x, h, params):
    def gate(name):
        return squash(np.einsum("ij,j->i", params[f"W_{name}"], x) + np.einsum("ij,j->i", params[f"U_{name}"], h))

    keep = 1 - gate("z")
    candidate = np.tanh(np.dot(x, params["W"].T) + np.dot(h, params["U"].T) * gate("r"))
    return keep * (h - candidate) + candidate


# ------------------------------------------------------------- long short-term memory


@right("gates.lstm_cell")
def all_at_once(x, h, c, params):
    W = np.vstack([params[f"W_{gate}"] for gate in "ifoc"])
    U = np.vstack([params[f"U_{gate}"] for gate in "ifoc"])
    i, f, o, g = np.split(W @ x + U @ h, 4)
    cell = squash(f) * c + squash(i) * np.tanh(g)
    return squash(o) * np.tanh(cell), cell


@right("gates.lstm_cell")
def lstm_in_torch(x, h, c, params):
    p = {name: torch.as_tensor(value) for name, value in params.items()}
    x, h, c = tensors(x, h, c)
    i, f, o = (torch.sigmoid(p[f"W_{gate}"] @ x + p[f"U_{gate}"] @ h) for gate in "ifo")
    cell = torch.addcmul(f * c, i, torch.tanh(p["W_c"] @ x + p["U_c"] @ h))
    return o * cell.tanh(), cell


@right("gates.lstm_cell")
def by_torchs_own_cell(x, h, c, params):
    module = torch.nn.LSTMCell(len(x), len(h), bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.weight_ih.copy_(torch.as_tensor(np.vstack([params[f"W_{gate}"] for gate in "ifco"])))
        module.weight_hh.copy_(torch.as_tensor(np.vstack([params[f"U_{gate}"] for gate in "ifco"])))
        x, h, c = tensors(x, h, c)
        hidden, cell = module(x[None], (h[None], c[None]))
    return [hidden[0], cell[0]]


@right("gates.lstm_cell")
def lstm_unit_by_unit(x, h, c, params):
    hidden, cell = [], []
    for k in range(len(c)):
        seen = {gate: float(params[f"W_{gate}"][k] @ x + params[f"U_{gate}"][k] @ h) for gate in "ifoc"}
        new = float(squash(seen["f"])) * c[k] + float(squash(seen["i"])) * math.tanh(seen["c"])
        cell.append(new)
        hidden.append(float(squash(seen["o"])) * math.tanh(new))
    return hidden, cell


@right("gates.lstm_cell")
def lstm_in_rows(x, h, c, params):
    def seen(gate):
        return x @ params["W_" + gate].T + h @ params["U_" + gate].T

    cell = np.add(c * squash(seen("f")), np.tanh(seen("c")) * squash(seen("i")))
    return np.multiply(np.tanh(cell), squash(seen("o"))), cell


def unrolled(xs, h, c, params):
    """Return h_1 … h_T for arrays, tensors or complex numbers."""
    states = []
    tanh = torch.tanh if isinstance(h, torch.Tensor) else np.tanh
    for x in xs:
        i, f, o = (0.5 * (1 + tanh((params[f"W_{g}"] @ x + params[f"U_{g}"] @ h) / 2)) for g in "ifo")
        c = f * c + i * tanh(params["W_c"] @ x + params["U_c"] @ h)
        h = o * tanh(c)
        states.append(h)
    return states


@right("gates.lstm_weight_gradient")
def by_autograd(xs, h0, c0, params, dh):
    p = {name: torch.as_tensor(value) for name, value in params.items()}
    p["W_c"] = p["W_c"].clone().requires_grad_()
    xs, h, c, dh = tensors(xs, h0, c0, dh)
    (torch.stack(unrolled(xs, h, c, p)) * dh).sum().backward()
    return p["W_c"].grad


@right("gates.lstm_weight_gradient")
def by_complex_steps(xs, h0, c0, params, dh):
    """Derivatives without differences: the imaginary part of J(W + i 1e-30) / 1e-30 is exact."""
    gradient = np.empty(params["W_c"].shape)
    for place in np.ndindex(*gradient.shape):
        moved = params["W_c"].astype(complex)
        moved[place] += 1e-30j
        states = unrolled(xs, h0, c0, {**params, "W_c": moved})
        gradient[place] = sum((row * h).sum() for row, h in zip(dh, states)).imag / 1e-30
    return gradient


@right("gates.lstm_weight_gradient")
def forwards_in_time(xs, h0, c0, params, dh):
    """Carry dh/dW_c and dc/dW_c along with the states, (h, h, d) each."""
    h, c, size = h0, c0, len(h0)
    dh_dW, dc_dW = (np.zeros((size, *params["W_c"].shape)) for _ in range(2))
    gradient = np.zeros(params["W_c"].shape)
    for x, row in zip(xs, dh):
        gate = {g: squash(params[f"W_{g}"] @ x + params[f"U_{g}"] @ h) for g in "ifo"}
        d_gate = {g: np.einsum("k,kl,lij->kij", s * (1 - s), params[f"U_{g}"], dh_dW) for g, s in gate.items()}
        g = np.tanh(params["W_c"] @ x + params["U_c"] @ h)
        direct = np.einsum("ki,j->kij", np.eye(size), x)
        dg = (1 - g * g)[:, None, None] * (direct + np.einsum("kl,lij->kij", params["U_c"], dh_dW))
        per = [value[:, None, None] for value in (gate["f"], c, gate["i"], g, gate["o"])]
        dc_dW = per[0] * dc_dW + d_gate["f"] * per[1] + d_gate["i"] * per[3] + per[2] * dg
        c = gate["f"] * c + gate["i"] * g
        t = np.tanh(c)
        dh_dW = d_gate["o"] * t[:, None, None] + per[4] * (1 - t * t)[:, None, None] * dc_dW
        h = gate["o"] * t
        gradient += np.tensordot(row, dh_dW, axes=1)
    return gradient


@right("gates.lstm_weight_gradient")
def each_loss_apart(xs, h0, c0, params, dh):
    """Backpropagate the loss of every step by itself, through all steps before it, and add up."""
    tape, h, c = [], h0, c0
    for x in xs:
        i, f, o = (squash(params[f"W_{g}"] @ x + params[f"U_{g}"] @ h) for g in "ifo")
        g = np.tanh(params["W_c"] @ x + params["U_c"] @ h)
        new = f * c + i * g
        tape.append((x, c, i, f, o, g, np.tanh(new)))
        h, c = o * np.tanh(new), new
    total = 0.0
    for last, explicit in enumerate(dh):
        to_h, to_c = explicit, np.zeros_like(explicit)
        for x, before, i, f, o, g, t in reversed(tape[: last + 1]):
            to_c = to_c + to_h * o * (1 - t**2)
            at = {"i": to_c * g * i * (1 - i), "f": to_c * before * f * (1 - f), "o": to_h * t * o * (1 - o)}
            at["c"] = to_c * i * (1 - g**2)
            total = total + np.outer(at["c"], x)
            to_h = sum(params[f"U_{k}"].T @ value for k, value in at.items())
            to_c = to_c * f
    return total


@right("gates.rnn_gradient_norms")
def norms_by_autograd(xs, h0, W, U, dh_last):
    xs, h, W, U, last = tensors(xs, h0, W, U, dh_last)
    states = []
    for x in xs:
        h = torch.tanh(W @ x + U @ h).requires_grad_() if not states else torch.tanh(W @ x + U @ h)
        h.retain_grad()
        states.append(h)
    (states[-1] * last).sum().backward()
    return torch.stack([state.grad.norm() for state in states])


@right("gates.rnn_gradient_norms")
def by_products_of_jacobians(xs, h0, W, U, dh_last):
    states, h = [], h0
    for x in xs:
        h = np.tanh(W @ x + U @ h)
        states.append(h)
    product, norms = np.eye(len(h0)), []
    for state in reversed(states):
        norms.insert(0, np.linalg.norm(product.T @ dh_last))
        product = product @ np.diag(1 - state**2) @ U
    return norms


@right("gates.rnn_gradient_norms")
def by_hypot(xs, h0, W, U, dh_last):
    states, h = [], list(h0)
    for x in xs:
        h = [math.tanh(float(np.dot(w, x) + np.dot(u, h))) for w, u in zip(W, U)]
        states.append(h)
    gradient, norms = list(dh_last), []
    for state in states[::-1]:
        norms.append(math.hypot(*gradient))
        inner = [(1 - s * s) * g for s, g in zip(state, gradient)]
        gradient = [sum(U[k][j] * inner[k] for k in range(len(inner))) for j in range(len(inner))]
    return np.array(norms)[::-1]


@right("gates.rnn_gradient_norms")
def by_reverse_recursion(xs, h0, W, U, dh_last):
    def back(h, rest):
        if not len(rest):
            return dh_last, []
        new = np.tanh(W @ rest[0] + U @ h)
        gradient, norms = back(new, rest[1:])
        return U.T @ ((1 - new * new) * gradient), [np.sqrt(np.sum(np.square(gradient))), *norms]

    return back(h0, xs)[1]


@right("gates.rnn_gradient_norms")
def derivative_as_sech(xs, h0, W, U, dh_last):
    before, h = [], h0
    for x in xs:
        before.append(x @ W.T + h @ U.T)
        h = np.tanh(before[-1])
    gradients = [dh_last]
    for z in before[:0:-1]:
        gradients.append((gradients[-1] / np.cosh(np.clip(z, -300, 300)) ** 2) @ U)
    return np.linalg.norm(np.array(gradients)[::-1], axis=1)
