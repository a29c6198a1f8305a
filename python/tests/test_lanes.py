"""Batches on lanes and devices."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import soleus as sl
from soleus import _soleus


def walkers(n: int, **more: object) -> sl.Batch:
    batch: sl.Batch = sl.example("gait2d").compile().batch(n, backend="lanes", **more)  # type: ignore[call-overload]
    return batch


def test_order_lanes_converge_to_a_simulation_of_the_engine() -> None:
    """Both kinds of step are of first order: half the step, half the error."""
    system = sl.example("gait2d").compile()
    exact = system.batch(1, method="rkm", accuracy=1e-9)
    exact.e[:] = 0.2
    exact.step(0.02)
    for method in ("rosenbrock", "semi-explicit-euler"):
        errors = []
        for steps in (400, 800, 1600):
            batch = system.batch(3, backend="lanes", method=method)
            batch.e[:] = 0.2
            assert batch.step(0.02, steps) == 0
            errors.append(np.abs(batch.q[1] - exact.q[0]).max())
        assert 1.6 < errors[0] / errors[1] < 2.5 and 1.6 < errors[1] / errors[2] < 2.5, (method, errors)


def test_identity_rates_are_those_of_the_engine() -> None:
    """Rounding of 1000 operations in double and in single precision, in norm."""
    for precision, tolerance in (("double", 1e-12), ("single", 1e-4)):
        batch = walkers(20, precision=precision)
        rng = np.random.default_rng(3)
        batch.q[:] += 0.1 * rng.standard_normal(batch.q.shape)
        batch.u[:] += rng.standard_normal(batch.u.shape)
        batch.e[:] = rng.uniform(0, 1, batch.e.shape)
        udot, zdot = batch.rates()
        wanted = batch.evaluate(["udot", "zdot"])
        assert np.linalg.norm(udot - wanted["udot"]) < tolerance * np.linalg.norm(wanted["udot"])
        assert np.linalg.norm(zdot - wanted["zdot"]) < tolerance * np.linalg.norm(wanted["zdot"])


def test_analytic_arrays_are_live_views() -> None:
    batch = walkers(12)
    assert "lanes" in batch.backend or "interpreter" in batch.backend
    q, before = batch.q, batch.q.copy()
    assert not q.flags.owndata and q.shape == (12, 9) and batch.z.shape == (12, 32) and batch.e.shape == (12, 16)
    batch.e[5] = 0.9
    assert batch.step(0.01, 5) == 0
    assert np.array_equal(q[0], q[1]) and not np.array_equal(q[5], q[1]) and not np.array_equal(q, before)
    np.testing.assert_allclose(batch.time, 0.01, rtol=1e-12)
    batch.reset(np.arange(12) == 5)
    np.testing.assert_array_equal(q[5], before[5])
    assert batch.time[5] == 0 and batch.time[4] > 0 and (batch.e[5] == 0.9).all()


def test_identity_any_number_of_threads_and_neighbours() -> None:
    found = []
    for n, threads in ((150, 1), (150, 3), (7, 2)):
        batch = walkers(n, threads=threads)
        batch.e[:] = np.linspace(0.1, 0.7, 150)[:n, None]
        batch.step(0.02, 10)
        found.append(np.hstack([batch.q, batch.u, batch.z])[:7])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_analytic_a_copy_that_cannot_go_on_costs_itself_alone() -> None:
    batch = walkers(3)
    batch.q[1, 3] = np.nan
    assert batch.step(0.005) == 1
    assert batch.failed.tolist() == [False, True, False]
    assert np.isfinite(batch.q[[0, 2]]).all() and batch.time.tolist() == [0.005, 0.0, 0.005]
    batch.reset(batch.failed)
    assert batch.step(0.005) == 0


def test_identity_numbers_that_vary_are_those_of_a_changed_model() -> None:
    batch = walkers(4)
    force = batch.vary("/forceset/soleus_r/max_isometric_force")
    mass = batch.vary("/bodyset/shank_r/mass")
    start = force[0], mass[0]
    force[1] = force[3] = 0.6 * start[0]
    mass[2] = mass[3] = 1.3 * start[1]
    batch.e[:] = 0.5
    udot, _ = batch.rates()
    for i in range(4):
        model = sl.example("gait2d")
        model["/forceset/soleus_r"].max_isometric_force = force[i]
        model["/bodyset/shank_r"].mass = mass[i]
        wanted = model.compile().evaluate(batch.q[i], batch.u[i], batch.z[i], batch.e[i])
        assert np.abs(udot[i] - wanted).max() < 1e-11 * np.abs(wanted).max()
    assert batch.step(0.002) == 0 and not np.array_equal(batch.q[0], batch.q[1])
    with pytest.raises(sl.InputError, match="soleus"):
        batch.vary("/forceset/soleus_q/max_isometric_force")


def test_deriv_gradients_of_steps() -> None:
    """Backwards through three steps, against central differences. Fibers begin at rest, where the second slope of their force-velocity curve jumps, so that
    differences are off by their step, 1e-8, times about 300; roundoff is 1e-13/1e-8."""
    batch = walkers(2)
    rng = np.random.default_rng(7)
    batch.u[:] += 0.5 * rng.standard_normal(batch.u.shape)
    batch.e[:] = 0.3
    weights = rng.standard_normal(9)
    g = batch.gradient(0.006, 3, u=weights)
    start = {k: getattr(batch, k).copy() for k in "quze"}

    def value(k: str, direction: np.ndarray) -> float:  # type: ignore[type-arg]
        for name, kept in start.items():
            getattr(batch, name)[:] = kept
        getattr(batch, k)[1] += direction
        batch.step(0.006, 3)
        return float(weights @ batch.u[1])

    for k in "quze":
        d = rng.standard_normal(start[k].shape[1])
        d /= np.linalg.norm(d)
        fd = (value(k, 1e-8 * d) - value(k, -1e-8 * d)) / 2e-8
        exact = float(getattr(g, k)[1] @ d)
        assert abs(exact - fd) < 1e-4 * (abs(fd) + 0.1), (k, exact, fd)


def test_analytic_a_model_that_cannot_be_recorded_is_refused(reference: pathlib.Path) -> None:
    system = sl.read(reference / "models/gait10dof18musc.osim").compile()
    with pytest.raises(sl.InputError, match="fit"):
        system.batch(4, backend="lanes")
    with pytest.raises(ValueError, match="engine, lanes or cuda"):
        system.batch(4, backend="gpu")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="rosenbrock"):
        sl.example("gait2d").compile().batch(2, backend="lanes", method="rkm")


def test_analytic_dlpack_shares_memory() -> None:
    """What shares arrays of a device, on an array of this machine: the same bytes, strides kept, alive as long as anybody needs it."""
    x = np.arange(12.0).reshape(3, 4)
    shared = _soleus._host_array(x.T)
    assert shared.__dlpack_device__() == (1, 0) and shared.shape == (4, 3) and shared.dtype == "float64"
    y = np.from_dlpack(shared)
    np.testing.assert_array_equal(y, x.T)
    x[1, 2] = 77.0
    assert y[2, 1] == 77.0
    del shared, x
    assert y[2, 1] == 77.0
    with pytest.raises(BufferError):
        _soleus._host_array(np.zeros((2, 2))).__dlpack__(copy=True)


def test_analytic_without_a_device_there_is_a_sentence() -> None:
    try:
        batch = sl.example("gait2d").compile().batch(256, backend="cuda", precision="single")
    except sl.InputError as e:
        assert "libcuda" in str(e) or "nvrtc" in str(e).lower()
        return
    batch.step(0.002, 10)
    assert len(batch) == 256 and batch.q.shape == (256, 9) and batch.q.__dlpack_device__() == (2, 0)
