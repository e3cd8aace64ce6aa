"""Every error has a code and an argument, and is a ValueError, TypeError or OSError as before."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.auditing import client_vectors
from sottovoce.cli.shared_options import in_options
from sottovoce.collector.campaigns.campaign_round import Round
from sottovoce.collector.campaigns.written_survey import read_survey
from sottovoce.collector.refusals import Refusal
from sottovoce.errors import Coded, DataError, SpecError, UsageError

SOURCE = Path(sv.__file__).parent

#: Errors that Python's own protocols want as they are, by file, with what wants them.
PROTOCOL = {
    ("__init__.py", "AttributeError"): "a module's __getattr__",
    ("bulk/__init__.py", "AttributeError"): "a module's __getattr__",
    ("collector/__init__.py", "AttributeError"): "a module's __getattr__",
    ("estimates/tally.py", "AttributeError"): "__getattr__ and __setattr__",
    ("storage/atomic_file.py", "OSError"): "the system's own error, with its number and another file name",
    (
        "device/connection.py",
        "TimeoutError",
    ): "what sockets raise; the same file makes an Undelivered of both",
}


def raised(path: Path) -> set[str]:
    """The names of Python's own errors that a file raises."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            name = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(name, ast.Name):
                own = getattr(builtins, name.id, None)
                found |= {name.id} if inspect.isclass(own) and issubclass(own, BaseException) else set()
    return found - {"SystemExit"}


def test_no_error_is_without_code_and_argument() -> None:
    bare = {
        (path.relative_to(SOURCE).as_posix(), name) for path in SOURCE.rglob("*.py") for name in raised(path)
    }
    assert bare == set(PROTOCOL)


KINDS = [one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, Coded)]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_python_s_own_as_well(kind: type[Coded]) -> None:
    if kind in (Coded, errors.MissingExtra):
        return
    assert issubclass(kind, ValueError | TypeError | KeyError | RuntimeError | ArithmeticError | OSError)
    error = kind("a sentence") if kind is UsageError else kind("a sentence", argument="name")
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.argument, again.args) == (error.code, error.argument, ("a sentence",))
    assert error.code


#: Types that are known and cannot be written down, by file: an assertion decides about nobody's input.
KNOWN_TYPES = {
    "cli/demo.py": "the demo's own campaign",
    "collector/app.py": "Starlette calls a handler with the errors that it was registered for",
    "comparing/quantity.py": "a combination of estimates",
    "device/terms.py": "checked when the terms are made",
    "estimates/groups.py": "checked when the spec is read",
    "reporters/composites/functions_by_lot.py": "checked when the spec is read",
}


def test_no_assertion_decides_about_types_that_were_given() -> None:
    asserting = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Assert) and "isinstance(" in ast.unparse(node.test)
    }
    assert asserting <= set(KNOWN_TYPES)


def test_what_is_of_another_kind_is_refused() -> None:
    looked = Round(task="range", largest=100)
    tally = sv.Tally(looked.plan(sv.sw(1.0)).first, np.zeros(100, dtype=int))
    with pytest.raises(Refusal, match="last round"):
        looked.estimate(tally, tally, 0.95)
    with pytest.raises(SpecError, match="one number"):
        client_vectors._many(sv.choice(1.0, ["a", "b"]).to_json(), 4)
    with pytest.raises(DataError, match="not of one number"):
        sv.honesty(sv.Tally(sv.place(1.0, 1.0, points=8), [0, 1]))


def test_commands_name_an_option_once() -> None:
    class Option:
        name, opts, param_type_name = "pair", ("--pair",), "option"

    class Command:
        params = (Option,)

    assert UsageError("--pair must be NAME=LOW:HIGH").argument == "pair"
    assert UsageError("a tally has no groups").argument is None
    assert in_options(UsageError("say --pair, or more"), Command, []) == "say --pair, or more"
    assert in_options(errors.ArgumentError("too many", argument="pair"), Command, []) == "--pair: too many"


@pytest.mark.parametrize("epsilon", [0, -1, 1e-9, 17, 1e9])
def test_a_spec_whose_epsilon_is_out_of_range_is_a_spec_s_fault(epsilon: float) -> None:
    pair = sv.pair(1.0, {"a": (0, 1), "b": (0, 1)})
    for reporter in (sv.sw(1.0, cells=64), sv.choice(1.0, ["a", "b"]), pair):
        spec = json.dumps({**json.loads(reporter.to_json()), "epsilon": epsilon})
        with pytest.raises(SpecError, match="epsilon must be") as caught:
            sv.from_json(spec)
        assert caught.value.argument == "epsilon"


def test_a_survey_nested_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text("questions = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(Refusal, match="nested too deeply"):
        read_survey(file)


def test_columns_of_one_name_are_refused_in_words() -> None:
    both = pa.Table.from_arrays([pa.array([0, 1]), pa.array([1, 1])], names=["cell", "cell"])
    with pytest.raises(DataError, match="several columns of one name"):
        sv.Tally.from_arrow(sv.duchi(1.0), both)
    with pytest.raises(errors.ArgumentError, match="several columns 'cell'"):
        sv.central.mean(both, 1.0, (0, 2), column="cell")
