"""The command line: argument parsing and printing only, one module per command.

A module of this package with a `register(app)` function adds its command; nothing is listed by hand.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from typing import TYPE_CHECKING

from sottovoce.core.errors import MissingExtra

if TYPE_CHECKING:
    import typer


def build_app() -> typer.Typer:
    """The application with every command found in this package."""
    import typer

    from sottovoce.cli.root import root

    app = typer.Typer(
        name="sottovoce",
        help="Statistics about numbers from many people, without learning anyone's number.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(root)
    for found in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        module = importlib.import_module(f"{__name__}.{found.name}")
        if hasattr(module, "register"):
            module.register(app)
    return app


def main() -> None:
    """Run the command line; a mistake of the user's is one sentence and exit code 2, not a traceback."""
    # The matrices of estimates are small: threads of linear algebra cost more than they give, and take the
    # cores that a collector stores reports with. It has to be said before numpy is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        print(MissingExtra("the command line", "cli"), file=sys.stderr)
        raise SystemExit(2) from None
    try:
        build_app()()
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"sottovoce: {_sentence(error)}", file=sys.stderr)
        raise SystemExit(2) from None


def _sentence(error: Exception) -> str:
    """What went wrong in the words of the command line."""
    from sottovoce.cli.options import in_options

    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"  # without Python's "[Errno 13]"
    return in_options(str(error))
