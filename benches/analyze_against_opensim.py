#!/usr/bin/env python3
"""Static optimization and analyses from setup files in Soleus and in OpenSim: both in this run, one core.

usage: benches/analyze_against_opensim.py [--reference DIR] [--turns 15] [--opensim-turns 3] [--only TEXT] [--each] [--json FILE]

DIR holds the pipelines (default: ../shared/reference/pipelines beside this repository). Each is copied to a temporary folder, with
what earlier steps made. Time is CPU time: for OpenSim construction and run of the tool inside a running interpreter, without its
start and imports; for Soleus the whole command from start to written files, less that of `soleus --version`, which only starts.
The two take turns, and the least of several turns counts; results of the turn before are removed first. With --each, every kind
of analysis is made alone, on the motion of one setup. OpenSim's optimizer stops at the tolerance in its setup (1e-4); Soleus
goes on to rounding. Needs `cargo build --release -p soleus-cli`; without OpenSim's Python package its columns stay empty.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"

CASES = [
    ("Gait10dof18musc", "Analyze/walk_Setup_SO.xml"),
    ("Gait10dof18musc", "Analyze/walk_Setup_MA.xml"),
    ("Gait10dof18musc", "Analyze/walk_Setup_JR.xml"),
    ("Gait10dof18musc", "Analyze/walk_Setup_BK.xml"),
    ("Gait10dof18musc", "Analyze/walk_Setup_IAA.xml"),
    ("Gait2354_Simbody", "subject01_Setup_SO.xml"),
    ("Gait2354_Simbody", "subject01_Setup_MA.xml"),
    ("Gait2354_Simbody", "subject01_Setup_JR.xml"),
    ("Arm26", "arm26_Setup_StaticOptimization.xml"),
    ("Rajagopal_walk", "Analyze_walk/so_setup_walk.xml"),
    ("Rajagopal_walk", "Analyze_walk/ma_setup_walk.xml"),
    ("Rajagopal_walk", "Analyze_walk/jr_setup_walk.xml"),
]


# Kinds of analyses for --each, on the motion and with the step interval of this setup.
EACH = ("Gait10dof18musc", "Analyze/walk_Setup_BK.xml")
KINDS = {
    "BodyKinematics": "<bodies>all</bodies>",
    "Kinematics": "<coordinates>all</coordinates>",
    "PointKinematics": "<body_name>toes_r</body_name><relative_to_body_name>ground</relative_to_body_name><point_name>pt</point_name><point>0.05 0 0</point>",
    "StatesReporter": "",
    "ForceReporter": "",
    "Actuation": "",
    "ProbeReporter": "",
    "MuscleAnalysis": "<muscle_list>all</muscle_list><moment_arm_coordinate_list>all</moment_arm_coordinate_list><compute_moments>true</compute_moments>",
    "JointReaction": "<joint_names>ALL</joint_names><apply_on_bodies>child</apply_on_bodies><express_in_frame>ground</express_in_frame>",
}


def alone(case, kind):
    """A setup with one analysis, beside the one it comes from."""
    source = case / EACH[1]
    one = f'<{kind} name="{kind}"><on>true</on><step_interval>10</step_interval><in_degrees>true</in_degrees>{KINDS[kind]}</{kind}>'
    text = re.sub(r"(<AnalysisSet[^>]*>\s*<objects>).*?(</objects>)", lambda m: m[1] + one + m[2], source.read_text(), flags=re.S)
    made = source.with_name(f"{kind}.xml")
    made.write_text(text)
    return made


def clean(setup):
    """Removes what the tool wrote before, but nothing that it reads."""
    text = setup.read_text()
    found = re.search(r"<results_directory>\s*(.*?)\s*</results_directory>", text)
    for file in (setup.parent / found[1]).glob("*") if found else ():
        if file.is_file() and file.name not in text:
            file.unlink()


def soleus(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(TARGET / "soleus"), *map(str, arguments)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opensim(setup):
    try:
        import opensim as osim
    except ImportError:
        return None
    osim.Logger.setLevelString("Off")
    here = os.getcwd()
    os.chdir(setup.parent)
    # OpenSim prints in spite of its logger; nobody needs it here.
    saved, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        start = time.process_time()
        osim.AnalyzeTool(setup.name).run()
        return time.process_time() - start
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(null)
        os.chdir(here)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=pathlib.Path, default=ROOT.parent / "shared/reference/pipelines")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--opensim-turns", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if not args.reference.is_dir():
        sys.exit(f"no pipelines in {args.reference}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = []
    print(f"{'pipeline':<18} {'setup':<36} {'Soleus ms':>10} {'OpenSim ms':>11} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, setup, kind in [(*EACH, k) for k in KINDS] if args.each else [(*c, None) for c in CASES]:
            if args.only not in f"{name}/{setup}/{kind}":
                continue
            case = pathlib.Path(folder) / f"{name}_{kind or pathlib.Path(setup).stem}"
            shutil.copytree(args.reference / name / "input", case)
            shutil.copytree(args.reference / name / "reference", case, dirs_exist_ok=True)
            path = alone(case, kind) if kind else case / setup
            setup = str(path.relative_to(case))
            ours, theirs, start = [], [], []
            for turn in range(args.turns):
                start.append(soleus("--version"))
                clean(path)
                ours.append(soleus("run", path))
                if turn < args.opensim_turns:
                    clean(path)
                    theirs.append(opensim(path))
            a, b = min(ours) - min(start), None if None in theirs else min(theirs)
            rows.append({"pipeline": name, "setup": setup, "soleus_s": a, "start_s": min(start), "opensim_s": b})
            other = "" if b is None else f"{1e3 * b:11.1f} {b / a:7.1f}"
            print(f"{name:<18} {pathlib.Path(setup).name:<36} {1e3 * a:10.2f} {other}", flush=True)
    if args.json:
        args.json.write_text(json.dumps({"cases": rows}, indent=1))


if __name__ == "__main__":
    main()
