"""Extractors: the collected lineage, in the events of tasks that Airflow cannot see into.

    [openlineage]
    extractors = graft_airflow.GraftBashExtractor;graft_airflow.GraftPythonExtractor

An extractor takes the place of Airflow's own, so each asks that one first. It never raises: an
extractor that does loses the declared inlets too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from graft_airflow.errors import failure, warn_once
from graft_airflow.lineage_of_task import lineage_of

_UNKNOWN_SOURCE = "unknownSourceAttribute"


class GraftExtractor:
    """The base of the extractors; a subclass names the classes of its operators.

    It has the methods of Airflow's `BaseExtractor` and is none, so that it can be imported, and
    looked into, without Airflow.
    """

    operators: ClassVar[tuple[str, ...]] = ()
    # Airflow sets it: whether events may hold the code of a task.
    source_code_enabled: bool | None = None

    def __init__(self, operator: Any) -> None:
        self.operator = operator

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        """The names of the classes of operators that it is for."""
        return list(cls.operators)

    def extract(self) -> Any:
        """The lineage for the START event."""
        return self._lineage(lambda airflows: airflows.extract())

    def extract_on_complete(self, task_instance: Any) -> Any:
        """The lineage for the COMPLETE event."""
        return self._lineage(
            lambda airflows: airflows.extract_on_complete(task_instance), task_instance
        )

    def extract_on_failure(self, task_instance: Any) -> Any:
        """The lineage for the FAIL event: what the task does when it succeeds."""
        return self._lineage(
            lambda airflows: _on_failure(airflows)(task_instance), task_instance, failed=True
        )

    def _lineage(
        self, ask: Callable[[Any], Any], task_instance: Any = None, *, failed: bool = False
    ) -> Any:
        airflows = _try_call("Airflow's own extractor", lambda: ask(self._airflows_extractor()))
        added = _try_call(
            "the extractor", lambda: self._add_lineage(airflows, task_instance, failed=failed)
        )
        return airflows if added is None else added

    def _airflows_extractor(self) -> Any:
        """The extractor that Airflow would use: one of its own, or the operator's methods."""
        from airflow.providers.openlineage.extractors.base import DefaultExtractor
        from airflow.providers.openlineage.extractors.bash import BashExtractor
        from airflow.providers.openlineage.extractors.python import PythonExtractor

        kind = getattr(self.operator, "task_type", type(self.operator).__name__)
        extractors = {
            name: extractor
            for extractor in (BashExtractor, PythonExtractor)
            for name in extractor.get_operator_classnames()
        }
        extractor = extractors.get(kind, DefaultExtractor)(self.operator)
        if self.source_code_enabled is not None:
            extractor.source_code_enabled = self.source_code_enabled
        return extractor

    def _add_lineage(self, airflows: Any, task_instance: Any, *, failed: bool) -> Any:
        """Airflow's own lineage with ours; where there is none of ours, with the facet alone."""
        from airflow.providers.openlineage.extractors.base import OperatorLineage

        from graft_airflow import facets

        lineage = lineage_of(self.operator)
        airflow_lineage = airflows or OperatorLineage()
        inputs, outputs = list(airflow_lineage.inputs or ()), list(airflow_lineage.outputs or ())
        run_facets = {**(airflow_lineage.run_facets or {}), "graft": facets.run_facet(lineage)}
        if lineage.task:
            content = lineage.task.content
            run_facets.pop(_UNKNOWN_SOURCE, None)
            inlets, outlets = self._read_declared()
            read, written = _hooks(task_instance, failed=failed) if task_instance else ([], [])
            inputs = facets.merge_datasets(
                inputs, read, facets.datasets(content.get("inputs")), inlets
            )
            outputs = facets.merge_datasets(
                outputs, written, facets.datasets(content.get("outputs")), outlets
            )
        return OperatorLineage(
            inputs=inputs,
            outputs=outputs,
            run_facets=run_facets,
            job_facets=dict(airflow_lineage.job_facets or {}),
        )

    def _read_declared(self) -> tuple[list[Any], list[Any]]:
        from graft_airflow.declared import declared_datasets

        inlets = _try_call("inlets", lambda: declared_datasets(self.operator.inlets))
        outlets = _try_call("outlets", lambda: declared_datasets(self.operator.outlets))
        return inlets or [], outlets or []


class GraftBashExtractor(GraftExtractor):
    """The extractor of bash tasks."""

    operators = ("BashOperator", "_BashDecoratedOperator")


class GraftPythonExtractor(GraftExtractor):
    """The extractor of Python tasks, in the worker's environment or in one of their own."""

    operators = (
        "PythonOperator",
        "_PythonDecoratedOperator",
        "PythonVirtualenvOperator",
        "_PythonVirtualenvDecoratedOperator",
        "ExternalPythonOperator",
        "_PythonExternalDecoratedOperator",
    )


class GraftSparkSubmitExtractor(GraftExtractor):
    """The extractor of `spark-submit`."""

    operators = ("SparkSubmitOperator",)


class GraftKubernetesPodExtractor(GraftExtractor):
    """The extractor of tasks in pods."""

    operators = (
        "KubernetesPodOperator",
        "_KubernetesDecoratedOperator",
        "_KubernetesCmdDecoratedOperator",
    )


class GraftSSHExtractor(GraftExtractor):
    """The extractor of commands on other machines."""

    operators = ("SSHOperator",)


def _on_failure(airflows: Any) -> Callable[[Any], Any]:
    extract: Callable[[Any], Any] = getattr(
        airflows, "extract_on_failure", airflows.extract_on_complete
    )
    return extract


def _hooks(task_instance: Any, *, failed: bool) -> tuple[list[Any], list[Any]]:
    from graft_airflow.declared import hook_lineage

    return _try_call("hooks", lambda: hook_lineage(task_instance, failed=failed)) or ([], [])


def _try_call(what: str, call: Callable[[], Any]) -> Any:
    """The result of a call; None where it fails, which is logged once."""
    try:
        return call()
    except Exception as error:
        warn_once(f"graft_airflow: {what} failed for a task: {failure(error)}")
        return None
