"""Many trials."""

from __future__ import annotations

import os
import pathlib
import signal
import threading
import time

import pytest

import soleus as sl

MODEL = pathlib.Path(__file__).resolve().parents[2] / "models" / "leg_swing.osim"


def simulated(excitation: float) -> bytes:
    """The bytes of a simulation; one of them fails."""
    if excitation < 0:
        raise ValueError("a muscle cannot be excited less than not at all")
    return sl.read(MODEL).simulate(0.01, excitation=excitation).states.to_bytes()


def killed(i: int) -> int:
    """One of them ends its process."""
    if i == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return i * i


ITEMS = [0.05, 0.1, -1.0, 0.2, 0.3]


def test_identity_threads_and_processes_give_the_same_bytes() -> None:
    a = sl.map(simulated, ITEMS, on="threads")
    b = sl.map(simulated, ITEMS, on="processes", workers=2)
    assert a.results == b.results and len(a.results) == 4
    for found in (a, b):
        assert [item for item, _ in found.failures] == [-1.0]
        assert found.failures[0][1].kind == "ValueError"
        rows = found.rows()
        assert [r["ok"] for r in rows] == [True, True, False, True, True]
        assert "not at all" in rows[2]["message"]


def test_analytic_a_worker_that_is_killed_costs_its_item_alone() -> None:
    found = sl.map(killed, range(6), on="processes", workers=2)
    assert [v for v in found.values if not isinstance(v, sl.Failure)] == [0, 1, 4, 16, 25]
    assert [(i, f.kind) for i, f in found.failures] == [(3, "WorkerDied")]


@pytest.mark.skipif(not os.environ.get("SOLEUS_TEST_RAY"), reason="starts a local Ray: SOLEUS_TEST_RAY=1")
def test_identity_ray_gives_the_same_bytes() -> None:
    pytest.importorskip("ray")
    a = sl.map(simulated, ITEMS, on="threads")
    b = sl.map(simulated, ITEMS, on="ray")
    assert a.results == b.results and [i for i, _ in b.failures] == [-1.0]
    c = sl.map(killed, range(6), on="ray")
    assert c.results == [0, 1, 4, 16, 25] and c.failures[0][1].kind == "WorkerDied"


def test_analytic_nowhere() -> None:
    with pytest.raises(ValueError, match="the moon"):
        sl.map(killed, [1], on="the moon")


def endless(seconds: float) -> int:
    """Work that only a stop ends."""
    batch = sl.read(MODEL).compile().batch(1000, threads=1)
    for _ in range(100_000):
        batch.step(0.01, 10)
    return 0


def test_analytic_ctrl_c_stops_running_threads() -> None:
    # The signal itself: what waits for threads hears nothing else.
    press = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    before = threading.active_count()
    press.start()
    with pytest.raises(sl.Interrupted) as caught:
        sl.map(endless, [1.0, 2.0, 3.0], on="threads", workers=2)
    assert [f.kind for _, f in caught.value.partial.failures] == ["Stopped"] * 3
    # Every 50 ms they look whether to stop; the rest is for a busy machine.
    deadline = time.monotonic() + 10.0
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before
