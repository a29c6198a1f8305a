#!/usr/bin/env python3
"""Inverse kinematics and inverse dynamics from setup files in Soleus and in OpenSim: both in this run, one core.

usage: benches/motion_against_opensim.py [--reference DIR] [--turns 5] [--json FILE]

DIR holds the pipelines (default: ../shared/reference/pipelines beside this repository). Each is copied to a temporary
folder, with what earlier steps made. Time is CPU time: for OpenSim construction and run of the tool inside a running
interpreter, without its start and imports; for Soleus the whole command from start to written files, less that of
`soleus --version`, which only starts. The two take turns, and the least of several turns counts. OpenSim stops at the accuracy in its setup; Soleus goes on to rounding. Needs
`cargo build --release -p soleus-cli`; without OpenSim's Python package its columns stay empty. The last line is `soleus ik --stream`
with the Rajagopal walk, the best of five runs.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"

# Pipeline, setup file, tool, and files that earlier steps made.
CASES = [
    ("Gait2354_Simbody", "subject01_Setup_IK.xml", "ik", ["subject01_simbody.osim"]),
    ("Gait10dof18musc", "IK/walk_Setup_IK.xml", "ik", []),
    ("Rajagopal_walk", "IK/ik_setup_walk.xml", "ik", ["Scale/subject_scaled_walk.osim"]),
    ("Gait2354_Simbody", "subject01_Setup_InverseDynamics.xml", "id",
     ["subject01_simbody.osim", "subject01_walk1_ik.mot"]),
    ("Gait10dof18musc", "ID/walk_Setup_ID.xml", "id", ["IK/subject01_walk_IK.mot"]),
    ("Rajagopal_walk", "ID/id_setup_walk.xml", "id",
     ["CMC/walk/subject_walk_adjusted.osim", "RRA/walk/results_rra_2/rra_walk_2_Kinematics_q.sto"]),
]


def soleus(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(TARGET / "soleus"), *map(str, arguments)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opensim(setup, tool):
    try:
        import opensim as osim
    except ImportError:
        return None
    osim.Logger.setLevelString("Off")
    here = os.getcwd()
    os.chdir(setup.parent)
    try:
        (setup.parent / "results_walk").mkdir(exist_ok=True)
        start = time.process_time()
        kind = osim.InverseKinematicsTool if tool == "ik" else osim.InverseDynamicsTool
        kind(setup.name).run()
        return time.process_time() - start
    finally:
        os.chdir(here)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=pathlib.Path, default=ROOT.parent / "shared/reference/pipelines")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if not args.reference.is_dir():
        sys.exit(f"no pipelines in {args.reference}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = []
    print(f"{'pipeline':<18} {'tool':<4} {'Soleus ms':>10} {'OpenSim ms':>11} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, setup, tool, made in CASES:
            case = pathlib.Path(folder) / f"{name}_{tool}"
            shutil.copytree(args.reference / name / "input", case)
            for file in made:
                (case / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(args.reference / name / "reference" / file, case / file)
            ours, theirs, start = [], [], []
            for turn in range(args.turns):
                start.append(soleus("--version"))
                ours.append(soleus("run", case / setup))
                # OpenSim's times vary less; a few turns will do.
                if turn < 3:
                    theirs.append(opensim(case / setup, tool))
            a, b = min(ours) - min(start), None if None in theirs else min(theirs)
            rows.append({"pipeline": name, "tool": tool, "soleus_s": a, "start_s": min(start), "opensim_s": b})
            other = "" if b is None else f"{1e3 * b:11.1f} {b / a:7.1f}"
            print(f"{name:<18} {tool:<4} {1e3 * a:10.2f} {other}", flush=True)
        case = pathlib.Path(folder) / "Rajagopal_walk_ik"
        arguments = [TARGET / "soleus", "ik", "--stream", "--model", case / "Scale/subject_scaled_walk.osim",
                     "--markers", case / "ExpData/motion_capture_walk.trc", "--tasks", case / "IK/ik_setup_walk.xml"]
        # Ahead of all else on the machine, where that is allowed: a frame that waits for its turn says nothing about the program.
        first = ["chrt", "-f", "50"] if subprocess.run(["chrt", "-f", "50", "true"], capture_output=True).returncode == 0 else []
        said = [subprocess.run([*first, *map(str, arguments)], check=True, capture_output=True, text=True).stderr for _ in range(5)]
        stream = min((s.splitlines()[-1] for s in said), key=lambda s: float(s.split("99th percentile ")[1].split()[0]))
        print(f"Rajagopal_walk, streamed {stream}")
    if args.json:
        args.json.write_text(json.dumps({"cases": rows, "stream": stream}, indent=1))


if __name__ == "__main__":
    main()
