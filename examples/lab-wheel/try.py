"""A model with a force of the laboratory's own, in the wheel of this folder: `python try.py models/leg_swing.osim`."""

from __future__ import annotations

import pathlib
import sys

import numpy as np

import soleus as sl

BRACE = "<StiffeningSpring name='brace'><coordinate>knee_angle</coordinate><stiffness>30</stiffness></StiffeningSpring>"


def main() -> None:
    text = pathlib.Path(sys.argv[1]).read_text()
    bare = sl.read(text.encode())
    # In a file, and added to a model in memory.
    at = text.index("<objects>", text.index("<ForceSet")) + len("<objects>")
    model = sl.read((text[:at] + BRACE + text[at:]).encode())
    added = bare.copy()
    added.add(BRACE)
    q = {"knee_angle": -0.5}
    for m in (model, added):
        with_it, without = m.compile(), bare.compile()
        moment = with_it.evaluate(q=q, want="mass_matrix") @ (with_it.evaluate(q=q) - without.evaluate(q=q))
        assert abs(moment[1] - 30 * 0.5 * (1 + 2 * 0.25)) < 1e-9, moment
        assert np.abs(moment[[0, 2]]).max() < 1e-9
    print(f"<StiffeningSpring> is known: it adds {moment[1]:.2f} N m at a knee of -0.5 rad")
    study = sl.study_text(
        'name = "a"\nmodel = "builtin:leg_swing"\n[time]\nfinal = 0.5\n[[goals]]\nname = "jerk"\nformula = "knee_jerk"\n'
    )
    assert any(d["name"] == "knee_jerk" for d in study.data["setup"]["definitions"])
    print("knee_jerk is a word of studies")


if __name__ == "__main__":
    main()
