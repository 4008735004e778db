"""Small networks: functions of weft arrays whose parameters are plain nested dicts.

Layers are `layer(params, x, ...)`, and `weft.nn.init` has what they start from; activations, pools and losses are functions of arrays, by
torch.nn.functional's names and with its meaning. Nothing keeps a state: what batch normalisation and optimizers remember is given to them,
and given back. `docs/nn.md` is the page.
"""

from __future__ import annotations

from . import init
from .activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_swish,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    logsumexp,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softsign,
    tanh,
)
from .attention import scaled_dot_product_attention
from .convolution import conv1d, conv2d
from .layers import dropout, embedding, linear, one_hot, prelu
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from .normalization import batch_norm, group_norm, layer_norm, rms_norm
from .optimizers import SGD, Adam, AdamW, clip_grad_norm, global_norm
from .pooling import avg_pool1d, avg_pool2d, max_pool1d, max_pool2d
from .safetensors import load_safetensors, load_safetensors_metadata, save_safetensors
from .schedules import cosine_decay, exponential_decay, join_schedules, linear_schedule, step_decay, warmup_cosine_decay

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "clip_grad_norm",
    "conv1d",
    "conv2d",
    "cosine_decay",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "exponential_decay",
    "gelu",
    "global_norm",
    "glu",
    "group_norm",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "huber_loss",
    "init",
    "join_schedules",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "linear_schedule",
    "load_safetensors",
    "load_safetensors_metadata",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "save_safetensors",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "step_decay",
    "tanh",
    "warmup_cosine_decay",
]
