#!/usr/bin/env python3
"""What all first-order Jacobians of the implicit equations together cost in units of one residual, on gait10dof18musc and on
Rajagopal2016 with polynomial paths, both in this run, one core; the least of --repeat runs each, with its verdict.

usage: benches/jacobian_cost.py [--models DIR] [--repeat 3] [--seconds 1]

Needs `cargo build --release` and `cargo build --release --examples`.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name: (most that the Jacobians may cost, whether paths are made polynomials first)
BARS = {"gait10dof18musc": (8.0, False), "Rajagopal2016": (12.0, True)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", type=pathlib.Path, default=ROOT.parent / "shared/reference/models")
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--seconds", type=float, default=1.0)
    a = p.parse_args()
    release = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, (_, polynomial) in BARS.items():
            files[name] = a.models / f"{name}.osim"
            if polynomial:
                fitted = pathlib.Path(folder) / f"{name}.osim"
                command = [release / "soleus", "fit-paths", files[name], "--out", fitted]
                subprocess.run(command, check=True, capture_output=True)
                files[name] = fitted
        best = {}
        for _ in range(a.repeat):
            for name, file in files.items():
                command = [release / "examples/time_jacobian", file, a.seconds]
                out = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout
                residual, both, times = re.search(r"residual ([\d.]+) us, .* ([\d.]+) us, ([\d.]+) times", out).groups()
                best[name] = min(best.get(name, (float("inf"),)), (float(times), residual, both))
    for name, (bar, polynomial) in BARS.items():
        times, residual, both = best[name]
        verdict = "pass" if times <= bar else "short"
        paths = ", polynomial paths" if polynomial else ""
        print(f"{verdict:5}  {name}{paths}: residual {residual} us, with Jacobians {both} us, {times} times  | at most {bar:g}")


if __name__ == "__main__":
    main()
