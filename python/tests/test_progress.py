"""Progress of long calls, in a terminal and in a notebook."""

from __future__ import annotations

import os
import pathlib
import sys
import time
import types

import pytest

import soleus as sl

MODEL = pathlib.Path(__file__).resolve().parents[2] / "models" / "leg_swing.osim"
LONG = f"""
import soleus as sl
from soleus import _progress
sl.read({str(MODEL)!r}).simulate(1e6, excitation=0.1, interval=100.0, deadline=1.5)
sl.show_progress(False)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pseudo-terminal")
def test_analytic_a_terminal_shows_a_line_that_is_cleared() -> None:
    import pty

    shown = bytearray()

    def read(descriptor: int) -> bytes:
        data = os.read(descriptor, 4096)
        shown.extend(data)
        return data

    status = pty.spawn([sys.executable, "-W", "ignore", "-c", LONG], read)
    text = shown.decode(errors="replace")
    assert status == 0, text
    assert " s left" in text and text.count("\r") > 3, "a line that is written again and again"
    assert text.rstrip("\r\n")[-1:] in (" ", "", "\r"), "nothing is left of it"


def test_analytic_a_notebook_updates_one_output(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            told.append("updated: " + data["text/plain"])

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        told.append("shown: " + data["text/plain"])
        return Handle()

    shell = type("ZMQInteractiveShell", (), {})()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    module = types.ModuleType("IPython.display")
    module.display = display  # type: ignore[attr-defined]
    ipython.display = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)

    def slow(i: int) -> int:
        time.sleep(0.3)
        return i

    sl.map(slow, range(5), workers=1)
    assert told[0].startswith("shown: ") and "of 5 items" in told[0]
    assert told[-1] == "updated: " and len(told) > 2, "and is empty at the end"
    del told[:]
    sl.show_progress(False)
    try:
        sl.map(slow, range(3), workers=1)
    finally:
        sl.show_progress(True)
    assert told == []


def test_analytic_figures_in_a_notebook() -> None:
    model = sl.read(MODEL)
    html = model._repr_html_()
    assert "<svg" in html and "knee_angle" in html
    page = model.view()
    assert page._repr_html_().startswith("<iframe") and len(page.html) > 10_000
