#!/usr/bin/env python3
"""Batches on a CUDA device from Python: compared with the CPU, shared with PyTorch, and timed.

usage: benches/python_device.py [MODEL.osim] [COPIES]     (default: the built-in planar walker, 65 536 copies)

Needs the package, a CUDA device with NVRTC, and PyTorch. Paths that wrap are fitted first.
"""
from __future__ import annotations

import sys
import time

import numpy as np
import torch

import soleus as sl


def main() -> None:
    model = sl.read(sys.argv[1]) if len(sys.argv) > 1 else sl.example("gait2d")
    copies = int(sys.argv[2]) if len(sys.argv) > 2 else 65_536
    if len(sys.argv) > 1:
        model = model.fit_paths(max_order=5)
    system = model.compile()
    h, steps = 1e-3, 20

    # CPU and device, from the same states with the same excitations.
    few = 8
    rng = np.random.default_rng(1)
    e = rng.uniform(0.01, 0.3, (few, len(system.controls)))
    device = system.batch(few, backend="cuda")
    shared = torch.from_dlpack(device.e)
    print(f"arrays are shared with PyTorch: {tuple(shared.shape)} on {shared.device}, {shared.dtype}")
    shared.copy_(torch.as_tensor(e, device=shared.device, dtype=shared.dtype))
    lanes = system.batch(few, backend="lanes", threads=1)
    lanes.e[:] = e
    for _ in range(steps):
        lanes.step(h)
        device.step(h)
    q, u, z = (torch.from_dlpack(a).cpu().numpy() for a in (device.q, device.u, device.z))
    for name, found, wanted in [("q", q, lanes.q), ("u", u, lanes.u), ("z", z, lanes.z)]:
        print(f"  {name}: largest difference from lanes after {steps} steps {np.abs(found - wanted).max():.1e} of {np.abs(wanted).max():.2g}")

    for precision in ("single", "double"):
        begin = time.perf_counter()
        batch = system.batch(copies, backend="cuda", precision=precision)
        ready = time.perf_counter() - begin
        torch.from_dlpack(batch.e).fill_(0.05)
        batch.step(h)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(200):
            batch.step(h)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        finite = int(torch.isfinite(torch.from_dlpack(batch.u)).all(dim=1).sum())
        print(f"{precision}: ready in {ready:.1f} s; {copies} copies, {200 * copies / seconds / 1e6:.2f} million steps/s; {finite} copies finite after {201 * h:.3f} s")


if __name__ == "__main__":
    main()
