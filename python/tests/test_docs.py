"""Every example of the documents runs, and is well typed."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, SHARED

DOCS = ROOT / "docs" / "python"
BLOCK = re.compile(r"(?:<!-- ([^>]*) -->\n)?```python\n(.*?)```\n", re.DOTALL)
PAGES = sorted(p.name for p in DOCS.glob("*.md"))
LAB = SHARED / "reference/pipelines/Gait2354_Simbody/input"


def blocks(page: str) -> list[tuple[str, str]]:
    """What a page says about each of its examples, and their text."""
    found = [(note, code) for note, code in BLOCK.findall((DOCS / page).read_text())]
    known = ("", "files: Gait2354", "run with SOLEUS_TEST_LONG")
    assert all(note in known for note, _ in found), f"{page}: every example runs"
    return found


@pytest.mark.parametrize("page", PAGES)
def test_identity_examples_run(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after the other, as a reader would type them."""
    text = (DOCS / page).read_text()
    if "sl.gym" in text:
        pytest.importorskip("gymnasium")
    if "to_polars" in text:
        pytest.importorskip("polars")
    folder = tmp_path / "lab"
    shutil.copytree(LAB, folder) if LAB.is_dir() else folder.mkdir()
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": "__main__"}
    for i, (note, code) in enumerate(blocks(page)):
        if (note.startswith("files") and not LAB.is_dir()) or (note.startswith("run with") and not os.environ.get("SOLEUS_TEST_LONG")):
            continue
        exec(compile(code, f"{page}, block {i}", "exec"), names)


def test_identity_examples_are_well_typed(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    files = []
    for page in PAGES:
        files.append(tmp_path / (page.removesuffix(".md").replace("-", "_") + ".py"))
        files[-1].write_text("\n".join(code for _, code in blocks(page)))
    settings = tmp_path / "mypy.ini"
    optional = "".join(f"[mypy-{m}.*]\nignore_missing_imports = True\n" for m in ("gymnasium", "polars", "pandas", "pyarrow", "scipy", "IPython", "distributed"))
    settings.write_text(f"[mypy]\nstrict = True\n{optional}")
    command = [sys.executable, "-m", "mypy", "--config-file", settings, *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
