"""An exhaustive search for the SMD problem on plain JSON, from the definitions alone, in rationals.

It shares nothing with the package: times come from the training speed (4) and (5) of the measured parameters, the
critical path from a simulation of one step, the optimum from all combinations of points of all jobs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Data = dict[str, Any]


def rational(x: Any) -> Fraction:
    return Fraction(str(x)) if isinstance(x, int | float | str) else Fraction(x)


def path_shares(training: Data) -> tuple[Fraction, Fraction, Fraction]:
    """Return how often the longest path counts forward, backward and transfer time, over the sequential step's."""
    layers = [
        [rational(layer[k]) for k in ("forward", "backward", "transfer")] for layer in training.get("layers") or []
    ]
    if not layers or training.get("overlap", "sequential") == "sequential":
        return Fraction(1), Fraction(1), Fraction(1)
    n = len(layers)
    f, b, r = ([layer[k] for layer in layers] for k in range(3))
    best: tuple[Fraction, Fraction, Fraction] | None = None
    if training["overlap"] == "wait-free":
        for k, i in itertools.combinations_with_replacement(range(n), 2):
            path = sum(f), sum(b[i:]), sum(r[k : i + 1]) + sum(r[: k + 1])
            best = _longer(best, path)
    else:
        for i in range(n):
            path = sum(f[i:]), sum(b[i:]), rational(training.get("slice", 0)) + sum(r[: i + 1])
            best = _longer(best, path)
    assert best is not None
    whole = sum(f), sum(b), 2 * sum(r)
    shares = [Fraction(part) / total if total else Fraction(1) for part, total in zip(best, whole, strict=True)]
    return shares[0], shares[1], shares[2]


def _longer(best: Any, path: Any) -> Any:
    return path if best is None or sum(path) > sum(best) else best


def completion_time(job: Data, w: int, p: int, eta: tuple[Fraction, Fraction, Fraction] | None = None) -> Fraction:
    """Return E / f(p, w) with the training speed (4) or (5), or the formula of given coefficients.

    `eta` is what `path_shares` returns, where it is at hand.
    """
    training = job["training"]
    if training["kind"] == "coefficients":
        t = [rational(v) for v in training["theta"]]
        if training["mode"] == "sync":
            return t[0] * w + t[1] * p + t[2] + t[3] * Fraction(w, p) + t[4] / w
        return t[0] + t[1] * Fraction(p, w) + t[2] / w + t[3] / p
    eta = eta or path_shares(training)
    layers = training.get("layers") or []
    totals = {}
    for phase in ("forward", "backward"):
        given = training.get(phase)
        totals[phase] = rational(given) if given is not None else sum(rational(layer[phase]) for layer in layers)
    sync = training["mode"] == "sync"
    samples = rational(training["global_batch"]) / w if sync else rational(training["minibatch"])
    senders = Fraction(w) if sync else rational(training.get("alpha", 1)) * w
    transfer = (
        2 * (rational(training["model_size"]) / p) / (rational(training["bandwidth"]) / senders) if senders else 0
    )
    step = eta[0] * samples * totals["forward"] + eta[1] * totals["backward"] + eta[2] * transfer
    step += rational(training.get("beta1", 0)) * w + rational(training.get("beta2", 0)) * p
    speed_inverse = step if sync else step / w
    return rational(training["iterations"]) * speed_inverse


def worth(job: Data, time: Fraction) -> Fraction:
    u = job["utility"]
    if u["kind"] == "hyperbolic":
        return rational(u["scale"]) / (1 + time)
    if u["kind"] == "linear":
        return max(Fraction(0), rational(u["intercept"]) - rational(u["slope"]) * time)
    if u["kind"] == "step":
        return rational(u["value"]) if time <= rational(u["deadline"]) else Fraction(0)
    if u["kind"] == "table":
        values = u["values"]
        return rational(values[math.floor(time)]) if math.floor(time) < len(values) else Fraction(0)
    assert u["kind"] == "sigmoid"
    exponent = float(rational(u["steepness"]) * (time - rational(u["midpoint"])))
    denominator = 1 + math.exp(exponent) if exponent < 700 else math.inf
    return Fraction(float(rational(u["height"])) / denominator)


def fits(job: Data, w: int, p: int) -> bool:
    resources = {*job["worker"], *job["server"]}
    return all(
        rational(job["worker"].get(r, 0)) * w + rational(job["server"].get(r, 0)) * p
        <= rational(job["limit"].get(r, 0))
        for r in resources
    )


def pairs(job: Data) -> Iterator[tuple[int, int]]:
    """Yield every (w, p) that keeps the limits: needs are positive somewhere, so both stop."""
    for w in itertools.count(1):
        if not fits(job, w, 1):
            return
        for p in itertools.count(1):
            if not fits(job, w, p):
                break
            yield w, p


def inner(job: Data) -> tuple[int, int, Fraction, Fraction] | None:
    """Return the fastest point as (w, p, time, utility)."""
    eta = path_shares(job["training"]) if job["training"]["kind"] == "measured" else None
    found = [(completion_time(job, w, p, eta), w, p) for w, p in pairs(job)]
    if not found:
        return None
    time, w, p = min(found)
    return w, p, time, worth(job, time)


def optimum(instance: Data) -> tuple[Fraction, dict[str, tuple[int, int]]]:
    """Return the best of all combinations of {rejected} and every point of every job."""
    choices = [[None, *pairs(job)] for job in instance["jobs"]]
    values = [{point: worth(job, completion_time(job, *point)) for point in pairs(job)} for job in instance["jobs"]]
    best, chosen = Fraction(0), {}
    for combination in itertools.product(*choices):
        admitted = [job for job, point in zip(instance["jobs"], combination, strict=True) if point]
        if not reservations_fit(instance, admitted):
            continue
        value = sum((values[i][point] for i, point in enumerate(combination) if point), Fraction(0))
        if value > best:
            best = value
            chosen = {job["name"]: pt for job, pt in zip(instance["jobs"], combination, strict=True) if pt}
    return best, chosen


def reservations_fit(instance: Data, admitted: list[Data]) -> bool:
    return all(
        sum((rational(job["limit"].get(r, 0)) for job in admitted), Fraction(0))
        <= rational(instance["capacity"].get(r, 0))
        for r in instance["resources"]
    )


def violations(instance: Data, schedule: Data) -> list[str]:
    """Return the kinds of rules that a schedule breaks."""
    jobs = {job["name"]: job for job in instance["jobs"]}
    if set(schedule["jobs"]) - set(jobs):
        return ["names"]
    broken = set()
    for name, entry in schedule["jobs"].items():
        if entry["workers"] < 1 or entry["servers"] < 1:
            broken.add("counts")
        if not fits(jobs[name], entry["workers"], entry["servers"]):
            broken.add("limit")
    if not reservations_fit(instance, [jobs[name] for name in schedule["jobs"]]):
        broken.add("capacity")
    return sorted(broken)


def value(instance: Data, schedule: Data) -> Fraction:
    jobs = {job["name"]: job for job in instance["jobs"]}
    entries = schedule["jobs"].items()
    return sum((worth(jobs[n], completion_time(jobs[n], e["workers"], e["servers"])) for n, e in entries), Fraction(0))


def simulate_wait_free(layers: list[Data]) -> Fraction:
    """Run one step event by event: links serve first come, first served, both directions at once."""
    pending = []
    clock = Fraction(0)
    for j in reversed(range(len(layers))):
        clock += rational(layers[j]["backward"])
        pending.append((clock, j))
    finished: dict[int, Fraction] = {}
    events, sending, receiving, sent = Fraction(0), [], [], {}
    for ready, j in sorted(pending, key=lambda item: (item[0], -item[1])):
        events = max(events, ready) + rational(layers[j]["transfer"])
        sending.append(j)
        sent[j] = events
    down = Fraction(0)
    for j in sending:
        down = max(down, sent[j]) + rational(layers[j]["transfer"])
        receiving.append(j)
        finished[j] = down
    clock = finished[0]
    for layer in layers:
        clock += rational(layer["forward"])
    return clock


def simulate_priority(layers: list[Data], slice_: Fraction) -> Fraction:
    """Run one step on a link that at any moment serves the ready layer nearest the input.

    Moments are cut where a layer becomes ready or is done; in between, exactly one layer is served.
    """
    ready, clock = {}, Fraction(0)
    for j in reversed(range(len(layers))):
        clock += rational(layers[j]["backward"])
        ready[j] = clock
    left = {j: rational(layer["transfer"]) for j, layer in enumerate(layers)}
    done: dict[int, Fraction] = {}
    clock = Fraction(0)
    while len(done) < len(layers):
        for j in [j for j, amount in left.items() if not amount and ready[j] <= clock and j not in done]:
            done[j] = clock
        now = [j for j in left if ready[j] <= clock and left[j]]
        later = [ready[j] for j in ready if ready[j] > clock]
        if not now:
            if later:
                clock = min(later)
            continue
        first = min(now)
        until = min([clock + left[first], *later])
        left[first] -= until - clock
        clock = until
    start = Fraction(0)
    for j, layer in enumerate(layers):
        start = max(start, done[j] + slice_) + rational(layer["forward"])
    return start
