"""The road, step by step: collect -> lineage -> graft -> site. Thin: each step is its room's.

A step imports its room when it comes to it: the command answers at once.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import orjson

from dbt_graft.collectors import store
from dbt_graft.collectors.java import java_home
from dbt_graft.collectors.session import session
from dbt_graft.exporters.task_metadata import task_metadata
from dbt_graft.graft import output_folder
from dbt_graft.graft.config import Config
from dbt_graft.graft.output_folder import OutputFolder
from dbt_graft.graft.progress import Progress
from dbt_graft.graft.summary import Summary
from dbt_graft.injector import artifacts
from dbt_graft.injector import validate as validation
from dbt_graft.injector.forbidden import violations
from dbt_graft.injector.graft import graft as graft_lineage
from dbt_graft.injector.matching import ShortNames, short_names
from dbt_graft.injector.options import Options
from dbt_graft.injector.relations import relations
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.build import build
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.gaps import gaps
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Reject, TaskInfo


@dataclass(frozen=True, slots=True)
class Collected:
    """What collecting did: logs read now, and sources of `graft.yml` that could not be read."""

    new_logs: int = 0
    unreadable: tuple[Reject, ...] = ()


def check_outputs(config: Config, *keys: str) -> None:
    """Refuse output folders that are not graft's own, before any work is done.

    Args:
        keys: The keys of `graft.yml` whose folders are written; of all without any.

    Raises:
        GraftError: A folder is refused.
    """
    project = [config.folder, Path(config.path(config.dbt.project_dir))]
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
    """Have dbt write its artifacts.

    Raises:
        GraftError: dbt failed.
    """
    project = config.path(config.dbt.project_dir)
    command = [sys.executable, "-W", "ignore", "-m", "dbt.cli.main", "docs", "generate"]
    command += ["--project-dir", project]
    command += ["--target-path", str(config.target_dir)]
    with progress.step("dbt", "docs generate"):
        # dbt on embedded Spark needs the same Java as we do.
        environment = {**os.environ, "JAVA_HOME": java_home()}
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise GraftError(
            f"dbt docs generate failed\n{(done.stdout + done.stderr).strip()}", place=project
        )


def collect(config: Config, progress: Progress) -> Collected:
    """Read the logs that are new into the lineage store; without new ones no Spark is started.

    Raises:
        GraftError: None of the sources can be read, or Spark or the store cannot be used.
    """
    from dbt_graft.graft.sources import sources

    place = config.path(config.store)
    known = store.positions(place)
    fresh, unreadable = [], []
    with progress.step("collect", "looking for new logs") as step:
        for source in sources(config):
            try:
                if source.new_logs(known):
                    fresh.append(source)
            except GraftError as error:
                progress.warn(str(error))
                unreadable.append(Reject(error.place, "", error.problem))
        if unreadable and len(unreadable) == len(config.collect):
            raise GraftError(
                "none of its logs can be read", place=place, remedy="correct `collect` in graft.yml"
            )
        step.say(f"{len(fresh)} of {len(config.collect)} sources have new logs")
    if not fresh:
        return Collected(unreadable=tuple(unreadable))
    _output(config, "artifacts").claim()
    log = Path(config.path(config.artifacts)) / "spark.log"
    with (
        progress.step("collect", "reading new logs with Spark") as step,
        session(config.spark, log=log) as spark,
    ):
        found = [part for source in fresh if (part := source.collect(spark, known))]
        committed = store.commit(place, found, known)
        assert committed
        step.say(f"{committed.origins:,} new logs, {committed.events:,} events")
    return Collected(committed.origins, tuple(unreadable))


def graft(
    config: Config,
    progress: Progress,
    unreadable: Sequence[Reject] = (),
    *,
    write: bool = True,
    inspect: bool = False,
    validate: bool = False,
) -> Grafted:
    """Graft the lineage in the store onto dbt's artifacts.

    Args:
        write: Write the grafted copies.
        inspect: Report what was wrong with dbt's artifacts before.
        validate: Have dbt's own loader and schema read them, which takes longer than all the rest.

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
        known = relations(read.manifest, config.dbt.namespace)
        lineage = _lineage(config, short_names(read.manifest, known), unreadable)
        grafted = graft_lineage(read, lineage, _options(config, inspect=inspect), known)
        if write:
            _output(config, "artifacts").claim()
            artifacts.write(grafted, out)
            _write(out / "task_metadata.json", _json(task_metadata(grafted.touched)))
        report = grafted.report
        step.say(f"{len(report.promoted)} promoted, {len(report.added)} new models")
    for notice in report.notices:
        progress.warn(notice)
    if validate:
        with progress.step("inject", "validating the artifacts with dbt"):
            if faults := validation.faults(read, grafted):
                raise GraftError("\n".join(faults), place=str(out), remedy="please report this")
    return grafted


def check(config: Config, progress: Progress) -> Grafted:
    """Graft without writing anything.

    Raises:
        ForbiddenError: The artifacts would change in a way that graft.yml forbids.
    """
    grafted = graft(config, progress, write=False)
    section = config.check
    if found := violations(grafted.report, section.forbid, section.accept):
        raise ForbiddenError(
            "\n".join(["the artifacts would change in ways that are forbidden", *map(str, found)]),
            remedy="correct it, or name what is as it should be under `check.accept` in graft.yml",
        )
    return grafted


class ForbiddenError(GraftError):
    """A graft would change the artifacts in a way that the team forbids."""

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
    """The documents are millions of objects without cycles: to look for some takes longer than
    the work itself."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _lineage(config: Config, short: ShortNames, unreadable: Sequence[Reject]) -> Lineage:
    records = store.read(config.path(config.store))
    records = replace(records, rejects=(*records.rejects, *unreadable))
    rules = config.name_rules
    return build(
        records,
        lambda dataset: short(rules(dataset)),
        _infos(config),
        failed=config.lineage.failed,
    )


def _infos(config: Config) -> dict[str, TaskInfo]:
    """What people say of tasks: graft.yml first, then files of declared lineage."""
    found = {}
    if any(entry.declared for entry in config.collect):
        from dbt_graft.graft.sources import declared_infos

        found = declared_infos(config)
    for name, told in config.task_infos.items():
        said = {key: value for key, value in asdict(told).items() if value}
        found[name] = replace(found.get(name, told), **said)
    return found


def _options(config: Config, *, inspect: bool) -> Options:
    section = config.dbt
    return Options(section.namespace, tags=section.tags, inspect=inspect, code=config.task_code)


def publish(config: Config, progress: Progress, grafted: Grafted) -> Path:
    """Publish the site; the page to open first.

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
        page = docs.Settings(section.title or name, favicon, section.slim)
        built = build_catalog(
            grafted.lineage,
            grafted.descriptions,
            grafted.consumers,
            SiteSettings(name, config.site.url, store.collected_at(config.path(config.store))),
            folder,
            docs_page=docs.page(grafted, page),
            extra_files={"task_metadata.json": _json(task_metadata(grafted.lineage))},
        )
        step.say(f"{built.pages:,} pages")
    return output.path / "index.html"


def summary(
    config: Config,
    grafted: Grafted,
    collected: Collected | None = None,
    index: Path | None = None,
) -> Summary:
    """What there is now: with a site all that dbt knows too, without one what tasks touch."""
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
