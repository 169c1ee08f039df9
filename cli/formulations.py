"""The verbs about formulations: list, show, solve."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from dlsched.cli import interrupt, output, rooms
from dlsched.cli.options import FormulationName, Gdp, InstanceFile, Json, TimeLimit, given, writable

GdpOption = Annotated[Gdp | None, typer.Option("--gdp", help="Write either-or as rows in this way.")]
LpFile = Annotated[
    Path | None, typer.Option("--lp", metavar="FILE", callback=writable, help="Write the model as an LP file.")
]
MpsFile = Annotated[
    Path | None, typer.Option("--mps", metavar="FILE", callback=writable, help="Write the model as an MPS file.")
]
JobName = Annotated[str | None, typer.Option("--job", metavar="NAME", help="Of a formulation of one job.")]
Relax = Annotated[bool, typer.Option("--relax", help="Solve the LP relaxation.")]
Solver = Annotated[str, typer.Option("--solver", help="highs, or scip (extra certify).")]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads of the solver.")]
SolverSeed = Annotated[int | None, typer.Option("--seed", min=0, max=2**31 - 1, help="Seed of the solver.")]


def list_(as_json: Json = False) -> None:
    """List formulations, algorithms and claims.

    Problems and presets too.
    """
    from dlsched.bounds import claims
    from dlsched.models.catalog import catalog

    formulations = [
        {
            "name": entry.name,
            "problem": entry.problem,
            "title": entry.title,
            "equations": list(entry.equations),
            "kind": entry.kind.value,
            "data": dict(entry.data),
        }
        for entry in catalog()
    ]
    algorithms = [{"name": entry.name, "problem": entry.problem} for entry in rooms.ALGORITHMS]
    presets = [{"problem": of, "name": name} for of in rooms.problems() for name in rooms.problem(of).PRESETS]
    stated = [
        {"id": c.id, "variant": c.variant.value, "expectation": c.expectation.value, "statement": c.statement}
        for c in claims()
    ]
    if as_json:
        names = "problems", "formulations", "algorithms", "presets", "claims"
        output.emit_json(dict(zip(names, (rooms.problems(), formulations, algorithms, presets, stated), strict=True)))
        return
    rows = [(e["name"], e["kind"], " ".join(e["equations"]), e["title"], ", ".join(e["data"])) for e in formulations]
    output.table("Formulations", ("name", "kind", "equations", "what it is", "takes"), rows)
    output.table("Algorithms", ("name", "problem"), [tuple(e.values()) for e in algorithms])
    output.table("Presets", ("problem", "name"), [tuple(e.values()) for e in presets])
    output.table("Claims", ("id", "variant", "known to be", "statement"), [tuple(e.values()) for e in stated])


def show(
    formulation: FormulationName,
    file: InstanceFile,
    gdp: GdpOption = None,
    lp: LpFile = None,
    mps: MpsFile = None,
    job: JobName = None,
    as_json: Json = False,
) -> None:
    """Show what a model is made of.

    With --gdp, after its either-or is written as rows. With --lp or --mps, write it as a file too, either-or by big-M
    unless --gdp says else.
    """
    from dlsched.models.inspect import inspect

    model, disjunctive = _built(formulation, file, job)
    to_file = lp is not None or mps is not None
    if to_file:
        _refuse_nonlinear(formulation, "--lp, --mps: {} is nonlinear; these files hold linear models")
    if disjunctive and gdp is not None:
        _transform(model, gdp)
    inspection = inspect(model)
    if disjunctive and gdp is None and to_file:
        _transform(model, Gdp.BIGM)
    _write(model, {"lp": lp, "mps": mps})
    if as_json:
        output.emit_json({"formulation": formulation, **inspection.dump()})
        return
    columns = ("equation", "component", ">rows", ">binary", ">integer", ">continuous", ">nonzeros", ">big-M", "doc")
    rows: list[tuple[object, ...]] = [
        (c.equation, c.name, c.rows, c.binary, c.integer, c.continuous, c.nonzeros, c.big_m, c.text)
        for c in inspection.components
    ]
    i = inspection
    rows.append(("", "in all", i.rows, i.binary, i.integer, i.continuous, i.nonzeros, i.big_m, ""))
    output.table(f"{formulation}: {file.name}", columns, rows)


def solve(
    formulation: FormulationName,
    file: InstanceFile,
    relax: Relax = False,
    solver: Solver = "highs",
    time_limit: TimeLimit = None,
    gdp: GdpOption = None,
    threads: Threads = None,
    seed: SolverSeed = None,
    job: JobName = None,
    as_json: Json = False,
) -> int:
    """Solve a formulation once.

    Either-or is written by big-M unless --gdp says else. Ctrl-C ends the solve with what is known so far. The certified
    optimum is what `dlsched optimum` gives.
    """
    from dlsched.models.solve import solve as solve_

    rooms.choose("solver", solver, ("highs", "scip"))
    if solver == "highs":
        _refuse_nonlinear(formulation, "--solver: {} is nonlinear; use --solver scip (extra certify)")
    with output.waiting(f"building {formulation}"):
        model, disjunctive = _built(formulation, file, job)
        if disjunctive:
            _transform(model, gdp or Gdp.BIGM)
        if relax:
            from dlsched.relaxations import relax as relax_

            model = relax_(model).model
    settings = given(time_limit=time_limit, threads=threads, seed=seed)
    with output.waiting(f"solving {formulation}"), interrupt.deferred() as stop:
        solution = solve_(model, solver=solver, stop=stop, **settings)
    result: dict[str, Any] = {
        "formulation": formulation,
        "relaxed": relax,
        "gdp": (gdp or Gdp.BIGM).value if disjunctive else None,
        "status": solution.status.value,
        "objective": solution.objective,
        "bound": solution.bound,
        "gap": solution.gap,
        "seconds": solution.seconds,
        "nodes": solution.nodes,
        "solver": solution.solver,
        "version": solution.version,
    }
    if as_json:
        output.emit_json(result)
    else:
        output.facts(f"{formulation}: {file.name}", result)
    return interrupt.INTERRUPTED if stop() else 0


def _refuse_nonlinear(name: str, message: str) -> None:
    from dlsched.models.document import InputError

    if not rooms.formulation(name).linear:
        raise InputError(message.format(name))


def _built(name: str, file: Path, job: str | None) -> tuple[Any, bool]:
    """Return the model of an instance file, and whether it has either-or that solvers do not take."""
    from dlsched.models.document import InputError

    entry = rooms.formulation(name)
    if job is not None and "job" not in entry.data:
        raise InputError(f"--job: {name} is of all jobs")
    instance = rooms.problem(entry.problem).Instance.load(file)
    try:
        return entry.build(instance, **given(job=job)), entry.disjunctive
    except ValueError as error:
        raise InputError(f"{file}: {name}: {error}") from None


def _transform(model: Any, gdp: Gdp) -> None:
    import pyomo.environ as pyo

    pyo.TransformationFactory(f"gdp.{gdp.value}").apply_to(model)


def _write(model: Any, files: dict[str, Path | None]) -> None:
    from dlsched.models.errors import InputError
    from dlsched.models.files import write_text

    texts = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for kind, path in files.items():
                if path is not None:
                    written = Path(folder) / f"model.{kind}"
                    model.write(str(written), io_options={"symbolic_solver_labels": True})
                    texts[path] = written.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"the folder for temporary files: {error}") from None
    for path, text in texts.items():
        write_text(path, text)
        output.note(f"wrote {path}")
