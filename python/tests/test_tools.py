"""The tools in memory, and setup files as they are."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import soleus as sl

PLATE = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="40600"><Model name="plate"><gravity>0 -9.81 0</gravity><Ground name="ground"/>
<BodySet name="bodyset"><objects><Body name="plate"><mass>10</mass><mass_center>0 0 0</mass_center>
<inertia>0.5 0.5 0.5 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><PlanarJoint name="root"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/plate</socket_child_frame><coordinates><Coordinate name="turn"><range>-10 10</range></Coordinate>
<Coordinate name="tx"><range>-10 10</range></Coordinate><Coordinate name="ty"><range>-10 10</range></Coordinate>
</coordinates></PlanarJoint></objects></JointSet>
<MarkerSet name="markerset"><objects>{markers}</objects></MarkerSet></Model></OpenSimDocument>
"""
MARKERS = {"A": (0.0, 0.0, 0.0), "B": (0.3, 0.0, 0.0), "C": (0.0, 0.2, 0.1)}


def plate() -> sl.Model:
    """A body of 10 kg that moves in the vertical plane, with three markers."""
    one = (
        '<Marker name="{}"><socket_parent_frame>/bodyset/plate</socket_parent_frame>'
        "<location>{} {} {}</location><fixed>true</fixed></Marker>"
    )
    return sl.read(PLATE.format(markers="".join(one.format(n, *p) for n, p in MARKERS.items())).encode())


def pose(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Turn (rad), tx and ty (m)."""
    return 0.3 * np.sin(2 * np.pi * t), 0.5 * t, 1.0 + 0.1 * np.cos(5 * t)


def seen(t_end: float = 4.0, size: float = 1.0) -> sl.Table:
    """What a camera sees of it."""
    t = np.arange(0, t_end + 0.005, 0.01)
    turn, tx, ty = pose(t)
    s, c = np.sin(turn), np.cos(turn)
    place = lambda p: np.column_stack([tx + size * (c * p[0] - s * p[1]), ty + size * (s * p[0] + c * p[1]), 0 * t + size * p[2]])  # noqa: E731
    return sl.Table(t, {n: place(p) for n, p in MARKERS.items()}, metadata={"Units": "m"})


def test_analytic_markers_to_moments() -> None:
    model, markers = plate(), seen()
    ik = model.inverse_kinematics(markers)
    t = ik.motion.time
    turn, tx, ty = pose(t)
    # The markers fit exactly, so that angles are those of the pose to the accuracy of Newton's method.
    np.testing.assert_allclose(np.radians(ik.motion["turn"]), turn, atol=1e-9)
    np.testing.assert_allclose(ik.motion["tx"], tx, atol=1e-9)
    assert ik.motion.degrees is True and ik.rms < 1e-9 and ik.solved
    id_ = model.inverse_dynamics(ik.motion)
    inner = slice(20, -20)
    # m (ÿ + g) and I φ̈; splines of degree 5 through 100 points per second.
    force = 10 * (9.81 - 0.1 * 25 * np.cos(5 * t))
    np.testing.assert_allclose(id_.moments["ty_force"][inner], force[inner], atol=1e-4)
    moment = 0.5 * -0.3 * (2 * np.pi) ** 2 * np.sin(2 * np.pi * t)
    np.testing.assert_allclose(id_.moments["turn_moment"][inner], moment[inner], atol=1e-4)


def test_analytic_loads_in_memory_carry_the_weight() -> None:
    model, motion = plate(), plate().inverse_kinematics(seen()).motion
    t = motion.time
    turn, tx, ty = pose(t)
    force = 10 * (9.81 - 0.1 * 25 * np.cos(5 * t))
    zero = 0 * t
    columns = {"fx": zero, "fy": force, "fz": zero, "px": tx, "py": ty, "pz": zero, "mx": zero, "my": zero, "mz": zero}
    table = sl.Table(t, columns, degrees=False)
    loads = sl.ExternalLoads(table, [sl.ExternalForce("plate", force="f", point="p", torque="m")])
    found = model.inverse_dynamics(motion, loads=loads)
    assert np.abs(found.moments["ty_force"][20:-20]).max() < 1e-3
    assert found.residuals is not None and found.residuals.force_rms < 1.0


def test_analytic_scaling_by_markers() -> None:
    scaled = plate().scale(seen(0.5, size=1.2), mass=12.0, manual={"plate": (1.2, 1.2, 1.2)})
    assert scaled.model.mass == pytest.approx(12.0)
    assert scaled.factors["plate"] == (1.2, 1.2, 1.2)
    assert scaled.model["/markerset/B"].location[0] == pytest.approx(0.36, abs=1e-6)
    ik = scaled.model.inverse_kinematics(seen(0.5, size=1.2))
    assert ik.rms < 1e-6


def test_identity_weights_by_marker_and_wrong_names() -> None:
    model, markers = plate(), seen(0.5)
    a = model.inverse_kinematics(markers, tasks={"A": 1.0, "B": 2.0, "C": 1.0})
    np.testing.assert_allclose(a.motion["tx"], pose(a.motion.time)[1], atol=1e-9)
    with pytest.raises(TypeError, match="did you mean `cutoff_hz`"):
        model.cmc(a.motion, cutof_hz=6)
    with pytest.raises(TypeError, match="give a file"):
        model.inverse_dynamics(a.motion, loads=a.motion)  # type: ignore[arg-type]
    with pytest.raises(sl.Error, match="(?i)coordinate"):
        model.inverse_dynamics(a.motion.rename({"turn": "x", "tx": "y", "ty": "z"}))


def test_identity_simulation_is_that_of_the_command(models: pathlib.Path, tmp_path: pathlib.Path) -> None:
    import subprocess
    import sys

    file = models / "leg_swing.osim"
    command = [sys.executable, "-m", "soleus._command", "simulate", str(file), "--excitation", "0.1", "--duration", "0.1"]
    subprocess.run([*command, "--out", str(tmp_path)], check=True, capture_output=True)
    written = sl.table(next(tmp_path.glob("*states.sto")))
    found = sl.read(file).simulate(0.1, excitation=0.1)
    np.testing.assert_array_equal(found.states.to_numpy(), written.to_numpy())
    assert found.end_time == 0.1 and found.solved


def test_analytic_rest(models: pathlib.Path) -> None:
    rest = sl.read(models / "leg_swing.osim").equilibrium(excitation=0.1, eigenvalues=True)
    assert rest.eigenvalues and max(x.real for x in rest.eigenvalues) < 0, "a leg that hangs comes to rest"


def test_analytic_what_is_not_solved_warns(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    with pytest.warns(sl.NotSolvedWarning, match="deadline"):
        found = model.simulate(1000.0, excitation=0.1, deadline=0.02, interval=0.01)
    assert not found.solved and 0 < found.end_time < 1000 and len(found.states) > 0
    with pytest.raises(sl.NotSolved):
        found.check()
    with warnings.catch_warnings():
        warnings.simplefilter("error", sl.NotSolvedWarning)
        with pytest.raises(sl.NotSolvedWarning):
            model.simulate(1000.0, excitation=0.1, deadline=0.02, interval=0.01)


def test_analytic_ctrl_c_stops_and_keeps_what_there_is(models: pathlib.Path) -> None:
    model = sl.read(models / "leg_swing.osim")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        model.simulate(1e6, excitation=0.1, interval=10.0)
    assert isinstance(caught.value, sl.Interrupted)
    assert time.monotonic() - begin < 5.0
    partial = caught.value.partial
    assert isinstance(partial, sl.Motion) and 0 < partial.end_time < 1e6 and len(partial.states) > 0


def test_identity_threads_release_the_lock(models: pathlib.Path) -> None:
    """While a tool works, Python goes on."""
    model = sl.read(models / "leg_swing.osim")
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    model.simulate(20.0, excitation=0.1, interval=0.1)
    done.set()
    thread.join()
    assert counted > 5


@pytest.fixture
def gait(reference: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of OpenSim's example, whose setups write beside themselves."""
    folder = tmp_path / "gait"
    shutil.copytree(reference / "pipelines/Gait2354_Simbody/input", folder)
    return folder


def test_opensim_val_inverse_kinematics_and_dynamics(gait: pathlib.Path, reference: pathlib.Path) -> None:
    recorded = reference / "pipelines/Gait2354_Simbody/reference"
    shutil.copy(recorded / "subject01_simbody.osim", gait)
    model = sl.read(gait / "subject01_simbody.osim")
    tasks = gait / "subject01_Setup_IK_tight.xml"
    ours = model.inverse_kinematics(gait / "subject01_walk1.trc", tasks=tasks, time=(0.4, 1.6)).motion
    theirs = sl.table(recorded / "subject01_walk1_ik_tight.mot")
    # As scripts/check-setups has it: OpenSim's angles at its tight accuracy agree to 0.01 degrees RMS.
    for label in ("knee_angle_r", "hip_flexion_l", "pelvis_tilt"):
        assert np.sqrt(np.mean((ours[label] - theirs[label]) ** 2)) < 0.01, label
    written = sl.run(tasks)
    assert any(np.array_equal(t["knee_angle_r"], ours["knee_angle_r"]) for t in written.tables().values() if "knee_angle_r" in t)
    found = model.inverse_dynamics(gait / "subject01_walk1_ik.mot", loads=gait / "subject01_walk1_grf.xml", cutoff_hz=6.0)
    assert found.residuals is not None and found.residuals.force_rms > 0


def test_identity_setup_file_returns_what_it_wrote(gait: pathlib.Path) -> None:
    written = sl.run(gait / "subject01_Setup_InverseDynamics.xml")
    assert written.tables()
    for name, table in written.tables().items():
        again = sl.table(name)
        # Setups write eight decimals, as OpenSim does.
        np.testing.assert_allclose(again.to_numpy(), table.to_numpy(), atol=6e-9)


def test_identity_static_optimization_through_memory(gait: pathlib.Path) -> None:
    model = sl.read(gait / "subject01_simbody.osim")
    loads = gait / "subject01_walk1_grf.xml"
    kwargs = {"loads": loads, "reserves": 1.0, "residuals": [50.0, 200.0], "cutoff_hz": 6.0, "time": (0.6, 0.7)}
    a = model.static_optimization(gait / "subject01_walk1_ik.mot", **kwargs)
    b = model.static_optimization(sl.table(gait / "subject01_walk1_ik.mot"), **kwargs)
    assert a.activations == b.activations
    assert 0 < a.activations["soleus_r"].max() <= 1
    reactions = model.analyze(gait / "subject01_walk1_ik.mot", ["joint-reaction", "kinematics"], loads=loads, time=(0.6, 0.7))
    assert "JointReaction_ReactionLoads" in list(reactions)


def test_analytic_tables_without_units_warn() -> None:
    bare = seen(0.1).replace(metadata={"DataRate": "100"})
    with pytest.warns(UserWarning, match="no unit and are taken as m"):
        motion = plate().inverse_kinematics(bare).motion
    assert motion.degrees is True
    unknown = sl.Table(motion.time, {c: motion[c] for c in motion.labels})
    with pytest.warns(UserWarning, match="taken as radians"):
        plate().inverse_dynamics(unknown)


def test_analytic_a_model_without_markers_says_so() -> None:
    with pytest.raises(sl.InputError, match="the model has no markers") as caught:
        sl.example("leg_swing").inverse_kinematics(seen(0.1))
    assert "--marker-set" not in str(caught.value) and "model.scale(marker_set=…)" in str(caught.value)


def test_analytic_unknown_names_are_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"track has no `sparkling`\. It has: "):
        sl.example("leg_swing").track(seen(0.1), sparkling=1).solve()
