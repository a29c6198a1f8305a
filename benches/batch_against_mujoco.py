"""Steps per second of one core: MuJoCo on myolegs, and a batch of Soleus on a model of similar size, in one run.

    python benches/batch_against_mujoco.py LANES MODEL.osim

LANES is the example `lanes` of crates/soleus-batch (cargo build --release -p soleus-batch --example lanes). Needs `pip install mujoco myosuite`.

What differs: myolegs has 80 muscles with rigid tendons along wrapped paths, meshes and contacts with all feet's geometries; a step of MuJoCo is
semi-implicit (its default for the model) with its constraint solver. The batch has elastic tendons, fitted polynomial paths and smooth contact spheres,
and its step is linearly implicit in the states of muscles. MuJoCo steps one copy, Soleus eight at once on the same core.
"""

import subprocess
import sys
import time


def mujoco_steps() -> None:
    import mujoco

    # myosuite has the model in its package myo_sim: legs that carry a passive torso.
    import myo_sim

    model, data = myo_sim.load("myolegs")
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    data.ctrl[:] = 0.05
    for _ in range(200):
        mujoco.mj_step(model, data)
    best = float("inf")
    for _ in range(5):
        begin = time.thread_time()
        for _ in range(500):
            mujoco.mj_step(model, data)
        best = min(best, (time.thread_time() - begin) / 500)
    print(
        f"MuJoCo {mujoco.__version__}, myolegs: {model.nv} speeds, {model.nu} muscles, step {1e3 * model.opt.timestep:.1f} ms, "
        f"{1e6 * best:.1f} µs, {1 / best:.0f} steps/s on one core ({model.opt.timestep / best:.1f} times real time)"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    mujoco_steps()
    print(subprocess.run([sys.argv[1], sys.argv[2], "5", "degroote"], capture_output=True, text=True, check=True).stdout, end="")
    mujoco_steps()
