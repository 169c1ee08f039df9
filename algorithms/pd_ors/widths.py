"""W_1, W_2 and the numbers of rows of one slot's external program: what its gains (29) and (30) are made of.

The algorithm and the claims about Theorems 3 and 4 take them from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from dlsched.arguments import checked
from dlsched.rounding import gain_cover, gain_packing


class Form(Enum):
    """Which of the one-slot problems is meant.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> occupancy = pd_ors.Occupancy(instance, pd_ors.constants(instance))
    >>> view = pd_ors.market(occupancy, instance.job("job3"), last=3).row(0)
    >>> rule = pd_ors.Rounding.of("packing", 0.5, 10, "corrected")
    >>> for form in pd_ors.Form:
    ...     print(form.value, round(pd_ors.gain_for(view, rule, form, 2, 1), 3))
    (23)-(26) 0.144
    (23)-(26) with servers 0.162
    (3.22)-(3.25) 0.151
    """

    PRINTED = "(23)-(26)"
    CORRECTED = "(23)-(26) with servers"
    THESIS = "(3.22)-(3.25)"


@dataclass(frozen=True, slots=True)
class Widths:
    """The constants of Theorems 3 and 4, in the thesis of Theorem 2.

    Attributes
    ----------
    cover : float
        W_1.
    covers : int
        m.
    packing : float
        W_2; 0 where a variable has no room, so that (29) divides by 0.
    packings : int
        r.
    """

    cover: float
    covers: int
    packing: float
    packings: int

    def shrink(self, delta: float) -> float:
        """Return G of (29); its limit 0 where W_2 is 0, and 1 where there is no packing row."""
        if not self.packings:
            return 1.0
        return gain_packing(self.packing, self.packings, delta, events=3) if self.packing else 0.0

    def stretch(self, delta: float) -> float:
        """Return G of (30)."""
        return gain_cover(self.cover, self.covers, delta)


@checked
def widths(
    form: Form,
    ratios: NDArray[Any],
    needs: Sequence[float | Fraction],
    most: float | Fraction,
    *,
    resources: int,
    needed: int,
) -> Widths:
    """Return the constants of a slot's program.

    Parameters
    ----------
    form : Form
        The journal's print has W_1 = v kappa_E, m = 1, and r = RH + 1, also for resources that the job does not need:
        such rows are empty, so that corrected, r counts only those it needs. With the servers' row, as in the thesis,
        m = 2 and W_1 is the lesser right-hand side. The thesis has no (25): r = RH, and no F in W_2.
    ratios : array (2, machines) of float or Fraction
        Least C^_h^r / alpha^r over the resources needed, for the workers of each machine, then for the servers;
        infinite for a variable that is fixed at 0.
    needs : (number, number)
        Right-hand sides of (26) and of the servers' row.
    most : number
        F.
    resources, needed : int
        R, and how many of them the job needs.
    """
    covers = needs[:1] if form is Form.PRINTED else needs
    limited = form is not Form.THESIS
    least = min(most, ratios.min()) if limited else ratios.min()
    rows = ratios.shape[1] * (needed if form is Form.CORRECTED else resources) + limited
    return Widths(float(min(covers)), len(covers), float(least), rows)
