#!/usr/bin/env python3
"""Inverse dynamics of one humanoid tree (37 degrees of freedom) in Soleus and in Pinocchio, on one core.

usage: benches/against_pinocchio.py [--seconds 2] [--prefix PINOCCHIO_PREFIX] [--eigen DIR]

Both programs get the same tree and motion; generalized forces must agree to 1e-10 before anything is timed.
Pinocchio's time is that of a C++ program compiled here (-O3 -march=native -DNDEBUG) against the headers in PREFIX, by
default those of the Python package of the interpreter that runs this (ours is built for any x86-64); without a compiler or Eigen it is the time
through Python, less that of an empty call. Times are the smallest mean over batches, in this run; runs of the
two programs take turns. Needs `cargo build --release -p soleus-dynamics --examples`.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pinocchio as pin

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURNS = 3

CPP = r"""
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

// Reads bodies (parent, joint placement, mass, centre, inertia) and one motion; prints tau and the time of one rnea.
int main(int, char** argv) {
  using namespace pinocchio;
  std::ifstream in(argv[1]);
  const double seconds = std::stod(argv[2]);
  int bodies;
  in >> bodies;
  Model model;
  for (int i = 0; i < bodies; ++i) {
    int parent;
    double r[9], p[3], mass, c[3], d[3];
    in >> parent;
    for (double& x : r) in >> x;
    for (double& x : p) in >> x;
    in >> mass;
    for (double& x : c) in >> x;
    for (double& x : d) in >> x;
    Eigen::Matrix3d R;
    R << r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8];
    const SE3 place(R, Eigen::Vector3d(p[0], p[1], p[2]));
    const std::string name = "j" + std::to_string(i);
    const JointIndex j = i == 0 ? model.addJoint(parent, JointModelFreeFlyer(), place, name)
                                : model.addJoint(parent, JointModelRZ(), place, name);
    const Eigen::Vector3d diagonal(d[0], d[1], d[2]);
    model.appendBodyToJoint(j, Inertia(mass, Eigen::Vector3d(c[0], c[1], c[2]), diagonal.asDiagonal().toDenseMatrix()));
  }
  Eigen::VectorXd q(model.nq), v(model.nv), a(model.nv);
  for (int i = 0; i < model.nq; ++i) in >> q[i];
  for (int i = 0; i < model.nv; ++i) in >> v[i];
  for (int i = 0; i < model.nv; ++i) in >> a[i];
  Data data(model);
  rnea(model, data, q, v, a);
  for (int i = 0; i < model.nv; ++i) std::printf("%.17g ", data.tau[i]);
  std::printf("\n");
  using clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto begin = clock::now();
  while (std::chrono::duration<double>(clock::now() - begin).count() < seconds) {
    const auto batch = clock::now();
    for (int i = 0; i < 64; ++i) {
      q[7 + i % 30] += 1e-9;
      rnea(model, data, q, v, a);
    }
    best = std::min(best, std::chrono::duration<double>(clock::now() - batch).count() / 64);
  }
  std::printf("%.4f\n", best * 1e6);
}
"""


def about(axis, angle):
    return pin.utils.rotate("xyz"[axis], angle)


def xyz(angles):
    """Body-fixed X-Y-Z."""
    return about(0, angles[0]) @ about(1, angles[1]) @ about(2, angles[2])


def soleus(seconds):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    out = subprocess.run([str(target / "release/examples/time_rnea"), str(seconds)],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)


class Motion:
    """The motion of the example in Pinocchio's coordinates: joints depth first as added; the base has a quaternion,
    and its velocity, acceleration and force are in its own frame, linear part first."""

    def __init__(self, ours):
        q, u, udot = (np.array(ours[k]) for k in ("q", "u", "udot"))
        hinges = [b["mobility"] for b in ours["bodies"][1:]]
        self.R, self.hinges = xyz(q[:3]), hinges
        w, v = self.R.T @ u[:3], self.R.T @ u[3:6]
        self.q = np.concatenate([q[3:6], pin.Quaternion(self.R).coeffs(), q[hinges]])
        self.v = np.concatenate([v, w, u[hinges]])
        # Components of the base's velocity turn with it: their rate lacks w x v.
        self.a = np.concatenate([self.R.T @ udot[3:6] - np.cross(w, v), self.R.T @ udot[:3], udot[hinges]])

    def tau(self, theirs):
        """Pinocchio's generalized forces in our order."""
        out = np.zeros(len(theirs))
        out[:3], out[3:6] = self.R @ theirs[3:6], self.R @ theirs[:3]
        out[self.hinges] = theirs[6:]
        return out


def placements(ours):
    for i, b in enumerate(ours["bodies"]):
        yield b, (np.eye(3), np.zeros(3)) if i == 0 else (xyz(b["angles"]), np.array(b["translation"]))


def python_model(ours):
    model = pin.Model()
    for i, (b, (R, p)) in enumerate(placements(ours)):
        joint = pin.JointModelFreeFlyer() if i == 0 else pin.JointModelRZ()
        j = model.addJoint(b["parent"], joint, pin.SE3(R, p), f"j{i}")
        inertia = pin.Inertia(b["mass"], np.array(b["center"]), np.diag(b["inertia"]))
        model.appendBodyToJoint(j, inertia, pin.SE3.Identity())
    model.gravity.linear = np.array([0.0, -9.80665, 0.0])
    return model


def smallest_mean(call, seconds):
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < seconds:
        batch = time.perf_counter()
        for _ in range(200):
            call()
        best = min(best, (time.perf_counter() - batch) / 200)
    return best * 1e6


def compile_cpp(folder, prefix, eigen):
    """Path of the program, or None with the reason on stderr."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler or not (prefix / "include/pinocchio").is_dir() or not (eigen / "Eigen").is_dir():
        print("no C++ compiler, Pinocchio headers or Eigen: timing through Python", file=sys.stderr)
        return None
    source, program = folder / "rnea.cpp", folder / "rnea"
    gravity = "  model.gravity.linear() = Eigen::Vector3d(0.0, -9.80665, 0.0);\n  Eigen::VectorXd q("
    source.write_text(CPP.replace("  Eigen::VectorXd q(", gravity, 1))
    run = subprocess.run([compiler, "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", f"-I{prefix}/include", f"-I{eigen}",
                          # As Pinocchio itself is built: its list of joints is longer than Boost's default.
                          "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
                          "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
                          str(source), "-o", str(program)],
                         capture_output=True, text=True)
    if run.returncode != 0:
        print(f"the C++ program does not compile, timing through Python:\n{run.stderr[:2000]}", file=sys.stderr)
        return None
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--prefix", type=pathlib.Path, default=pathlib.Path(pin.__file__).resolve().parents[4])
    parser.add_argument("--eigen", type=pathlib.Path, default=pathlib.Path("/usr/include/eigen3"))
    args = parser.parse_args()

    ours = soleus(0.01)
    motion, model = Motion(ours), python_model(ours)
    data = model.createData()
    want = np.array(ours["tau"])

    def check(theirs, name):
        worst = np.max(np.abs(motion.tau(theirs) - want)) / np.max(np.abs(want))
        print(f"generalized forces, {name}: largest relative difference {worst:.1e}")
        if not worst < 1e-10:
            sys.exit("the two programs do not compute the same thing")

    check(pin.rnea(model, data, motion.q, motion.v, motion.a), "Pinocchio in Python")
    slice_s = args.seconds / TURNS
    times = {"soleus": [], "pinocchio": []}
    with tempfile.TemporaryDirectory() as folder:
        program = compile_cpp(pathlib.Path(folder), args.prefix, args.eigen)
        how = "C++"
        if program:
            lines = [str(len(ours["bodies"]))]
            for b, (R, p) in placements(ours):
                lines.append(" ".join(repr(float(x)) for x in
                                      [*R.ravel(), *p, b["mass"], *b["center"], *b["inertia"]]))
                lines[-1] = f"{b['parent']} {lines[-1]}"
            lines += [" ".join(repr(float(x)) for x in y) for y in (motion.q, motion.v, motion.a)]
            tree = pathlib.Path(folder) / "tree.txt"
            tree.write_text("\n".join(lines))
        for turn in range(TURNS):
            times["soleus"].append(soleus(slice_s)["rnea_us"])
            if program:
                out = subprocess.run([str(program), str(tree), str(slice_s)], check=True, capture_output=True,
                                     text=True).stdout.split("\n")
                if turn == 0:
                    check(np.array(out[0].split(), dtype=float), "Pinocchio in C++")
                times["pinocchio"].append(float(out[1]))
            else:
                how = "Python, less an empty call"
                call = smallest_mean(lambda: pin.rnea(model, data, motion.q, motion.v, motion.a), slice_s)
                times["pinocchio"].append(call - smallest_mean(lambda: model.nv, 0.1))
    a, b = min(times["soleus"]), min(times["pinocchio"])
    print(f"soleus {a:.2f} us, Pinocchio {pin.__version__} ({how}) {b:.2f} us: soleus takes {a / b:.2f} times as long")


if __name__ == "__main__":
    main()
