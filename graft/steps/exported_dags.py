"""The order of tasks as DAGs of Airflow, written: the plan, its files, and what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.json import finding_json
from dbt_graft.analysis.render.phrases import count, open_note
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.exporters.dag_factory.document import documents, files, marker
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.dag_factory.overrides import Documents, override
from dbt_graft.exporters.dag_factory.plan import DagPlan
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dag_overrides import dag_overrides
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.graft.steps.dag_files import WrittenFiles, write_files
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import open_tasks

_SHOWN = 10
_NO_FILES = WrittenFiles((), (), ())


@frozen
class ExportedDags:
    """DAGs that were written; none where all that there are have problems.

    Attributes:
        dags: Their documents, by id.
        problems: Tasks and DAGs that could not be written.
        notes: The tasks whose order may not be all that there is.
    """

    plan: DagPlan
    dags: Documents
    problems: Sequence[Finding]
    folder: Path
    files: WrittenFiles
    notes: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """The DAGs, what is left out and the files, for people."""
        waits_for = {dag.dag_id: len(dag.waits_for) for dag in self.plan.dags}
        for dag_id, dag in list(self.dags.items())[:_SHOWN]:
            edges = sum(len(task.get("dependencies", ())) for task in dag["tasks"])
            waits = f", waits for {count(waits_for[dag_id], 'asset')}" if waits_for[dag_id] else ""
            tasks = count(len(dag["tasks"]), "task")
            depends = f"{edges:,} {'dependency' if edges == 1 else 'dependencies'}"
            yield one_line(f"{dag_id}: {tasks}, {depends}{waits}")
        if len(self.dags) > _SHOWN:
            yield f"and {count(len(self.dags) - _SHOWN, 'DAG')} more"
        for reason, number in sorted(Counter(self.plan.left_out.values()).items()):
            yield f"{count(number, 'task')} left out: {reason}"
        yield from self.notes
        parts = [
            f"{len(self.files.written)} written" if self.files.written else "",
            f"{len(self.files.same)} unchanged" if self.files.same else "",
            f"{len(self.files.removed)} removed" if self.files.removed else "",
        ]
        yield one_line(f"{self.folder}: files {', '.join(filter(None, parts))}")

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        runs = {(dag.dag_id, t.task_id): t.nodes for dag in self.plan.dags for t in dag.tasks}
        return {
            "folder": str(self.folder),
            "dags": [
                {
                    "dag_id": dag.dag_id,
                    "schedule": dag.schedule or None,
                    "waits_for": [str(asset.dataset) for asset in dag.waits_for],
                    "tasks": [
                        {
                            "task_id": task["task_id"],
                            "group": task.get("task_group_name"),
                            "runs": list(runs.get((dag.dag_id, task["task_id"]), ())),
                            "dependencies": list(task.get("dependencies", ())),
                        }
                        for task in self.dags[dag.dag_id]["tasks"]
                    ],
                }
                for dag in self.plan.dags
                if dag.dag_id in self.dags
            ],
            "left_out": dict(self.plan.left_out),
            "files": {
                "written": list(self.files.written),
                "unchanged": list(self.files.same),
                "removed": list(self.files.removed),
            },
            "findings": [finding_json(finding) for finding in self.problems],
            "exit_code": 1 if self.problems else 0,
        }


def export_dags(config: Config, out: Path | None, *, force: bool) -> ExportedDags:
    """Write the DAGs of all tasks.

    Args:
        out: The folder; None for that of graft.yml.
        force: Replace files that were edited by hand, too.

    Raises:
        GraftError: There are no tasks, or the files cannot be written.
    """
    section = config.airflow
    folder = out or Path(config.path(section.out))
    described = Project(config).described(LineageView(results=False))
    plan = plan_dags(
        demanded_order(described.lineage, described.descriptions), section, config.site.url
    )
    dags, wrong = override(documents(plan.dags, section), dag_overrides(config))
    problems = (*plan.problems, *wrong)
    if problems and not dags:
        return ExportedDags(plan, dags, problems, folder, _NO_FILES)
    if not dags:
        raise GraftError("there are no tasks in the lineage", remedy="run `graft collect`")
    contents = files(dags, section.name)
    # What cannot be written today stays as it was.
    done = write_files(folder, contents, marker(section.name), remove=not problems, force=force)
    notes = open_note([*open_tasks(described.lineage)])
    return ExportedDags(plan, dags, problems, folder, done, notes)
