"""Stopping computations in other threads: Python delivers Ctrl-C to its main thread only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from .errors import Interrupted

T = TypeVar("T")


class _Here(threading.local):
    event: threading.Event | None = None


_here = _Here()


def until(event: threading.Event, f: Callable[..., T], *arguments: object) -> T:
    """Calls a function; long calls of Soleus in it end with :class:`Interrupted` as soon as the event is set."""
    before, _here.event = _here.event, event
    try:
        return f(*arguments)
    finally:
        _here.event = before


def check() -> None:
    """Called in the thread that asked for a computation: before each tool and step of a batch, and during long ones every 50 ms."""
    if _here.event is not None and _here.event.is_set():
        raise Interrupted()
