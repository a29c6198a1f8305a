"""Every example of the documents runs."""

from __future__ import annotations

import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python"
BLOCK = re.compile(r"(<!-- not run: [^>]*-->\n)?```python\n(.*?)```\n", re.DOTALL)


@pytest.mark.parametrize("page", sorted(p.name for p in DOCS.glob("*.md")))
def test_identity_examples_run(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after the other, as a reader would type them."""
    text = (DOCS / page).read_text()
    if "soleus.gym" in text:
        pytest.importorskip("gymnasium")
    if "to_polars" in text:
        pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for i, (skipped, code) in enumerate(BLOCK.findall(text)):
        if not skipped:
            exec(compile(code, f"{page}, block {i}", "exec"), names)
