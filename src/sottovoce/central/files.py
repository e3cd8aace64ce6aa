"""Columns of a file in batches, so that memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sottovoce.errors import MissingExtra

_FORMATS = {".parquet": "parquet", ".csv": "csv", ".feather": "feather", ".arrow": "feather"}


def batches(path: str | Path, columns: Sequence[str]) -> Iterator[Any]:
    """Record batches with the named columns of a Parquet, CSV or Arrow file, or a folder of Parquet files."""
    source = _open(path)
    for name in columns:
        if name not in source.schema.names:
            raise ValueError(
                f"there is no column {name!r}; there are {', '.join(map(repr, source.schema.names))}"
            )
    # One batch ahead: the default reads the whole of a small file into memory, and much of a large one.
    return source.to_batches(columns=list(columns), batch_readahead=1, fragment_readahead=1)


def keys_like_column(path: str | Path, column: str, keys: Sequence[str]) -> list[Any]:
    """Keys given as text, as the type that the column holds."""
    import pyarrow as pa

    names = _open(path).schema
    if column not in names.names:
        raise ValueError(f"there is no column {column!r}; there are {', '.join(map(repr, names.names))}")
    kind = names.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        return pa.array(keys, pa.string()).cast(kind).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TypeError(
            f"the keys of column {column!r} are {kind}, which not all declared groups are"
        ) from None


def _open(path: str | Path) -> Any:
    try:
        from pyarrow import dataset
    except ImportError:
        raise MissingExtra("reading files", "bulk") from None
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    kind = "parquet" if path.is_dir() else _FORMATS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"the file must end in {', '.join(_FORMATS)}, got {path.name!r}")
    return dataset.dataset(path, format=kind)
