"""Files that commands read and write: links, devices, pipes, modes, owners, full disks; nothing is lost."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from dlsched.cli.main import main
from dlsched.models import files
from dlsched.models.files import MAX_BYTES
from dlsched.models.hadar import Instance, Schedule
from tests import forks
from tests.cli.cases import best, complaint, h2, refusal, save
from tests.cli.conftest import COMMAND, ORDINARY, Command, on_a_full_disk
from tests.forks import Fresh

pytestmark = pytest.mark.process

GENERATE = ("generate", "hadar", "--out", "FILE")
WRITERS = {
    "generate": GENERATE,
    "optimum": ("optimum", "hadar", "INSTANCE", "--out", "FILE"),
    "run": ("run", "hadar", "INSTANCE", "--out", "FILE"),
    "show --lp": ("show", "hadar/aggregate", "INSTANCE", "--lp", "FILE"),
    "show --mps": ("show", "hadar/aggregate", "INSTANCE", "--mps", "FILE"),
    "check --plot": ("check", "hadar", "INSTANCE", "SCHEDULE", "--plot", "FILE"),
    "verify": ("verify", "hadar/initial-dual", "--instances", "0", "--jobs", "1", "--out", "FILE"),
}
Make = Callable[[Path], object]

CLUSTER = ("--cluster", "gpu=1", "--slots", "9", "--slot-seconds", "1")
TWICE = (
    ("optimum", "hadar", "INSTANCE", "--out", "x.json", "--certificate", "./x.json"),
    ("optimum", "hadar", "INSTANCE", "--certificate", "INSTANCE"),
    ("run", "hadar", "INSTANCE", "--out", "INSTANCE"),
    ("compare", "hadar", "INSTANCE", "--out", "x.csv", "--out-jobs", "x.csv"),
    ("check", "INSTANCE", "LOG.svg", "--plot", "LOG.svg"),
    ("plot", "schedule", "INSTANCE", "SCHEDULE", "LOG.svg", "--out", "LOG.svg"),
    ("plot", "network", "INSTANCE", "LOG.svg", "--out", "LOG.svg"),
    ("certify", "LOG", "--vipr", "LOG"),
    ("convert", "csv", "LOG", *CLUSTER, "--out", "LOG"),
    ("convert", "philly", "LOG", "i.json", *CLUSTER, "--out", "."),
    ("convert", "gavel", "--throughputs", "LOG", "--trace", "x", *CLUSTER, "--out", "./LOG"),
)


@pytest.mark.parametrize("words", TWICE)
def test_no_file_is_named_twice(dlsched: Command, words: tuple[str, ...], tmp_path: Path) -> None:
    logs = tmp_path / "LOG", tmp_path / "LOG.svg"
    for log in logs:
        log.write_text("name,arrival,gang,seconds\na,0,1,9\n")
    done = dlsched(*worded(words, "", tmp_path))
    assert [log.read_text() for log in logs] == ["name,arrival,gang,seconds\na,0,1,9\n"] * 2
    assert "is named twice, and what is there would be lost" in refusal(done)
    assert json.loads((tmp_path / "i.json").read_text()) == h2()
    assert not list(tmp_path.glob("x.*"))


def worded(words: tuple[str, ...], file: object, folder: Path) -> list[str]:
    """Return the words of a command on a file, with its instance and schedule written into the folder."""
    names = {"FILE": file, "INSTANCE": save(folder / "i.json", h2()), "SCHEDULE": save(folder / "s.json", best())}
    return [str(names.get(word, word)) for word in words]


def run(
    words: tuple[str, ...], file: object, folder: Path, before: tuple[str, ...] = (), **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command as a process in a folder."""
    command = [*before, COMMAND, *worded(words, file, folder)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300, **options)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that commands run in."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def _device(path: Path) -> None:
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        path.symlink_to("/dev/null")  # only root makes devices


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made, tempfile.TemporaryDirectory() as short:
        made.bind(f"{short}/s")
        os.rename(f"{short}/s", path)


SPECIAL: dict[str, tuple[Make, str]] = {
    "folder": (Path.mkdir, "a folder"),
    "pipe": (os.mkfifo, "a pipe"),
    "device": (_device, "a character device"),
    "socket": (_socket, "a socket"),
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("verb", WRITERS)
def test_only_files_are_written(dlsched: Command, place: Path, verb: str, kind: str) -> None:
    make, name = SPECIAL[kind]
    target, link = place / "target.png", place / "link.png"
    make(target)
    link.symlink_to(target.name)
    before = os.lstat(target)
    path = link if verb == "optimum" else target
    found = dlsched(*worded(WRITERS[verb], path, place), folder=place)
    assert refusal(found) == f"{path}: is not a file but {name}; only files are written"
    assert os.lstat(target) == before
    assert link.is_symlink()
    assert {file.name for file in place.iterdir()} <= {"target.png", "link.png", "i.json", "s.json"}


@pytest.mark.parametrize("verb", WRITERS)
def test_a_dash_is_no_file(dlsched: Command, place: Path, verb: str) -> None:
    found = dlsched(*worded(WRITERS[verb], "-", place), folder=place)
    assert refusal(found).startswith(f"Invalid value for '{WRITERS[verb][-2]}'")
    assert not (place / "-").exists()


@pytest.mark.parametrize("verb", WRITERS)
def test_a_place_where_nothing_can_be_written_is_refused_before_the_work(
    dlsched: Command, place: Path, verb: str
) -> None:
    for path in ("i.json/x.png", "loop.png"):
        (place / "loop.png").unlink(missing_ok=True)
        (place / "loop.png").symlink_to("loop.png")
        found = dlsched(*worded(WRITERS[verb], path, place), folder=place)
        assert refusal(found).startswith(path.partition("/")[0])
    assert json.loads((place / "i.json").read_text()) == h2()


def test_a_folder_that_is_not_there(dlsched: Command, place: Path) -> None:
    message = refusal(dlsched(*worded(WRITERS["optimum"], "no/such/best.json", place), folder=place))
    assert message == f"no/such/best.json: there is no folder {place}/no/such"


@pytest.mark.parametrize("verb", WRITERS)
def test_links_are_followed(dlsched: Command, place: Path, tmp_path: Path, verb: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "there.png").touch()
    for name in ("there", "new"):
        link = place / f"{name}.png"
        link.symlink_to(f"../real/{name}.png")
        assert dlsched(*worded(WRITERS[verb], link, place), folder=place).returncode == 0
        assert os.readlink(link) == f"../real/{name}.png"
        real = tmp_path / "real" / f"{name}.png"
        assert real.stat().st_size > 100
        assert not real.is_symlink()
        assert not [file for file in (tmp_path / "real").iterdir() if file.suffix == ".tmp"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_respects_the_umask(fresh: Fresh, place: Path, umask: int, mode: int) -> None:
    script = f"import os; os.umask({umask}); {forks.COMMAND}"
    assert fresh.run(script, *worded(GENERATE, "new.json", place), folder=place).returncode == 0
    assert stat.S_IMODE((place / "new.json").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_file_that_is_there_keeps_its_mode(dlsched: Command, place: Path, mode: int) -> None:
    path = save(place / "old.json", {})
    path.chmod(mode)
    assert dlsched(*worded(GENERATE, path, place), folder=place).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert Instance.load(path).jobs


def test_a_file_that_is_there_keeps_its_owner(dlsched: Command, place: Path) -> None:
    path = save(place / "old.json", {})
    owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())  # only root gives files away
    os.chown(path, *owner)
    assert dlsched(*worded(GENERATE, path, place), folder=place).returncode == 0
    assert (path.stat().st_uid, path.stat().st_gid) == owner


def test_what_may_not_be_written_is_refused(place: Path) -> None:
    path = save(place / "old.json", {"old": True})
    path.chmod(0o444)
    assert refusal(run(GENERATE, path, place, ORDINARY)) == f"{path}: Permission denied"
    place.chmod(0o555)
    assert refusal(run(GENERATE, place / "new.json", place, ORDINARY)).endswith(
        f"the folder {place} cannot be written to"
    )
    place.chmod(0o755)
    assert json.loads(path.read_text()) == {"old": True}


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("verb", [verb for verb in WRITERS if not verb.startswith(("show", "verify"))])
def test_a_full_disk_leaves_what_was_there(fresh: Fresh, place: Path, verb: str, there: bool) -> None:
    path = place / "out.png"
    if there:
        path.write_text("old")
    files = {"out.png"} if there else set()
    process = fresh.run(on_a_full_disk(), *worded(WRITERS[verb], path, place), folder=place)
    assert complaint(process) == f"{path}: File too large"
    assert {file.name for file in place.iterdir()} - {"i.json", "s.json"} == files
    if there:
        assert path.read_text() == "old"


@pytest.mark.parametrize("verb", ["generate", "verify"])
def test_the_file_that_standard_output_goes_to_is_not_replaced(fresh: Fresh, place: Path, verb: str) -> None:
    log = place / "log"
    for name in ("/dev/stdout", log):
        with log.open("w") as stream:
            process = fresh.run(forks.COMMAND, *WRITERS[verb][:-1], name, stdout=stream.fileno())
        assert process.returncode == 2
        assert process.stderr == f"dlsched: error: {name}: is where standard output goes; name another file\n"
        assert log.read_text() == ""


@pytest.mark.parametrize("options", [("--json",), ()])
def test_standard_output_on_a_full_disk_is_one_line_and_keeps_the_file(place: Path, options: tuple[str, ...]) -> None:
    instance = save(place / "i.json", h2())
    command = [COMMAND, "optimum", "hadar", str(instance), "--out", "best.json", *options]
    with open("/dev/full", "w") as full:
        process = subprocess.run(command, cwd=place, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 2
    assert process.stderr.splitlines() == [
        "dlsched: wrote best.json",
        "dlsched: error: standard output: No space left on device",
    ]
    assert Schedule.load(place / "best.json").jobs


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_is_no_error(place: Path, stream: str) -> None:
    number = {"stdout": 1, "stderr": 2}[stream]
    process = run(WRITERS["optimum"], "best.json", place, preexec_fn=lambda: os.close(number))
    assert process.returncode == 0
    assert getattr(process, stream) == ""
    assert Schedule.load(place / "best.json").jobs


def _filled(content: str) -> int:
    """Return the reading end of a pipe that holds a text and that nobody else writes into."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        stream.write(content)
    return reader


@pytest.fixture
def pipes() -> Iterator[tuple[int, int]]:
    """Pipes with `h2` and its best schedule."""
    ends = _filled(json.dumps(h2())), _filled(json.dumps(best()))
    yield ends
    for end in ends:
        os.close(end)


def test_process_substitution_is_read(pipes: tuple[int, int]) -> None:
    files = [f"/dev/fd/{end}" for end in pipes]
    command = [COMMAND, "check", "hadar", *files, "--json"]
    process = subprocess.run(command, pass_fds=pipes, capture_output=True, text=True, check=False)
    assert json.loads(process.stdout) == {"violations": [], "utility": 17.0}, process.stderr


def test_standard_input_is_read(dlsched: Command) -> None:
    command = [COMMAND, "run", "fifo", "/dev/stdin", "--json"]
    made = dlsched("generate", "dmlrs").stdout
    process = subprocess.run(command, input=made, capture_output=True, text=True, check=False)
    assert json.loads(process.stdout)["algorithm"] == "fifo", process.stderr


def test_a_named_pipe_is_read(place: Path) -> None:
    os.mkfifo(place / "pipe")
    instance, schedule = save(place / "i.json", h2()), save(place / "s.json", best())
    command = [COMMAND, "check", "hadar", "pipe", str(schedule), "--json"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        (place / "pipe").write_text(instance.read_text())
        out, err = process.communicate(timeout=60)
    assert json.loads(out) == {"violations": [], "utility": 17.0}, err


def test_a_pipe_that_nobody_writes_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "WRITER_SECONDS", 2)
    os.mkfifo(place / "pipe")
    with chdir(place):
        code = main(worded(("check", "hadar", "pipe", "SCHEDULE"), None, place))
    message = "pipe: is a pipe that nobody has opened for writing for 2 seconds"
    assert (code, *capfd.readouterr()) == (2, "", f"dlsched: error: {message}\n")


def test_a_pipe_is_read_up_to_a_limit(place: Path) -> None:
    with open("/dev/zero", "rb") as zeros:
        feeder = subprocess.Popen(["cat"], stdin=zeros, stdout=subprocess.PIPE)
        command = [COMMAND, "run", "hadar", "/dev/stdin"]
        process = subprocess.run(command, stdin=feeder.stdout, capture_output=True, text=True, check=False)
        assert feeder.stdout is not None
        feeder.stdout.close()
        feeder.wait()
    assert refusal(process).startswith(f"/dev/stdin: more than {MAX_BYTES} bytes")


@pytest.mark.parametrize("kind", ["folder", "device", "socket"])
def test_what_is_neither_file_nor_pipe_is_not_read(dlsched: Command, place: Path, kind: str) -> None:
    make, name = SPECIAL[kind]
    make(place / "odd")
    assert refusal(dlsched("run", "hadar", "odd", folder=place)) == f"odd: is not a file but {name}"


def test_names_that_the_locale_cannot_write(dlsched: Command, place: Path) -> None:
    """Pyomo writes LP files in the locale's encoding."""
    foreign = h2()
    for job, name in zip(foreign["jobs"], ("仕事", "工作"), strict=True):
        job["name"] = name
    save(place / "foreign.json", foreign)
    ascii_ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ("show", "hadar/hall", "foreign.json", "--lp", "m.lp")
    unable, able = run(words, "", place, env=ascii_), dlsched(*words[:-1], "able.lp", folder=place)
    for process, name in ((unable, "m.lp"), (able, "able.lp")):
        assert process.returncode == 0, process.stderr
        assert process.stderr.splitlines()[-1] == f"dlsched: wrote {name}"
        assert ("工作" in (place / name).read_text(encoding="utf-8")) == (process is able)
    assert "the locale has not" in unable.stderr
    assert "so variables and rows are numbered" in unable.stderr


@pytest.mark.parametrize("words", [("optimum",), ("show", "hadar/p1"), ("replay",), ("certify",)])
def test_who_means_standard_input_by_a_dash_is_told_its_name(dlsched: Command, words: tuple[str, ...]) -> None:
    assert refusal(dlsched(*words, "-")) == "-: no such file; /dev/stdin is standard input"
