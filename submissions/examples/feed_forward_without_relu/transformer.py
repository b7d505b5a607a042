def feed_forward(X, W1, b1, W2, b2):
    hidden = X @ W1 + b1
    return hidden @ W2 + b2
