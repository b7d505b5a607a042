import torch
import torch.nn.functional as F


def transformer_layer(X, params, norm_first=False):
    p, d = params, X.shape[-1]
    ln1 = lambda x: F.layer_norm(x, (d,), p["gamma1"], p["beta1"])
    ln2 = lambda x: F.layer_norm(x, (d,), p["gamma2"], p["beta2"])
    sa = lambda x: torch.softmax(x @ p["W_q"] @ (x @ p["W_k"]).transpose(-1, -2), dim=-1) @ x @ p["W_v"]
    ff = lambda x: torch.relu(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    if norm_first:
        X = X + sa(ln1(X))
        return X + ff(ln2(X))
    X = ln1(X + sa(X))
    return ln2(X + ff(X))
