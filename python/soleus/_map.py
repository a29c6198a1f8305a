"""One function over many trials, in threads, processes or on a cluster."""

from __future__ import annotations

import hashlib
import os
import pathlib
import pickle
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from ._progress import shower
from ._stop import until
from .errors import Interrupted

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """The reason why an item failed."""

    kind: str
    """Name of the exception, ``WorkerDied`` or ``Stopped``."""
    message: str
    trace: str = ""

    def __bool__(self) -> bool:
        return False


class MapResult(Generic[R]):
    """The outcome of each item, in order: a result or a :class:`Failure`."""

    def __init__(self, items: Sequence[Any], values: Sequence[R | Failure], seconds: Sequence[float]) -> None:
        self.items = list(items)
        self.values = list(values)
        self.seconds = list(seconds)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[R | Failure]:
        return iter(self.values)

    def __getitem__(self, i: int) -> R | Failure:
        return self.values[i]

    @property
    def results(self) -> list[R]:
        """Results of the items that succeeded."""
        return [v for v in self.values if not isinstance(v, Failure)]

    @property
    def failures(self) -> list[tuple[Any, Failure]]:
        """Items that failed, with the reason."""
        return [(i, v) for i, v in zip(self.items, self.values) if isinstance(v, Failure)]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each item: the item, whether it succeeded, how long it took, why it failed."""
        rows = []
        for item, value, seconds in zip(self.items, self.values, self.seconds):
            failed = isinstance(value, Failure)
            rows.append(
                {
                    "item": str(item),
                    "ok": not failed,
                    "seconds": seconds,
                    "error": value.kind if isinstance(value, Failure) else "",
                    "message": value.message if isinstance(value, Failure) else "",
                }
            )
        return rows

    def __repr__(self) -> str:
        lines = [f"{len(self)} items, {len(self.failures)} failed, {sum(self.seconds):.2f} s of work"]
        lines += [f"  {item}: {f.kind}: {f.message.splitlines()[0] if f.message else ''}" for item, f in self.failures[:10]]
        return "\n".join(lines)


def _call(f: Callable[[T], R], item: T) -> tuple[R | Failure, float]:
    """One item; an exception is a row like any other."""
    begin = time.perf_counter()
    try:
        value: R | Failure = f(item)
    except Exception as e:  # noqa: BLE001  whatever it is, it is this item's alone
        value = Failure(type(e).__name__, str(e), traceback.format_exc())
    return value, time.perf_counter() - begin


# What a worker process calls, sent once when the process starts; or why it cannot.
_received: Callable[[Any], Any] | Failure = Failure("NotReceived", "the function did not arrive")


def _receive(data: bytes) -> None:
    global _received
    try:
        _received = pickle.loads(data)
    except Exception as e:  # noqa: BLE001  told with every item; a process that ends here would be started again and again
        _received = Failure(type(e).__name__, f"the function cannot be found in another process: {e}")


def _call_received(item: T) -> tuple[Any, float]:
    return (_received, 0.0) if isinstance(_received, Failure) else _call(_received, item)


def map(
    f: Callable[[T], R],
    items: Iterable[T],
    *,
    on: str | Executor = "threads",
    workers: int | None = None,
    retries: int = 1,
    keep: str | os.PathLike[str] | None = None,
) -> MapResult[R]:
    """Calls ``f`` for each item: ``on="threads"`` (tools release the GIL), ``"processes"``, ``"ray"``, ``"dask"``, or any
    :class:`concurrent.futures.Executor`.

    ``f`` is sent to each worker once, with the models it contains: ``functools.partial(process, model)``. Results are in the order of the items and
    do not depend on where they run. An exception affects only its own item, which becomes a :class:`Failure`; if a worker dies, only its current item
    is lost, and is tried ``retries`` more times.

    ``keep`` is a folder in which results are kept as they come: a second call with the same function and items computes only what is missing there,
    also after a stop or on another machine. Ctrl-C stops what is being computed and raises :class:`Interrupted`, whose ``partial`` has the results so far; the other items are failures
    of kind ``Stopped``."""
    all_items = list(items)
    if on not in ("threads", "processes", "ray", "dask") and not isinstance(on, Executor):
        raise ValueError(f"unknown value on={on!r}; choose threads, processes, ray, dask or an Executor")
    kept = None if keep is None else _Kept(f, pathlib.Path(keep))
    found = _Found(all_items, kept)
    todo = found.missing()
    try:
        if on == "processes":
            _on_processes(f, found, todo, workers, retries)
        elif todo:
            _submitted(f, found, todo, on, workers, retries)
    except KeyboardInterrupt as e:
        raise Interrupted(partial=found.gathered()) from e
    finally:
        found.end()
    return found.gathered()


def _identity(f: Any) -> bytes:
    """A key for a function: its name, its code and the values it contains."""
    if isinstance(f, partial):
        held = pickle.dumps((f.args, sorted(f.keywords.items())))
        return b"partial" + _identity(f.func) + held
    code = getattr(f, "__code__", None)
    if code is None:
        return pickle.dumps(f)
    cells = [c.cell_contents for c in getattr(f, "__closure__", None) or ()]
    words = f"{f.__module__}.{f.__qualname__}".encode()
    return words + _code(code) + pickle.dumps((cells, f.__defaults__, f.__kwdefaults__))


def _code(code: Any) -> bytes:
    parts = [_code(c) if hasattr(c, "co_code") else repr(c).encode() for c in code.co_consts]
    return bytes(code.co_code) + b"|".join(parts) + repr((code.co_names, code.co_varnames)).encode()


class _Kept:
    """Results in a folder, by function and item. Files are written under a temporary name first, so that several processes can share the folder."""

    def __init__(self, f: Callable[..., Any], folder: pathlib.Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.function = hashlib.sha256(_identity(f)).digest()

    def _file(self, item: Any) -> pathlib.Path:
        return self.folder / (hashlib.sha256(self.function + pickle.dumps(item)).hexdigest()[:32] + ".pickle")

    def get(self, item: Any) -> tuple[Any, float] | None:
        try:
            found: tuple[Any, float] = pickle.loads(self._file(item).read_bytes())
        except (OSError, pickle.UnpicklingError, EOFError):
            return None
        return found

    def put(self, item: Any, value: tuple[Any, float]) -> None:
        file = self._file(item)
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(pickle.dumps(value))
        os.replace(part, file)


class _Found:
    """The state of each item, and the progress of the whole."""

    def __init__(self, items: list[Any], kept: _Kept | None) -> None:
        self.items, self.kept = items, kept
        self.done: dict[int, tuple[Any, float]] = {}
        self.show, self.begin, self.shown = shower(), time.monotonic(), False
        if kept is not None:
            for i, item in enumerate(items):
                value = kept.get(item)
                if value is not None:
                    self.done[i] = value

    def missing(self) -> list[int]:
        return [i for i in range(len(self.items)) if i not in self.done]

    def put(self, i: int, value: tuple[Any, float]) -> None:
        self.done[i] = value
        if self.kept is not None and not isinstance(value[0], Failure):
            self.kept.put(self.items[i], value)
        # As tools do: most work is done sooner.
        if self.show is not None and time.monotonic() - self.begin > 0.8:
            self.shown = True
            failed = sum(isinstance(v, Failure) for v, _ in self.done.values())
            self.show("items", float(len(self.done)), float(len(self.items)), None, f"{failed} failed" if failed else "")

    def end(self) -> None:
        if self.shown and self.show is not None:
            self.show()

    def gathered(self) -> MapResult[Any]:
        stopped = Failure("Stopped", "stopped (Ctrl-C)"), 0.0
        found = [self.done.get(i, stopped) for i in range(len(self.items))]
        return MapResult(self.items, [value for value, _ in found], [seconds for _, seconds in found])


def _submitted(f: Callable[[Any], Any], found: _Found, todo: list[int], on: str | Executor, workers: int | None, retries: int) -> None:
    """Runs on executors with futures. Results are recorded in the order of the items; after a stop, items that have not begun are cancelled."""
    if on == "ray":
        _on_ray(f, found, todo, workers, retries)
        return
    if on == "dask":
        client = _dask_client(workers)
        # The function, and the models that it holds, travel once.
        function = client.scatter(f, broadcast=True, hash=False)
        tasks = {i: client.submit(_call, function, found.items[i], pure=False, retries=retries) for i in todo}
        try:
            for i, task in tasks.items():
                found.put(i, _settled(task.result))
        except KeyboardInterrupt:
            client.cancel(list(tasks.values()))
            raise
        return
    pool = on if isinstance(on, Executor) else ThreadPoolExecutor(workers or _cores())
    stop = threading.Event()
    # Threads can be told to stop; an event cannot travel to another process.
    call = partial(until, stop, _call) if isinstance(pool, ThreadPoolExecutor) else _call
    futures = {pool.submit(call, f, found.items[i]): i for i in todo}
    arrived: SimpleQueue[Future[Any]] = SimpleQueue()
    try:
        for future in futures:
            future.add_done_callback(arrived.put)
        for _ in futures:
            future = _next(arrived)
            found.put(futures[future], _settled(future.result))
    except KeyboardInterrupt:
        stop.set()
        for future in futures:
            future.cancel()
        raise
    finally:
        if pool is not on:
            pool.shutdown(wait=False, cancel_futures=True)


def _next(arrived: SimpleQueue[Future[Any]]) -> Future[Any]:
    """The next finished item. It wakes up five times a second: another library (polars) can make an endless wait continue after a signal, and
    Ctrl-C would then have no effect."""
    while True:
        try:
            return arrived.get(timeout=0.2)
        except Empty:
            pass


def _dask_client(workers: int | None) -> Any:
    import distributed

    d: Any = distributed
    try:
        return d.default_client()
    except ValueError:
        return d.Client(d.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _on_processes(f: Callable[[Any], Any], found: _Found, waiting: list[int], workers: int | None, retries: int) -> None:
    """A pool breaks as a whole when a worker dies. Items that were not finished go to a new pool; those that were running may have caused it, and
    run alone."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    # Once for each process, with the models that it holds.
    sent = pickle.dumps(f)
    items, done = found.items, found.done
    deaths: dict[int, int] = {}
    while waiting:
        # An item that broke a pool before is tried without company.
        suspects = [i for i in waiting if deaths.get(i, 0) > 0]
        now = suspects[:1] if suspects else waiting
        count = min(workers or _cores(), len(now))
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_receive, initargs=(sent,))
        try:
            futures: dict[int, Future[tuple[Any, float]]] = {i: pool.submit(_call_received, items[i]) for i in now}
            broken = False
            for i, future in futures.items():
                try:
                    found.put(i, future.result())
                except BrokenProcessPool:
                    broken = True
                except Exception as e:  # noqa: BLE001  what cannot be pickled, say
                    found.put(i, (Failure(type(e).__name__, str(e)), 0.0))
            if broken:
                # Which item it was is not known; those that were started are among the first that are not done.
                lost = [i for i in now if i not in done]
                for i in lost[: count + 1]:
                    deaths[i] = deaths.get(i, 0) + 1
                    if len(now) == 1 and deaths[i] > retries:
                        found.put(i, (Failure("WorkerDied", "its worker process ended"), 0.0))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        waiting = [i for i in waiting if i not in done]


def _on_ray(f: Callable[[Any], Any], found: _Found, todo: list[int], workers: int | None, retries: int) -> None:
    import importlib

    ray: Any = importlib.import_module("ray")
    if not ray.is_initialized():
        # Workers look for modules where this process does; a function that they do not find could not be called.
        places = os.pathsep.join(p for p in sys.path if p)
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": places}})
    # The function, and the models that it holds, travel once.
    function = ray.put(f)
    remote: Any = ray.remote(max_retries=retries)(_call)
    tasks: dict[int, Any] = {i: remote.remote(function, found.items[i]) for i in todo}
    try:
        for i, task in tasks.items():
            found.put(i, _settled(partial(ray.get, task)))
    except KeyboardInterrupt:
        for task in tasks.values():
            ray.cancel(task)
        raise


def _settled(result: Callable[[], tuple[R | Failure, float]]) -> tuple[R | Failure, float]:
    try:
        return result()
    except Exception as e:  # noqa: BLE001  a worker that died
        return Failure("WorkerDied", str(e).splitlines()[0] if str(e) else type(e).__name__), 0.0
