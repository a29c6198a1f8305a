"""Evaluation of one state and of thousands, and derivatives."""

from __future__ import annotations

import _thread
import copy
import json
import pathlib
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import soleus as sl


@pytest.fixture
def system(models: pathlib.Path) -> sl.System:
    return sl.read(models / "leg_swing.osim").compile()


def states(system: sl.System, n: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Random states about the default one, muscles in equilibrium."""
    rng = np.random.default_rng(seed)
    x = system.defaults()
    q = x["q"] + 0.2 * rng.standard_normal((n, x["q"].size))
    u = rng.standard_normal((n, x["u"].size))
    e = rng.uniform(0.05, 0.9, (n, len(system.controls)))
    z = np.tile(x["z"], (n, 1))
    for i, name in enumerate(system.states):
        if name.endswith("/activation"):
            z[:, i] = rng.uniform(0.05, 0.9, n)
    return {"q": q, "u": u, "z": system.evaluate(q, u, z, e, want="z", equilibrate=True), "e": e}


def test_identity_every_quantity_is_that_of_the_command(models: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """`soleus eval` writes everything at a state as JSON; arrays have the same numbers, bit for bit."""
    file = models / "gait2d.osim"
    out = tmp_path / "out.json"
    states = tmp_path / "states.json"
    states.write_text('{"states": [{}]}')
    command = [sys.executable, "-m", "soleus._command", "eval", str(file), "--states", str(states), "--out", str(out)]
    subprocess.run(command, check=True)
    found = json.loads(out.read_text())
    one = found["states"][0]
    system = sl.read(file).compile()
    assert system.coordinates == found["model"]["tree_order"]
    want = ["udot", "qdot", "zdot", "mass_matrix", "mass_center", "kinetic_energy", "potential_energy", "body.position"]
    y = system.evaluate(want=[*want, "muscle.tendon_force", "moment_arm", "markers"])
    np.testing.assert_array_equal(y["udot"], one["udot"])
    np.testing.assert_array_equal(y["qdot"], one["qdot"])
    np.testing.assert_array_equal(y["zdot"], list(one["aux_derivatives"].values()))
    np.testing.assert_array_equal(y["mass_matrix"], one["mass_matrix"])
    np.testing.assert_array_equal(y["mass_center"], one["com"]["position"])
    assert y["kinetic_energy"] == one["kinetic_energy"] and y["potential_energy"] == one["potential_energy"]
    np.testing.assert_array_equal(y["body.position"], [b["p"] for b in one["bodies"].values()])
    at = found["muscle_fields"].index("tendonForce")
    np.testing.assert_array_equal(y["muscle.tendon_force"], [m[at] for m in one["muscles"].values()])
    for muscle, arms in zip(system.muscles, y["moment_arm"]):
        for coordinate, arm in zip(system.coordinates, arms):
            # Arms below a nanometre are left out of the file.
            assert one["moment_arms"][muscle].get(coordinate.rsplit("/", 1)[-1], 0.0) == pytest.approx(arm, abs=1e-9)


def test_identity_many_states_are_many_times_one(system: sl.System) -> None:
    x = states(system, 50)
    want = ["udot", "zdot", "muscle.fiber_velocity", "moment_arm:knee_angle", "body.rotation"]
    many = system.evaluate(**x, want=want, threads=2)
    alone = system.evaluate(**x, want=want, threads=1)
    for name in want:
        np.testing.assert_array_equal(many[name], alone[name])
    for i in (0, 17, 49):
        one = system.evaluate(*(x[k][i] for k in "quze"), want=want)
        for name in want:
            assert one[name].shape == many[name].shape[1:]
            np.testing.assert_array_equal(one[name], many[name][i])


def test_analytic_one_row_serves_all(system: sl.System) -> None:
    x = states(system, 20)
    udot = system.evaluate(x["q"], x["u"][0], x["z"][0], x["e"][0])
    np.testing.assert_array_equal(udot[7], system.evaluate(x["q"][7], x["u"][0], x["z"][0], x["e"][0]))


def test_analytic_values_by_name(system: sl.System) -> None:
    q = system.defaults()["q"]
    q[system.coordinates.index("/jointset/knee/knee_angle")] = -0.8
    e = np.zeros(8)
    e[system.controls.index("/forceset/soleus")] = 0.7
    by_name = system.evaluate(q={"knee_angle": -0.8}, e={"soleus": 0.7}, want="zdot")
    np.testing.assert_array_equal(by_name, system.evaluate(q, e=e, want="zdot"))
    with pytest.raises(sl.InputError, match="knee_angle"):
        system.evaluate(q={"knee_angel": 0.0})


def test_analytic_wrong_shapes_and_names(system: sl.System) -> None:
    with pytest.raises(sl.InputError, match="`q` has 2 numbers, but 3"):
        system.evaluate(q=[0.0, 1.0])
    with pytest.raises(sl.InputError, match="rows"):
        system.evaluate(q=np.zeros((4, 3)), u=np.zeros((5, 3)))
    with pytest.raises(sl.InputError, match="muscle.tendon_force"):
        system.evaluate(want="muscle.tendon_forse")
    with pytest.raises(sl.InputError, match="udot"):
        system.evaluate(want="inverse_dynamics")


def test_identity_inverse_dynamics_is_forward_dynamics_backwards(models: pathlib.Path) -> None:
    """Without muscles M u̇ + c − g = 0 at the accelerations of the motion."""
    model = sl.read(models / "leg_swing.osim")
    for m in model.muscles:
        m.appliesForce = False
    system = model.compile()
    x = states(system, 10)
    udot = system.evaluate(**x)
    tau = system.evaluate(**x, udot=udot, want="inverse_dynamics")
    mass = system.evaluate(**x, want="mass_matrix")
    # Moments of the order of M u̇ cancel: some hundred roundings of the largest.
    assert np.abs(tau).max() < 1e-11 * np.abs(np.einsum("nij,nj->ni", mass, udot)).max()


def test_deriv_moment_arm_is_minus_the_slope_of_the_length(system: sl.System) -> None:
    knee = system.coordinates.index("/jointset/knee/knee_angle")
    q = system.defaults()["q"]
    arm = system.evaluate(q, want="moment_arm:knee_angle")
    # Central differences: truncation h², rounding ε/h; both near 1e-10 m at h = 1e-5.
    h = 1e-5
    steps = np.array([q, q])
    steps[0, knee] -= h
    steps[1, knee] += h
    length = system.evaluate(steps, want="muscle.length")
    slope = (length[1] - length[0]) / (2 * h)
    np.testing.assert_allclose(arm, -slope, atol=2e-9)
    assert not np.array_equal(arm, -slope)


def test_deriv_linearize(system: sl.System) -> None:
    x = {k: v[0] for k, v in states(system, 1).items()}
    f, a, b = system.linearize(**x)
    n, nz = x["q"].size, x["z"].size
    y0 = np.concatenate([x["q"], x["u"], x["z"], x["e"]])

    def rates(y: np.ndarray) -> np.ndarray:
        q, u, z, e = np.split(y, [n, 2 * n, 2 * n + nz])
        found = system.evaluate(q, u, z, e, want=["qdot", "udot", "zdot"])
        return np.concatenate([found["qdot"], found["udot"], found["zdot"]])

    np.testing.assert_array_equal(f, rates(y0))
    exact = np.hstack([a, b])
    rng = np.random.default_rng(3)
    for _ in range(5):
        d = rng.standard_normal(y0.size) * np.maximum(np.abs(y0), 0.01)
        h = 1e-6
        differences = (rates(y0 + h * d) - rates(y0 - h * d)) / (2 * h)
        # Fiber velocities bend strongly: third derivatives of 1e6 times h² leave six digits of the largest.
        np.testing.assert_allclose(exact @ d, differences, atol=1e-6 * np.abs(differences).max())


def test_deriv_jacobian_of_the_implicit_equations(system: sl.System) -> None:
    pytest.importorskip("scipy")
    x = {k: v[0] for k, v in states(system, 1).items()}
    j = system.jacobian(**x)
    assert np.abs(j.residual).max() < 1e-8, "rates are those of the motion, so that the equations hold (N m; forces of 1e3 N cancel)"
    f = system.evaluate(**x, want=["qdot", "udot", "zdot"])
    xdot = np.concatenate([f["qdot"], f["udot"], f["zdot"]])
    n = x["q"].size
    rng = np.random.default_rng(4)
    d = rng.standard_normal(2 * n + x["z"].size) * 0.1
    h = 1e-6

    def residual(s: float) -> np.ndarray:
        y = np.concatenate([x["q"], x["u"], x["z"]]) + s * d
        q, u, z = np.split(y, [n, 2 * n])
        return system.jacobian(q, u, z, x["e"], xdot=xdot, multipliers=np.zeros(0)).residual

    differences = (residual(h) - residual(-h)) / (2 * h)
    np.testing.assert_allclose(j.dx @ d, differences, atol=1e-6 * np.abs(differences).max())
    # Many states have one pattern, and the same numbers.
    many = system.jacobian(**states(system, 30), threads=2)
    np.testing.assert_array_equal(many.dx.to_numpy()[0], system.jacobian(**{k: v[0] for k, v in states(system, 30).items()}).dx.toarray())
    assert len(j.equations) == j.dx.shape[0] and len(j.states) == j.dx.shape[1]


def test_analytic_equilibrium_balances_tendon_and_fiber(system: sl.System) -> None:
    x = states(system, 20)
    y = system.evaluate(**x, want=["muscle.tendon_force", "muscle.fiber_force_along_tendon", "muscle.fiber_velocity"])
    # What remains of the balance after Newton's method, as a part of the largest force.
    gap = np.abs(y["muscle.tendon_force"] - y["muscle.fiber_force_along_tendon"])
    assert gap.max() < 1e-6 * y["muscle.tendon_force"].max()


def test_opensim_val_accelerations(reference: pathlib.Path) -> None:
    """States of the reference points: accelerations as `scripts/check-points` compares them."""
    folder = reference / "points"
    files = sorted(folder.glob("*arm26*.json")) + sorted(folder.glob("arm26*/*.json"))
    if not files:
        pytest.skip("no points of arm26")
    points = json.loads(files[0].read_text())
    system = sl.read(reference / "models" / "arm26.osim").compile()
    names = [c.rsplit("/", 1)[-1] for c in system.coordinates]
    checked = 0
    for p in points.get("states", []):
        values = {k.rsplit("/", 1)[-1]: v for k, v in p.get("coordinates", {}).items()}
        if "udot" not in p or set(values) != set(names):
            continue
        q, u = ([values[n][k] for n in names] for k in (0, 1))
        z = [p["aux_states"][s] for s in system.states]
        udot = system.evaluate(q, u, z, p["controls"])
        # Six digits of the largest: OpenSim iterates for fiber velocities.
        np.testing.assert_allclose(udot, p["udot"], atol=1e-5 * max(1.0, np.abs(p["udot"]).max()))
        checked += 1
    assert checked > 0


def interrupted_after(work: Callable[[], object], seconds: float = 0.5) -> float:
    """Seconds between Ctrl-C, pressed as another thread does it, and the end of the work."""
    press = threading.Timer(seconds, _thread.interrupt_main)
    begin = time.monotonic()
    press.start()
    with pytest.raises(KeyboardInterrupt):
        work()
        press.join()
        pytest.skip("the work was done before Ctrl-C")
    press.join()
    return time.monotonic() - begin - seconds


@pytest.mark.parametrize("threads", [1, 2])
def test_analytic_work_on_many_states_stops_at_ctrl_c(system: sl.System, threads: int) -> None:
    n = 500_000
    q = np.tile(system.defaults()["q"], (n, 1))
    one = q[:20_000]
    # Threads take 64 states at a time, and the calling one looks every 50 ms; the rest is for a busy machine. All of the work would take minutes.
    for work in (
        lambda: [system.evaluate(q, want=["udot", "moment_arm", "muscle.tendon_force"], threads=threads) for _ in range(100)],
        lambda: [system.jacobian(one, threads=threads) for _ in range(100)],
        lambda: [system.linearize(one, threads=threads) for _ in range(100)],
    ):
        assert interrupted_after(work) < 5.0


def test_identity_blocks_of_states_do_not_matter(system: sl.System) -> None:
    """One thread takes states in blocks of 64 too."""
    q = np.tile(system.defaults()["q"], (200, 1)) + np.linspace(-0.1, 0.1, 200)[:, None]
    many = system.evaluate(q, threads=1)
    np.testing.assert_array_equal(many, system.evaluate(q, threads=2))
    np.testing.assert_array_equal(many[[0, 63, 64, 199]], [system.evaluate(q[i]) for i in (0, 63, 64, 199)])


def test_identity_a_pickled_system_keeps_its_faults(models: pathlib.Path) -> None:
    for faults in (False, True):
        again = pickle.loads(pickle.dumps(sl.read(models / "leg_swing.osim").compile(opensim_faults=faults)))
        assert again._opensim_faults is faults and copy.deepcopy(again)._opensim_faults is faults
