"""The claims that there are: all, by name, and by the paper that a name begins with; a claim's verdict by its id."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from dlsched.arguments import at_least, checked, expect, matching, plain
from dlsched.bounds.claim import Claim, Variant, Verdict, decide, title
from dlsched.errors import InputError
from dlsched.models.registry import Registry, entries


def _place(claim: Claim[Any]) -> tuple[str, int]:
    return claim.id, claim.variant.rank


CLAIMS: Registry[Claim[Any]] = Registry(
    "claims",
    Claim,
    lambda claim: title(*claim.key),
    order=_place,
    parts=lambda claim: {source.name: source for source in claim.sources},
)


def claims() -> tuple[Claim[Any], ...]:
    """Return every claim in every variant, sorted by id, what stands in a paper first.

    Examples
    --------
    >>> from dlsched.bounds import Expectation, Variant, claims
    >>> printed = [known for known in claims() if known.problem == "smd" and known.variant is Variant.PRINTED]
    >>> [known.id for known in printed if known.expectation is Expectation.FALSE][:3]
    ['smd/algorithm-1', 'smd/eta-constant', 'smd/eta-range']
    """
    return tuple(CLAIMS.all().values())


@checked
def claim(id: str, variant: str | Variant | None = None) -> Claim[Any]:
    """Return one claim.

    Parameters
    ----------
    id : str
    variant : {"printed", "derived", "corrected"} or Variant, optional
        As it is printed, where it stands in a paper, else as it is derived, if it is left out.

    Raises
    ------
    InputError
        If there is no such claim or variant.

    Examples
    --------
    >>> from dlsched.bounds import claim
    >>> claim("hadar/theorem-1").key
    ('hadar/theorem-1', 'printed')
    >>> claim("hadar/theorem-1", "corrected").expectation.value
    'true'
    """
    every = claims_likely([id])
    known = [claim for claim in every if claim.id == id] or [c for c in every if plain(c.id) == plain(id)]
    if not known:
        raise _unknown(id, [claim.id for claim in every])
    name = variant.value if isinstance(variant, Variant) else variant
    for candidate in known:
        if name in (None, candidate.variant.value):
            return candidate
    raise InputError(f"{id}: no variant {name!r}; it has {', '.join(c.variant.value for c in known)}")


@checked
def claims_named(names: str | Iterable[str] | None) -> tuple[Claim[Any], ...]:
    """Return claims in every variant, in the order of `claims`.

    Parameters
    ----------
    names : str or iterable of str or None
        Each an id, a paper (``hadar``), or a pattern of ids (``hadar/*``); ``_`` and ``-`` are the same. All for None.

    Raises
    ------
    InputError
        If a name fits no claim; the message has the nearest.

    Examples
    --------
    >>> from dlsched.bounds import claims_named
    >>> [known.key for known in claims_named("hadar/theorem-1")]
    [('hadar/theorem-1', 'printed'), ('hadar/theorem-1', 'corrected')]
    >>> len(claims_named("hadar")) == len(claims_named("hadar/*"))
    True
    """
    if names is None:
        return claims()
    wanted = [names] if isinstance(names, str) else list(names)
    for k, name in enumerate(wanted):
        expect(f"names[{k}]", name, str)
    known = claims_likely(wanted)
    ids = list(dict.fromkeys(claim.id for claim in known))
    chosen = {id_ for name in wanted for id_ in _ids(name, ids)}
    return tuple(claim for claim in known if claim.id in chosen)


def keyed(keys: Iterable[tuple[str, str]]) -> list[Claim[Any]]:
    """Return the claims of ids and variants that there are."""
    return [_of_paper(id)[title(id, variant)] for id, variant in keys]


def _of_paper(name: str) -> dict[str, Claim[Any]]:
    """Return the claims, by title, of the paper that a name begins with, and those of plug-ins."""
    return CLAIMS.some(plain(name).partition("/")[0])


def claims_likely(names: Iterable[str]) -> tuple[Claim[Any], ...]:
    """Return the claims of the papers that names begin with, in the order of `claims`; all if a name fits none of them.

    Nothing is imported for other papers of this package. Where others add claims, all are there: a source's name of
    theirs may be that of one of any paper.
    """
    likely: dict[str, Claim[Any]] = {}
    for name in names:
        own = _of_paper(name)
        ids = {claim.id for claim in own.values()}
        if name not in ids and not matching(name, ids):
            return claims()
        likely |= own
    if not all(entry.own for entry in entries("claims")):
        return claims()
    return tuple(sorted(likely.values(), key=_place))


def _ids(name: str, ids: list[str]) -> list[str]:
    """Return the ids that a name stands for."""
    found = matching(name, ids)
    if not found:
        raise _unknown(name, ids)
    return found


def _unknown(name: str, ids: list[str]) -> InputError:
    nearest = difflib.get_close_matches(plain(name), dict.fromkeys(ids), n=5, cutoff=0)
    return InputError(f"{name}: unknown claim; the nearest are {', '.join(nearest)}; `dlsched list` has all")


@checked
def check(
    id: str, instance: Any, seed: int = 0, variant: str | Variant | None = None, **parameters: float | str
) -> Verdict:
    """Return the verdict of a claim on an instance, with a witness where it is violated.

    Parameters
    ----------
    id : str
    instance : Document
        Of the claim's problem.
    seed : int
        Of every random draw that the run makes.
    variant : str or Variant, optional
        As for `claim`.
    **parameters
        Those of the claim, e.g. ``delta=0.1``; the paper's values where they are left out.

    Raises
    ------
    TypeError
        If the claim is not about such instances.
    InputError
        If there is no such claim, variant or parameter, a parameter is out of range, or the seed is negative.

    Examples
    --------
    >>> from dlsched.bounds import check, claim
    >>> instance = claim("hadar/theorem-2").case("hadar-theorem-2-lone-job").read_instance()
    >>> verdict = check("hadar/theorem-2", instance)
    >>> verdict.status.value, verdict.measured, verdict.bound
    ('violated', 1.0, 0.0)
    >>> check("hadar/theorem-2", instance, variant="corrected").status.value
    'holds'
    """
    known = claim(id, variant)
    expect(id, instance, known.instance_type)
    at_least(0, seed=seed)
    return decide(known, instance, seed, parameters=parameters)
