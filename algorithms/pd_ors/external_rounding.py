"""Randomized rounding of the external one-slot problem (23)-(28), with real feasibility tested (Algorithm 4).

What is rounded is an optimum of the linear relaxation (`external_lp`); n workers stand for v kappa_E in W_1 too.

Gains: (29), which shrinks so that capacities hold, (30), which stretches so that the workers suffice, or a number. The
bounds of Theorems 3 and 4 are on thresholds that are not feasibility; on one machine with room for exactly the workers
needed both gains make every round infeasible. A gain of 1 and the best of some rounds is what works.

"If infeasible or iter < S" of step 11 must read "and": literally, the first feasible point from round S on. The thesis
has no S: the first feasible point.

The print keeps and pays for all workers and servers of that point. Here a synchronous job drops those that it does not
need. That is ours, in both variants; with a gain above 1 a printed run pays less than the print would.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dlsched.algorithms.pd_ors.external_lp import Bools, Relaxed, external_lp, homeless, most_units
from dlsched.algorithms.pd_ors.market import Floats, Ints, Market
from dlsched.algorithms.pd_ors.placements import Placed
from dlsched.algorithms.pd_ors.widths import Form, widths
from dlsched.algorithms.run import Variant
from dlsched.arguments import at_least, checked, expect_share, positive
from dlsched.arithmetic import dot, exp, integer_product, log
from dlsched.errors import InputError
from dlsched.rounding import Rounded, round_independent
from dlsched.tolerances import NEAR_WHOLE, NEVER

MAX_ROUNDS = 5_000
"""Rounds after which the printed loop, which need not end, is given up (Section 5: "e.g., 5000")."""

MAX_GAIN = 10**6
"""Of a number that is given. Arbitrary: none above 2 fits many machines, and a billion workers times it can be
rounded."""

_BLOCK = 64
"""Rounds that are drawn at once; arbitrary."""


class Optimum(StrEnum):
    """Which optimum of the relaxation is rounded, where it has several: the paper says "the" optimum."""

    SOLVER = "solver"
    EVEN = "even"


class GainRule(StrEnum):
    """Where a gain comes from, if it is not given as a number.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(2, capacity=8)
    >>> for rule in pd_ors.GainRule:
    ...     print(rule.value, pd_ors.run(instance, external="lp-rounding", gain=rule, seed=1).utility)
    1 57.0
    packing 38.0
    cover 38.0
    """

    ONE = "1"
    PACKING = "packing"
    COVER = "cover"


@dataclass(frozen=True, slots=True)
class Rounding:
    """How to round.

    Attributes
    ----------
    gain : GainRule or float
    delta : float
        In (0, 1]; of (29) and (30).
    rounds : int
        S.
    variant : Variant
    optimum : Optimum

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> rule = pd_ors.Rounding.of("packing", delta=0.1, rounds=50, variant="corrected")
    >>> rule.gain.value, rule.rounds
    ('packing', 50)
    >>> pd_ors.Rounding.of(1.25, delta=0.1, rounds=50, variant="printed").gain
    1.25
    """

    gain: GainRule | float
    delta: float
    rounds: int
    variant: Variant
    optimum: Optimum = Optimum.SOLVER

    @classmethod
    def of(
        cls, gain: str | float, delta: float, rounds: int, variant: str, optimum: Optimum | str = Optimum.SOLVER
    ) -> Rounding:
        """Check and return the settings.

        Raises
        ------
        InputError
            If one of them is out of range.
        """
        expect_share(delta=delta)
        at_least(1, rounds=rounds)
        chosen: GainRule | float
        if isinstance(gain, str) and gain in set(GainRule):
            chosen = GainRule(gain)
        else:
            try:
                chosen = float(gain)
            except ValueError:
                raise InputError(f"gain: {gain!r} is neither a number nor one of 1, packing, cover") from None
            positive(gain=chosen)
            if chosen > MAX_GAIN:
                raise InputError(f"gain: {chosen:g} must be at most {MAX_GAIN:g}")
        return cls(chosen, delta, rounds, Variant(variant), Optimum(optimum))


@checked
def gain_for(market: Market, rule: Rounding, form: Form, workers: float, servers: float) -> float:
    """Return the gain in a market of one slot; 0 where the width W_2 of (29) is 0.

    Parameters
    ----------
    market : Market
    rule : Rounding
    form : Form
        Whose W_1, W_2, m and r; corrected, what has no room for a unit is not counted, as it is fixed at 0.
    workers, servers : float
        Right-hand sides of (26) and of the servers' row.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.job("job3"), last=3).row(0)
    >>> rule = pd_ors.Rounding.of("cover", 0.5, 10, "corrected")
    >>> round(pd_ors.gain_for(view, rule, pd_ors.Form.CORRECTED, 2, 1), 3)
    6.823
    """
    if rule.gain is GainRule.ONE:
        return 1.0
    if not isinstance(rule.gain, GainRule):
        return rule.gain
    ratios = most_units(market)
    if form is Form.CORRECTED:
        ratios[homeless(market)] = np.inf
    found = widths(
        form, ratios, (workers, servers), market.limit, resources=market.resources, needed=len(market.worker)
    )
    return found.shrink(rule.delta) if rule.gain is GainRule.PACKING else found.stretch(rule.delta)


@checked
def feasible(market: Market, x: Ints, workers: float, servers: float, most: float) -> Bools:
    """Tell which integer points keep (24), (25), (26) and the servers' row.

    Parameters
    ----------
    market : Market
        Of one slot.
    x : int array (..., 2 machines)
        All workers, then all servers.
    workers, servers, most : float
        Right-hand sides of (26), of the servers' row, and of (25).

    Returns
    -------
    bool array (...)

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.job("job3"), last=3).row(0)
    >>> machines = len(instance.machines)
    >>> points = np.array([[0] * (2 * machines), [1] * (2 * machines)])
    >>> pd_ors.feasible(view, points, workers=1, servers=1, most=machines).tolist()
    [False, True]
    """
    placed = x.reshape(*x.shape[:-1], 2, -1)
    total = placed.sum(axis=-1)
    result = np.asarray((total[..., 0] >= workers) & (total[..., 0] <= most) & (total[..., 1] >= servers))
    amounts = integer_product(
        np.swapaxes(placed[result], -1, -2).astype(market.room.dtype), np.array([market.worker, market.server])
    )
    result[result] = (amounts <= market.room[0]).all(axis=(-1, -2)).astype(bool)
    return result


def round_external(
    market: Market,
    relaxed: Relaxed,
    rule: Rounding,
    gain: float,
    needs: tuple[float, float, float],
    rng: np.random.Generator,
    accept: Callable[[Ints], Bools] | None = None,
) -> Rounded:
    """Round an optimum of the relaxation: corrected, the cheapest feasible point of S rounds.

    Parameters
    ----------
    market : Market
        Of one slot.
    relaxed : Relaxed
    rule : Rounding
    gain : float
        G; 0 makes no round.
    needs : (float, float, float)
        Right-hand sides of (26), of the servers' row, and of (25).
    rng : numpy.random.Generator
    accept : callable, optional
        Further rules, of points (draws, 2 machines).

    Returns
    -------
    Rounded
        The point has all workers, then all servers.
    """
    if not gain:
        return Rounded(None, 0, 0)
    x = _clean(gain * np.concatenate([relaxed.workers, relaxed.servers]))

    def accepted(points: Ints) -> Bools:
        good = feasible(market, points, *needs)
        return good & accept(points) if accept else good

    def draw(count: int) -> tuple[Ints, Bools]:
        points = round_independent(x, rng, draws=count)
        return points, accepted(points)

    if rule.variant is Variant.PRINTED:
        listed = _outcomes(x)  # where none is feasible, the literal loop would not end
        endless = _hopeless(market, x, needs) if listed is None else not accepted(listed).any()
        return Rounded(None, 0, 0) if endless else _literally(draw, rule.rounds)
    points, good = draw(rule.rounds)
    price = np.concatenate([market.worker_price[0], market.server_price[0]])
    best = points[good][(dot(points[good], price)).argmin()] if good.any() else None
    return Rounded(best, rule.rounds, int(good.sum()))


_LISTED = 10
"""Fractional coordinates whose 2^10 outcomes take less time than the rounds they may save. Arbitrary."""


def _outcomes(x: Floats) -> Ints | None:
    """Return every rounding of x, shape (outcomes, 2 machines); None where there are too many."""
    free = np.flatnonzero(x % 1)
    if len(free) > _LISTED:
        return None
    up = np.arange(1 << len(free))[:, None] >> np.arange(len(free)) & 1
    points = np.tile(np.floor(x).astype(np.int64), (len(up), 1))
    points[:, free] += up
    return points


def _hopeless(market: Market, x: Floats, needs: tuple[float, float, float]) -> bool:
    """Tell whether all rounds fail but with the probability `NEVER`.

    That workers, and servers, are as many as needed is bounded by Chernoff's inequality, and the two are independent;
    that all machines hold what they get is exact, as no two share a row.
    """
    parts = x.reshape(2, -1)
    up = parts % 1
    chance = 1.0
    for part, share, need in zip(parts, up, needs[:2], strict=True):
        chance *= _tail(share[share > 0], math.ceil(need) - int(np.floor(part).sum()))
    floor = np.floor(parts).astype(np.int64)
    held = np.zeros(market.machines)
    for w, s in np.ndindex(2, 2):
        amounts = (floor[0] + w)[:, None] * market.worker + (floor[1] + s)[:, None] * market.server
        both = (up[0] if w else 1 - up[0]) * (up[1] if s else 1 - up[1])
        held += np.where((amounts <= market.room[0]).all(axis=1), both, 0.0)
    return min(chance, float(held.prod())) * MAX_ROUNDS < NEVER


def _tail(up: Floats, least: int) -> float:
    """Return a bound on the probability that so many coordinates go up: that of equal ones is the greatest."""
    count, mean = len(up), float(up.sum()) / max(1, len(up))
    if least <= count * mean:
        return 1.0
    if least > count:
        return 0.0
    share = least / count
    exponent = share * log(share / mean)
    return exp(-count * (exponent + (1 - share) * log((1 - share) / (1 - mean)) if share < 1 else exponent))


def _literally(draw: Callable[[int], tuple[Ints, Bools]], rounds: int) -> Rounded:
    """Return the first feasible point from round S on; the loop is given up after `MAX_ROUNDS`."""
    made = found = 0
    while made < max(MAX_ROUNDS, rounds):
        points, good = draw(_BLOCK)
        late = np.flatnonzero(good & (made + np.arange(1, _BLOCK + 1) >= rounds))
        if len(late):
            last = int(late[0])
            return Rounded(points[last], made + last + 1, found + int(good[: last + 1].sum()))
        made, found = made + _BLOCK, found + int(good.sum())
    return Rounded(None, made, found)


def _clean(x: Floats) -> Floats:
    """Return x with the solver's noise around whole numbers removed, which would be rounded up now and then."""
    near = np.round(x)
    return np.where(np.abs(x - near) <= NEAR_WHOLE * np.maximum(1.0, near), near, x)


@checked
def rounded_placement(
    market: Market, workers: int, rule: Rounding, rng: np.random.Generator, *, literal: bool = False
) -> tuple[Placed, Rounded]:
    """Return a placement of so many workers and their servers by rounding, in a market of one slot, and the rounds.

    Surplus workers and servers are dropped, the dearest first, which is not in print.

    Parameters
    ----------
    market : Market
    workers : int
    rule : Rounding
    rng : numpy.random.Generator
    literal : bool
        (23)-(26) to the letter, without (2): no round is feasible, as the point has no servers.

    Examples
    --------
    >>> import numpy as np
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.job("job3"), last=3).row(0)
    >>> rule = pd_ors.Rounding.of(1.0, 0.5, 10, "corrected")
    >>> placed, rounded = pd_ors.rounded_placement(view, 1, rule, np.random.default_rng(0))
    >>> placed.workers.tolist(), placed.servers.tolist()
    ([1, 0], [1, 0])
    """
    servers = int(market.servers[workers])
    printed = rule.variant is Variant.PRINTED
    row = 0.0 if literal else float(servers)
    nothing = np.zeros(market.machines, dtype=np.int64)
    none = Placed(np.asarray(np.inf), nothing, nothing)
    even = rule.optimum is Optimum.EVEN
    relaxed = external_lp(market, workers, row, most=market.limit, whole_units=not printed, even=even)
    if relaxed is None:
        return none, Rounded(None, 0, 0)
    gain = gain_for(market, rule, Form.PRINTED if printed else Form.CORRECTED, workers, float(servers))
    found = round_external(market, relaxed, rule, gain, (workers, float(servers), market.limit), rng)
    if found.x is None:
        return none, found
    point = found.x.reshape(2, -1)
    w = _trimmed(point[0], market.worker_price[0], workers)
    s = _trimmed(point[1], market.server_price[0], servers)
    cost = float(dot(w, market.worker_price[0]) + dot(s, market.server_price[0]))
    return Placed(np.asarray(cost), w, s), found


def _trimmed(counts: Ints, price: Floats, total: int) -> Ints:
    result = counts.copy()
    for h in np.argsort(-price, kind="stable"):
        surplus = int(result.sum()) - total
        if surplus <= 0:
            break
        result[h] -= min(surplus, int(result[h]))
    return result
