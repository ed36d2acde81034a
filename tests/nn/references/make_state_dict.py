"""Makes state_dict.safetensors and state_dict.json beside this file, with PyTorch: a network, its input and output.

    python -m tests.nn.references.make_state_dict

Run from the root of the project by an interpreter that has torch. Made with PyTorch 2.13. The file is written here by
its format (https://huggingface.co/docs/safetensors), so that the interpreter needs no other package.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
torch: Any = import_module("torch")


def write(path: Path, tensors: dict[str, Any]) -> None:
    header: dict[str, object] = {}
    content = b""
    for name, tensor in tensors.items():
        data = tensor.contiguous().numpy().tobytes()
        kind = {torch.float64: "F64", torch.int64: "I64"}[tensor.dtype]
        header[name] = {
            "dtype": kind,
            "shape": list(tensor.shape),
            "data_offsets": [len(content), len(content) + len(data)],
        }
        content += data
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)


def main() -> None:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    nn = torch.nn
    net = nn.Sequential()
    net.add_module("features", nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU()))
    net.add_module("flat", nn.Flatten())
    net.add_module("classifier", nn.Sequential(nn.Linear(48, 5), nn.LayerNorm(5), nn.Linear(5, 4, bias=False)))
    for _ in range(3):
        net(torch.randn(6, 2, 4, 4))  # running statistics
    for parameter in net.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    x = torch.randn(2, 2, 4, 4)
    write(HERE / "state_dict.safetensors", net.state_dict())
    with torch.no_grad():
        (HERE / "state_dict.json").write_text(json.dumps({"x": x.tolist(), "y": net.eval()(x).tolist()}) + "\n")


if __name__ == "__main__":
    main()
