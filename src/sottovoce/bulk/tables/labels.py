"""Labels: which mechanism made a column, by spec and digest in its metadata, or in a file beside it.

A file may come from a stranger: a spec is read with suspicion, and its digest is counted again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from sottovoce.errors import DataError
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.formats import from_json
from sottovoce.wire.checked_json import parse_json

SPEC, DIGEST = "sottovoce:spec", "sottovoce:digest"
#: What was declared for missing values and those outside, in the metadata of a whole file of reports.
POLICY = "sottovoce:policy"
#: Names the column that says how many reports a row stands for, where it is not one.
COUNTS = "sottovoce:counts"
#: Where Spark writes the metadata of columns: as JSON in the footer of a Parquet file.
SPARK_FOOTER = "org.apache.spark.sql.parquet.row.metadata"

_MOST_BYTES = 1 << 25

Label = Mapping[str, str]


def label(mechanism: Reporter) -> dict[str, str]:
    """The metadata of a column of this mechanism's reports."""
    return {SPEC: mechanism.to_json(), DIGEST: mechanism.digest}


def arrow_label(metadata: Mapping[bytes, bytes] | None) -> Label:
    """The metadata of an Arrow field as text."""
    pairs = (metadata or {}).items()
    return {key.decode(errors="replace"): value.decode(errors="replace") for key, value in pairs}


def spark_label(footer: str | bytes, column: str) -> Label:
    """The metadata of a column in what Spark wrote into a file's footer."""
    content = parse_json(footer, "the footer of the file", _MOST_BYTES)
    try:
        fields = {field["name"]: field["metadata"].items() for field in content["fields"]}
    except (TypeError, KeyError, AttributeError):
        raise DataError("the footer of the file is not one that Spark writes") from None
    return {key: str(value) for key, value in fields.get(column, ())}


def specs_path(path: Path) -> Path:
    """Where the mechanisms of a file stand that has no metadata of its own, such as CSV."""
    return path.with_suffix(".spec.json")


def specs_text(mechanisms: Mapping[str, Reporter]) -> str:
    """What stands beside a CSV file: one spec, or one for each column's name."""
    texts = {name: mechanism.to_json() for name, mechanism in mechanisms.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return json.dumps({name: json.loads(text) for name, text in texts.items()})


def counts_text(mechanism: Reporter, cell: str, count: str) -> str:
    """What stands beside a file of counts: the spec of its column of cells, and the column of counts."""
    return json.dumps({cell: json.loads(mechanism.to_json()), COUNTS: count})


def label_beside(path: Path, column: str) -> Label:
    """The label of a file's column, from the file beside it."""
    beside = specs_path(path)
    try:
        text = beside.read_text()
    except FileNotFoundError:
        return {}
    content = parse_json(text, beside.name, _MOST_BYTES)
    if isinstance(content, dict) and "format" not in content:
        if column not in content:
            return {}
        text = json.dumps(content[column])
        counts = {COUNTS: str(content[COUNTS])} if COUNTS in content else {}
        return label(from_json(text)) | counts
    return label(from_json(text))


def labelled_mechanism(label: Label, column: str) -> Reporter | None:
    """The mechanism that a label names: its spec is read with suspicion, its digest checked."""
    if SPEC not in label:
        return None
    mechanism = from_json(label[SPEC])
    if label.get(DIGEST) != mechanism.digest:
        raise DataError(f"column {column!r}: the digest in its metadata is not that of its spec")
    return mechanism


def agreed(labelled: Reporter | None, given: Reporter | None, where: str) -> Reporter:
    """The one mechanism of a column, from its label, from the caller, or from both if they agree."""
    mechanism = labelled if given is None else given
    if mechanism is None:
        sentence = f"{where} does not say which mechanism made it: pass mechanism="
        raise DataError(sentence, code="spec", argument="mechanism")
    if labelled is not None and labelled.digest != mechanism.digest:
        digests = f"{labelled.digest[:12]}… and {mechanism.digest[:12]}…"
        raise DataError(f"{where} holds reports of another mechanism: digests {digests}")
    return mechanism
