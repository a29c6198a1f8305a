#!/usr/bin/env python3
"""Contributions of muscles to support, braking and propulsion: the figures of Seth et al. (2011) for running and walking.

usage: examples/induced_accelerations.py [SOLEUS] [--shared DIR] [--out DIR]

SOLEUS is the program (default: target/release/soleus). DIR holds data/ and reference/ (default: ../shared beside this repository):
running of Hamner, Seth and Delp (2010), walking of gait2354. For each motion `soleus analyze --analyses induced` replaces measured ground
reactions by contact constraints and tells what each muscle contributes to the acceleration of the mass centre. Contributions are
summed over muscle groups of both legs, written as tables, drawn with `soleus plot`, and compared with what the papers say.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

GROUPS = {
    "quadriceps": r"^(rect_fem|vas_)",
    "soleus": r"^soleus",
    "gastrocnemius": r"^(med_gas|lat_gas)",
    "hamstrings": r"^(semimem|semiten|bifemlh|bifemsh)",
    "gluteus_maximus": r"^glut_max",
    "gluteus_medius": r"^glut_med",
    "iliopsoas": r"^(iliacus|psoas)",
    "dorsiflexors": r"^(tib_ant|ext_dig|ext_hal|per_tert)",
    "arms": r"^(shoulder|elbow|pro_sup|wrist|arm_|reserve_arm)",
}


def read(path):
    labels, rows = None, []
    for line in path.read_text().splitlines():
        if labels is None:
            if line.split()[:1] == ["time"]:
                labels = line.split()
        elif line.strip():
            rows.append([float(x) for x in line.split()])
    return labels, rows


def write(path, name, labels, rows):
    head = f"{name}\nversion=1\nnRows={len(rows)}\nnColumns={len(labels)}\ninDegrees=no\nendheader\n"
    path.write_text(head + "\t".join(labels) + "\n" + "".join("\t".join(map(repr, r)) + "\n" for r in rows))


def groups(labels, rows, axis):
    """Contributions of groups to one axis (X, Y, Z) of the mass centre's acceleration, and the largest difference between their sum and the total."""
    columns = {g: [i for i, l in enumerate(labels) if re.match(pattern, l) and l.endswith(axis)]
               for g, pattern in GROUPS.items()}
    columns["gravity"] = [labels.index(f"gravity_{axis}")]
    columns["total"] = [labels.index(f"total_{axis}")]
    parts = [i for i, l in enumerate(labels) if l.endswith(f"_{axis}") and not l.startswith("total")]
    worst = max(abs(sum(r[i] for i in parts) - r[columns["total"][0]]) for r in rows)
    table = [[r[0]] + [sum(r[i] for i in c) for c in columns.values()] for r in rows]
    return ["time"] + list(columns), table, worst


def figure(soleus, out, name, arguments):
    """Runs the analysis and draws the two figures; returns fore-aft and vertical contributions, and the reactions."""
    command = [str(soleus), "analyze", "--analyses", "induced", "--radians", "--out", str(out), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{name}: {run.stderr}")
    stem = pathlib.Path(arguments[arguments.index("--motion") + 1]).stem
    labels, rows = read(out / f"{stem}_InducedAccelerations_center_of_mass.sto")
    result = {}
    for axis, what in (("X", "fore_aft"), ("Y", "vertical")):
        names, table, worst = groups(labels, rows, axis)
        path = out / f"{name}_{what}.sto"
        write(path, f"{name}, {what} acceleration of the mass centre, m/s2", names, table)
        subprocess.run([str(soleus), "plot", str(path), "--columns",
                        "quadriceps,soleus,gastrocnemius,hamstrings,gluteus_maximus,total",
                        "--out", str(path.with_suffix(".svg"))], check=True, capture_output=True)
        print(f"{name}: {what}: contributions add up to the total within {worst:.1e} m/s2")
        result[axis] = (names, table)
    reactions = read(out / f"{stem}_InducedAccelerations_induced_constraint_reactions.sto")
    return result, reactions


def peak(result, axis, group, sign, times=None):
    names, table = result[axis]
    values = [sum(r[names.index(g)] for g in group.split("+")) for r in table if times is None or times(r[0])]
    return max((sign * v for v in values), default=float("nan"))


def stances(loads, prefix):
    """Begin and end of each stance: measured vertical force above 20 N."""
    labels, rows = read(loads)
    column = labels.index(f"{prefix}ground_force_vy")
    spans, start = [], None
    for r in rows:
        on = r[column] > 20.0
        if on and start is None:
            start = r[0]
        if not on and start is not None:
            spans.append((start, r[0]))
            start = None
    return spans


def ground_reaction(reactions, loads, prefixes):
    """Largest difference between the sum of the contacts' reactions and the measured force, vertical, in N, and its RMS."""
    labels, rows = reactions
    columns = [i for i, l in enumerate(labels) if re.match(r"total_.*_contact_ground_Fy$", l)]
    measured_labels, measured = read(loads)
    take = [measured_labels.index(f"{p}ground_force_vy") for p in prefixes]
    total, worst = 0.0, 0.0
    for r in rows:
        # On straight lines between samples.
        k = min(max(sum(m[0] <= r[0] for m in measured), 1), len(measured) - 1)
        (before, after) = measured[k - 1], measured[k]
        part = min(max((r[0] - before[0]) / (after[0] - before[0]), 0.0), 1.0)
        d = sum(r[i] for i in columns) - sum((1 - part) * before[i] + part * after[i] for i in take)
        total, worst = total + d * d, max(worst, abs(d))
    return (total / len(rows)) ** 0.5, worst, max(sum(m[i] for i in take) for m in measured)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("soleus", nargs="?", default=ROOT / "target/release/soleus", type=pathlib.Path)
    parser.add_argument("--shared", default=ROOT.parent / "shared", type=pathlib.Path)
    parser.add_argument("--out", default=pathlib.Path("induced"), type=pathlib.Path)
    args = parser.parse_args()
    if not args.shared.is_dir():
        sys.exit("skipped: ../shared not found")
    args.out.mkdir(parents=True, exist_ok=True)

    # Running at 3.96 m/s: motion and muscle forces that OpenSim's CMC found, adjusted model, measured ground reactions.
    data = args.shared / "data/running/hamner_subject02"
    running, reactions = figure(args.soleus, args.out, "running", [
        "--model", data / "reference/subject02_RRA_Adjusted.osim",
        "--motion", data / "reference/subject02_Kinematics_q.sto",
        "--loads", data / "External_Loads.xml",
        "--reserves", data / "Actuators_CMC.xml",
        "--forces", data / "reference/subject02_Actuation_force.sto",
    ])
    rms, worst, most = ground_reaction(reactions, data / "subject02_running_grf.mot", ["", "1_"])
    print(f"running: contact reactions differ from the measured vertical force by {rms:.0f} N RMS (largest {worst:.0f} N, "
          f"peak force {most:.0f} N)")
    table = running["X"][1]
    inside = []
    for prefix in ("", "1_"):
        labels, rows = read(data / "subject02_running_grf.mot")
        forward = labels.index(f"{prefix}ground_force_vx")
        for a, b in stances(data / "subject02_running_grf.mot", prefix):
            if not (table[0][0] <= a and b <= table[-1][0]):
                continue
            inside.append((a, b))
            # Braking ends when the foot no longer pushes back, after it did so hardest.
            stance = [r for r in rows if a <= r[0] <= b]
            hardest = min(stance, key=lambda r: r[forward])[0]
            ends = next((r[0] for r in stance if r[0] > hardest and r[forward] > 0.0), b)
            print(f"running: stance {a:.3f} to {b:.3f} s: braking ends at {100 * (ends - a) / (b - a):.0f} % of stance (paper: 60 %)")
    # Peaks while a foot stands. Groups are sums over both legs here; `soleus experiment seth` takes the leg that stands alone.
    stands = lambda t: any(a <= t <= b for a, b in inside)
    top = lambda axis, group, sign: peak(running, axis, group, sign, stands)
    brake, push = top("X", "total", -1), top("X", "total", 1)
    # What the ground gives, as a force plate reads it: weight included.
    lift = top("Y", "total", 1) + 9.81
    print(f"running: peaks of the mass centre: braking {brake:.1f}, propulsion {push:.1f}, vertical, weight included, {lift:.1f} m/s2")
    quad, calf = "quadriceps", "soleus+gastrocnemius"
    print(f"running: quadriceps: braking {top('X', quad, -1):.1f} m/s2, {top('X', quad, -1) / brake:.2f} of the peak (paper: twice); "
          f"vertical {top('Y', quad, 1):.1f} m/s2, {top('Y', quad, 1) / lift:.2f} (paper: nearly half)")
    print(f"running: soleus and gastrocnemius: forward {top('X', calf, 1):.1f} m/s2, {top('X', calf, 1) / push:.2f} of the peak "
          f"(paper: over twice); vertical {top('Y', calf, 1):.1f} m/s2, {top('Y', calf, 1) / lift:.2f} (paper: over half)")
    arms = max(top("X", "arms", 1), top("X", "arms", -1))
    print(f"running: arms: fore-aft at most {100 * arms / max(brake, push):.1f} % of the peak (paper: below 1 %)")

    # Walking: states and controls that OpenSim's CMC found.
    walk = args.shared / "reference/pipelines/Gait2354_Simbody"
    walking, reactions = figure(args.soleus, args.out, "walking", [
        "--model", walk / "reference/subject01_simbody_adjusted.osim",
        "--motion", walk / "reference/ResultsCMC/subject01_walk1_states.sto",
        "--loads", walk / "input/subject01_walk1_grf.xml",
        "--reserves", walk / "input/gait2354_CMC_Actuators.xml",
        "--controls", walk / "reference/ResultsCMC/subject01_walk1_controls.sto",
        "--every", "2",
    ])
    rms, worst, most = ground_reaction(reactions, walk / "input/subject01_walk1_grf.mot", ["", "1_"])
    print(f"walking: contact reactions differ from the measured vertical force by {rms:.0f} N RMS (largest {worst:.0f} N, "
          f"peak force {most:.0f} N)")
    names, table = walking["Y"]
    order = sorted((g for g in GROUPS if g != "arms"), key=lambda g: -peak(walking, "Y", g, 1))
    print("walking: support, peak vertical contributions in m/s2: "
          + ", ".join(f"{g} {peak(walking, 'Y', g, 1):.1f}" for g in order[:5]))
    print(f"figures and tables are in {args.out}")


if __name__ == "__main__":
    main()
