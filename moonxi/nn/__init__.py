"""Layers, models, and what is done with a whole model."""

from moonxi.nn import initializers
from moonxi.nn.activation_functions import elu, gelu, hardswish, leaky_relu, mish, silu, softplus
from moonxi.nn.activations import (
    Elu,
    Gelu,
    Hardswish,
    LeakyRelu,
    Mish,
    Relu,
    Sigmoid,
    Silu,
    Softmax,
    Softplus,
    Tanh,
)
from moonxi.nn.bilinear import Bilinear
from moonxi.nn.convolution import Conv2d, ConvTranspose2d
from moonxi.nn.differentiate import value_and_grad
from moonxi.nn.dropout import Dropout, Dropout2d, dropout
from moonxi.nn.embedding import Embedding
from moonxi.nn.feature_norm import LayerNorm, RMSNorm
from moonxi.nn.flatten import Flatten
from moonxi.nn.function_layers import Identity, Lambda
from moonxi.nn.layer import Layer
from moonxi.nn.linear import Linear
from moonxi.nn.mode import Eval, Mode, Train
from moonxi.nn.module import Module
from moonxi.nn.moving import to
from moonxi.nn.normalisation import BatchNorm2d, GroupNorm
from moonxi.nn.pooling import (
    AdaptiveAvgPool2d,
    AvgPool2d,
    GlobalAvgPool2d,
    MaxPool2d,
    UpsampleBilinear2d,
    UpsampleNearest2d,
)
from moonxi.nn.residual import residual
from moonxi.nn.sequential import Sequential, Step
from moonxi.nn.state import State
from moonxi.nn.state_dict import TorchKeys, TorchTensor, load_state_dict
from moonxi.nn.weights import check_writable, load, save

__all__ = [
    "AdaptiveAvgPool2d",
    "AvgPool2d",
    "BatchNorm2d",
    "Bilinear",
    "Conv2d",
    "ConvTranspose2d",
    "Dropout",
    "Dropout2d",
    "Elu",
    "Embedding",
    "Eval",
    "Flatten",
    "Gelu",
    "GlobalAvgPool2d",
    "GroupNorm",
    "Hardswish",
    "Identity",
    "Lambda",
    "Layer",
    "LayerNorm",
    "LeakyRelu",
    "Linear",
    "MaxPool2d",
    "Mish",
    "Mode",
    "Module",
    "RMSNorm",
    "Relu",
    "Sequential",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softplus",
    "State",
    "Step",
    "Tanh",
    "TorchKeys",
    "TorchTensor",
    "Train",
    "UpsampleBilinear2d",
    "UpsampleNearest2d",
    "check_writable",
    "dropout",
    "elu",
    "gelu",
    "hardswish",
    "initializers",
    "leaky_relu",
    "load",
    "load_state_dict",
    "mish",
    "residual",
    "save",
    "silu",
    "softplus",
    "to",
    "value_and_grad",
]
