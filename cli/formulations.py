"""The verbs about formulations: show, solve, explain."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlsched.cli import interrupt, output
from dlsched.cli.options import (
    FormulationName,
    Gdp,
    InstanceFile,
    Json,
    Out,
    Picture,
    TimeLimit,
    drawable,
    given,
    read,
    writable,
)

if TYPE_CHECKING:
    from dlsched.models.formulation import Formulation

GdpOption = Annotated[Gdp | None, typer.Option("--gdp", help="Write either-or as rows in this way.")]
LpFile = Annotated[
    Path | None, typer.Option("--lp", metavar="FILE", callback=writable, help="Write the model as an LP file.")
]
MpsFile = Annotated[
    Path | None, typer.Option("--mps", metavar="FILE", callback=writable, help="Write the model as an MPS file.")
]
LatexFile = Annotated[
    Path | None, typer.Option("--latex", metavar="FILE", callback=writable, help="Write its algebra as a LaTeX file.")
]
SpyFile = Annotated[
    Path | None,
    typer.Option(
        "--spy", metavar="FILE", callback=drawable, help="Draw where its coefficients are (.png, .svg, .pdf)."
    ),
]
Diff = Annotated[bool, typer.Option("--diff", help="With --gdp: what that adds, removes and changes.")]
JobName = Annotated[str | None, typer.Option("--job", metavar="NAME", help="Of a formulation of one job.")]
Relax = Annotated[bool, typer.Option("--relax", help="Solve the LP relaxation.")]
Full = Annotated[
    list[str] | None,
    typer.Option(
        "--full", metavar="ROWS", help="A constraint to hold with equality at its upper side; may stand more than once."
    ),
]
Solver = Annotated[str, typer.Option("--solver", help="highs, or scip (extra certify).")]
More = Annotated[
    list[str] | None,
    typer.Option("--raise", metavar="ROWS", help="Also the optimum with 1 more in these; may stand more than once."),
]
OneMore = Annotated[
    bool, typer.Option("--one-more", help="Also what one more of each resource is worth: certified optima with it.")
]
Duals = Annotated[bool, typer.Option("--duals", help="Also the duals of rows, with integers fixed where they are.")]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads of the solver.")]
SolverSeed = Annotated[int | None, typer.Option("--seed", min=0, max=2**31 - 1, help="Seed of the solver.")]


def show(
    formulation: FormulationName,
    file: InstanceFile,
    gdp: GdpOption = None,
    lp: LpFile = None,
    mps: MpsFile = None,
    latex: LatexFile = None,
    picture: SpyFile = None,
    diff: Diff = False,
    job: JobName = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> None:
    """Show what a model is made of.

    With --gdp, after its either-or is written as rows. With --lp or --mps, write it as a file too, either-or by big-M
    unless --gdp says else; with --latex, its algebra beside the paper's equation numbers.
    """
    from dlsched.errors import InputError
    from dlsched.models.difference import difference
    from dlsched.models.files import write_text
    from dlsched.models.formulation import write_rows
    from dlsched.models.inspect import inspect
    from dlsched.models.latex import latex as latex_
    from dlsched.models.picture import save
    from dlsched.models.spy import spy

    entry = _formulation(formulation, job)
    instance = read(entry.instance, file)
    to_file = lp is not None or mps is not None
    if to_file:
        _refuse_nonlinear(entry, "--lp, --mps: {} is nonlinear; these files hold linear models")
    if picture is not None:
        _refuse_nonlinear(entry, "--spy: {} is nonlinear; linear models have a matrix")
    if diff and not (gdp and entry.disjunctive):
        raise InputError("--diff: goes with --gdp, of a formulation with either-or")

    def inspected() -> Any:
        model = _built(entry, instance, file, job, None)
        before = model.clone() if diff else None
        if gdp is not None and entry.disjunctive:
            write_rows(model, gdp.value)
        inspection = inspect(model)
        algebra = {} if latex is None else {latex: latex_(model)}
        changed = None if before is None else difference(before, model)
        matrix = None if picture is None else spy(model).figure
        if entry.disjunctive and gdp is None and to_file:
            write_rows(model)
        return inspection, _texts(model, {"lp": lp, "mps": mps}) | algebra, changed, matrix

    with output.waiting(f"building {formulation}"):
        work = f"building and writing {formulation}"
        inspection, texts, changed, matrix = output.within(time_limit, work, inspected)
    for path, text in texts.items():
        write_text(path, text)
        output.note(f"wrote {path}")
    if picture is not None:
        save(matrix, picture)
        output.note(f"wrote {picture}")
    if as_json:
        differing = {} if changed is None else {"difference": changed.dump()}
        output.emit_json({"formulation": formulation, **inspection.dump(), **differing})
        return
    columns = ("equation", "component", ">rows", ">binary", ">integer", ">continuous", ">nonzeros", ">big-M", "doc")
    rows: list[tuple[object, ...]] = [
        (c.equation, c.name, c.rows, c.binary, c.integer, c.continuous, c.nonzeros, c.big_m, c.text)
        for c in inspection.components
    ]
    i = inspection
    rows.append(("", "in all", i.rows, i.binary, i.integer, i.continuous, i.nonzeros, i.big_m, ""))
    output.table(f"{formulation}: {file.name}", columns, rows)
    data = [(p.name, p.values, p.least, p.most, p.updates.value, p.text) for p in inspection.parameters]
    output.table("Data", ("parameter", ">values", ">least", ">most", "a change", "doc"), data)
    for text in inspection.warnings:
        output.emit(f"Warning: {text}")
    if changed is not None:
        members = [(c.kind, c.name, c.removed, c.added, c.changed, c.kept) for c in changed.components]
        title = f"What {gdp} does"
        output.table(title, ("kind", "component", ">removed", ">added", ">changed", ">kept"), members)


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
    out: Out = None,
    picture: Picture = None,
    duals: Duals = False,
    as_json: Json = False,
) -> int:
    """Solve a formulation once.

    With --out, keep the schedule that the solution stands for; with --plot, draw it. Either-or is written by big-M
    unless --gdp says else. Ctrl-C ends the solve with what is known so far. The certified optimum is what `dlsched
    optimum` gives.
    """
    from dlsched.arguments import named
    from dlsched.halt import Halt, cut, until
    from dlsched.models.solve import solve as solve_
    from dlsched.solvers.solution import Solution, Status

    named("solver", solver, dict.fromkeys(("highs", "scip")))
    entry = _formulation(formulation, job)
    if solver == "highs":
        _refuse_nonlinear(entry, "--solver: {} is nonlinear; use --solver scip (extra certify)")
    if duals:
        _refuse_nonlinear(entry, "--duals: {} is nonlinear; linear models have duals")
    for option in [option for option, path in (("--out", out), ("--plot", picture)) if path is not None]:
        _expect_schedules(entry, option, relax, drawn=option == "--plot")
    start = time.perf_counter()
    instance = read(entry.instance, file)
    either_or = (gdp or Gdp.BIGM) if entry.disjunctive else None
    with interrupt.deferred() as stop, until(stop, time_limit):
        try:
            with output.waiting(f"building {formulation}"):
                model = cut(lambda: _built(entry, instance, file, job, either_or, relax))
            with output.waiting(f"solving {formulation}"):
                solution = solve_(model, solver=solver, **given(threads=threads, seed=seed))
        except Halt:
            solution = Solution(Status.NO_SOLUTION, None, None, None, time.perf_counter() - start, 0, solver, "")
    result: dict[str, Any] = {
        "formulation": formulation,
        "relaxed": relax,
        "gdp": either_or and either_or.value,
        "status": solution.status.value,
        "objective": solution.objective,
        "bound": solution.bound,
        "gap": solution.gap,
        "seconds": solution.seconds,
        "nodes": solution.nodes,
        "solver": solution.solver,
        "version": solution.version,
    }
    prices = _duals(model) if duals and solution.objective is not None else []
    try:
        if out is not None or picture is not None:
            _keep_schedule(entry, model if solution.objective is not None else None, instance, out, picture)
    finally:
        if as_json:
            output.emit_json(result | ({"duals": prices} if duals else {}))
        else:
            output.facts(f"{formulation}: {file.name}", result)
            if duals:
                columns = ("equation", "row", ">dual", "doc")
                left = "of the relaxation" if relax else "integers fixed"
                title = f"Duals, {left}: what a unit more of the limit changes"
                output.table(title, columns, [tuple(row.values()) for row in prices])
    return stop.code


def _expect_schedules(entry: Formulation[Any], option: str, relax: bool, *, drawn: bool) -> None:
    """Refuse to read a schedule off a solution that stands for none, before it is looked for."""
    from dlsched.errors import InputError
    from dlsched.models.formulation import Kind
    from dlsched.models.problem import problem

    if relax:
        raise InputError(f"{option}: a point of a relaxation is no schedule; leave --relax out")
    if entry.reader is None or entry.kind is Kind.SUBPROBLEM:
        raise InputError(f"{option}: {entry.name} is a {entry.kind}: its points are no schedules")
    if drawn and problem(entry.problem).save_plot is None:
        raise InputError(f"{option}: {entry.problem} has no picture of schedules")


def _keep_schedule(entry: Formulation[Any], model: Any, instance: Any, out: Path | None, picture: Path | None) -> None:
    """Write the schedule of a solved model, None where there is no solution, into files."""
    from dlsched.errors import InputError
    from dlsched.models.formulation import UnreadableModel
    from dlsched.models.problem import problem

    try:
        found = None if model is None else entry.read(model, instance)
    except UnreadableModel as error:
        raise InputError(str(error)) from None
    own = problem(entry.problem)
    broken = [] if found is None else own.violations(instance, found)
    output.keep(found, out)
    if broken:
        output.note(f"the schedule breaks a rule: {broken[0]}")
    if picture is not None and found is None:
        output.note(f"{picture} is not written: there is no feasible schedule")
    elif picture is not None and broken:
        output.note(f"{picture} is not written: the schedule breaks rules")
    elif picture is not None:
        assert own.save_plot is not None
        own.save_plot(instance, found, picture)
        output.note(f"wrote {picture}")


def _duals(model: Any) -> list[dict[str, Any]]:
    """Return the rows with a dual that means something, the greatest first."""
    from dlsched.models.inspect import described, source_of
    from dlsched.models.solve import duals
    from dlsched.tolerances import FEASIBLE

    found = sorted(duals(model).items(), key=lambda item: -abs(item[1]))
    sources = [(source_of(row), dual) for row, dual in found if abs(dual) > FEASIBLE]
    return [
        {"equation": equation, "row": row.name, "dual": dual, "doc": text}
        for row, dual in sources
        for equation, text in [described(row.parent_component())]
    ]


def explain(
    formulation: FormulationName,
    file: InstanceFile,
    full: Full = None,
    raised: More = None,
    grown: OneMore = False,
    job: JobName = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> None:
    """Tell why a model has no point or, where it has one, what holds its optimum.

    With --full once, jobs that may be admitted have to be, in formulations whose rows `once` say that they may. Why an
    algorithm turned a job away is what `run --explain` tells, and why a schedule is not better `check --explain`.
    """
    from dlsched.models.explain import explain as explain_

    entry = _formulation(formulation, job)
    _refuse_nonlinear(entry, "{} is nonlinear; linear models can be explained")
    instance = read(entry.instance, file)

    def explained() -> Any:
        model = _built(entry, instance, file, job, None)
        for name in full or ():
            _fill(model, name)
        return explain_(model, raised=raised or ()), _grown(instance) if grown else None

    with output.waiting(f"explaining {formulation}"):
        found, more = output.within(time_limit, f"explaining {formulation}", explained)
    if as_json:
        output.emit_json(
            {"formulation": formulation, **found.dump(), **({} if more is None else {"one more": more.dump()})}
        )
    else:
        output.emit("\n".join(str(part) for part in (found, more) if part is not None))


def _grown(instance: Any) -> Any:
    from dlsched.algorithms import one_more

    return one_more(instance)


def _fill(model: Any, name: str) -> None:
    """Let constraints, one or all of a component, hold with equality at their upper sides."""
    import pyomo.environ as pyo

    from dlsched.arguments import named
    from dlsched.errors import InputError

    rows = {row.name: row for row in model.component_objects(pyo.Constraint, active=True)}
    data = {row.name: row for row in model.component_data_objects(pyo.Constraint, active=True)}
    chosen = [data[name]] if name in data else list(named("constraint", name, rows).values())
    for row in chosen:
        if row.upper is None:
            raise InputError(f"--full: {row.name} has no upper side to hold with equality")
        row.set_value(row.body == row.upper)


def _formulation(name: str, job: str | None) -> Formulation[Any]:
    """Return a formulation, if it takes the job that was named."""
    from dlsched.errors import InputError
    from dlsched.models.catalog import formulation

    entry = formulation(name)
    if job is not None and "job" not in entry.data:
        raise InputError(f"--job: {name} is of all jobs")
    return entry


def _refuse_nonlinear(entry: Formulation[Any], message: str) -> None:
    from dlsched.errors import InputError

    if not entry.linear:
        raise InputError(message.format(entry.name))


def _built(
    entry: Formulation[Any], instance: Any, file: Path, job: str | None, gdp: Gdp | None, relax: bool = False
) -> Any:
    """Return the model, its either-or written in some way, relaxed if asked."""
    from dlsched.errors import InputError
    from dlsched.models.formulation import write_rows

    try:
        model = entry.build(instance, **given(job=job))
    except ValueError as error:
        raise InputError(f"{file}: {entry.name}: {error}") from None
    if gdp is not None:
        write_rows(model, gdp.value)
    if relax:
        from dlsched.relaxations import relax as relax_

        return relax_(model).model
    return model


def _texts(model: Any, files: dict[str, Path | None]) -> dict[Path, str]:
    """Return what the files of some formats are to hold."""
    from dlsched.errors import InputError

    texts = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for kind, path in files.items():
                if path is not None:
                    written = Path(folder) / f"model.{kind}"
                    try:
                        model.write(str(written), io_options={"symbolic_solver_labels": True})
                    except (RuntimeError, UnicodeEncodeError) as error:
                        model.write(str(written))
                        is_locale = isinstance(error, UnicodeEncodeError)
                        why = "have letters that the locale has not" if is_locale else "differ in symbols alone"
                        output.note(f"{path}: names {why}, so variables and rows are numbered")
                    texts[path] = written.read_text(encoding="locale")  # as Pyomo writes it
    except OSError as error:
        raise InputError(f"the folder for temporary files: {error}") from None
    return texts
