"""The steps of the command: collect -> lineage -> graft -> site. Each calls its room.

Rooms are imported when a step needs them, so that `graft --help` is fast.
"""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path

import orjson

from dbt_graft.collectors import store
from dbt_graft.collectors.java import java_home
from dbt_graft.collectors.reading import Reading
from dbt_graft.collectors.session import session
from dbt_graft.collectors.source import (
    LogSource,
    changed_settings,
    is_below,
    settings_of,
    to_read_again,
)
from dbt_graft.exporters.task_metadata import task_metadata
from dbt_graft.graft import dbt_folders, output_folder
from dbt_graft.graft.config import Config
from dbt_graft.graft.output_folder import OutputFolder
from dbt_graft.graft.progress import Progress
from dbt_graft.graft.published import (
    TaskMetadata,
    check_not_empty,
    last_published,
    lost_lineage,
)
from dbt_graft.graft.summary import Summary
from dbt_graft.injector import artifacts
from dbt_graft.injector import validate as validation
from dbt_graft.injector.forbidden import violations
from dbt_graft.injector.graft import graft as graft_lineage
from dbt_graft.injector.locations import Places
from dbt_graft.injector.matching import ShortNames, short_names
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.platform import Platform, platform
from dbt_graft.injector.profile import Connection, read_connection
from dbt_graft.injector.relations import Relations, relations
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.findings import Finding
from dbt_graft.lineage.gaps import gaps
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Records, Reject, TaskInfo

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CollectResult:
    """The result of a collect.

    Attributes:
        new_logs: The number of logs that were read now.
        unreadable: Sources of `graft.yml`, and logs, that could not be read.
    """

    new_logs: int = 0
    unreadable: tuple[Reject, ...] = ()


def check_outputs(config: Config, *keys: str) -> None:
    """Refuse output folders that are not graft's own, before any work is done.

    Args:
        keys: The keys of `graft.yml` whose folders are written; of all without any.

    Raises:
        GraftError: A folder is refused.
    """
    project = [config.folder, config.project_dir]
    store_folder = config.path(config.store)
    protected = {
        "the project": project,
        output_folder.TARGET: [config.target_dir],
        output_folder.STORE: [] if "://" in store_folder else [Path(store_folder)],
    }
    output_folder.check([_output(config, key) for key in keys or _OUTPUTS], protected)


def _output(config: Config, key: str) -> OutputFolder:
    return OutputFolder(key, Path(config.path(_OUTPUTS[key](config))))


_OUTPUTS: Mapping[str, Callable[[Config], str]] = {
    "artifacts": lambda config: config.artifacts,
    "site.out": lambda config: config.site.out,
}


def generate_dbt_docs(config: Config, progress: Progress) -> None:
    """Run `dbt docs generate`.

    Raises:
        GraftError: dbt failed.
    """
    project = str(config.project_dir)
    command = [sys.executable, "-W", "ignore", "-m", "dbt.cli.main", "docs", "generate"]
    command += ["--project-dir", project]
    command += ["--target-path", str(config.target_dir)]
    if not (config.project_dir / dbt_folders.PROJECT_FILE).is_file():
        raise GraftError(
            f"there is no {dbt_folders.PROJECT_FILE}",
            place=project,
            remedy="name the folder of your dbt project as `dbt.project_dir` in graft.yml",
        )
    lines = []
    with progress.step("dbt", "docs generate"):
        # dbt on embedded Spark needs the same Java as we do.
        environment = {**os.environ, **dbt_folders.environment()}
        with suppress(GraftError):  # other adapters need none
            environment["JAVA_HOME"] = java_home()
        with subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as dbt:
            for line in dbt.stdout or ():
                progress.line("dbt", line.rstrip())
                lines.append(line)
        if dbt.returncode:
            text = "".join(lines)
            remedy = ""
            if "Could not find adapter type spark" in text:
                remedy = "pip install 'dbt-graft[spark]'"
            elif "Could not find adapter type" in text:
                remedy = "install the adapter beside dbt-graft, or run `dbt docs generate` yourself"
            output = text.strip() if progress.quiet else "see above"
            raise GraftError(f"`dbt docs generate` failed: {output}", place=project, remedy=remedy)


def collect(config: Config, progress: Progress, *, again: str | None = None) -> CollectResult:
    """Read new logs into the lineage store. Spark is started only if there are any.

    Args:
        again: Read all logs of this source again, of all sources if it is empty. What a source no
            longer shows stays in the store.

    Raises:
        GraftError: None of the sources can be read, there is no source `again`, a file of declared
            lineage is not valid, or Spark or the store cannot be used.
    """
    _infos(config)  # Reading logs may take an hour; an invalid file is reported before.
    from dbt_graft.graft.sources import sources

    place = config.path(config.store)
    # The way back from a damaged store is to read everything again.
    damaged = store.damages(place) if again == "" else {}
    for fault in (fault for faults in damaged.values() for fault in faults):
        progress.warn(f"{place}: {fault}; its lineage is read again, as far as its logs are there")
    before = store.positions(place, damaged)
    listed = list(sources(config, tuple(damaged)))
    changed = changed_settings(store.settings(place, damaged), listed)
    asked_for = _labels_again(listed, again)
    again_now = {one for one in before if any(is_below(one, label) for label in asked_for)}
    known = to_read_again(before, changed | again_now)
    fresh: list[LogSource] = []
    faults: list[GraftError] = []
    with progress.step("collect", "looking for new logs") as step:
        for source in listed:
            try:
                if source.new_logs(known):
                    fresh.append(source)
            except GraftError as error:
                _log.debug("a source cannot be read", exc_info=True)
                faults.append(error)
        if faults and len(faults) == len(listed):
            raise _all_unreadable(faults)
        for unread in faults:
            progress.warn(str(unread))
        unreadable = tuple(Reject(error.place, "", error.problem) for error in faults)
        step.result = f"{len(fresh)} of {len(listed)} sources have new logs"
        if unreadable:
            step.result += f", {len(unreadable)} cannot be read"
    if not fresh:
        return CollectResult(unreadable=unreadable)
    _output(config, "artifacts").claim()
    log = Path(config.path(config.artifacts)) / "spark.log"
    with (
        progress.step("collect", "reading new logs with Spark") as step,
        session(config.spark, log=log) as spark,
    ):
        reading = step.measure = Reading(spark)
        found = [part for source in fresh if (part := source.collect(spark, known, reading))]
        committed = store.commit(
            *(place, found, before),
            give_up=tuple(damaged),
            settings=partial(settings_of, sources=listed),
        )
        pending = [reject for part in found for reject in part.pending]
        origins, events = (committed.origins, committed.events) if committed else (0, 0)
        step.result = f"{origins:,} new logs, {events:,} events"
    for reject in pending:
        progress.warn(f"{reject.origin}: {reject.reason}\n  the next collect reads it again")
    return CollectResult(origins, (*unreadable, *pending))


def _labels_again(listed: Sequence[LogSource], again: str | None) -> list[str]:
    labels = [source.label for source in listed]
    if again and again not in labels:
        raise GraftError(
            f"there is no source {again!r}",
            place="--again",
            remedy=f"name one of {', '.join(labels)}",
        )
    return labels if again == "" else [again] if again else []


def _all_unreadable(faults: Sequence[GraftError]) -> GraftError:
    if len(faults) == 1:
        return faults[0]
    reasons = "\n".join(f"  {fault}".replace("\n", "\n  ") for fault in faults)
    return GraftError(f"no source of `collect` in graft.yml can be read\n{reasons}")


def graft(
    config: Config,
    progress: Progress,
    unreadable: Sequence[Reject] = (),
    *,
    write: bool = True,
    inspect: bool = False,
    validate: bool = False,
    allow_empty: bool = False,
) -> Grafted:
    """Graft the lineage in the store onto dbt's artifacts.

    Args:
        write: Write the grafted copies.
        inspect: Report what was wrong with dbt's artifacts before.
        validate: Check them with dbt's own loader and schema, which takes longer than the rest.
        allow_empty: Go on with a store that is missing or empty, and was not at the last build.

    Raises:
        GraftError: dbt's artifacts are missing or damaged, or the grafted ones are not valid.
    """
    out = Path(config.path(config.artifacts))
    with (
        progress.step("inject", "grafting the lineage onto dbt's artifacts") as step,
        _without_garbage_collection(),
        _no_deep_values(config),
    ):
        read = artifacts.read(config.target_dir)
        where = dbt_platform(config, read.adapter)
        known = dbt_relations(config, read)
        place = config.path(config.store)
        records = store.read(place)
        if not allow_empty:
            check_not_empty(place, records, _published(config))
        lineage = _lineage(config, short_names(read.manifest, known, where), records, unreadable)
        options = _options(config, progress, where.namespace, inspect=inspect)
        grafted = graft_lineage(read, lineage, options, known)
        if write:
            _output(config, "artifacts").claim()
            artifacts.write(grafted, out)
            _write(out / "task_metadata.json", _json(task_metadata(grafted.touched)))
        report = grafted.report
        step.result = f"{len(report.promoted)} promoted, {len(report.added)} new models"
    for notice in report.notices:
        progress.warn(notice)
    for finding in _without_effect(config, records, where):
        progress.warn(f"{finding.subject}: {finding.problem}; {finding.remedy}")
    if validate:
        with progress.step("inject", "validating the artifacts with dbt"):
            if faults := validation.faults(read, grafted):
                raise GraftError("\n".join(faults), place=str(out), remedy="please report this")
    return grafted


def check(config: Config, progress: Progress, *, allow_empty: bool = False) -> Grafted:
    """Graft without writing anything.

    Raises:
        ForbiddenError: The artifacts would change in a way that `check.forbid` names.
    """
    grafted = graft(config, progress, write=False, allow_empty=allow_empty)
    section = config.check
    lost = lost_lineage(_published(config), task_metadata(grafted.lineage))
    if found := violations(grafted.report, section.forbid, section.accept, lost):
        raise ForbiddenError(
            "\n".join(["the artifacts would change in forbidden ways", *map(str, found)]),
            remedy="correct it, or list what you accept under `check.accept` in graft.yml",
        )
    return grafted


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


def _without_effect(config: Config, records: Records, dbt: Platform) -> Iterator[Finding]:
    from dbt_graft.graft.doctor import clients, settings

    yield from settings.without_effect(config, records)
    yield from settings.foreign_namespace(config, records, dbt)
    positions = store.positions(config.path(config.store))
    yield from clients.without_task(config, records, positions)


def _published(config: Config) -> TaskMetadata:
    folders = (config.path(config.site.out), config.path(config.artifacts))
    return last_published(*map(Path, folders))


def _lineage(
    config: Config, short: ShortNames, records: Records, unreadable: Sequence[Reject]
) -> Lineage:
    rejects = tuple(dict.fromkeys((*records.rejects, *unreadable)))
    records = replace(records, rejects=rejects)
    rules = config.name_rules
    former = {namespace.casefold() for namespace in config.former_namespaces}

    @cache
    def name(dataset: DatasetId) -> DatasetId:
        renamed = rules(dataset)
        return short(renamed if renamed == dataset else short.formerly(renamed, former))

    return build(
        records,
        name,
        _infos(config),
        failed=config.lineage.failed,
    )


def _infos(config: Config) -> dict[str, TaskInfo]:
    """Owners, descriptions and so on of tasks: from graft.yml, else from declared lineage."""
    found = {}
    if any(entry.declared for entry in config.collect):
        from dbt_graft.graft.sources import declared_infos

        found = declared_infos(config)
    for name, info in config.task_infos.items():
        filled = {key: value for key, value in asdict(info).items() if value}
        found[name] = replace(found.get(name, info), **filled)
    return found


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


def dbt_platform(config: Config, adapter: str) -> Platform:
    """The platform of dbt's relations, by `dbt.namespace`, else by dbt's adapter and profile."""
    return platform(adapter, _connection(config), config.dbt.namespace)


def dbt_relations(config: Config, read: artifacts.Artifacts) -> Relations:
    """The relations of dbt's manifest, as datasets."""
    namespace = dbt_platform(config, read.adapter).namespace
    return relations(read.manifest, namespace, _places(config))


def _places(config: Config) -> Places:
    """The starts of relative paths in the manifest, for the files of dbt's relations."""
    project = config.project_dir
    return Places(project, _connection(config).get("external_root", "."))


def _connection(config: Config) -> Connection:
    return read_connection(config.project_dir, os.environ)


def publish(config: Config, progress: Progress, grafted: Grafted) -> Path:
    """Publish the site and return the path of its home page.

    Raises:
        GraftError: The site cannot be written.
    """
    from dbt_graft.catalog.build import SiteSettings
    from dbt_graft.catalog.build import build as build_catalog
    from dbt_graft.injector import docs

    output = _output(config, "site.out")
    with progress.step("site", "building the pages") as step, output.replaced() as folder:
        name, section = config.site.name, config.docs
        favicon = Path(config.path(section.favicon)) if section.favicon else None
        page = docs.DocsPageSettings(section.title or name, favicon, section.slim)
        docs_page = None
        if docs.is_too_old():
            progress.warn(f"the site is published without dbt docs: {docs.NEEDED}")
        else:
            docs_page = docs.page(grafted, page)
        built = build_catalog(
            grafted.lineage,
            grafted.descriptions,
            grafted.consumers,
            SiteSettings(
                name,
                config.site.url,
                store.collected_at(config.path(config.store)),
                _moved(config, grafted),
            ),
            folder,
            docs_page=docs_page,
            extra_files={"task_metadata.json": _json(task_metadata(grafted.lineage))},
        )
        step.result = f"{built.pages:,} pages"
    return output.path / "index.html"


def _moved(config: Config, grafted: Grafted) -> dict[str, str]:
    """Former namespace -> that of dbt's relations now."""
    now = dbt_platform(config, str(grafted.manifest["metadata"].get("adapter_type") or ""))
    return dict.fromkeys(config.former_namespaces, now.namespace)


def summary(
    config: Config,
    grafted: Grafted,
    collected: CollectResult | None = None,
    index: Path | None = None,
) -> Summary:
    """Count what there is now: without a site only what tasks touch, with one all dbt nodes."""
    lineage = grafted.lineage if index else grafted.touched
    report = grafted.report
    tasks = lineage.tasks.values()
    return Summary(
        store=config.path(config.store),
        new_logs=collected.new_logs if collected else None,
        tasks=len(tasks),
        runs=sum(len(task.runs) for task in tasks),
        datasets=len(lineage.datasets),
        flows=len(lineage.flows),
        promoted=len(report.promoted),
        added=len(report.added),
        new_sources=len(report.new_sources),
        second_writers=len(report.second_writers),
        cycles=len(report.cycles),
        rejects=lineage.rejects,
        unread=collected.unreadable if collected else (),
        noise=store.noise(config.path(config.store)),
        gaps=gaps(lineage.shapes.values()),
        artifacts=config.path(config.artifacts),
        site=str(index) if index else None,
    )


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(content)
    beside.replace(path)
