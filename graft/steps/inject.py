"""The steps behind collecting: lineage -> graft; `graft.sites` publishes it. Each calls its room.

Rooms are imported when a step needs them, so that `graft --help` is fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from dbt_graft.analysis.checks.agreement import findings
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors.dbt.columns import ModelCount
from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.collectors.store.logs import noise
from dbt_graft.collectors.store.positions import positions
from dbt_graft.exporters.task_metadata import task_metadata_file
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.damaged_store import damaged_files, read_rest
from dbt_graft.graft.project.index_files import outdated_files
from dbt_graft.graft.project.output_file import write_file
from dbt_graft.graft.project.outputs import output_of
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.project import Project, no_deep_values
from dbt_graft.graft.project.published import check_not_empty, last_tasks
from dbt_graft.graft.project.task_codes import explained_text
from dbt_graft.graft.project.view import LineageView, Moment
from dbt_graft.graft.questions.checks import environments, unmatched_clients, unused_entries
from dbt_graft.graft.steps.summary import Summary
from dbt_graft.injector import artifacts
from dbt_graft.injector.integrity import faults
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.gaps import gaps
from dbt_graft.lineage.garbage import without_garbage_collection
from dbt_graft.lineage.records import Reject

if TYPE_CHECKING:
    from dbt_graft.catalog.build import PublishedSite
    from dbt_graft.graft.steps.collecting import CollectResult

_GRAFTING = "grafting the lineage onto dbt's artifacts"


@without_garbage_collection()
def graft(
    config: Config,
    progress: Progress,
    unreadable: Sequence[Reject] = (),
    *,
    inspect: bool = False,
    validate: bool = False,
    allow_empty: bool = False,
    past: Moment | None = None,
) -> Grafted:
    """Graft the lineage in the store onto dbt's artifacts, and write the grafted copies.

    Args:
        inspect: Report what was wrong with dbt's artifacts before.
        validate: Check them, with dbt's own loader and schema where dbt-core is installed, which
            takes longer than the rest.
        allow_empty: Go on with a store that is missing or empty, and was not at the last build.
        past: The lineage as of this time.

    Raises:
        GraftError: dbt's artifacts are missing or damaged, or the grafted ones are not valid.
    """
    project = Project(config, warn=progress.warn, tolerant=True, unreadable=unreadable)
    view = LineageView(past)
    with progress.step("inject", _GRAFTING) as step:
        files = None if past else outdated_files(config)
        if not allow_empty:
            _check_not_empty(project, view)
        step.measure = models = ModelCount()
        grafted = project.grafted(view, inspect=inspect, count=models)
        step.measure = None
        with no_deep_values(config):
            _write_artifacts(project, grafted)
        step.result = _counts(grafted)
    _warn(project, view, grafted, progress)
    if validate and project.dbt:
        with progress.step("inject", "validating the artifacts"):
            new_faults, unchecked = faults(project.dbt.artifacts, grafted)
            for message in unchecked:
                progress.warn(message)
            if new_faults:
                out = config.path(config.artifacts)
                raise GraftError("\n".join(new_faults), place=out, remedy="please report this")
    # What a damaged store or an unreadable log lacks, a question must say by itself.
    if files and not (project.damaged or unreadable) and collected_at(config.path(config.store)):
        from dbt_graft.graft.project.built_indexes import write_indexes

        write_indexes(files, project)
    return grafted


def _counts(grafted: Grafted) -> str:
    report = grafted.report
    return (
        f"{count(len(report.promoted), 'source')} promoted, {count(len(report.added), 'new model')}"
    )


def _check_not_empty(project: Project, view: LineageView) -> None:
    config = project.config
    if not view.past:
        check_not_empty(config.path(config.store), project.records(view), last_tasks(config))


def _warn(project: Project, view: LineageView, grafted: Grafted, progress: Progress) -> None:
    """Warn of what is damaged, and of inputs and settings without the effect that was meant."""
    store_folder = project.config.path(project.config.store)
    for reject in project.damaged:
        progress.warn(f"{store_folder}: {reject.origin}; the rest of the store is published")
    if project.unnamed:
        # Most have none, and importing it takes longer than the message.
        from dbt_graft.graft.project.sources import unnamed_text

        progress.warn(unnamed_text(project.unnamed))
    for notice in grafted.report.notices:
        progress.warn(notice)
    for finding in _findings(project, view, grafted):
        progress.warn(f"{finding.subject}: {finding.problem}; {finding.remedy}")


def _findings(project: Project, view: LineageView, grafted: Grafted) -> Iterator[Finding]:
    config, records = project.config, project.records(view)
    store_folder = config.path(config.store)
    # What graft.yml names may be younger than a past state.
    if not view.past:
        yield from unused_entries.find_unused_entries(config, records)
        if project.dbt:
            yield from unused_entries.foreign_namespace(
                records, project.rename, project.dbt.platform
            )
        yield from unmatched_clients.find_unmatched_clients(
            *(config, records),
            lambda: read_rest(store_folder, partial(positions, store_folder))[0],
        )
        yield from environments.find_mixed_environments(
            records, project.rename, config.check.accept
        )
    if project.settings.dates:
        from dbt_graft.analysis.dates.access_history import AccessHistory
        from dbt_graft.analysis.dates.mapping_findings import mapping_findings

        # How the dates of an edge belong together, many runs show.
        yield from mapping_findings(AccessHistory(project.lineage(LineageView(view.past))))
    yield from findings(grafted.report.column_differences)


def _write_artifacts(project: Project, grafted: Grafted) -> None:
    output = output_of(project.config, "artifacts")
    output.claim()
    artifacts.write(grafted, output.path)
    project.write_caches()
    write_file(output.path / "task_metadata.json", task_metadata_file(grafted.touched))


def summary(
    config: Config,
    grafted: Grafted,
    collected: CollectResult | None = None,
    site: PublishedSite | None = None,
) -> Summary:
    """Count what there is now: without a site only what tasks touch, with one all dbt nodes."""
    lineage = grafted.lineage if site else grafted.touched
    report = grafted.report
    tasks = lineage.tasks.values()
    store_folder = config.path(config.store)
    left_out, _ = read_rest(store_folder, partial(noise, store_folder))
    return Summary(
        store=store_folder,
        new_logs=collected.new_logs if collected else None,
        tasks=len(tasks),
        runs=sum(task.run_count for task in tasks),
        datasets=len(lineage.datasets),
        flows=len(lineage.flows),
        promoted=len(report.promoted),
        added=len(report.added),
        new_sources=len(report.new_sources),
        second_writers=len(report.second_writers),
        cycles=len(report.cycles),
        rejects=lineage.rejects,
        unread=collected.unreadable if collected else (),
        damaged=damaged_files(lineage.rejects),
        noise=left_out,
        other_clients=collected.other_clients if collected else {},
        gaps=gaps(lineage.shapes.values()),
        ignored=lineage.ignored,
        columns=grafted.followed.coverage,
        code=explained_text(lineage.codes.values()),
        artifacts=config.path(config.artifacts),
        site=str(site.index) if site else None,
        pages=site.pages if site else None,
        pages_changed=site.changed if site else None,
    )
