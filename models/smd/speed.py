"""How long one training step of a layered network takes, by how its communication overlaps its computation.

Symbols (SMD, Section III): layer j of 1..N has backward time b_j, forward time f_j and one-way transfer time r_j; layer
1 is the input. A step's time is a sum of some of these, each once or twice: the critical path. `Phases` keeps how much
of it is forward (H_f), backward (H_b) and transfer (H_r), which is what eta_1, eta_2 and eta_3 compare with the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate, pairwise

from dlsched.models.document import Record
from dlsched.models.numbers import NonNegative, to_integers


class Overlap(StrEnum):
    """How communication overlaps computation.

    Examples
    --------
    >>> from dlsched.models.smd import Overlap
    >>> Overlap("wait-free") is Overlap.WAIT_FREE, [str(overlap) for overlap in Overlap]
    (True, ['sequential', 'wait-free', 'priority'])
    """

    SEQUENTIAL = "sequential"
    WAIT_FREE = "wait-free"
    PRIORITY = "priority"


class Layer(Record):
    """A layer j.

    Attributes
    ----------
    forward, backward : Fraction
        f_j and b_j, computation time.
    transfer : Fraction
        r_j, time to send its gradients to the servers, or to receive its parameters.

    Examples
    --------
    >>> from dlsched.models.smd import Layer
    >>> layers = [Layer(forward=2, backward=4, transfer=1), Layer(forward=1, backward=2, transfer="1/2")]
    >>> sum(layer.forward + layer.backward for layer in layers), max(layer.transfer for layer in layers)
    (Fraction(9, 1), Fraction(1, 1))
    """

    forward: NonNegative
    backward: NonNegative
    transfer: NonNegative


@dataclass(frozen=True, slots=True)
class Phases:
    """A length of time, by what it is spent on.

    Attributes
    ----------
    forward, backward, transfer : Fraction
        H_f, H_b and H_r.
    """

    forward: Fraction = Fraction(0)
    backward: Fraction = Fraction(0)
    transfer: Fraction = Fraction(0)

    @property
    def total(self) -> Fraction:
        """The whole length, t."""
        return self.forward + self.backward + self.transfer

    def __add__(self, other: Phases) -> Phases:
        return Phases(self.forward + other.forward, self.backward + other.backward, self.transfer + other.transfer)


def _longest(*candidates: Phases) -> Phases:
    return max(candidates, key=lambda phases: phases.total)


def sequential(layers: Sequence[Layer]) -> Phases:
    """Return a step's time where everything follows everything: sum b + 2 sum r + sum f.

    References
    ----------
    SMD, Section III-B.
    """
    units, scale = _whole_units(layers)
    forward, backward, transfer = (Fraction(sum(unit[k] for unit in units), scale) for k in range(3))
    return Phases(forward, backward, 2 * transfer)


def wait_free(layers: Sequence[Layer]) -> Phases:
    """Return a step's time where each layer sends its gradients as soon as it can, by the recursion.

    kappa_j, when layer j starts to send, is the later of the end of its backward pass and of layer j+1's sending; s_j,
    when it starts to receive, the later of the end of its sending and of layer j+1's receiving; the forward pass starts
    when layer 1 has received.

    References
    ----------
    SMD, Lemma 1 (true where links are full duplex and first come first served, and servers take no time).
    """
    units, scale = _whole_units(layers)
    backward, sent, received = 0, (0, 0), (0, 0)
    for _, computed, transfer in reversed(units):
        backward += computed
        sent = _sent(max((backward, 0), sent, key=sum), transfer)
        received = _sent(max(sent, received, key=sum), transfer)
    forward = sum(unit[0] for unit in units)
    return Phases(Fraction(forward, scale), Fraction(received[0], scale), Fraction(received[1], scale))


def _sent(path: tuple[int, int], transfer: int) -> tuple[int, int]:
    """Return a path of (backward, transfer) time with a transfer more."""
    return path[0], path[1] + transfer


def _whole_units(layers: Sequence[Layer]) -> tuple[list[tuple[int, int, int]], int]:
    """Return (forward, backward, transfer) of each layer in whole units, which add up faster, and the units of 1."""
    values, scale = to_integers(v for layer in layers for v in (layer.forward, layer.backward, layer.transfer))
    parts = iter(values)
    return list(zip(parts, parts, parts, strict=True)), scale


def wait_free_paths(layers: Sequence[Layer]) -> list[Phases]:
    """Return the paths of which the wait-free step is the longest, one for each pair k <= i of layers.

    Path (i, k): backward down to layer i, sending of i down to k, receiving of k down to 1, and all of the forward
    pass: sum_{l>=i} b_l + sum_{l=k..i} r_l + sum_{l<=k} r_l + sum f.

    References
    ----------
    SMD, Lemma 1 in closed form.
    """
    forward = sum((layer.forward for layer in layers), Fraction(0))
    behind = _sums_behind([layer.backward for layer in layers])
    sums = [Fraction(0), *accumulate(layer.transfer for layer in layers)]
    return [
        Phases(forward, behind[i], sums[i + 1] - sums[k] + sums[k + 1])
        for i in range(len(layers))
        for k in range(i + 1)
    ]


def priority(layers: Sequence[Layer], slice_: Fraction = Fraction(0)) -> Phases:
    """Return a step's time where transfers of lower layers preempt those of higher ones.

    t = phi + max_i [sum_{k>=i} (b_k + f_k) + sum_{k<=i} r_k].

    Parameters
    ----------
    layers : sequence of Layer
    slice_ : Fraction
        phi, transfer time of one slice, at most r_1.

    References
    ----------
    SMD, Lemma 2, corrected.
    """
    return _longest(*priority_paths(layers, slice_))


def priority_paths(layers: Sequence[Layer], slice_: Fraction = Fraction(0)) -> list[Phases]:
    """Return the paths of which the priority step is the longest, one for each layer i; see `priority`."""
    forward = _sums_behind([layer.forward for layer in layers])
    backward = _sums_behind([layer.backward for layer in layers])
    transfer = accumulate((layer.transfer for layer in layers), initial=slice_)
    return [Phases(f, b, r) for f, b, r in zip(forward, backward, list(transfer)[1:], strict=True)]


def priority_printed(layers: Sequence[Layer], slice_: Fraction = Fraction(0)) -> Phases:
    """Return a step's time by the recursion that the paper prints, which counts a backlog more than once.

    e_1 = sum b + r_1 + phi; with A_j = sum_{k=2..j} r_k - sum_{k<j} b_k, e_j = A_j + max_{k<j} e_k where A_j > 0, else
    0; layer j's forward pass starts at the later of e_j and the end of layer j-1's.

    References
    ----------
    SMD, Lemma 2, printed: true up to two layers, an overestimate beyond.
    """
    first = layers[0]
    ends = [Phases(backward=sum((layer.backward for layer in layers), Fraction(0)), transfer=first.transfer + slice_)]
    start, backlog = ends[0], Phases(backward=-first.backward)
    for before, layer in pairwise(layers):
        backlog += Phases(transfer=layer.transfer)
        ends.append(backlog + _longest(*ends) if backlog.total > 0 else Phases())
        start = _longest(start + Phases(forward=before.forward), ends[-1])
        backlog += Phases(backward=-layer.backward)
    return start + Phases(forward=layers[-1].forward)


def _sums_behind(values: Sequence[Fraction]) -> list[Fraction]:
    """Return sum_{k>=i} for each i."""
    return list(accumulate(reversed(values)))[::-1]


def critical_phases(layers: Sequence[Layer], overlap: Overlap, slice_: Fraction = Fraction(0)) -> Phases:
    """Return a step's time in the given way of overlapping, in the corrected form."""
    if overlap is Overlap.WAIT_FREE:
        return wait_free(layers)
    return priority(layers, slice_) if overlap is Overlap.PRIORITY else sequential(layers)


def shares(phases: Phases, layers: Sequence[Layer]) -> tuple[Fraction, Fraction, Fraction]:
    """Return eta_1 = H_f / sum f, eta_2 = H_b / sum b and eta_3 = H_r / (2 sum r); 1 where the whole is 0.

    References
    ----------
    SMD, Section III-C.
    """
    whole = sequential(layers)
    return (
        _share(phases.forward, whole.forward),
        _share(phases.backward, whole.backward),
        _share(phases.transfer, whole.transfer),
    )


def _share(part: Fraction, whole: Fraction) -> Fraction:
    return part / whole if whole else Fraction(1)


def upper_hull(paths: Sequence[Phases]) -> list[Phases]:
    """Return the paths, of equal forward time, that are the longest for some ratio of transfer to backward times.

    The length is backward + s * transfer for a scale s >= 0, so these are the upper envelope of lines, by their slope.
    """
    hull: list[Phases] = []
    for path in sorted(paths, key=lambda path: (path.transfer, path.backward)):
        while hull and (hull[-1].backward <= path.backward or _below(hull, path)):
            hull.pop()
        hull.append(path)
    return hull


def _below(hull: list[Phases], path: Phases) -> bool:
    """Tell whether the last line of the hull is nowhere above both its neighbours."""
    if len(hull) < 2:
        return False
    before, last = hull[-2:]
    gained, lost = last.transfer - before.transfer, before.backward - last.backward
    return (path.transfer - last.transfer) * lost >= gained * (last.backward - path.backward)
