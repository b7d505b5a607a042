"""Why the reference is right: one file per result, each proved step by step. `grader derive` runs them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from reference.derivations.proof import Derivation

# In the order of the course: what a later one uses stands before it.
NAMES = (
    "sigmoid_symmetry",
    "sigmoid_derivative",
    "softmax_jacobian",
    "softmax_cross_entropy_gradient",
    "network_input_gradient",
    "network_weight_gradients",
    "attention_form",
    "copy_condition",
    "dot_product_mean",
    "dot_product_variance",
    "dot_product_scale",
    "softmax_saturation",
    "attention_costs",
    "projection_matrix",
    "averaging_weight",
    "single_head_weight",
    "head_variance",
    "heads_add",
    "residual_gradient",
    "layer_norm_invariance",
    "transformer_forms",
    "added_against_concatenated",
    "relative_bias",
    "relative_parameter_count",
    "positional_rotation",
    "receptive_field",
    "gru_limits",
    "lstm_memory_path",
    "lstm_weight_gradient",
    "rnn_gradient_product",
    "uniform_entropy",
    "perplexity_forms",
    "gibbs_inequality",
)


def derivation(name: str) -> Derivation:
    """Return one derivation; the file is read only now, since SymPy builds its expressions on import."""
    return cast("Derivation", import_module(f"reference.derivations.{name}").DERIVATION)
