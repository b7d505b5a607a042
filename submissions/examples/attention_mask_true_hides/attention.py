import torch


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = torch.einsum("...id,...jd->...ij", Q, K) * Q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask.bool(), -torch.inf)
    return torch.einsum("...ij,...jv->...iv", scores.softmax(-1), V)
