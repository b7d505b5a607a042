"""The functions of network.py."""

from __future__ import annotations

from checks.contract.signature import NUMBER, Signature

PARAMS = {"W1": "Dx Dh", "b1": "1 Dh", "W2": "Dh Dy", "b2": "1 Dy"}

FUNCTIONS = (
    Signature("network", "softmax_cross_entropy", {"theta": "n", "y": "n"}, (NUMBER,)),
    Signature("network", "softmax_cross_entropy_gradient", {"theta": "n", "y": "n"}, ("n",)),
    Signature("network", "forward", {"X": "B Dx", "params": PARAMS}, ("B Dy",)),
    Signature("network", "forward_backward", {"X": "B Dx", "Y": "B Dy", "params": PARAMS}, (NUMBER, PARAMS)),
    Signature("network", "input_gradient", {"x": "1 Dx", "y": "1 Dy", "params": PARAMS}, ("1 Dx",)),
)
