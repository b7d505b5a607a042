"""Assignment, part 3: gates and gradients through time."""
import numpy as np


def sigmoid(x):
    # log sigmoid(x) = -log(1 + exp(-x)), and logaddexp never overflows
    return np.exp(-np.logaddexp(0.0, -np.asarray(x, dtype=float)))


def affine(name, x, h, params):
    return np.dot(params["W_" + name], x) + np.dot(params["U_" + name], h)


def gru_cell(x, h, params):
    z = sigmoid(affine("z", x, h, params))
    r = sigmoid(affine("r", x, h, params))
    h_hat = np.tanh(params["W"].dot(x) + r * params["U"].dot(h))
    return h + z * (h_hat - h)


def lstm_cell(x, h, c, params):
    i, f, o = [sigmoid(affine(name, x, h, params)) for name in ("i", "f", "o")]
    c_new = f * c + i * np.tanh(affine("c", x, h, params))
    return o * np.tanh(c_new), c_new


def lstm_weight_gradient(xs, h0, c0, params, dh):
    # forward mode, as the sheet writes it: carry dh_t/dW and dC_t/dW along with the states
    hidden, d = params["W_c"].shape
    h, c = h0, c0
    dh_dW = np.zeros((hidden, hidden, d))  # [k, a, b] = d h[k] / d W[a, b]
    dc_dW = np.zeros((hidden, hidden, d))
    total = np.zeros((hidden, d))
    for x, explicit in zip(xs, dh):
        i, f, o = [sigmoid(affine(name, x, h, params)) for name in ("i", "f", "o")]
        g = np.tanh(affine("c", x, h, params))

        def through_h(name, slope):
            return slope[:, None, None] * np.tensordot(params["U_" + name], dh_dW, axes=1)

        di = through_h("i", i * (1 - i))
        df = through_h("f", f * (1 - f))
        do = through_h("o", o * (1 - o))
        dg = through_h("c", 1 - g ** 2)
        for k in range(hidden):
            dg[k, k] += (1 - g[k] ** 2) * x
        dc_dW = (
            df * c[:, None, None] + f[:, None, None] * dc_dW
            + di * g[:, None, None] + i[:, None, None] * dg
        )
        c = f * c + i * g
        t = np.tanh(c)
        dh_dW = do * t[:, None, None] + (o * (1 - t ** 2))[:, None, None] * dc_dW
        h = o * t
        total += np.tensordot(explicit, dh_dW, axes=1)
    return total


def rnn_gradient_norms(xs, h0, W, U, dh_last):
    jacobians = []
    h = h0
    for x in xs:
        h = np.tanh(W @ x + U @ h)
        jacobians.append(np.diag(1 - h ** 2) @ U)  # dh_t / dh_{t-1}
    g = np.array(dh_last)
    norms = [np.linalg.norm(g)]
    for J in reversed(jacobians[1:]):
        g = g @ J
        norms.insert(0, np.linalg.norm(g))
    return np.array(norms)
