#!/usr/bin/env python3
"""`soleus.map` over 200 trials in threads, processes and a local Ray: the same bytes, and what a failing trial and a killed worker cost.

usage: benches/python_map.py [COUNT]

Needs the package, and Ray for its column (`pip install soleus[ray]`).
"""
from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import pathlib
import signal
import sys
import tempfile
import time

import soleus as sl

FAILS, KILLED = 41, 97


def trial(model: sl.Model, flag: str, i: int) -> bytes:
    """The bytes of a simulation. One trial raises, and one ends its process as a machine that is lost would, whenever it is tried."""
    if i == FAILS:
        raise ValueError(f"trial {i} has no markers")
    if i == KILLED and flag:
        pathlib.Path(flag).open("a").write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return model.simulate(0.02, excitation=0.01 + 0.001 * i).states.to_bytes()


def digest(values: list[object]) -> str:
    return hashlib.sha256(b"".join(v for v in values if isinstance(v, bytes))).hexdigest()[:16]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    places = ["threads", "processes"] + (["ray"] if importlib.util.find_spec("ray") else [])
    model = sl.example("leg_swing")
    whole = {}
    for on in places:
        begin = time.perf_counter()
        found = sl.map(functools.partial(trial, model, ""), range(count), on=on, workers=2)
        whole[on] = found
        print(f"{on:<10} {len(found.results)} results, {len(found.failures)} failed, sha256 {digest(found.values)}, {time.perf_counter() - begin:.1f} s")
        assert [i for i, _ in found.failures] == [FAILS] and found.failures[0][1].kind == "ValueError"
    assert all(whole[on].results == whole["threads"].results for on in places), "not the same bytes"
    for on in places[1:]:
        with tempfile.TemporaryDirectory() as folder:
            flag = str(pathlib.Path(folder) / "deaths")
            begin = time.perf_counter()
            found = sl.map(functools.partial(trial, model, flag), range(count), on=on, workers=2)
            deaths = len(pathlib.Path(flag).read_text())
            print(f"{on:<10} with a worker that is killed: {len(found.results)} results, {found.failures[-1][1].kind} after {deaths} tries, {time.perf_counter() - begin:.1f} s")
        assert [(i, f.kind) for i, f in found.failures] == [(FAILS, "ValueError"), (KILLED, "WorkerDied")], found.failures
        same = [a == b for i, (a, b) in enumerate(zip(found.values, whole["threads"].values)) if i not in (FAILS, KILLED)]
        assert all(same) and len(same) == count - 2, "another trial was touched"
    print(f"the same bytes in {', '.join(places)}; a failing trial and a killed worker cost nothing but themselves")


if __name__ == "__main__":
    main()
