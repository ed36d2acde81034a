"""Data sets, loaders, tables and what comes from other libraries, where they do not fit."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

import moonxi as mx
from moonxi import F32, F64, GpuTensor, NpArray, nn
from moonxi.data import (
    Category,
    Crop,
    CsvTable,
    Cutout,
    DataLoader,
    DeviceDataset,
    Features,
    Flip,
    Labelled,
    LabelledArrays,
    Mapped,
    Number,
    Paired,
    PairedArrays,
    Position,
    Subset,
    Text,
    read_csv,
    split,
    stratified_split,
)

type HostArray = NDArray[np.floating]
type Host = NpArray[F32]
type Device = GpuTensor[F32]

LENGTH, WIDTH, KIND = Number("length"), Number("width"), Category("kind", ("iris", "rose"))


def flowers() -> CsvTable:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "flowers.csv"
        path.write_text("kind,length,width\niris,1,2\nrose,3,4\n")
        return read_csv(path, LENGTH, WIDTH, KIND)


def samples() -> LabelledArrays[Host]:
    return LabelledArrays(mx.numpy(), np.ones((6, 4)), np.arange(6) % 3)


def pairs() -> PairedArrays[Host]:
    return PairedArrays(mx.numpy(), np.ones((6, 4)), np.ones(6))


# -- tables --------------------------------------------------------------------------------------------------------


def wrong_name_of_a_column(table: CsvTable) -> None:
    Features.fit(table, "length")  # E: [arg-type]


def right_name_of_a_column() -> None:
    assert Features.fit(flowers(), LENGTH, WIDTH).names == ("length", "width")


def wrong_words_as_numbers(table: CsvTable) -> NDArray[np.float64]:
    return table[Text("kind")]  # E: [index]


def right_words_as_numbers() -> NDArray[np.float64]:
    return flowers()[LENGTH]


def wrong_columns_as_targets(table: CsvTable) -> PairedArrays[Host]:
    return Features.fit(table, LENGTH).paired(mx.numpy(), table, targets=(WIDTH,))  # E: [arg-type]


def right_columns_as_targets() -> PairedArrays[Host]:
    targets = Features.fit(flowers(), WIDTH)
    return Features.fit(flowers(), LENGTH).paired(mx.numpy(), flowers(), targets=targets)


def wrong_number_as_a_class(table: CsvTable) -> None:
    table.labelled(mx.numpy(), inputs=(LENGTH,), label=WIDTH)  # E: [arg-type]


def right_number_as_a_class() -> None:
    assert len(flowers().labelled(mx.numpy(), inputs=(LENGTH, WIDTH), label=KIND)) == 2


def wrong_class_among_the_inputs(table: CsvTable) -> None:
    table.labelled(mx.numpy(), inputs=(LENGTH, KIND), label=KIND)  # E: [arg-type]


def right_class_among_the_inputs() -> None:
    assert flowers().paired(mx.numpy(), inputs=(LENGTH,), targets=(WIDTH,)).inputs.shape == (2, 1)


def wrong_element_type_of_a_column(table: CsvTable) -> NDArray[np.int64]:
    return table[LENGTH]  # E: [index]


def right_element_type_of_a_column() -> NDArray[np.int64]:
    return flowers()[KIND]


def wrong_column_by_its_name(table: CsvTable) -> None:
    print(table["length"])  # E: [call-overload]


def right_column_by_its_name() -> None:
    assert flowers()[LENGTH].tolist() == [1.0, 3.0]


# -- data sets ----------------------------------------------------------------------------------------------------


def wrong_pairs_where_classes_are_expected(data: PairedArrays[Host]) -> DataLoader[Labelled[Host]]:
    return DataLoader(data, batch_size=2)  # E: [arg-type]


def right_pairs_where_classes_are_expected() -> DataLoader[Paired[Host]]:
    return DataLoader(pairs(), batch_size=2)


def wrong_device_of_a_batch(data: LabelledArrays[Host]) -> Iterator[Labelled[Device]]:
    return DataLoader(data, batch_size=2, workers=2).epoch(0)  # E: [return-value]


def right_device_of_a_batch() -> Iterator[Labelled[Host]]:
    return DataLoader(samples(), batch_size=2, workers=2).epoch(0)


def wrong_function_of_a_batch(data: PairedArrays[Host]) -> None:
    def of_labelled(batch: Labelled[Host]) -> Host:
        return batch.x

    Mapped(data, of_labelled)  # E: [arg-type]


def right_function_of_a_batch() -> None:
    def of_paired(batch: Paired[Host]) -> Host:
        return batch.x

    assert len(list(DataLoader(Mapped(pairs(), of_paired), batch_size=4).epoch(0))) == 2


def wrong_split_without_a_seed(data: LabelledArrays[Host]) -> None:
    split(data, (0.5, 0.5))  # E: [call-arg]


def right_split_without_a_seed() -> None:
    assert [len(part) for part in split(samples(), (0.5, 0.5), seed=0)] == [3, 3]


def wrong_split_of_what_has_no_parts(data: Mapped[Labelled[Host], Host]) -> None:
    split(data, (0.5, 0.5), seed=0)  # E: [type-var]


def right_split_of_what_has_no_parts() -> None:
    whole = Subset.whole(Mapped(samples(), lambda batch: batch.x))
    assert [len(part) for part in split(whole, (0.5, 0.5), seed=0)] == [3, 3]


def wrong_floats_to_stratify_by(data: PairedArrays[Host]) -> None:
    stratified_split(data, (0.5, 0.5), labels=np.ones(6), seed=0)  # E: [arg-type]


def right_floats_to_stratify_by() -> None:
    assert len(stratified_split(samples(), (0.5, 0.5), labels=samples().labels, seed=0)) == 2


def wrong_number_as_a_position(loader: DataLoader[Labelled[Host]]) -> None:
    loader.stream(3)  # E: [arg-type]


def right_number_as_a_position() -> None:
    batch, position = next(DataLoader(samples(), batch_size=2).stream(Position(0, 2)))
    assert (batch.size, position) == (2, Position(1))


# -- other libraries --------------------------------------------------------------------------------------------------


def wrong_tensor_in_a_function_of_numpy(x: Host) -> None:
    np.linalg.norm(x)  # E: [call-overload]


def right_tensor_in_a_function_of_numpy() -> None:
    assert np.linalg.norm(mx.numpy().ones((4,)).to_host()) == 2.0


def wrong_element_type_from_dlpack(x: Host) -> NpArray[F64]:
    return x.from_dlpack(np.ones(3))  # E: [return-value]


def right_element_type_from_dlpack() -> NpArray[F64]:
    return mx.numpy(F64).from_dlpack(np.ones(3))


def wrong_model_from_a_state_dict(model: nn.Linear[Host]) -> nn.Linear[Device]:
    return nn.load_state_dict(model, "net.safetensors", {"": "net.0"})  # E: [arg-type]


def right_model_from_a_state_dict() -> nn.Linear[Host]:
    model = nn.Linear.init(2, 3, like=mx.numpy(), key=mx.Key(0), bias=False)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "net.safetensors"
        save_file({"net.0.weight": np.ones((3, 2), np.float32)}, path)
        return nn.load_state_dict(model, path, {"": "net.0"})


def wrong_names_of_tensors(model: nn.Linear[Host]) -> None:
    nn.TorchKeys({"": "net"}, tensors={"weight": "net.kernel"})  # E: [dict-item]


def right_names_of_tensors() -> None:
    nn.TorchKeys({"": "net"}, tensors={"weight": nn.TorchTensor("net.kernel")})


# -- data on a device ----------------------------------------------------------------------------------------------


def pictures() -> LabelledArrays[Host]:
    return LabelledArrays(mx.numpy(), np.ones((6, 3, 4, 4)), np.arange(6) % 3)


def wrong_place_of_device_data() -> None:
    there: DeviceDataset[Device] = DeviceDataset.of(pictures())  # E: [arg-type]
    print(there)


def right_place_of_device_data() -> None:
    there: DeviceDataset[Host] = DeviceDataset.of(pictures())
    assert len(there) == 6


def wrong_step_on_a_device(images: DeviceDataset[Device]) -> None:
    def darker(images: HostArray, words: NDArray[np.uint64]) -> HostArray:
        return images / 2

    print(images.augmented((Crop(1), darker)))  # E: [arg-type]


def right_step_on_a_device() -> None:
    augmented = DeviceDataset.of(pictures()).augmented((Crop(1), Flip(), Cutout(1)))
    for batch in DataLoader(augmented, batch_size=2, seed=0).epoch(0):
        assert batch.x.shape == (2, 3, 4, 4)


def wrong_batch_of_a_device(images: DeviceDataset[Device]) -> Labelled[Host]:
    return images.batch(np.arange(2))  # E: [return-value]


def right_batch_of_a_device() -> None:
    def first(images: DeviceDataset[Device]) -> Labelled[Device]:
        return images.batch(np.arange(2))

    assert callable(first)


def wrong_source_of_device_data(loader: DataLoader[Labelled[Device]]) -> None:
    print(DeviceDataset.of(loader))  # E: [arg-type]


def right_source_of_device_data() -> None:
    print(DeviceDataset.of(pictures()[:4]).batch(np.array([0])).x.shape)
