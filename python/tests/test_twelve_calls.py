"""From a file to a predicted walk, a call after the other, as a user who comes from OpenSim would type them; with OpenSim's example Gait2354."""

from __future__ import annotations

import pathlib
import shutil

import numpy as np
import pytest

import soleus as sl
from soleus import formula as f

WINDOW = (0.7, 0.8)


@pytest.fixture
def lab(reference: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder with the files of a walk, which is the current one."""
    folder = tmp_path / "lab"
    shutil.copytree(reference / "pipelines/Gait2354_Simbody/input", folder)
    monkeypatch.chdir(folder)
    return folder


def test_identity_1_to_3_read_look_change_evaluate_tables(lab: pathlib.Path) -> None:
    model = sl.read("gait2354_simbody.osim")
    if pytest.importorskip("polars"):
        assert {"name", "max_isometric_force"} <= set(model.muscles.to_polars().columns)
    before = model["/forceset/soleus_r"].max_isometric_force
    model["/forceset/soleus_r"].max_isometric_force *= 0.5
    assert model["/forceset/soleus_r"].max_isometric_force == 0.5 * before
    system = model.compile()
    x = system.defaults()
    Q, U, Z = (np.tile(x[k], (7, 1)) for k in "quz")
    E = np.full((7, len(system.controls)), 0.05)
    y = system.evaluate(q=Q, u=U, z=Z, e=E, want=["udot", "muscle.tendon_force", "moment_arm:knee_angle_r"])
    assert y["udot"].shape == (7, len(system.coordinates)) and y["moment_arm:knee_angle_r"].shape == (7, 54)
    J = system.jacobian(q=x["q"], u=x["u"], z=x["z"], e=E[0])
    assert J.dx.shape[1] == len(J.states)
    trc = sl.table("subject01_walk1.trc").lowpass(6).resample(100)
    frame = trc.flatten().to_polars()
    assert sl.Table.from_arrow(frame).labels == trc.flatten().labels


def test_identity_4_scale_to_muscle_forces_in_memory(lab: pathlib.Path) -> None:
    model = sl.read("gait2354_simbody.osim")
    subject = model.scale(static="subject01_static.trc", mass=72.6, measurements="subject01_Setup_Scale.xml", marker_set="gait2354_Scale_MarkerSet.xml")
    assert subject.mass == pytest.approx(72.6)
    ik = subject.inverse_kinematics("subject01_walk1.trc", time=(0.5, 1.0))
    assert ik.quality[0].name == "marker error, RMS" and 0 < ik.quality[0].value < 0.05
    id_ = subject.inverse_dynamics(ik.motion, loads="subject01_walk1_grf.xml", cutoff_hz=6)
    assert id_.quality[0].value > 0
    so = subject.static_optimization(ik.motion, loads="subject01_walk1_grf.xml", reserves=100, residuals=[100, 1000], cutoff_hz=6, time=WINDOW)
    assert 0 < so.activations["soleus_r"].max() <= 1
    names = [row["name"] for row in so.quality.table()]
    assert names == ["reserve or residual, largest", "activation, largest"]


def test_identity_5_to_6_setup_files_and_a_consistent_motion(lab: pathlib.Path) -> None:
    written = sl.run("subject01_Setup_InverseDynamics.xml")
    assert written.tables()
    subject = sl.read("subject01_simbody.osim")
    fit = subject.make_consistent(
        motion="subject01_walk1_ik.mot",
        loads="subject01_walk1_grf.xml",
        residuals="zero",
        adjust=["mass centers", "kinematics"],
        time=(0.7, 1.0),
    )
    assert fit.before is not None and fit.after is not None and fit.after.force_rms < 0.05 * fit.before.force_rms


def test_identity_7_track_and_resume(lab: pathlib.Path) -> None:
    subject = sl.read("subject01_simbody.osim")
    motion = subject.inverse_kinematics("subject01_walk1.trc", time=(0.6, 0.9)).motion
    study = subject.track(
        motion, loads="subject01_walk1_grf.xml", remove_muscles=True, reserves=250, residuals=[250, 250], time=WINDOW, mesh_interval=0.02, cutoff_hz=6
    )
    sol = study.solve()
    assert sol.certificate.converged and sol.certificate.constraint_violation < 1e-3
    again = sol.resume(mesh=8).solve()
    assert len(again.table) > len(sol.table)
    assert sl.view(sol).html.startswith("<!")


def test_identity_8_and_9_predict_with_a_goal_and_a_force_in_python(tmp_path: pathlib.Path) -> None:
    @sl.goal
    def limp(m: f.ModelSymbols) -> f.Expr:
        r, left = m.contact_force("foot_r").y, m.contact_force("foot_l").y
        return (r - 0.8 * left) ** 2 / m.mass**2

    @sl.force(coordinate="knee_angle_r", parameters={"k": (0, 500)})
    def exo(m: f.ModelSymbols, k: f.Expr) -> f.Expr:
        return -k * sl.softplus(m.q("knee_angle_r") - 0.3, 50)

    study = sl.predict.walk(sl.example("gait2d"), speed=1.33, symmetric=True, intervals=6)
    study.goals["effort"].weight = 10
    study.goals.add(limp, weight=1e-3)
    study.model.add(exo)
    study.save(tmp_path / "walk.toml")
    again = sl.study(tmp_path / "walk.toml")
    assert list(again.goals)[-1] == "limp" and list(again.parameters) == ["k"] and again.goals["effort"].weight == 10
    with pytest.warns(sl.NotSolvedWarning):
        found = again.solve(max_iterations=2)
    assert set(found.goals) >= {"effort", "limp"} and 0 <= found.parameters["k"] <= 500


def test_identity_10_to_12_batches_environments_trials() -> None:
    system = sl.example("gait2d").compile()
    batch = system.batch(8)
    batch.vary("/forceset/soleus_r/max_isometric_force")[:] = np.random.default_rng(1).uniform(2000, 5000, 8)
    for _ in range(2):
        batch.e[:] = 0.1 * (batch.q[:, :1] > 0)
        batch.step(0.005)
    assert batch.time == pytest.approx(0.01)
    pytest.importorskip("gymnasium")
    envs = sl.gym.make_vec("Walk2D-v0", model=sl.example("gait2d"), num_envs=4)
    assert envs.reset(seed=1)[0].shape[0] == 4
    results = sl.map(lambda i: sl.example("leg_swing").simulate(0.01, excitation=0.1 * i).end_time, range(3), on="threads")
    assert results.results == [0.01] * 3
