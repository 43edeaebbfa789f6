"""The command line: one file a command, loaded when that command is asked for."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from pcnet._processes import Stop, stoppable
from pcnet._text import visible
from pcnet._version import __version__
from pcnet.cli._terminal import speak_plainly
from pcnet.errors import Interrupted, PcnetError

#: In the order of `pcnet --help`; the command `train` is the function `train` in `_train.py`.
COMMANDS = ("train", "predict", "reproduce", "tune", "compare", "inspect", "data")


def application(command: str | None) -> typer.Typer:
    """The command line with one command that can be run; of the others it knows what `pcnet --help` prints."""
    app = typer.Typer(
        help="Classify the nodes of a graph, whatever its homophily: PC-Conv and PCNet.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        # Docstrings are wrapped for the screen, not where their source lines end.
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in COMMANDS:
        if name != command:
            app.command(name, help=docstring(name))(lambda: None)
            continue
        module = import_module(f"pcnet.cli._{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, name))
    return app


def docstring(command: str) -> str:
    """What a command says of itself, read from its file: importing it would take seconds."""
    tree = ast.parse(Path(__file__).with_name(f"_{command}.py").read_text(encoding="utf-8"))
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == command)
    return ast.get_docstring(function) or ""


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"pcnet {__version__}")
        raise typer.Exit


def main() -> None:
    """Run a command; what is wrong with its input is one sentence on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        speak_plainly(stream)
    warnings.showwarning = lambda message, *_, **__: print(f"note: {visible(str(message))}", file=sys.stderr)
    with stoppable() as stop:
        sentence, code = _run(stop)
        _finish_output()
        if sentence:
            with suppress(OSError):
                print(f"pcnet: {visible(sentence)}", file=sys.stderr)
        sys.exit(code)


def _run(stop: Stop) -> tuple[str, int]:
    """What there is to say at the end of a command, and its exit code."""
    sentence, code = "", 2
    try:
        run = application(_command(sys.argv[1:]))
        stop.working = True
        code = run(prog_name="pcnet", standalone_mode=False) or 0
        # Typer makes a Ctrl-C that nobody caught a code of 130, without a word.
        sentence, code = ("Interrupted.", stop.code) if code == 130 else ("", code)
        sys.stdout.flush()
    except PcnetError as error:
        sentence = str(error)
    except MemoryError:
        sentence = "There is not enough memory for that; take fewer runs, epochs or hidden units."
    except Interrupted as error:
        sentence, code = str(error), stop.code
    except (KeyboardInterrupt, typer.Abort):
        sentence, code = "Interrupted.", stop.code
    except (BrokenPipeError, SystemExit) as error:
        # The reader of our output has gone, as in `pcnet data list | head`; Rich and Typer leave then.
        if not isinstance(error.__context__ or error, BrokenPipeError):
            raise
        code = 141
    except OSError as error:
        about = "" if error.filename is None else f" {error.filename}"
        sentence = f"Cannot read or write{about}: {error.strerror or error}."
    except Exception as error:
        # Typer's own complaints about arguments are exceptions that can word themselves.
        if not hasattr(error, "format_message"):
            raise
        sentence = error.format_message()  # empty where the help was shown instead
    return sentence, code


def _finish_output() -> None:
    """Write what is waiting; what cannot be written is dropped, which Python would complain of while it leaves."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command(arguments: Sequence[str]) -> str | None:
    """The first word that is no option: those before a command take no values."""
    command = next((word for word in arguments if not word.startswith("-")), None)
    if command == "bench":
        raise PcnetError("Benchmarks are not part of the package; run make bench in the repository.")
    return command
