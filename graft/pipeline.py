"""The steps behind collecting: lineage -> graft; `graft.sites` publishes it. Each calls its room.

Rooms are imported when a step needs them, so that `graft --help` is fast.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.collectors import store
from dbt_graft.collectors.dbt.column_cache import ColumnCache
from dbt_graft.collectors.dbt.columns import ModelCount, dbt_columns
from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.exporters.task_metadata import task_metadata, task_metadata_file
from dbt_graft.graft import unmatched_clients, unused_entries
from dbt_graft.graft.collecting import CollectResult
from dbt_graft.graft.config import Config
from dbt_graft.graft.contracts import contracted
from dbt_graft.graft.damaged_store import damaged_files, read_rest
from dbt_graft.graft.dbt_labels import with_dbt_labels
from dbt_graft.graft.dbt_relations import dbt_platform, dbt_relations
from dbt_graft.graft.impact_index import index_to_write
from dbt_graft.graft.output_file import write_file
from dbt_graft.graft.outputs import output_of
from dbt_graft.graft.past import Moment, past_records
from dbt_graft.graft.progress import Progress
from dbt_graft.graft.published import (
    TaskMetadata,
    check_not_empty,
    last_published,
    lost_lineage,
)
from dbt_graft.graft.sources import declared_dates, task_infos
from dbt_graft.graft.summary import Summary
from dbt_graft.injector import artifacts
from dbt_graft.injector import validate as validation
from dbt_graft.injector.forbidden import Violation, violations
from dbt_graft.injector.graft import graft as graft_lineage
from dbt_graft.injector.manifest import projects
from dbt_graft.injector.matching import ShortNames, short_names
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.platform import Platform
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.agreement import findings
from dbt_graft.lineage.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.findings import Finding
from dbt_graft.lineage.gaps import gaps
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Records, Reject
from dbt_graft.lineage.states.access_history import AccessHistory
from dbt_graft.lineage.states.mapping_findings import mapping_findings

if TYPE_CHECKING:
    from dbt_graft.catalog.build import PublishedSite


def graft(
    config: Config,
    progress: Progress,
    unreadable: Sequence[Reject] = (),
    *,
    write: bool = True,
    inspect: bool = False,
    validate: bool = False,
    allow_empty: bool = False,
    results: bool = False,
    past: Moment | None = None,
    runs_of: Callable[[Lineage], Collection[str]] | None = None,
) -> Grafted:
    """Graft the lineage in the store onto dbt's artifacts.

    Args:
        write: Write the grafted copies.
        inspect: Report what was wrong with dbt's artifacts before.
        validate: Check them with dbt's own loader and schema, which takes longer than the rest.
        allow_empty: Go on with a store that is missing or empty, and was not at the last build.
        results: With the results of dbt's nodes, which only pages show.
        past: The lineage as of this time.
        runs_of: The tasks of a lineage whose runs are all needed; of others builds need only some.

    Raises:
        GraftError: dbt's artifacts are missing or damaged, or the grafted ones are not valid.
    """
    out = Path(config.path(config.artifacts))
    index = index_to_write(config) if write and not past else None
    with (
        progress.step("inject", "grafting the lineage onto dbt's artifacts") as step,
        _without_garbage_collection(),
        _no_deep_values(config),
    ):
        read = artifacts.read(config.target_dir)
        where = dbt_platform(config, read.adapter)
        known = dbt_relations(config, read)
        place = config.path(config.store)
        short = short_names(read.manifest, known, where)
        rules = renames(config, short)
        records, damaged = _records(
            config,
            partial(
                store.read,
                place,
                results=results,
                results_until=past.at if past else None,
                rename=rules,
                folded=past is None,
                newest=results,
            ),
            past,
            strict=not write,
            allow_empty=allow_empty,
        )
        unreadable = (*unreadable, *damaged)
        lineage = _lineage(
            config,
            short,
            rules,
            records,
            unreadable,
            projects(read.manifest),
        )
        options = _options(config, progress, where.namespace, inspect=inspect)
        cache = ColumnCache(out / "column_cache.json")
        step.measure = count = ModelCount()
        followed = dbt_columns(read.manifest, read.catalog, known.datasets, cache, count)
        step.measure = None
        grafted = graft_lineage(read, lineage, options, known, followed)
        if runs_of and (tasks := runs_of(grafted.lineage)):
            records = store.read_selected(place, tasks, results=results, rename=rules)
            every = _lineage(config, short, rules, records, unreadable, projects(read.manifest))
            with_runs = grafted.lineage.with_runs(every)
            grafted = replace(grafted, join=lambda: with_runs)
        grafted = with_dbt_labels(config, read, grafted)
        if write:
            _write_artifacts(config, grafted, cache)
        report = grafted.report
        step.result = f"{len(report.promoted)} promoted, {len(report.added)} new models"
    for one in damaged:
        progress.warn(f"{place}: {one.origin}; the rest of the store is published")
    for notice in report.notices:
        progress.warn(notice)
    all_runs = partial(store.read, place, rename=rules, folded=past is None)
    of_all_runs = partial(_records, config, all_runs, past, strict=not write, allow_empty=True)
    for finding in chain(
        _without_effect(config, records, where),
        _mapping_findings(
            lineage,
            lambda: _lineage(
                config, short, rules, of_all_runs()[0], unreadable, projects(read.manifest)
            ),
        ),
        findings(report.column_differences),
    ):
        progress.warn(f"{finding.subject}: {finding.problem}; {finding.remedy}")
    if validate:
        with progress.step("inject", "validating the artifacts with dbt"):
            if faults := validation.faults(read, grafted):
                raise GraftError("\n".join(faults), place=str(out), remedy="please report this")
    done = contracted(grafted, config, progress.warn)
    if index and not damaged:
        index.write(DescribedLineage(done.lineage, done.descriptions, done.consumers))
    return done


def _write_artifacts(config: Config, grafted: Grafted, cache: ColumnCache) -> None:
    output = output_of(config, "artifacts")
    output.claim()
    artifacts.write(grafted, output.path)
    cache.write()
    write_file(output.path / "task_metadata.json", task_metadata_file(grafted.touched))


def check(
    config: Config, progress: Progress, *, allow_empty: bool = False, past: Moment | None = None
) -> Grafted:
    """Graft without writing anything.

    Raises:
        ForbiddenError: The artifacts would change in a way that `check.forbid` names.
    """
    grafted = graft(config, progress, write=False, allow_empty=allow_empty, past=past)
    if found := forbidden(config, grafted):
        raise ForbiddenError(
            "\n".join(["the artifacts would change in forbidden ways", *map(str, found)]),
            remedy="correct it, or list what you accept under `check.accept` in graft.yml",
        )
    return grafted


def forbidden(config: Config, grafted: Grafted) -> list[Violation]:
    """The changes of a graft that `check.forbid` names, those that are accepted left out."""
    section = config.check
    lost = lost_lineage(_published(config), task_metadata(grafted.lineage))
    return violations(grafted.report, section.forbid, section.accept, lost)


class ForbiddenError(GraftError):
    """A graft would change the artifacts in a way that graft.yml forbids."""

    exit_code = 4


@contextmanager
def _no_deep_values(config: Config) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        place = str(config.target_dir)
        raise GraftError("a value in an artifact is nested too deeply", place=place) from error


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the collection of reference cycles.

    The documents are millions of objects without cycles; searching them takes longer than the
    work itself.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _mapping_findings(lineage: Lineage, of_all_runs: Callable[[], Lineage]) -> Iterable[Finding]:
    """The findings on declared dates; how those of an edge belong together, many runs show."""
    return mapping_findings(AccessHistory(of_all_runs())) if lineage.declared_dates else ()


def _records(
    config: Config,
    read: Callable[..., Records],
    past: Moment | None,
    *,
    strict: bool,
    allow_empty: bool,
) -> tuple[Records, tuple[Reject, ...]]:
    """The records in the store, and a reject for each damaged file that they lack.

    Raises:
        StoreError: It is damaged, and must be whole; or it cannot be read at all.
        GraftError: It is empty, and was not at the last build.
    """
    place = config.path(config.store)
    damaged: tuple[Reject, ...] = ()
    if strict:
        records = read()
    else:
        records, damaged = read_rest(place, lambda without: read(without=without))
    records = past_records(place, records, past)
    if not (past or allow_empty):
        check_not_empty(place, records, _published(config))
    return records, damaged


def _without_effect(config: Config, records: Records, dbt: Platform) -> Iterator[Finding]:
    yield from unused_entries.without_effect(config, records)
    yield from unused_entries.foreign_namespace(config, records, dbt)
    place = config.path(config.store)
    yield from unmatched_clients.without_task(
        config, records, lambda: read_rest(place, partial(store.positions, place))[0]
    )


def _published(config: Config) -> TaskMetadata:
    folders = (config.path(config.site.out), config.path(config.artifacts))
    return last_published(*map(Path, folders))


def _lineage(
    config: Config,
    short: ShortNames,
    rules: Rename,
    records: Records,
    unreadable: Sequence[Reject],
    own_projects: Collection[str],
) -> Lineage:
    rejects = tuple(dict.fromkeys((*records.rejects, *unreadable)))
    records = replace(records, rejects=rejects)
    return build(
        records,
        rules,
        task_infos(config),
        failed=config.lineage.failed,
        infer_columns=config.lineage.infer_columns,
        projects=own_projects,
        one_name=replace(config.one_name, apart=short.spelled),
        dates=declared_dates(config),
        ignore=config.lineage.ignore_tasks,
    )


def renames(config: Config, short: ShortNames) -> Rename:
    """The name of a dataset of the logs after the rules of graft.yml, in dbt's spelling."""
    rules = config.name_rules
    former = {namespace.casefold() for namespace in config.former_namespaces}

    @cache
    def name(dataset: DatasetId) -> DatasetId:
        renamed = rules(dataset)
        return short(renamed if renamed == dataset else short.formerly(renamed, former))

    return name


def _options(config: Config, progress: Progress, namespace: str, *, inspect: bool) -> GraftOptions:
    # A bracket would end the link in Markdown.
    site = config.site.url.replace("(", "%28").replace(")", "%29").rstrip("/")
    return GraftOptions(
        namespace,
        f"{site}/" if site else "",
        tags=config.dbt.tags,
        inspect=inspect,
        code=config.task_code(progress.warn),
    )


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
    place = config.path(config.store)
    noise, _ = read_rest(place, partial(store.noise, place))
    return Summary(
        store=place,
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
        noise=noise,
        gaps=gaps(lineage.shapes.values()),
        ignored=lineage.ignored,
        columns=grafted.followed.coverage,
        artifacts=config.path(config.artifacts),
        site=str(site.index) if site else None,
        pages=site.pages if site else None,
        pages_changed=site.changed if site else None,
    )
