"""How good a result is: measures with their usual limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload


@dataclass(frozen=True)
class Measure:
    """One measure of quality."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    """Largest value that is usually accepted; ``None`` if there is no common limit."""
    where: str = ""
    """Component and time of the value."""

    @property
    def ok(self) -> bool | None:
        """Whether the value is within the limit; ``None`` without one."""
        return None if self.limit is None else bool(self.value <= self.limit)


class Quality(Sequence[Measure]):
    """Measures of quality of a result: a list, and a table. Limits are those of Hicks et al. (2015), *Is my model good enough?*, where they have one."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = tuple(measures)

    @overload
    def __getitem__(self, which: int) -> Measure: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[Measure]: ...
    def __getitem__(self, which: int | slice) -> Measure | Sequence[Measure]:
        return self._measures[which]

    def __len__(self) -> int:
        return len(self._measures)

    def __iter__(self) -> Iterator[Measure]:
        return iter(self._measures)

    @property
    def ok(self) -> bool:
        """Whether every measure with a limit is within it."""
        return all(m.ok is not False for m in self)

    def table(self) -> list[dict[str, Any]]:
        """A row for each measure: name, value, unit, limit, where, ok."""
        return [{**asdict(m), "ok": m.ok} for m in self]

    def _repr_html_(self) -> str:
        from html import escape

        rows = ""
        for m in self:
            limit = "" if m.limit is None else f"{m.limit:g} {m.unit}"
            ok = {True: "within", False: "<b>above</b>", None: ""}[m.ok]
            cells = (escape(m.name), f"{m.value:.3g} {escape(m.unit)}", escape(limit), ok, escape(m.where))
            rows += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        head = "".join(f"<th>{word}</th>" for word in ("measure", "value", "limit", "", "where"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def __repr__(self) -> str:
        width = max((len(m.name) for m in self), default=0)
        lines = []
        for m in self:
            limit = "" if m.limit is None else f"  ({'within' if m.ok else 'ABOVE'} the limit of {m.limit:g})"
            where = f"  {m.where}" if m.where else ""
            lines.append(f"{m.name:<{width}}  {m.value:.3g} {m.unit}{limit}{where}")
        return "\n".join(lines) or "no measures"
