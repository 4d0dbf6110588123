"""The sites of a build: that of the team, and those for other audiences.

The rooms that make pages are imported when a site is built, so that other commands start fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.analysis.history.changes import NO_BUILDS, BuildHistory
from dbt_graft.collectors.store import door as store
from dbt_graft.exporters.task_metadata import task_metadata_file
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.damaged_store import damaged_files, read_rest
from dbt_graft.graft.project.dbt_relations import dbt_platform
from dbt_graft.graft.project.declared_labels import has_labels
from dbt_graft.graft.project.outputs import output_of
from dbt_graft.graft.project.past import past_notice
from dbt_graft.graft.project.privacy_labels import project_labels
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.steps.docs_pages import docs_pages
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.addresses import Address
from dbt_graft.lineage.building.daily import DailyHistory
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.garbage import without_garbage_collection
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename

if TYPE_CHECKING:
    from dbt_graft.catalog.build import PublishedSite
    from dbt_graft.catalog.dbt_docs import DbtDocs
    from dbt_graft.catalog.settings import SiteExtras, SiteSettings
    from dbt_graft.graft.questions.audience.site import AudienceSite

_SHOWN = 10  # leaks that an error names


@frozen
class _SiteContent:
    """The content of a site, and what earlier builds left for it.

    Attributes:
        past: The time as of which the lineage is; None for now.
        audience: None for the site of the team, which sees all.
        days: The last year of tasks and datasets, by day.
    """

    grafted: Grafted
    past: Moment | None
    audience: AudienceSite | None
    days: DailyHistory
    addresses: tuple[Address, ...] = ()
    history: BuildHistory = NO_BUILDS


def publish_sites(
    config: Config,
    progress: Progress,
    grafted: Grafted,
    *,
    full: bool = False,
    past: Moment | None = None,
) -> PublishedSite:
    """Publish the site, and those of `site.audiences`; as `publish_site`.

    Returns:
        The first of them.

    Raises:
        GraftError: One of them cannot be published; the others are.
    """
    published = publish_site(config, progress, grafted, full=full, past=past)
    faults = []
    for site_config in config.for_audiences():
        try:
            publish_site(site_config, progress, grafted, full=full)
        except GraftError as fault:
            faults.append(fault)
    if faults:
        raise faults[0] if len(faults) == 1 else GraftError("\n".join(map(str, faults)))
    return published


def publish_site(
    config: Config,
    progress: Progress,
    grafted: Grafted,
    *,
    full: bool = False,
    past: Moment | None = None,
) -> PublishedSite:
    """Publish the site.

    Args:
        full: Make every page again, also those that did not change.
        past: The lineage is as of this time: each page says so, and the store does not remember
            the build.

    Raises:
        GraftError: The site cannot be written; or it would name what its readers may not see, or
            may, as it is of the past, and nothing is published.
    """
    from dbt_graft.catalog.build import build as build_catalog
    from dbt_graft.catalog.previous import EarlierBuilds, PreviousSite, read_previous, write_record
    from dbt_graft.exporters.data.files import write_views

    output, content = output_of(config, "site.out"), _content(config, grafted, past)
    audience, lineage = content.audience, content.grafted.described
    of = f"-{config.site.audience}" if audience else ""
    artifacts = Path(config.path(config.artifacts))
    record = artifacts / f"site_pages{of}.json"
    previous = PreviousSite(output.path) if full else read_previous(record, output.path)
    unchanged: set[str] = set()
    if not audience:  # all files of its site are searched for leaks
        previous = replace(previous, keep=unchanged.add)
    with (
        progress.step("site", "building the pages") as step,
        output.replaced(unchanged) as folder,
        without_garbage_collection(),
    ):
        notices = _notices(content)
        pages = audience.docs_pages(config.docs.pages) if audience else config.docs.pages
        docs, docs_files = docs_pages(config, progress, content.grafted, past, notices, pages)
        settings = _settings(config, content, notices)
        extras = _extras(config, content, docs, docs_files)
        earlier = EarlierBuilds(content.addresses, content.history, previous)
        built = build_catalog(lineage, settings, folder, extras, earlier)
        if config.site.data:
            write_views(lineage, folder / "data")
        step.result = f"{built.changed:,} of {built.pages:,} pages changed"
        if audience:
            check_leaks(audience, folder)
            step.result += f"; {audience.summary}"
        write_record(record, built.record)
    if built.no_full_text:
        progress.warn(f"search finds names only, as Pagefind cannot run: {built.no_full_text}")
    if not past and not audience:
        _remember(config, content, built)
    return replace(built, index=output.path / "index.html")


def _content(config: Config, grafted: Grafted, past: Moment | None) -> _SiteContent:
    """The content of the site of a `graft.yml`: all, or what its audience may see."""
    store_folder = config.path(config.store)
    taints = store.recorded_taints(store_folder)
    lineage = grafted.lineage
    lineage = replace(lineage, history=replace(lineage.history, taints=taints))
    described = replace(grafted.described, lineage=lineage)
    grafted = replace(grafted, describe=lambda: described)
    daily_history = partial(store.daily_history, store_folder, _final_names(lineage))
    if audience := _audience_site(config, grafted, past):
        # The store may have a hidden task by another name, so that no list of those is complete.
        days, _ = read_rest(store_folder, partial(daily_history, counted_tasks=audience.view.tasks))
        # Addresses and history name what is gone, of which nobody knows who may see it.
        return _SiteContent(audience.grafted, past, audience, audience.days(days))
    days, _ = read_rest(store_folder, daily_history)
    addresses, history = store.addresses(store_folder), store.build_history(store_folder)
    if past:
        # What was published later is not gone, and pages had other addresses.
        addresses, history = (), history.until(past.at)
    return _SiteContent(grafted, past, None, days, addresses, history)


def _audience_site(config: Config, grafted: Grafted, past: Moment | None) -> AudienceSite | None:
    """The project as an audience may see it; None where the site is the team's.

    Raises:
        GraftError: The site is of the past.
    """
    if config.site.highest is None:
        return None
    if past:
        raise GraftError(
            "a site of the past is for no audience: it has what was labelled later",
            place=f"the site for the audience {config.site.audience}",
            remedy="name a graft.yml without `site.audience`, and publish that site for the team",
        )
    # Most sites are the team's, and need not wait for what hides things.
    from dbt_graft.graft.questions.audience.site import audience_site

    return audience_site(config, grafted)


def _notices(content: _SiteContent) -> list[str]:
    """The lines that each page of the site has at its top."""
    notices = []
    if content.past:
        made_at = content.grafted.manifest["metadata"].get("generated_at")
        notices.append(past_notice(content.past, made_at))
    if content.audience:
        notices.append(content.audience.notice)
    return notices


def _settings(config: Config, content: _SiteContent, notices: Sequence[str]) -> SiteSettings:
    from dbt_graft.catalog.settings import SiteSettings

    store_folder = config.path(config.store)
    collected_at, _ = read_rest(store_folder, partial(store.collected_at, store_folder))
    return SiteSettings(
        config.site.name,
        config.site.url,
        None if content.past else collected_at,
        _moved_namespaces(config, content.grafted),
        built_at=None if content.past or content.audience else datetime.now(UTC),
        hidden_labels=config.site.labels.hide,
        notice=" ".join(notices),
        impact=config.site.impact,
        json=config.site.data,
        sensitive=config.privacy.sensitive_from,
        is_excerpt=content.audience is not None,
    )


def _extras(
    config: Config,
    content: _SiteContent,
    docs: DbtDocs | None,
    docs_files: Mapping[str, bytes | Path],
) -> SiteExtras:
    from dbt_graft.catalog.settings import SiteExtras
    from dbt_graft.injector.docs import docs_nodes

    grafted = content.grafted
    labels = has_labels(config, grafted.described) and not content.audience
    return SiteExtras(
        docs,
        docs_nodes(grafted) if docs else (),
        {**docs_files, "task_metadata.json": task_metadata_file(grafted.lineage)},
        None if content.past else content.days,
        project_labels(config, grafted.described) if labels else None,
    )


def _remember(config: Config, content: _SiteContent, built: PublishedSite) -> None:
    """Keep in the store what the next build is compared with.

    What a damaged store lacks is not gone: the next build is compared with the last whole one.
    """
    store_folder = config.path(config.store)
    if damaged_files(content.grafted.lineage.rejects):
        return
    if built.addresses != content.addresses:
        store.write_addresses(store_folder, built.addresses)
    if built.history != content.history:
        store.write_build_history(store_folder, built.history)


def check_leaks(audience: AudienceSite, folder: Path) -> None:
    """Search a site for names and texts that its readers may not see.

    Raises:
        GraftError: It has some.
    """
    from dbt_graft.graft.questions.leaks.leaks import find_leaks

    search = find_leaks(
        folder,
        audience.view.words,
        audience.hidden_texts,
        audience.visible_texts,
        audience.shipped,
    )
    if search.leaks:
        lines = [f"  {leak}" for leak in search.leaks[:_SHOWN]]
        if (others := len(search.leaks) - _SHOWN) > 0:
            lines.append(f"  and {others:,} others")
        raise GraftError(
            "\n".join(["nothing is published: it has what its readers may not see", *lines]),
            place=f"the site for the audience {audience.name}",
            remedy="label what has these names, or report this (without the names)",
        )


def _final_names(lineage: Lineage) -> Rename:
    """The name of a dataset of the logs as the lineage has it."""
    names = {
        other: dataset.id for dataset in lineage.datasets.values() for other in dataset.symlinks
    } | {other: dataset for dataset, aliases in lineage.names.aliases.items() for other in aliases}
    return lambda dataset: names.get(dataset, dataset)


def _moved_namespaces(config: Config, grafted: Grafted) -> dict[str, str]:
    """Former namespace -> that of dbt's relations now."""
    now = dbt_platform(config, str(grafted.manifest["metadata"].get("adapter_type") or ""))
    return dict.fromkeys(config.dbt.former_namespaces, now.namespace)
