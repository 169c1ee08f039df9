"""Options of a verb from the options of a function: one mechanism for algorithms, families of instances and readers."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dlsched.cli.options import help_if_bare
from dlsched.models.options import NUMBERS, number_or_text, numbers, typed

Parameter = inspect.Parameter

_CHOICES = 50
"""Letters of choices that stand behind an option; others stand in its help. With a name before them they fit 80
columns."""


def parameters(
    fields: Mapping[str, dataclasses.Field[Any]],
    *,
    with_defaults: bool = True,
    least: Mapping[str, int | None] = MappingProxyType({}),
    most: int | None = None,
) -> list[Parameter]:
    """Return the parameters of a verb that stand for fields; None means that an option was left out.

    Parameters
    ----------
    fields : mapping
    with_defaults : bool
        Whether the help tells defaults.
    least : mapping of str to int or None
        The smallest whole number that a field takes, by its name; none where any will do, as where it is left out.
    most : int, optional
        The greatest whole number that is taken.
    """
    return [_parameter(field, with_defaults, least.get(name), most) for name, field in fields.items()]


def command(name: str, function: Callable[..., Any], own: list[Parameter], doc: str) -> Any:
    """Return the command that calls a function with keywords, with these parameters and this help."""

    def verb(**given: Any) -> Any:
        return function(**given)

    # What Typer reads; a function has no other place for a signature that is made.
    verb.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    verb.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name, help=doc)(verb)
    return typer.main.get_command(app)


def group(doc: str, metavar: str, names: Callable[[], Iterable[str]], made: Callable[[str], Any]) -> typer.Typer:
    """Return a verb with a subcommand for each of some names, made when it is asked for.

    Parameters
    ----------
    doc : str
        The verb's help.
    metavar : str
        How its subcommands are called, in the line on usage.
    names : callable
        Returns the names.
    made : callable
        Returns the command of a name, and refuses an unknown one.
    """

    class Subcommands(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            del ctx
            return list(names())

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            del ctx
            return made(cmd_name)

    app = typer.Typer(
        cls=Subcommands, subcommand_metavar=metavar, help=doc, rich_markup_mode=None, add_completion=False
    )
    app.callback(invoke_without_command=True)(help_if_bare)
    return app


def parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    """Return a parameter of a verb."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _numbers(text: str) -> float | list[float]:
    try:
        return numbers(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not {NUMBERS[numbers]}") from None


def _parameter(field: dataclasses.Field[Any], with_default: bool, least: int | None, most: int | None) -> Parameter:
    kind = typed(field.type)
    flag = "--" + field.name.replace("_", "-")
    text = field.metadata.get("help", "")
    required = field.default is dataclasses.MISSING
    if with_default and not required and field.default is not None:
        shown = ("no", "yes")[bool(field.default)] if kind is bool else field.default
        if isinstance(shown, tuple):  # as it is typed
            shown = ",".join(map(str, shown))
        text = f"{text} [default: {shown}]".strip()
    if kind is bool:
        flag = f"{flag}/--no-{field.name.replace('_', '-')}"
    extra: dict[str, Any] = {"min": least, "max": most} if kind is int else {}
    if kind is number_or_text:
        what = "NUMBER|P/Q" if Fraction in typing.get_args(field.type) else "NUMBER|NAME"
        kind, extra = str, {"parser": number_or_text, "metavar": what}
    if kind is numbers:
        kind, extra = str, {"parser": _numbers, "metavar": "NUMBER,..."}
    elif isinstance(kind, type) and issubclass(kind, StrEnum) and len("|".join(kind)) > _CHOICES:
        text, extra = f"{text} [one of {', '.join(kind)}]", {"metavar": "NAME"}
    option = typer.Option(flag, help=text, show_default=False, **extra)
    if required:
        return parameter(field.name, Annotated[kind, option])
    return parameter(field.name, Annotated[kind | None, option], None)
