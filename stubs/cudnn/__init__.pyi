"""What moonxi calls of nvidia-cudnn-frontend 1.18, and nothing else. Pointers are integers."""

from collections.abc import Sequence

class cudnnGraphNotSupportedError(Exception): ...

class data_type:
    FLOAT: data_type
    HALF: data_type
    BFLOAT16: data_type

class heur_mode:
    A: heur_mode
    B: heur_mode
    FALLBACK: heur_mode

class numerical_note:
    TENSOR_CORE: numerical_note
    NONDETERMINISTIC: numerical_note
    WINOGRAD: numerical_note
    FFT: numerical_note

class behavior_note:
    RUNTIME_COMPILATION: behavior_note

class tensor:
    def set_output(self, value: bool, /) -> tensor: ...
    def set_data_type(self, data_type: data_type) -> tensor: ...
    def set_dim(self, value: Sequence[int], /) -> tensor: ...
    def set_stride(self, value: Sequence[int], /) -> tensor: ...
    def set_uid(self, value: int, /) -> tensor: ...

_Tensor = tensor

class pygraph:
    def __init__(
        self,
        *,
        io_data_type: data_type,
        intermediate_data_type: data_type,
        compute_data_type: data_type,
        handle: int,
    ) -> None: ...
    def tensor(
        self, *, dim: Sequence[int], stride: Sequence[int], data_type: data_type, name: str, uid: int
    ) -> _Tensor: ...
    def conv_fprop(
        self,
        *,
        image: _Tensor,
        weight: _Tensor,
        padding: Sequence[int],
        stride: Sequence[int],
        dilation: Sequence[int],
    ) -> _Tensor: ...
    def conv_dgrad(
        self,
        *,
        loss: _Tensor,
        filter: _Tensor,
        padding: Sequence[int],
        stride: Sequence[int],
        dilation: Sequence[int],
    ) -> _Tensor: ...
    def conv_wgrad(
        self,
        *,
        image: _Tensor,
        loss: _Tensor,
        padding: Sequence[int],
        stride: Sequence[int],
        dilation: Sequence[int],
    ) -> _Tensor: ...
    def validate(self) -> None: ...
    def build_operation_graph(self) -> None: ...
    def create_execution_plans(self, modes: list[heur_mode], /) -> None: ...
    def deselect_behavior_notes(self, notes: list[behavior_note], /) -> None: ...
    def deselect_numeric_notes(self, notes: list[numerical_note], /) -> pygraph: ...
    def check_support(self) -> None: ...
    def get_execution_plan_count(self) -> int: ...
    def build_plan_at_index(self, index: int, /) -> None: ...
    def get_workspace_size_plan_at_index(self, index: int, /) -> int: ...
    def execute_plan_at_index(self, buffers: dict[int, int], workspace: int, index: int, /, *, handle: int) -> None: ...

__version__: str

def backend_version() -> int: ...
def create_handle() -> int: ...
def set_stream(*, handle: int, stream: int) -> None: ...
