import torch


def lstm_weight_gradient(xs, h0, c0, params, dh):
    p = dict(params)
    p["W_c"] = params["W_c"].clone().requires_grad_(True)
    h = torch.zeros_like(h0)
    c = torch.zeros_like(c0)
    loss = 0.0
    for t in range(xs.size(0)):
        i, f, o = [torch.sigmoid(p["W_" + k] @ xs[t] + p["U_" + k] @ h) for k in "ifo"]
        c = f * c + i * torch.tanh(p["W_c"] @ xs[t] + p["U_c"] @ h)
        h = o * torch.tanh(c)
        loss = loss + dh[t] @ h
    loss.backward()
    return p["W_c"].grad
