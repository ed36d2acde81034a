"""Whole models, ready to train."""

from moonxi.nn.models.lenet import LeNet
from moonxi.nn.models.mlp import Mlp
from moonxi.nn.models.resnet import BasicBlock, ConvNorm, ResNet18

__all__ = ["BasicBlock", "ConvNorm", "LeNet", "Mlp", "ResNet18"]
