"""The command `dlsched`: its verbs, and its exit codes.

0 as expected; 1 a claim came out otherwise than is known, a schedule breaks rules, or a certificate proves nothing;
2 bad input or usage; 70 an error of the program itself; 130 interrupted, 143 terminated, 129 hung up.
"""

from __future__ import annotations

import atexit
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, NoReturn

import typer

from dlsched.cli import (
    claims,
    compare,
    figures,
    formulations,
    instances,
    interrupt,
    listing,
    output,
    plots,
    run,
    schedules,
)
from dlsched.cli.options import BAD_INPUT, help_if_bare

DEFECT = 70
"""Exit code of a defect of the program or of a solver: EX_SOFTWARE of sysexits.h."""

# Typer does not export the base of its usage errors (unknown option, missing argument, wrong value).
_UsageError: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="dlsched",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(listing.list_)
app.command()(formulations.show)
app.command()(formulations.solve)
app.command()(formulations.explain)
app.command()(schedules.optimum)
app.command()(schedules.certify)
app.add_typer(run.run, name="run")
app.command()(compare.compare)
app.command(cls=schedules.Check)(schedules.check)
app.add_typer(plots.plot, name="plot")
app.command("claim")(claims.describe)
app.command()(claims.verify)
app.command()(claims.attack)
app.command()(claims.replay)
app.command()(figures.reproduce)
app.add_typer(instances.generate, name="generate")
app.add_typer(instances.convert, name="convert")
app.command()(instances.schema)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        output.emit(f"dlsched {version('dlsched')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _dlsched(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option("--plugin", metavar="MODULE", help="Load a module with problems, algorithms, claims or readers."),
    ] = None,
) -> None:
    """Scheduling of deep-learning training jobs: models, certified optima, executable theorems."""
    help_if_bare(context)
    if plugin:
        from dlsched.models.registry import load

        for name in plugin:
            load(name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process where they are left out.

    Returns
    -------
    int
        The exit code.
    """
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    warnings.showwarning = partial(_tell_warning, warnings.showwarning)
    asked = interrupt.Asked()
    try:
        with interrupt.prompt(asked):
            code = app(args=arguments, prog_name="dlsched", standalone_mode=False)
    except _UsageError as error:
        return _refuse(_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        code = asked.code or interrupt.INTERRUPTED
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit | OSError) and _is_typers(error):
            return _typers(error)
        return _report(error)
    # Of a KeyboardInterrupt Typer makes the code of an interrupt, whatever signal it stands for.
    code = asked.code or int(code or 0)
    if code in interrupt.ENDED:
        output.note(interrupt.ENDED[code])
    return code


def process() -> NoReturn:
    """Run the command as a process of its own, and end it.

    Where it was interrupted a solver's thread may still run, and C++ aborts a process that ends as usual then; and
    Python looks through all objects before it ends, which takes seconds with a large model.
    """
    code = main()
    if code in interrupt.ENDED:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        # What Python itself does at an end: multiprocessing's locks are given back, or their tracker warns of them.
        atexit._run_exitfuncs()
        os._exit(code)
    sys.exit(code)


def _tell_warning(usual: Callable[..., None], message: Warning | str, category: type[Warning], *rest: Any) -> None:
    """Tell of a plug-in that is left out, and of a picture, in one line; other warnings as usual."""
    from dlsched.models.picture import PictureWarning
    from dlsched.models.registry import PluginWarning

    if issubclass(category, PluginWarning | PictureWarning):
        output.note(str(message))
    else:
        usual(message, category, *rest)


def _usage(error: Any) -> str:
    """Return what is wrong with a call: of a value that Typer has pydantic check, pydantic's rule alone lacks it."""
    from pydantic import ValidationError

    from dlsched.models.document import one_line

    if isinstance(error.__cause__, ValidationError):
        error.message = one_line(error.__cause__)
    return str(error.format_message())


def _typers(error: SystemExit | OSError) -> int:
    """Return the exit code of what Typer prints by itself: help, and completions, after which it ends the process."""
    if isinstance(error, OSError):
        return _report(output.unwritable(error))
    if isinstance(error.__context__, BrokenPipeError):
        return output.CLOSED
    raise error


def _is_typers(error: BaseException) -> bool:
    """Tell whether Typer's own code raised it, and no plug-in."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith("typer.")


def _refuse(message: str) -> int:
    output.note(f"error: {message}")
    return BAD_INPUT


def _report(error: BaseException) -> int:
    """Tell bad input, or an extra that is missing, from a defect of the program, for which the traceback is printed.

    A number that no solver takes is bad input: the models' numbers are the instance's.
    """
    from dlsched.algorithms.soundness import UnsoundError
    from dlsched.errors import InputError
    from dlsched.extras import MissingExtra
    from dlsched.solvers.matrix import UnfitNumberError
    from dlsched.solvers.solution import SolverError

    if isinstance(error, InputError | MissingExtra | UnfitNumberError):
        return _refuse(str(error))
    if isinstance(error, UnsoundError):
        for line in (f"defect: {error}", *getattr(error, "__notes__", ())):
            output.note(line)
        return DEFECT
    if isinstance(error, SolverError):
        output.note(f"a solver failed: {error}")
        return DEFECT
    traceback.print_exception(error, file=sys.stderr)
    return DEFECT
