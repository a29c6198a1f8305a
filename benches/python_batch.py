#!/usr/bin/env python3
"""Steps of a batch of 4096 beside the plain loop in Rust, and beside MuJoCo's `rollout` on a leg of MyoSuite, all on one core.

usage: benches/python_batch.py MODEL.osim [COPIES]

Needs the package; `cargo build --profile wheel -p soleus --example time_states` for the column of Rust; `pip install mujoco myosuite` for MuJoCo's. Times are processor time, the smallest of
several short runs that alternate. What differs: MuJoCo's tendons are rigid and its contacts soft constraints solved by iteration, with steps of a fixed 2 ms or less; here
tendons stretch (their stiffness is what asks for an implicit method) and a step is linearly implicit.
"""
from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

import soleus as sl

ROOT = pathlib.Path(__file__).resolve().parent.parent


def cpu(f, repeat=7):
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        f()
        times.append(time.process_time() - begin)
    return min(times)


def rust(model, copies):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = target / "wheel/examples/time_states"
    if not program.is_file():
        return None
    return json.loads(subprocess.run([program, model, str(copies)], check=True, capture_output=True, text=True).stdout)


def myoleg():
    """The leg of MyoSuite, where the package is installed."""
    try:
        import mujoco
    except ImportError:
        return None
    # MyoSuite 3 keeps its models in the package myo_sim.
    specs = [importlib.util.find_spec(name) for name in ("myo_sim", "myosuite")]
    folders = [pathlib.Path(s.origin).parent for s in specs if s is not None and s.origin]
    files = [file for folder in folders for file in folder.rglob("myoleg*.xml")]
    for file in sorted(files, key=lambda f: (f.name != "myolegs.xml", len(str(f)))):
        try:
            model = mujoco.MjModel.from_xml_path(str(file))
        except ValueError:
            # Some name parts that the package does not hold, and parts are no models.
            continue
        if model.nu > 0:
            return model, file.name
    return None


def main():
    path = sys.argv[1]
    copies = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    system = sl.read(path).compile()
    batch = system.batch(copies, threads=1)
    rng = np.random.default_rng(0)
    batch.q[:] += 0.01 * rng.standard_normal(batch.q.shape)
    batch.u[:] += 0.1 * rng.standard_normal(batch.u.shape)
    batch.e[:] = 0.05
    batch.z[:] = system.evaluate(batch.q, batch.u, batch.z, batch.e, want="z", equilibrate=True)
    start = [a.copy() for a in (batch.q, batch.u, batch.z, batch.time)]

    def step():
        for array, values in zip((batch.q, batch.u, batch.z, batch.time), start):
            array[:] = values
        batch.step(1e-4)

    step()
    # In turn, so that both meet the same company.
    rounds = [(cpu(step) / copies, rust(path, copies)) for _ in range(5)]
    mine = min(here for here, _ in rounds)
    loops = [there["batch_step_us"] for _, there in rounds if there]
    print(f"{pathlib.Path(path).name}: {copies} copies, {len(system.coordinates)} coordinates, {len(system.muscles)} muscles with {len(system.states)} states; one core")
    print(f"  soleus, Python       {1e6 * mine:9.2f} µs a step   {1 / mine:10.0f} steps/s")
    if loops:
        loop = min(loops)
        print(f"  soleus, loop in Rust {loop:9.2f} µs a step   {1e6 / loop:10.0f} steps/s   Python is at {100 * loop / (1e6 * mine):.0f} %")
    leg = myoleg()
    if leg is None:
        print("  MuJoCo: `pip install mujoco myosuite` for this column")
        return
    import mujoco
    from mujoco import rollout

    model, name = leg
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0) if model.nkey else mujoco.mj_resetData(model, data)
    data.ctrl[:] = 0.05
    few, steps = 16, 20
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, state, spec)
    initial = np.tile(state, (few, 1))
    control = np.full((few, steps, model.nu), 0.05)
    work = cpu(lambda: rollout.rollout(model, data, initial, control)) / (few * steps)
    print(f"  MuJoCo {mujoco.__version__} rollout on {name}: {model.nv} degrees of freedom, {model.nu} muscles, rigid tendons, steps of {1e3 * model.opt.timestep:g} ms")
    print(f"                       {1e6 * work:9.2f} µs a step   {1 / work:10.0f} steps/s   {1e6 * work / max(model.nu, 1):.2f} µs a muscle; soleus {1e6 * mine / max(len(system.muscles), 1):.2f}")


if __name__ == "__main__":
    main()
