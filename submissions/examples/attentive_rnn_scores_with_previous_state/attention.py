import torch


def attentive_rnn(xs, h0, W, U):
    states = []
    prev = h0
    for t in range(xs.shape[0]):
        s = torch.tanh(W @ xs[t] + U @ prev)
        if t == 0:
            h = s
        else:
            memory = torch.stack(states)
            h = s + torch.softmax(memory @ prev, dim=0) @ memory
        states.append(h)
        prev = h
    return torch.stack(states)
