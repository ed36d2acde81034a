"""What the plugin is made of, as a short text: what mypy has cached under another text is checked again."""

from hashlib import sha256
from pathlib import Path

_HOME = Path(__file__).parent
_PARTS = (_HOME, *(_HOME.parent / part for part in ("dims", "linalg", "losses", "shapes", "shape_tensor")))

DIGEST = sha256(b"".join(file.read_bytes() for part in _PARTS for file in sorted(part.rglob("*.py")))).hexdigest()[:16]
