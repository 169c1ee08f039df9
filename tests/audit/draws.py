"""Claim-size instances of every problem, as JSON documents: small random ones, presets, claims' sources, odd ones."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from dlsched.models import ddljs, dmlrs, hadar, smd
from tests.sources import SOURCES
from tests.strategies import dmlrs as dmlrs_strategies
from tests.strategies import smd as smd_strategies

Data = dict[str, Any]
Draw = Callable[[np.random.Generator], Data]


@dataclass(frozen=True)
class Drawn:
    """An instance, and the family that it was drawn from."""

    source: str
    data: Data


def _one(rng: np.random.Generator, among: tuple[Any, ...]) -> Any:
    return among[int(rng.integers(len(among)))]


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _hadar_random(rng: np.random.Generator) -> Data:
    sizes = {"jobs": int(rng.integers(1, 4)), "machines": int(rng.integers(1, 3)), "slots": int(rng.integers(1, 4))}
    data = hadar.random(rng, types=int(rng.integers(1, 3)), **sizes).dump()
    for job in data["jobs"]:
        if rng.random() < 0.5:
            job["utility"] = _falling(rng)
    return data


def _hadar_benchmark(rng: np.random.Generator) -> Data:
    return hadar.preset("benchmark", rng, jobs=int(rng.integers(1, 4)), machines=2, types=2, slots=4).dump()


def _hadar_motivation(rng: np.random.Generator) -> Data:
    return hadar.preset("motivation", rng, slots=int(rng.integers(2, 5)), per_device=bool(rng.integers(2))).dump()


def _hadar_paper(rng: np.random.Generator) -> Data:
    data = hadar.preset("paper", rng, jobs=3, slots=4).dump()
    data["machines"] = data["machines"][:3]
    return data


def _smd_random(rng: np.random.Generator) -> Data:
    return smd.random(rng, jobs=int(rng.integers(1, 5)), resources=int(rng.integers(1, 4))).dump()


def _smd_odd(rng: np.random.Generator) -> Data:
    return smd_strategies.draw(_seed(rng))


def _smd_preset(rng: np.random.Generator) -> Data:
    mode, overlap = _one(rng, ("sync", "async")), _one(rng, ("sequential", "wait-free", "priority"))
    data = smd.preset(
        _one(rng, ("paper", "roomy")), rng, jobs=int(rng.integers(1, 3)), mode=mode, overlap=overlap
    ).dump()
    for job in data["jobs"]:
        job["limit"] = {r: v / 10 for r, v in job["limit"].items()}
    data["capacity"] = {r: v / 10 for r, v in data["capacity"].items()}
    return _few_layers(data)


def _few_layers(data: Data) -> Data:
    """Keep the layers next to the input, so that every path through them can be enumerated."""
    for job in data["jobs"]:
        if "layers" in job["training"]:
            job["training"]["layers"] = job["training"]["layers"][:8]
    return data


def _dmlrs_random(asynchronous: bool) -> Draw:
    def drawn(rng: np.random.Generator) -> Data:
        sizes = {"jobs": int(rng.integers(1, 4)), "machines": int(rng.integers(1, 3)), "slots": int(rng.integers(1, 4))}
        flags = {"identical": bool(rng.integers(2)), "faster_external": bool(rng.integers(2))}
        resources = int(rng.integers(1, 3))
        return dmlrs.random(rng, asynchronous=asynchronous, resources=resources, **sizes, **flags).dump()

    return drawn


def _dmlrs_odd(asynchronous: bool) -> Draw:
    return lambda rng: dmlrs_strategies.draw(_seed(rng), asynchronous=asynchronous)


def _dmlrs_preset(rng: np.random.Generator) -> Data:
    family, sizes = _one(
        rng,
        (
            ("benchmark", {"jobs": 2, "machines": 2, "slots": 2}),
            ("paper", {"jobs": 2, "machines": 2, "slots": 3}),
        ),
    )
    return _small_batches(dmlrs.preset(family, rng, **sizes).dump())


def _dmlrs_thesis(rng: np.random.Generator) -> Data:
    data = dmlrs.preset("thesis", rng, jobs=2, machines=2, slots=3).dump()
    for job in data["jobs"]:
        job["chunks"] = min(job["chunks"], 3)
    return data


def _small_batches(data: Data) -> Data:
    """Let no job have more than three workers, so that placements can be enumerated."""
    for job in data["jobs"]:
        job["batch"] = min(job["batch"], 3)
    return data


def _ddljs_random(rng: np.random.Generator) -> Data:
    shape = _one(rng, ("mesh", "star", "ring"))
    data = ddljs.random(
        rng,
        jobs=int(rng.integers(1, 4)),
        servers=int(rng.integers(1, 4)),
        resources=int(rng.integers(1, 3)),
        slots=int(rng.integers(1, 4)),
        shape=shape,
        varying=bool(rng.integers(2)),
        half=shape != "ring" and bool(rng.integers(2)),
    ).dump()
    return _placed(rng, data) if rng.random() < 0.25 else data


def _ddljs_odd(rng: np.random.Generator) -> Data:
    data = _ddljs_random(rng)
    scale = int(rng.integers(1, 9))
    job = _one(rng, tuple(data["jobs"]))
    job["utility"] = _one(
        rng,
        (
            {"kind": "log", "scale": scale, "offset": 1},
            {"kind": "log", "scale": scale, "offset": 0},
            {"kind": "linear", "intercept": 5, "slope": 1},
            {"kind": "power", "scale": scale, "exponent": int(rng.integers(1, 3))},
            {"kind": "power", "scale": -scale, "exponent": 2},
        ),
    )
    return data


def _ddljs_preset(rng: np.random.Generator) -> Data:
    sizes = {"servers": 3, "jobs": 2, "workers": 3, "slots": 2}
    data = ddljs.preset(_one(rng, ("benchmark", "paper")), rng, **sizes).dump()
    for job in data["jobs"]:
        if job["utility"]["kind"] == "sigmoid":
            job["utility"] |= {"steepness": float(-rng.uniform(0.1, 2)), "midpoint": float(rng.uniform(1, 6))}
    return data


def _placed(rng: np.random.Generator, data: Data) -> Data:
    """Return a DDLJS document with the servers allowed to each worker of every second job."""
    changed = copy.deepcopy(data)
    servers = [node["name"] for node in data["nodes"] if any(node.get("capacity", {}).values())]
    for job in changed["jobs"][::2] if servers else []:
        job["placement"] = [
            [u for u in servers if rng.random() < 0.7] or servers[:1] for _ in range(job["max_workers"])
        ]
    return changed


def _falling(rng: np.random.Generator) -> Data:
    return dmlrs_strategies.utility(rng)


_OWN = MappingProxyType(
    {
        "hadar": {
            "random": _hadar_random,
            "benchmark": _hadar_benchmark,
            "motivation": _hadar_motivation,
            "paper": _hadar_paper,
        },
        "smd": {"random": _smd_random, "odd": _smd_odd, "preset": _smd_preset},
        "dmlrs": {"random": _dmlrs_random(False), "odd": _dmlrs_odd(False), "preset": _dmlrs_preset},
        "dmlrs-async": {"random": _dmlrs_random(True), "odd": _dmlrs_odd(True), "thesis": _dmlrs_thesis},
        "ddljs": {"random": _ddljs_random, "odd": _ddljs_odd, "preset": _ddljs_preset},
    }
)
FAMILIES = tuple(_OWN)
_PROBLEMS = MappingProxyType({"hadar": hadar, "smd": smd, "dmlrs": dmlrs, "dmlrs-async": dmlrs, "ddljs": ddljs})


def package(family: str) -> Any:
    """Return the package of `dlsched.models` that the instances of a family are of."""
    return _PROBLEMS[family]


@cache
def _claimed(family: str) -> dict[str, Draw]:
    """Return the claims' sources that draw instances of a family's problem; those that cost more are too large."""
    found: dict[str, Draw] = {}
    for name, source in sorted(SOURCES.items()):
        if source.cost > 1:
            continue
        drawn = source.draw(np.random.default_rng(0))
        if isinstance(drawn, package(family).Instance) and getattr(drawn, "asynchronous", False) == (
            family == "dmlrs-async"
        ):
            found[name] = _document(family, source.draw)
    return found


def _document(family: str, draw: Callable[[np.random.Generator], Any]) -> Draw:
    """Return the documents of a source, cut to what an exhaustive search can do."""

    def drawn(rng: np.random.Generator) -> Data:
        data = draw(rng).dump()
        if family == "hadar":
            data["jobs"] = data["jobs"][:4]
        if family == "dmlrs":
            data = _small_batches(data)
            data["jobs"], data["machines"] = data["jobs"][:3], data["machines"][:2]
        return _few_layers(data) if family == "smd" else data

    return drawn


def draw(family: str, rng: np.random.Generator) -> Drawn:
    """Return an instance of a family, one of `FAMILIES`."""
    choices = {**_OWN[family], **_claimed(family)}
    own = len(_OWN[family])
    weights = np.array([1.0] * own + [own / max(1, len(choices) - own)] * (len(choices) - own))
    name = list(choices)[int(rng.choice(len(choices), p=weights / weights.sum()))]
    return Drawn(name, choices[name](rng))
