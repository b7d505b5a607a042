"""The functions of gates.py."""

from __future__ import annotations

from checks.contract.signature import Signature

GRU = {"W_z": "h d", "U_z": "h h", "W_r": "h d", "U_r": "h h", "W": "h d", "U": "h h"}
LSTM = {
    "W_i": "h d", "U_i": "h h", "W_f": "h d", "U_f": "h h",
    "W_o": "h d", "U_o": "h h", "W_c": "h d", "U_c": "h h",
}  # fmt: skip

FUNCTIONS = (
    Signature("gates", "sigmoid", {"x": "..."}, ("...",)),
    Signature("gates", "gru_cell", {"x": "d", "h": "h", "params": GRU}, ("h",)),
    Signature("gates", "lstm_cell", {"x": "d", "h": "h", "c": "h", "params": LSTM}, ("h", "h")),
    Signature(
        "gates", "lstm_weight_gradient", {"xs": "T d", "h0": "h", "c0": "h", "params": LSTM, "dh": "T h"}, ("h d",)
    ),
    Signature("gates", "rnn_gradient_norms", {"xs": "T d", "h0": "h", "W": "h d", "U": "h h", "dh_last": "h"}, ("T",)),
)
