"""An exact certificate, in memory and as a file: an instance, a schedule, and a tree that shows that nothing is better.

The columns and rows that nodes name by number are those of the program that the problem's writer makes of the instance
(`dlsched.algorithms.exact.certificates.program`). Nodes stand in depth-first order: a branching, all of the part in
which its column is at most `at`, then all of the part in which it is at least ``at + 1``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, PlainSerializer, Tag, WithJsonSchema

from dlsched.errors import shown
from dlsched.models.document import Document, Record

MAX_NODES = 200_000
"""The most nodes of a certificate. Arbitrary: a hundred times what the claims' instances take."""

MAX_DIGITS = 4000
"""The most digits of a numerator or a denominator. Python refuses to read integers of more than 4300."""

_BITS = 13_000
"""The same in bits, a few digits less."""

_FRACTION = re.compile(rf"-?\d{{1,{MAX_DIGITS}}}(/\d{{1,{MAX_DIGITS}}})?")


def _exact(value: object) -> Fraction:
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
            raise ValueError(f"has about {MAX_DIGITS} digits or more")
        return value
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        raise ValueError(f'must be a string "p" or "p/q" of at most {MAX_DIGITS} digits each, not {shown(value)}')
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise ValueError(f"has denominator 0 in {shown(value)}") from None


Exact = Annotated[
    Fraction,
    BeforeValidator(_exact),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^-?\d+(/\d+)?$"}),
]
"""A rational of any size, written "p" or "p/q"."""

Multipliers = dict[Annotated[int, Field(ge=0)], Exact]


class Branching(Record):
    """A node that is split in two.

    Attributes
    ----------
    column : int
        Of integers.
    at : int
        The column is at most this in the first part, and at least one more in the second.
    """

    column: Annotated[int, Field(strict=True, ge=0)]
    at: Annotated[int, Field(strict=True)]


class Bounded(Record):
    """A leaf in which nothing is better than the certificate's bound.

    Attributes
    ----------
    multipliers : dict of int to Fraction
        By row: y, whose bound by weak duality it is. Positive ones go with upper, negative ones with lower sides where
        the objective is maximised; the other way round where it is minimised.
    """

    multipliers: Multipliers


class Empty(Record):
    """A leaf without a point.

    Attributes
    ----------
    farkas : dict of int to Fraction
        By row: y, by which 0 would have to be below 0.
    """

    farkas: Multipliers


Node = Branching | Bounded | Empty


def _kind(node: object) -> str:
    has = node if isinstance(node, dict) else getattr(node, "__dict__", {})
    return "[farkas]" if "farkas" in has else "[multipliers]" if "multipliers" in has else "[branching]"


AnyNode = Annotated[
    Annotated[Branching, Tag("[branching]")]
    | Annotated[Bounded, Tag("[multipliers]")]
    | Annotated[Empty, Tag("[farkas]")],
    Discriminator(_kind),
]


class ExactCertificate(Document):
    """That an instance's optimum is between two rationals, mostly equal.

    Attributes
    ----------
    certificate : str
        Format and version.
    problem : str
    formulation : str
        That the program restates.
    sha256 : str
        `Document.digest` of the instance.
    instance, schedule : dict
        As in their own files; there is no schedule where none is feasible.
    value : Fraction, optional
        What the schedule is worth.
    bound : Fraction, optional
        Nothing is better.
    lattice : Fraction, optional
        All values of the objective differ by multiples of it, so that leaves' bounds are rounded to the next one.
    nodes : tuple of Node

    Examples
    --------
    >>> from dlsched.algorithms import ExactCertificate, optimum
    >>> from dlsched.models import hadar
    >>> optimum(hadar.random(18)).exact.document().save("proof.json")
    >>> certificate = ExactCertificate.load("proof.json")
    >>> certificate.formulation, certificate.value, len(certificate.nodes)
    ('hadar/hall', Fraction(16, 1), 3)
    """

    certificate: Literal["dlsched-exact-1"]
    problem: str
    formulation: str
    sha256: str
    instance: dict[str, Any]
    schedule: dict[str, Any] | None = None
    value: Exact | None = None
    bound: Exact | None = None
    lattice: Exact | None = None
    nodes: Annotated[tuple[AnyNode, ...], Field(max_length=MAX_NODES)]


@dataclass(frozen=True, slots=True)
class Tree:
    """A proof that no point is worth more than a bound.

    Attributes
    ----------
    nodes : tuple of Node
        In depth-first order.
    bound : Fraction or None
        None where there is no point at all.
    lattice : Fraction or None
        That bounds were rounded to.
    """

    nodes: tuple[Node, ...]
    bound: Fraction | None
    lattice: Fraction | None


@dataclass(frozen=True, slots=True, eq=False)
class ExactProof:
    """That an instance's optimum is between two rationals, mostly equal: what an `ExactCertificate` says, not written.

    Attributes
    ----------
    problem : str
    formulation : str
        That the program restates.
    instance, schedule : Document
        There is no schedule where none is feasible.
    value : Fraction or None
        What the schedule is worth.
    tree : Tree
        That nothing is worth more than its bound.

    Examples
    --------
    >>> from dlsched.algorithms import optimum
    >>> from dlsched.models import hadar
    >>> proof = optimum(hadar.random(0)).exact
    >>> proof.formulation, proof.value == proof.tree.bound
    ('hadar/hall', True)
    >>> proof.document().save("certificate.json")
    """

    problem: str
    formulation: str
    instance: Document
    schedule: Document | None
    value: Fraction | None
    tree: Tree

    def document(self) -> ExactCertificate:
        """Return what `check_certificate` checks, and `save` writes."""
        return ExactCertificate(
            certificate="dlsched-exact-1",
            problem=self.problem,
            formulation=self.formulation,
            sha256=self.instance.digest,
            instance=self.instance.dump(),
            schedule=None if self.schedule is None else self.schedule.dump(),
            value=self.value,
            bound=self.tree.bound,
            lattice=self.tree.lattice,
            nodes=self.tree.nodes,
        )
