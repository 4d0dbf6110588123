"""Collected lineage inside Airflow: what `graft export airflow-lineage` wrote, in its own events.

Airflow is imported when it is needed, so that a scheduler that only reads `extractors` is not
slowed down, and an error of ours never keeps it from starting.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Name -> the module that has it.
_PLACES = {
    "GraftBashExtractor": "extractors",
    "GraftKubernetesPodExtractor": "extractors",
    "GraftPythonExtractor": "extractors",
    "GraftSSHExtractor": "extractors",
    "GraftSparkSubmitExtractor": "extractors",
    "LineageSensor": "sensor",
    "task_policy": "policy",
}
__all__ = [*sorted(_PLACES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
