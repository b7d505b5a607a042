import torch


def dot_product_attention(q, K, V):
    q, K, V = torch.as_tensor(q), torch.as_tensor(K), torch.as_tensor(V)
    scores = torch.matmul(K, q.unsqueeze(1))  # (n, 1)
    weights = torch.softmax(scores, dim=-1)
    context = (weights * V).sum(dim=0)
    return context, weights.squeeze(1)
