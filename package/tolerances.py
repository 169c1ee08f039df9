"""Every tolerance: what decides that two floats are equal, a value is zero, a point is feasible, a step too small.

Each lies between what it has to forgive and what it must not. What a solver may be off by is 1e-7 to 1e-6, or 1e-9
where it is asked to; what thousands of operations in double arithmetic lose is 1e-13 of their largest number, and what
one of them loses is 1e-16. Data have three to six digits, so what is meant differs by 1e-6 or more. Numbers that are
equal here and have two names answer different questions.
"""

from __future__ import annotations

from fractions import Fraction

TOLERANCE = 1e-6
"""Equality of objective values: ``|a - b| <= TOLERANCE * max(unit, |a|, |b|)``; the largest residual a point may have,
relative to the scale of its row.

Ten times `FEASIBLE`, so that a solver's point, taken back to the model's units and its integers rounded, still keeps
it; and what HiGHS itself calls integral. Larger, it would forgive a digit of the data.
"""

FEASIBLE = 1e-7
"""By how much rows, bounds and reduced costs may be off at a solver's point, in the matrix that it is given.

HiGHS's own default for linear programs; SCIP, whose default is ten times as much, is set to it. SCIP solves an LP in
trouble once more a thousand times tighter, and SoPlex without GMP takes nothing below 1e-10 (it says so on the terminal
every time): so it cannot be smaller. Dual prices are as far off, so a bound from them is closed within this much of it.
"""

TIGHT = 1e-9
"""The same for linear programs whose answers are compared with one another or go into the next one.

HiGHS takes 1e-10 at the least; ten times that leaves it room, and is a hundredth of its default.
"""

POSITIVE = TIGHT
"""A denominator counts as positive from this on, relative to its largest term where that is below 1: so far off may be
the linear program that finds its least value."""

WHOLE = 1e-5
"""A solver's value this close to an integer stands for it: no solver in use is less strict by default (Gurobi and CPLEX
take 1e-5, HiGHS and SCIP 1e-6)."""

CLEAR = 1e-6
"""A share, a dual or a row's violation at an LP's optimum means something from this on; a share, below 1 less this.

Ten times `FEASIBLE`, what HiGHS is off by: a smaller one, taken for more than it is, costs a branch or a row that
changes nothing.
"""

ZERO = 1e-9
"""Values of an LP's point up to this count as 0, where they are shares or counts.

A basic variable that is 0 comes back as what rounding left of numbers near 1: 1e-16 to 1e-12. A share that is meant is
a ratio of the data and larger; a thousand that were meant and are lost stay below `TOLERANCE` together.
"""

NEAR_WHOLE = 1e-9
"""A number computed from such a point is whole within this, relative to the larger of it and 1; see `ZERO`.

Not `WHOLE`: it is no variable that a solver held to be an integer, and what is 1e-5 from one is meant.
"""

AS_GOOD = 1e-9
"""A value that misses another by less counts as reaching it, relative to the value or, where it is near 1, as it is.

Both come from linear programs at a vertex, in thousands of operations on numbers of ordinary size: `ROUNDING`, and a
thousand times as much where the basis is ill-conditioned.
"""

APART = 1e-4
"""A sum that is as much below 1 is told from 1 by any solver: a hundred times what they may be off by (1e-6)."""

DROPPED = 1e-9
"""HiGHS (`small_matrix_value`) and SCIP (`numerics/epsilon`) drop coefficients that are at most this, by default."""

LEAST_DROPPED = 1e-12
"""The least `small_matrix_value` that HiGHS can be given: it drops what is not above."""

UNSEEN = 1e-11
"""What a column takes of a linking row, as a share of its right-hand side, below which a solver cannot see it.

Ten times `LEAST_DROPPED`, which a session would refuse; a hundred of them are still below `TIGHT`.
"""

ULP = 2.0**-52
"""The distance from 1 to the next double: twice what one operation loses of its result at most.

A term up to this share of another changes no more than the last bits of their sum.
"""

LOST = 1e-15
"""A number up to this share of the sum of some others is nothing but their rounding: four or five `ULP`.

Unlike one `ULP` for what a user wrote, it is for computed numbers, which a few operations have already bent.
"""

ROUNDING = 1e-12
"""Relative: what is equal but for rounding differs by less.

Sums of up to 4500 terms, each rounded by one `ULP`, stay within it; multiples of a millionth up to a million, which is
what data are, differ by as much or more.
"""

SNAP = Fraction(1, 10**12)
"""A JSON number within this, relative, of a fraction with a denominator up to a million stands for the fraction.

`ROUNDING`, as a rational: it is part of the format, and what it decides must not hang on a float. So twelve digits of
1/3 are enough, and fifteen digits that were meant are kept.
"""

ON_CAP = 1e-10
"""A ratio that equals a cap exceeds it by no more than this, relative, where its point was itself computed.

The point is where two lines cross, and off by rounding over the sine of their angle; the hundredfold of `ROUNDING` is
arbitrary. Caps are 1 + epsilon apart: none is taken for the next one unless a grid has 1e10 steps, which none may have.
"""

STILL = Fraction(1, 10**9)
"""A ratio goes on falling by no less than this part, where it comes from shares that are rounded to nine decimals."""

TILT = Fraction(1, 10**5)
"""Of the greatest cost, by which one column is made dearer than the next where they are alike: more than what solvers
forgive (`TOLERANCE`), and less than most differences of costs. Arbitrary; what it leads astray its cost tells."""

NO_START = 1e-10
"""The least value of a ratio is 0 where it is up to this share of its greatest: a geometric grid cannot start there.

Larger than what the vertices of a region lose (`ROUNDING`), where terms cancel; arbitrary beyond that. A grid from here
would have 23 / epsilon steps.
"""

BENT = Fraction(1, 10**10)
"""By which rows that contradict one another are loosened, relative to 1 and their side, before a region is empty.

Rows of computed numbers miss one another by `ROUNDING`; the hundredfold is arbitrary, and a thousandth of what a solver
would forgive (`FEASIBLE`).
"""

CANCELLED = 1e-4
"""Where a row's coefficients are smaller than this share of what was subtracted from its side, the share is its size.

The side then has an error of one `ULP` of what was subtracted. Divided by the size that is 2e-12, far below `TIGHT`.
"""

DIFFERENCE = 1e-5
"""Step of a central difference, as a share of the length that the function changes on.

The formula misses by the square of it, and loses `ULP` over it to rounding: both are 1e-10 or less. The least sum is
near the cube root of `ULP`, 6e-6.
"""

TIE = 1e-6
"""As a share of the objective's own unit: no more than two values may differ by and be equal (`TOLERANCE`), and ten
times what a solver sees of a cost (`FEASIBLE`)."""

HOP = 1e-9
"""What each hop of a path costs beside the prices, in units of bandwidth: of equally cheap paths, take the shortest.

Paths are found by additions, not by a solver, so it need only be above their rounding; and hundreds of hops cost less
than two values may differ by and be equal (`TOLERANCE`).
"""

CLOSED = Fraction(1, 10**12)
"""An exact certificate is looked for whose bound is above the value by no more, as a share of the value or a cost.

Both are rationals, and what is between them is proved: it is only not nothing where multipliers have no short fraction.
A thousandth of what two values may differ by and be equal (`TOLERANCE`).
"""

NEVER = 1e-6
"""Probability below which rounds that might all fail are taken to do so, and are not made: no run shows it."""

CHEAP = 1e-9
"""As a share of the greatest price: what is cheaper costs no job anything that counts, and is drawn as costing this."""

LEAST_LOSS = 1e-6
"""As a share of the gap that a certificate's tree has to close: a part that loses less counts as losing this, or the
other part would count for nothing."""
