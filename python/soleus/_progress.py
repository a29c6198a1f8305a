"""Progress of long computations, in a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

Show = Callable[..., None]

_shown = True


def show_progress(shown: bool = True) -> None:
    """Turns the progress display of long calls on or off (default: on in a terminal and in a notebook)."""
    global _shown
    _shown = shown


class _Line:
    """A line that is rewritten in place."""

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.width = 0
        self.handle: Any = None

    def text(self, what: str, done: float, total: float | None, left: float | None, detail: str) -> str:
        if total:
            part = done / total
            seconds = time.monotonic() - self.begin
            left = seconds * (1 - part) / max(part, 1e-9) if left is None else left
            bar = "█" * int(24 * part) + "·" * (24 - int(24 * part))
            line = f"{bar} {done:g} of {total:g} {what}, {left:.0f} s left"
        else:
            line = f"{done:g} {what}" if left is None else f"{done:g} {what}, about {left:.0f} s left"
        return f"{line}: {detail}" if detail else line

    def __call__(self, *progress: Any) -> None:
        line = self.text(*progress) if progress else ""
        if _in_notebook():
            self.notebook(line)
        else:
            self.terminal(line)

    def terminal(self, line: str) -> None:
        line = line[:110]
        sys.stderr.write("\r" + line.ljust(self.width) + ("" if line else "\r"))
        sys.stderr.flush()
        self.width = len(line)

    def notebook(self, line: str) -> None:
        import IPython.display

        # Not every version of it says what it takes.
        display: Any = IPython.display.display
        data = {"text/plain": line}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


def _in_notebook() -> bool:
    # Nobody imports IPython for us: it is there, or we are not in a notebook.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def shower() -> Show | None:
    """The progress display, if there is one."""
    if not _shown:
        return None
    return _Line() if _in_notebook() or sys.stderr.isatty() else None
