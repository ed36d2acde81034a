"""Data sets and how they become batches. Everything here is generic in the tensor that the batches hold."""

from moonxi.data.augmentation import Augmentation, Crop, Cutout, Flip, Normalize, Transform
from moonxi.data.augmented import Augmented, Transformed
from moonxi.data.cifar10 import CIFAR10_CLASSES, cifar10
from moonxi.data.dataset import Dataset, HostDataset, LabelledArrays, RandomDataset, TrainTest
from moonxi.data.idx import decode_idx, encode_idx, read_idx, write_idx
from moonxi.data.image_collection import IdxFile, IdxPair, ImageCollection
from moonxi.data.image_folder import ImageFolder, image_folder
from moonxi.data.labelled import Labelled
from moonxi.data.loader import DataLoader
from moonxi.data.mnist import MNIST, mnist
from moonxi.data.order import Indices
from moonxi.data.position import Position

__all__ = [
    "CIFAR10_CLASSES",
    "MNIST",
    "Augmentation",
    "Augmented",
    "Crop",
    "Cutout",
    "DataLoader",
    "Dataset",
    "Flip",
    "HostDataset",
    "IdxFile",
    "IdxPair",
    "ImageCollection",
    "ImageFolder",
    "Indices",
    "Labelled",
    "LabelledArrays",
    "Normalize",
    "Position",
    "RandomDataset",
    "TrainTest",
    "Transform",
    "Transformed",
    "cifar10",
    "decode_idx",
    "encode_idx",
    "image_folder",
    "mnist",
    "read_idx",
    "write_idx",
]
