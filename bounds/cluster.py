"""A dask cluster as an executor (extra ``cluster``): dask places work, and moves it when a worker dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from dlsched.errors import InputError

if TYPE_CHECKING:
    import distributed

R = TypeVar("R")

_NO_WORKERS_SECONDS = 60.0
"""How long a cluster may be without workers where dask sets no limit. Arbitrary: time to start one anew."""


class _Tasks(Executor):
    """Tasks on a dask cluster.

    dask's own executor takes a result for an exception where the worker that had it dies while it is handed over.
    """

    def __init__(self, client: distributed.Client) -> None:
        self._client = client

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        future: Future[R] = Future()
        self._client.loop.add_callback(_hand_over, self._client.submit(fn, *args, pure=False, **kwargs), future)
        return future


async def _hand_over(there: distributed.Future[R], here: Future[R]) -> None:
    """Wait for a task, wherever dask moves it to, and hand over what came of it."""
    try:
        here.set_result(await there)
    except BaseException as error:
        here.set_exception(error)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connection to a dask scheduler.

    Attributes
    ----------
    address : str
    executor : concurrent.futures.Executor
    """

    address: str
    executor: Executor
    _client: distributed.Client

    def confirm_alive(self) -> None:
        """Return once a worker is running.

        Raises
        ------
        concurrent.futures.BrokenExecutor
            If there is none for ``distributed.scheduler.no-workers-timeout`` (dask's setting; a minute where it has
            none), or the scheduler does not answer.
        """
        import dask
        from dask.utils import parse_timedelta

        limit = dask.config.get("distributed.scheduler.no-workers-timeout") or _NO_WORKERS_SECONDS
        seconds = parse_timedelta(limit, default="seconds")
        try:
            self._client.wait_for_workers(1, timeout=seconds)
        except TimeoutError:
            raise BrokenExecutor(f"{self.address}: no worker has run there for {seconds:g} s") from None


@contextmanager
def connect(address: str) -> Iterator[Cluster]:
    """Connect to a dask scheduler.

    Parameters
    ----------
    address : str
        Such as ``tcp://HOST:PORT``.

    Raises
    ------
    InputError
        If dask is not installed, the address is none, or no scheduler answers there within
        ``distributed.comm.timeouts.connect`` (dask's setting; 30 s).
    concurrent.futures.BrokenExecutor
        In the block, if the scheduler went away, or a task's workers died one after the other.
    """
    try:
        from distributed import Client, KilledWorker, Security
        from distributed.comm import get_address_host_port, parse_address
    except ImportError:
        raise InputError(f"executor {address}: needs dask: pip install 'dlsched[cluster]'") from None
    try:
        get_address_host_port(address, strict=True)
        if parse_address(address)[0] == "tls" and Security().get_connection_args("client")["ssl_context"] is None:
            raise ValueError("tls needs the certificates that dask's setting distributed.comm.tls names")
        client = Client(address, set_as_default=False)
    except ValueError as error:
        raise InputError(f"executor {address!r}: not the address of a dask scheduler: {error}") from None
    except ImportError as error:
        raise InputError(
            f"executor {address}: what is installed there does not go with what is here: {error}"
        ) from None
    except OSError as error:
        raise InputError(f"executor {address}: no dask scheduler answers there: {error}") from None
    with client:
        try:
            yield Cluster(address, _Tasks(client), client)
        except InputError:
            raise
        except KilledWorker as error:
            dead = error.allowed_failures + 1
            raise BrokenExecutor(f"{address}: every worker that got one task died, {dead} in all") from None
        except Exception as error:
            if isinstance(error, CancelledError) or client.status != "running":
                raise BrokenExecutor(f"{address}: the dask scheduler went away") from None
            raise
