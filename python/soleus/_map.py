"""One function over many trials, in threads, processes or on a cluster."""

from __future__ import annotations

import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """The reason why an item failed."""

    kind: str
    """Name of the exception, or ``WorkerDied``."""
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
) -> MapResult[R]:
    """Calls ``f`` for each item: ``on="threads"`` (tools release the GIL), ``"processes"``, ``"ray"``, ``"dask"``, or any
    :class:`concurrent.futures.Executor`.

    ``f`` is sent to each worker once, with the models it contains: ``functools.partial(process, model)``. Results are in the order of the items and
    do not depend on where they run. An exception affects only its own item, which becomes a :class:`Failure`; if a worker dies, only its current item
    is lost, and is tried ``retries`` more times."""
    all_items = list(items)
    if on == "ray":
        return _on_ray(f, all_items, workers, retries)
    if on == "dask":
        client = _dask_client(workers)
        # The function, and the models that it holds, travel once.
        function = client.scatter(f, broadcast=True, hash=False)
        futures = [client.submit(_call, function, item, pure=False, retries=retries) for item in all_items]
        return _gathered(all_items, [_settled(x.result) for x in futures])
    if isinstance(on, Executor):
        return _gathered(all_items, [_settled(x.result) for x in [on.submit(_call, f, item) for item in all_items]])
    if on == "threads":
        with ThreadPoolExecutor(workers or _cores()) as pool:
            return _gathered(all_items, [x.result() for x in [pool.submit(_call, f, item) for item in all_items]])
    if on == "processes":
        return _on_processes(f, all_items, workers, retries)
    raise ValueError(f"unknown value on={on!r}; choose threads, processes, ray, dask or an Executor")


def _dask_client(workers: int | None) -> Any:
    import distributed

    d: Any = distributed
    try:
        return d.default_client()
    except ValueError:
        return d.Client(d.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _on_processes(f: Callable[[T], R], items: list[T], workers: int | None, retries: int) -> MapResult[R]:
    """A pool breaks as a whole when a worker dies. What was not done goes to a new pool; what was being worked on may have been the cause, so
    that it goes alone."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    # Once for each process, with the models that it holds.
    sent = pickle.dumps(f)
    done: dict[int, tuple[R | Failure, float]] = {}
    deaths: dict[int, int] = {}
    waiting = list(range(len(items)))
    while waiting:
        # An item that broke a pool before is tried without company.
        suspects = [i for i in waiting if deaths.get(i, 0) > 0]
        now = suspects[:1] if suspects else waiting
        count = min(workers or _cores(), len(now))
        with ProcessPoolExecutor(count, mp_context=context, initializer=_receive, initargs=(sent,)) as pool:
            futures: dict[int, Future[tuple[R | Failure, float]]] = {i: pool.submit(_call_received, items[i]) for i in now}
            broken = False
            for i, future in futures.items():
                try:
                    done[i] = future.result()
                except BrokenProcessPool:
                    broken = True
                except Exception as e:  # noqa: BLE001  what cannot be pickled, say
                    done[i] = Failure(type(e).__name__, str(e)), 0.0
            if broken:
                # Which item it was is not known; those that were started are among the first that are not done.
                lost = [i for i in now if i not in done]
                for i in lost[: count + 1]:
                    deaths[i] = deaths.get(i, 0) + 1
                    if len(now) == 1 and deaths[i] > retries:
                        done[i] = Failure("WorkerDied", "the process that worked on it ended"), 0.0
        waiting = [i for i in waiting if i not in done]
    return _gathered(items, [done[i] for i in range(len(items))])


def _on_ray(f: Callable[[T], R], items: list[T], workers: int | None, retries: int) -> MapResult[R]:
    import importlib

    ray: Any = importlib.import_module("ray")
    if not ray.is_initialized():
        # Workers look for modules where this process does; a function that they do not find could not be called.
        places = os.pathsep.join(p for p in sys.path if p)
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": places}})
    # The function, and the models that it holds, travel once.
    function = ray.put(f)
    remote: Any = ray.remote(max_retries=retries)(_call)
    tasks: list[Any] = [remote.remote(function, item) for item in items]
    return _gathered(items, [_settled(partial(ray.get, task)) for task in tasks])


def _settled(result: Callable[[], tuple[R | Failure, float]]) -> tuple[R | Failure, float]:
    try:
        return result()
    except Exception as e:  # noqa: BLE001  a worker that died
        return Failure("WorkerDied", str(e).splitlines()[0] if str(e) else type(e).__name__), 0.0


def _gathered(items: list[Any], found: list[tuple[R | Failure, float]]) -> MapResult[R]:
    return MapResult(items, [value for value, _ in found], [seconds for _, seconds in found])
