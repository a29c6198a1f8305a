"""Measured loads in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ._table import Table


@dataclass(frozen=True)
class ExternalForce:
    """A measured force: the body it acts on, and the names of its columns. ``force="ground_force_v"`` means the columns ``ground_force_vx``,
    ``ground_force_vy`` and ``ground_force_vz``."""

    body: str
    """Body on which it acts."""
    force: str
    """Prefix of the force labels, N."""
    point: str = ""
    """Prefix of the labels of the point of application, m; not needed for a torque alone."""
    torque: str = ""
    """Prefix of the labels of the free moment, N m."""
    name: str = ""
    """Name of the force; by default derived from the body."""
    force_in: str = "ground"
    """Body in whose axes the force is expressed."""
    point_in: str = "ground"
    """Body in which the point is expressed."""


class ExternalLoads:
    """Measured loads from a table, for ``loads=`` of the tools, without a file."""

    def __init__(self, table: Table, forces: Sequence[ExternalForce]) -> None:
        self.table = table
        self.forces = tuple(forces)

    def to_xml(self, data: str = "loads.sto") -> str:
        """The loads as an OpenSim ExternalLoads file, with the given name of the data file."""
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<OpenSimDocument Version="40600">', '<ExternalLoads name="loads">']
        lines.append("<objects>")
        for i, f in enumerate(self.forces):
            name = escape(f.name or f"{f.body}_load_{i}", {'"': "&quot;"})
            properties = {
                "applied_to_body": f.body,
                "force_expressed_in_body": f.force_in,
                "point_expressed_in_body": f.point_in,
                "force_identifier": f.force,
                "point_identifier": f.point,
                "torque_identifier": f.torque,
                "data_source_name": data,
            }
            body = "".join(f"<{k}>{escape(v)}</{k}>" for k, v in properties.items() if v)
            lines.append(f'<ExternalForce name="{name}"><isDisabled>false</isDisabled>{body}</ExternalForce>')
        lines += ["</objects>", f"<datafile>{escape(data)}</datafile>", "</ExternalLoads>", "</OpenSimDocument>"]
        return "\n".join(lines)

    def _place(self, memory: list[tuple[str, bytes]]) -> str:
        from ._results import MEMORY

        folder = f"{MEMORY}/{len(memory)}"
        memory.append((f"{folder}/loads.xml", self.to_xml().encode()))
        memory.append((f"{folder}/loads.sto", self.table.to_bytes("loads.sto")))
        return f"{folder}/loads.xml"
