"""Where models and reference data are."""

from __future__ import annotations

import os
import pathlib
import signal

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("SOLEUS_SHARED", ROOT.parent / "shared"))


@pytest.fixture
def models() -> pathlib.Path:
    return ROOT / "models"


@pytest.fixture
def reference() -> pathlib.Path:
    """Reference data of OpenSim 4.6, where they lie beside the checkout."""
    folder = SHARED / "reference"
    if not (folder / "pipelines").is_dir():
        pytest.skip(f"no reference data at {folder}")
    return folder


@pytest.fixture(autouse=True, scope="session")
def hear_ctrl_c() -> None:
    """A shell lets programs in the background ignore Ctrl-C; tests of it would never end there."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
