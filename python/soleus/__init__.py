"""Musculoskeletal modelling, simulation and optimal control.

>>> import soleus as sl
>>> model = sl.read("Rajagopal2016.osim")
>>> model.muscles["soleus_r"].max_isometric_force *= 0.5
>>> system = model.compile()
>>> system.evaluate(q={"knee_angle_r": 0.5}, want=["udot", "muscle.tendon_force"], equilibrate=True)
"""

from typing import TYPE_CHECKING

from ._loads import ExternalForce, ExternalLoads
from ._map import Failure, MapResult, map
from ._model import Component, Components, Model, Page, example, read, view
from ._progress import show_progress
from ._quality import Measure, Quality
from ._results import (
    Analyses,
    Consistent,
    Kinematics,
    Moments,
    Motion,
    Residuals,
    Rest,
    Result,
    Scaled,
    StaticOptimizationResult,
    Tracked,
    Written,
)
from ._soleus import __version__
from ._study import Certificate, Phase, Solution, Study, Walk, predict_walk, run, study, study_text
from ._system import Batch, DeviceBatch, Jacobians, Sparse, StepGradient, System
from ._table import Table, table
from . import formula, predict
from .errors import (
    Diagnostic,
    Error,
    FileError,
    InputError,
    Interrupted,
    ModelError,
    NotSolved,
    NotSolvedWarning,
    TableError,
)
from .formula import Expr, ModelSymbols as Symbols, controller, force, goal, softplus, where

__all__ = [
    "Analyses",
    "Batch",
    "Certificate",
    "Component",
    "Components",
    "Consistent",
    "DeviceBatch",
    "Diagnostic",
    "Error",
    "Expr",
    "ExternalForce",
    "ExternalLoads",
    "Failure",
    "FileError",
    "InputError",
    "Interrupted",
    "Jacobians",
    "Kinematics",
    "MapResult",
    "Measure",
    "Model",
    "ModelError",
    "Moments",
    "Motion",
    "NotSolved",
    "NotSolvedWarning",
    "Page",
    "Phase",
    "Quality",
    "Residuals",
    "Rest",
    "Result",
    "Scaled",
    "Solution",
    "Sparse",
    "StepGradient",
    "StaticOptimizationResult",
    "Study",
    "Symbols",
    "System",
    "Table",
    "TableError",
    "Tracked",
    "Walk",
    "Written",
    "__version__",
    "controller",
    "example",
    "force",
    "formula",
    "goal",
    "map",
    "predict",
    "predict_walk",
    "read",
    "run",
    "show_progress",
    "softplus",
    "study",
    "study_text",
    "table",
    "view",
    "where",
]


if TYPE_CHECKING:
    from . import gym as gym
else:

    def __getattr__(name):
        # Gymnasium is imported when somebody asks for it: ``sl.gym.make_vec(…)``.
        if name == "gym":
            import importlib

            return importlib.import_module("soleus.gym")
        raise AttributeError(f"module 'soleus' has no attribute {name!r}")
