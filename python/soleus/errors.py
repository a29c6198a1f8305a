"""Exceptions and their diagnostics."""

from __future__ import annotations

import re
import warnings as _warnings
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """A problem of an input: its location and a remedy."""

    severity: str
    """``error``, ``warning`` or ``note``."""
    file: str
    """The file, as it was given."""
    line: int
    """Line, from 1; 0 if no line applies."""
    component: str
    """Path of the affected component, or empty."""
    message: str
    """What is wrong."""
    hint: str
    """Remedy, or empty."""

    def __str__(self) -> str:
        text = f"{self.severity}: {self.message}\n  --> {self.file}"
        if self.line:
            text += f":{self.line}"
        if self.component:
            text += f"\n   in {self.component}"
        if self.hint:
            text += f"\nhint: {self.hint}"
        return text


class Error(Exception):
    """Base class of errors. ``diagnostics`` lists the problems of the input and their locations."""

    def __init__(self, message: str = "", diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[Any, ...]:
        # Numbers and names of files, and what was added to it on the way.
        more = {k: getattr(self, k) for k in ("errno", "strerror", "filename") if getattr(self, k, None) is not None}
        return type(self), (self.message, self.diagnostics), {**self.__dict__, **more}


class InputError(Error, ValueError):
    """Invalid input."""


class ModelError(InputError):
    """A model has errors: ``diagnostics`` lists every one with its line."""


class TableError(InputError):
    """A table cannot be read, created or used in this way."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class NotSolved(Error):
    """A computation did not converge or has no solution."""


class NotSolvedWarning(UserWarning):
    """A result is incomplete: ``result.message`` says what is missing. To raise an error: ``warnings.simplefilter("error", soleus.NotSolvedWarning)``."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped the computation. ``partial`` is the result so far, or ``None``."""

    def __init__(self, message: str = "stopped (Ctrl-C)", partial: Any = None) -> None:
        super().__init__(message)
        self.partial = partial


_KINDS: dict[str, type[Error]] = {
    "model": ModelError,
    "table": TableError,
    "input": InputError,
    "read": FileError,
    "write": FileError,
    "not solved": NotSolved,
    "cancelled": NotSolved,
}


# Flags of the command whose keyword has another name.
_KEYWORDS = {"from": "time", "to": "time", "resume": "solution.resume().solve()", "fit-paths": "model.fit_paths()", "intervals": "mesh"}
_PHRASES = {
    "map them with --map LAB=MODEL": "rename them: table.rename({LAB: MODEL})",
    "soleus scale --marker-set": "model.scale(marker_set=…)",
}
# A command as a whole, which stays; or a flag, with a value.
_FLAG = re.compile(r"soleus [a-z-]+ [^`()]*|--([a-z]+(?:-[a-z]+)*)(?:[ =]([\w.\-]*\d[\w.\-]*|markers|forces|analog)(?=[`),;\s]|$))?")


def _in_python(text: str) -> str:
    """A message of the library with keywords in place of the command's flags: `--barrier 1e-3` is `barrier=1e-3`."""

    def keyword(found: re.Match[str]) -> str:
        flag, value = found.groups()
        if flag is None:
            return found.group()
        name = _KEYWORDS.get(flag, flag.replace("-", "_"))
        return name if value is None else f"{name}={value!r}" if value.isalpha() and value.islower() else f"{name}={value}"

    for phrase, other in _PHRASES.items():
        text = text.replace(phrase, other)
    return _FLAG.sub(keyword, text)


def _diagnostics(told: list[tuple[str, str, int, str, str, str]]) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(severity, file, line, component, _in_python(message), _in_python(hint))
        for severity, file, line, component, message, hint in told
    )


def _make(kind: str, message: str, told: list[tuple[str, str, int, str, str, str]], number: int | None) -> Error:
    text = _in_python(message.removeprefix("error: "))
    made = _KINDS.get(kind, InputError)(text, _diagnostics(told))
    if number is not None and isinstance(made, OSError):
        made.errno = number
    return made


def _warn(message: str) -> None:
    _warnings.warn(message, NotSolvedWarning, stacklevel=3)
