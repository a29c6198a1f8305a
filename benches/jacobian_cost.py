#!/usr/bin/env python3
"""What the residual of the implicit equations and all its first-order Jacobians together cost in units of the residual, on
gait10dof18musc and Rajagopal2016 with their own paths and with polynomials in their places, all in this run, one core; the least of
--repeat runs each, with its verdict.

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
# (model, whether paths are made polynomials first): the most that the Jacobians may cost, if there is a bar
BARS = {
    ("gait10dof18musc", False): 8.0,
    ("gait10dof18musc", True): 8.0,
    ("Rajagopal2016", False): None,
    ("Rajagopal2016", True): 12.0,
}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", type=pathlib.Path, default=ROOT.parent / "shared/reference/models")
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--seconds", type=float, default=1.0)
    a = p.parse_args()
    release = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    with tempfile.TemporaryDirectory() as folder:
        files, best = {}, {}
        for name, polynomial in BARS:
            file = a.models / f"{name}.osim"
            if polynomial:
                fitted = pathlib.Path(folder) / f"{name}.osim"
                command = [release / "soleus", "fit-paths", file, "--out", fitted]
                subprocess.run(command, check=True, capture_output=True)
                file = fitted
            files[name, polynomial] = file
        for _ in range(a.repeat):
            for case, file in files.items():
                command = [release / "examples/time_jacobian", file, a.seconds]
                out = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout
                residual, both, times = re.search(r"residual ([\d.]+) us, .* ([\d.]+) us, ([\d.]+) times", out).groups()
                best[case] = min(best.get(case, (float("inf"),)), (float(times), residual, both))
    for (name, polynomial), bar in BARS.items():
        times, residual, both = best[name, polynomial]
        verdict = "" if bar is None else "pass" if times <= bar else "short"
        paths = "polynomial paths" if polynomial else "its own paths"
        wanted = "" if bar is None else f"at most {bar:g}"
        print(f"{verdict:5}  {name}, {paths}: residual {residual} us, with Jacobians {both} us, {times} times  | {wanted}")


if __name__ == "__main__":
    main()
