"""Gated cells in PyTorch; the gradients are autograd's. All functions take and return tensors."""

import torch


def sigmoid(x):
    return torch.sigmoid(x)


def gru_cell(x, h, params):
    z = torch.sigmoid(params["W_z"] @ x + params["U_z"] @ h)
    r = torch.sigmoid(params["W_r"] @ x + params["U_r"] @ h)
    candidate = torch.tanh(torch.mv(params["W"], x) + r * torch.mv(params["U"], h))
    return torch.lerp(h, candidate, z)


def lstm_cell(x, h, c, params):
    packed_w = torch.cat([params[f"W_{k}"] for k in "ifco"])
    packed_u = torch.cat([params[f"U_{k}"] for k in "ifco"])
    i, f, g, o = torch.chunk(packed_w.mv(x) + packed_u.mv(h), 4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def lstm_weight_gradient(xs, h0, c0, params, dh):
    weight = params["W_c"].clone().requires_grad_(True)
    params = {**params, "W_c": weight}
    h, c = h0, c0
    cost = 0
    for x, explicit in zip(xs.unbind(0), dh.unbind(0)):
        h, c = lstm_cell(x, h, c, params)
        cost = cost + (explicit * h).sum()
    (gradient,) = torch.autograd.grad(cost, weight)
    return gradient


def rnn_gradient_norms(xs, h0, W, U, dh_last):
    states = []
    h = h0.clone().requires_grad_(True)
    for x in xs.unbind(0):
        h = torch.tanh(W @ x + U @ h)
        states.append(h)
    gradients = torch.autograd.grad(torch.dot(h, dh_last), states)
    return torch.stack([g.norm() for g in gradients])
