"""Data sets and how they become batches. Everything here is generic in the tensor that the batches hold."""

from moonxi.data.augmentation import Augmentation, Crop, Cutout, Flip, Normalize, Transform
from moonxi.data.augmented import Augmented, Transformed
from moonxi.data.cifar10 import CIFAR10_CLASSES, cifar10
from moonxi.data.columns import Category, Column, Integer, Number, Text
from moonxi.data.csv_table import CsvTable, read_csv
from moonxi.data.dataset import Dataset, HostDataset, LabelledArrays, RandomDataset, TrainTest
from moonxi.data.device_dataset import DeviceAugmentation, DeviceAugmented, DeviceDataset
from moonxi.data.emnist import EMNIST_CLASSES, emnist
from moonxi.data.fashion_mnist import FASHION_MNIST, FASHION_MNIST_CLASSES, fashion_mnist
from moonxi.data.features import Features
from moonxi.data.idx import decode_idx, encode_idx, read_idx, write_idx
from moonxi.data.image_collection import IdxFile, IdxPair, ImageCollection
from moonxi.data.image_file import decode_image
from moonxi.data.image_folder import ImageFolder, image_folder
from moonxi.data.labelled import Labelled
from moonxi.data.loader import DataLoader
from moonxi.data.mnist import MNIST, mnist
from moonxi.data.npy import labelled_npy, open_npy, paired_npy
from moonxi.data.order import Indices
from moonxi.data.paired import Paired, PairedArrays
from moonxi.data.position import Position
from moonxi.data.splitting import Selectable, split, stratified_split
from moonxi.data.subset import Mapped, Subset

__all__ = [
    "CIFAR10_CLASSES",
    "EMNIST_CLASSES",
    "FASHION_MNIST",
    "FASHION_MNIST_CLASSES",
    "MNIST",
    "Augmentation",
    "Augmented",
    "Category",
    "Column",
    "Crop",
    "CsvTable",
    "Cutout",
    "DataLoader",
    "Dataset",
    "DeviceAugmentation",
    "DeviceAugmented",
    "DeviceDataset",
    "Features",
    "Flip",
    "HostDataset",
    "IdxFile",
    "IdxPair",
    "ImageCollection",
    "ImageFolder",
    "Indices",
    "Integer",
    "Labelled",
    "LabelledArrays",
    "Mapped",
    "Normalize",
    "Number",
    "Paired",
    "PairedArrays",
    "Position",
    "RandomDataset",
    "Selectable",
    "Subset",
    "Text",
    "TrainTest",
    "Transform",
    "Transformed",
    "cifar10",
    "decode_idx",
    "decode_image",
    "emnist",
    "encode_idx",
    "fashion_mnist",
    "image_folder",
    "labelled_npy",
    "mnist",
    "open_npy",
    "paired_npy",
    "read_csv",
    "read_idx",
    "split",
    "stratified_split",
    "write_idx",
]
