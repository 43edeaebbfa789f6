"""The command line: one file a command."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer

import pcnet
from pcnet.cli import _data
from pcnet.cli._bench import bench
from pcnet.cli._compare import compare
from pcnet.cli._inspect import inspect
from pcnet.cli._options import Interrupted
from pcnet.cli._predict import predict
from pcnet.cli._reproduce import reproduce
from pcnet.cli._train import train
from pcnet.cli._tune import tune
from pcnet.errors import PcnetError

app = typer.Typer(
    help="Classify the nodes of a graph, whatever its homophily: PC-Conv and PCNet.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Docstrings are wrapped for the screen, not where their source lines end.
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("train")(train)
app.command("predict")(predict)
app.command("reproduce")(reproduce)
app.command("tune")(tune)
app.command("compare")(compare)
app.command("inspect")(inspect)
app.command("bench")(bench)
app.add_typer(_data.app, name="data")


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"pcnet {pcnet.__version__}")
        raise typer.Exit


def main() -> None:
    """Run a command; what is wrong with its input is one sentence on standard error and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        code = app(prog_name="pcnet", standalone_mode=False)
    except PcnetError as error:
        _fail(str(error), 2)
    except MemoryError:
        _fail("There is not enough memory for that; take fewer runs, epochs or hidden units.", 2)
    except Interrupted as error:
        _fail(str(error), 130)
    except (KeyboardInterrupt, typer.Abort):
        _fail("Interrupted.", 130)
    except BrokenPipeError:
        # The reader of our output has gone, as in `pcnet data list | head`.
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:
        # Typer's own complaints about arguments are exceptions that can word themselves.
        wording = getattr(error, "format_message", None)
        if wording is None:
            raise
        _fail(wording(), 2)  # empty where the help was shown instead
    else:
        # Typer makes a Ctrl-C that nobody caught a code of 130, without a word.
        _fail("Interrupted." if code == 130 else "", code or 0)


def _fail(sentence: str, code: int) -> None:
    if sentence:
        print(f"pcnet: {sentence}", file=sys.stderr)
    sys.exit(code)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"note: {message}", file=sys.stderr)
