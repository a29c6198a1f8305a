"""Measured loads that are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ._table import Table


@dataclass(frozen=True)
class ExternalForce:
    """A measured force: where it acts, and what the columns of its table are called. ``force="ground_force_v"`` means the columns
    ``ground_force_vx``, ``ground_force_vy`` and ``ground_force_vz``."""

    body: str
    """Body that it acts on."""
    force: str
    """Beginning of the labels of the force, N."""
    point: str = ""
    """Beginning of the labels of the point where it acts, m; a torque alone has none."""
    torque: str = ""
    """Beginning of the labels of the free moment, N m."""
    name: str = ""
    """Name of the force; made up of the body without it."""
    force_in: str = "ground"
    """Body in whose axes the force is expressed."""
    point_in: str = "ground"
    """Body in which the point is expressed."""


class ExternalLoads:
    """Measured loads of a table, for ``loads=`` of the tools, without a file."""

    def __init__(self, table: Table, forces: Sequence[ExternalForce]) -> None:
        self.table = table
        self.forces = tuple(forces)

    def to_xml(self, data: str = "loads.sto") -> str:
        """The loads as a setup file of OpenSim, whose data are in a file of that name."""
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
