"""One training step, simulated event by event: what the formulas of Lemmas 1 and 2 are compared with.

A backward pass runs from the last layer to the first; each layer's gradients are ready when its own pass ends. Servers
take no time, and links work in both directions at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

from dlsched.models.smd import Layer


def simulate_wait_free(layers: Sequence[Layer]) -> Fraction:
    """Return when a step ends if gradients are sent and parameters received first come, first served.

    Parameters
    ----------
    layers : sequence of Layer
        From the input on.
    """
    ready = Fraction(0)
    waiting: deque[tuple[Fraction, Layer]] = deque()
    for layer in reversed(layers):
        ready += layer.backward
        waiting.append((ready, layer))
    up = down = Fraction(0)
    while waiting:
        ready, layer = waiting.popleft()
        up = max(up, ready) + layer.transfer
        down = max(down, up) + layer.transfer
    return down + sum((layer.forward for layer in layers), Fraction(0))


def simulate_priority(layers: Sequence[Layer], slice_: Fraction) -> Fraction:
    """Return when a step ends if the link always serves the ready layer nearest the input, preempting others.

    Parameters
    ----------
    layers : sequence of Layer
        From the input on.
    slice_ : Fraction
        phi: parameters arrive one slice after the last gradient has left.
    """
    left: dict[int, Fraction] = {}
    ended: dict[int, Fraction] = {}
    now = Fraction(0)
    for j in reversed(range(len(layers))):
        _serve(left, ended, now, layers[j].backward)
        now += layers[j].backward
        left[j] = layers[j].transfer
    _serve(left, ended, now, None)
    start = Fraction(0)
    for j, layer in enumerate(layers):
        start = max(start, ended[j] + slice_) + layer.forward
    return start


def _serve(left: dict[int, Fraction], ended: dict[int, Fraction], now: Fraction, during: Fraction | None) -> None:
    """Let the link work for a while, or until nothing is left."""
    for j in sorted(left):
        worked = left[j] if during is None else min(left[j], during)
        now += worked
        left[j] -= worked
        if during is not None:
            during -= worked
        if left[j]:
            return
        ended[j] = now
        del left[j]
