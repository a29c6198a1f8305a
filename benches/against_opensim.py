#!/usr/bin/env python3
"""Time one evaluation of a model in Soleus and, if it is installed, in OpenSim: both in this run, one core.

usage: benches/against_opensim.py MODEL.osim [MODEL.osim ...] [--seconds 4]

An evaluation goes from changed coordinates to accelerations: positions, all paths, all muscles, forces,
accelerations. Needs `cargo build --release --examples`; the OpenSim column needs its Python package in the
interpreter that runs this. Times are the smallest mean over batches; compare them as a ratio of one run.
"""
import argparse
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def soleus(model, seconds):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    out = subprocess.run([str(target / "release/examples/time_motion"), model, str(seconds)],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def opensim(path, seconds):
    """{stage: microseconds}, or None without OpenSim."""
    try:
        import opensim as osim
    except ImportError:
        return None
    osim.Logger.setLevelString("Off")
    started = time.perf_counter()
    model = osim.Model(path)
    state = model.initSystem()
    load = time.perf_counter() - started
    model.setAllControllersEnabled(False)
    controls = osim.Vector(model.getNumControls(), 0.05)
    model.realizeVelocity(state)
    model.setControls(state, controls)
    try:
        model.equilibrateMuscles(state)
    except RuntimeError:
        pass
    q0 = [state.getQ().get(i) for i in range(state.getNQ())]
    poses = []
    for i in range(16):
        q = osim.Vector(len(q0), 0.0)
        for j, x in enumerate(q0):
            q.set(j, x + 1e-3 * i * (1 if j % 2 == 0 else -1))
        poses.append(q)
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < seconds:
        batch = time.process_time()
        for q in poses:
            state.setQ(q)
            model.realizeVelocity(state)
            model.setControls(state, controls)
            model.realizeAcceleration(state)
        best = min(best, (time.process_time() - batch) / len(poses))
    return {"load_ms": load * 1e3, "motion_us": best * 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seconds", type=float, default=4.0)
    args = parser.parse_args()
    print(f"{'model':28s} {'Soleus us':>10s} {'OpenSim us':>11s} {'ratio':>7s} {'load ms':>8s} {'OpenSim ms':>11s}")
    for path in args.models:
        ours, theirs = soleus(path, args.seconds), opensim(path, args.seconds)
        name = pathlib.Path(path).stem[:28]
        if theirs is None:
            print(f"{name:28s} {ours['motion_us']:10.2f} {'-':>11s} {'-':>7s} {ours['load_ms']:8.1f} {'-':>11s}")
        else:
            print(f"{name:28s} {ours['motion_us']:10.2f} {theirs['motion_us']:11.1f} "
                  f"{theirs['motion_us'] / ours['motion_us']:7.1f} {ours['load_ms']:8.1f} {theirs['load_ms']:11.1f}")


main()
