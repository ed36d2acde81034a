"""Layers, models, and what is done with a whole model."""

from moonxi.nn import initializers
from moonxi.nn.activations import Relu, Tanh
from moonxi.nn.differentiate import value_and_grad
from moonxi.nn.dropout import Dropout, dropout
from moonxi.nn.flatten import Flatten
from moonxi.nn.layer import Layer
from moonxi.nn.linear import Linear
from moonxi.nn.mode import Eval, Mode, Train
from moonxi.nn.module import Module
from moonxi.nn.residual import residual
from moonxi.nn.sequential import Sequential, Step
from moonxi.nn.state import State
from moonxi.nn.weights import check_writable, load, save

__all__ = [
    "Dropout",
    "Eval",
    "Flatten",
    "Layer",
    "Linear",
    "Mode",
    "Module",
    "Relu",
    "Sequential",
    "State",
    "Step",
    "Tanh",
    "Train",
    "check_writable",
    "dropout",
    "initializers",
    "load",
    "residual",
    "save",
    "value_and_grad",
]
