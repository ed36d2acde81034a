"""Layers, models, and what is done with a whole model."""

from moonxi.nn import initializers
from moonxi.nn.activations import Relu, Tanh
from moonxi.nn.convolution import Conv2d, ConvTranspose2d
from moonxi.nn.differentiate import value_and_grad
from moonxi.nn.dropout import Dropout, Dropout2d, dropout
from moonxi.nn.flatten import Flatten
from moonxi.nn.layer import Layer
from moonxi.nn.linear import Linear
from moonxi.nn.mode import Eval, Mode, Train
from moonxi.nn.module import Module
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
from moonxi.nn.weights import check_writable, load, save

__all__ = [
    "AdaptiveAvgPool2d",
    "AvgPool2d",
    "BatchNorm2d",
    "Conv2d",
    "ConvTranspose2d",
    "Dropout",
    "Dropout2d",
    "Eval",
    "Flatten",
    "GlobalAvgPool2d",
    "GroupNorm",
    "Layer",
    "Linear",
    "MaxPool2d",
    "Mode",
    "Module",
    "Relu",
    "Sequential",
    "State",
    "Step",
    "Tanh",
    "Train",
    "UpsampleBilinear2d",
    "UpsampleNearest2d",
    "check_writable",
    "dropout",
    "initializers",
    "load",
    "residual",
    "save",
    "value_and_grad",
]
