"""The sites of a build: that of the team, and those for other audiences.

The rooms that make pages are imported when a site is built, so that other commands start fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.analysis.history.changes import NO_BUILDS
from dbt_graft.collectors import store
from dbt_graft.exporters.task_metadata import task_metadata_file
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.damaged_store import damaged_files, read_rest
from dbt_graft.graft.project.dbt_relations import dbt_platform
from dbt_graft.graft.project.declared_labels import has_labels
from dbt_graft.graft.project.outputs import output_of
from dbt_graft.graft.project.past import Moment, past_notice
from dbt_graft.graft.project.privacy_labels import project_labels
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.questions.audience.site import (
    AudienceSite,
    audience_configs,
    audience_site,
)
from dbt_graft.graft.questions.leaks.leaks import find_leaks
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename

if TYPE_CHECKING:
    from dbt_graft.catalog.build import PublishedSite
    from dbt_graft.catalog.dbt_docs import DbtDocs

_SHOWN = 10  # leaks that an error names


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
    for site_config in audience_configs(config):
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
        GraftError: The site cannot be written; or it would name what its readers may not see, and
            nothing is published.
    """
    from dbt_graft.catalog.build import build as build_catalog
    from dbt_graft.catalog.extras import SiteExtras
    from dbt_graft.catalog.previous import (
        EarlierBuilds,
        PreviousSite,
        read_previous,
        write_record,
    )
    from dbt_graft.catalog.settings import SiteSettings
    from dbt_graft.exporters.data.files import write_views
    from dbt_graft.injector.docs import docs_nodes

    output, store_folder = output_of(config, "site.out"), config.path(config.store)
    taints = store.recorded_taints(store_folder)
    lineage = grafted.lineage
    lineage = replace(lineage, history=replace(lineage.history, taints=taints))
    described = replace(grafted.described, lineage=lineage)
    grafted = replace(grafted, describe=lambda: described)
    audience = audience_site(config, grafted)
    addresses, history = store.addresses(store_folder), store.build_history(store_folder)
    collected_at, _ = read_rest(store_folder, partial(store.collected_at, store_folder))
    days, _ = read_rest(
        store_folder, partial(store.daily_history, store_folder, _final_names(grafted.lineage))
    )
    if past:
        # What was published later is not gone, and pages had other addresses.
        addresses, history = (), history.until(past.at)
    if audience:
        # They name what is gone, of which nobody knows who may see it.
        addresses, history = (), NO_BUILDS
        grafted, days = audience.grafted, audience.days(days)
    of = f"-{config.site.audience}" if audience else ""
    record = Path(config.path(config.artifacts)) / f"site_pages{of}.json"
    previous = PreviousSite(output.path) if full else read_previous(record, output.path)
    with progress.step("site", "building the pages") as step, output.replaced() as folder:
        labels = has_labels(config, grafted.described) and not audience
        notices = (
            [past_notice(past, grafted.manifest["metadata"].get("generated_at"))] if past else []
        )
        notices += [audience.notice] if audience else []
        dbt_docs, docs_files = _docs_pages(config, progress, grafted, past, notices)
        settings = SiteSettings(
            config.site.name,
            config.site.url,
            None if past else collected_at,
            _moved_namespaces(config, grafted),
            built_at=None if past or audience else datetime.now(UTC),
            hidden_labels=config.site.labels.hide,
            notice=" ".join(notices),
            impact=config.site.impact,
            json=config.site.data,
            sensitive=config.privacy.sensitive_from,
            is_excerpt=audience is not None,
        )
        extras = SiteExtras(
            dbt_docs,
            docs_nodes(grafted) if dbt_docs else (),
            {**docs_files, "task_metadata.json": task_metadata_file(grafted.lineage)},
            None if past else days,
            project_labels(config, grafted.described) if labels else None,
        )
        earlier = EarlierBuilds(addresses, history, previous)
        built = build_catalog(grafted.described, settings, folder, extras, earlier)
        if config.site.data:
            write_views(grafted.described, folder / "data")
        step.result = f"{built.changed:,} of {built.pages:,} pages changed"
        if audience:
            check_leaks(audience, folder)
            step.result += f"; {audience.summary}"
        write_record(record, built.record)
    if built.no_full_text:
        progress.warn(f"search finds names only, as Pagefind cannot run: {built.no_full_text}")
    if past or audience:
        return replace(built, index=output.path / "index.html")
    # What a damaged store lacks is not gone: the next build is compared with the last whole one.
    if not damaged_files(grafted.lineage.rejects):
        if built.addresses != addresses:
            store.write_addresses(store_folder, built.addresses)
        if built.history != history:
            store.write_build_history(store_folder, built.history)
    return replace(built, index=output.path / "index.html")


def _docs_pages(
    config: Config,
    progress: Progress,
    grafted: Grafted,
    past: Moment | None,
    notices: Sequence[str],
) -> tuple[DbtDocs | None, dict[str, bytes | Path]]:
    """dbt's docs page that the site's links lead into, and the files of all, by path in the site.

    Args:
        notices: What each page of the site says.

    Raises:
        GraftError: A file that graft.yml names cannot be used.
    """
    from dbt_graft.catalog.dbt_docs import DbtDocs
    from dbt_graft.injector import docs, stock
    from dbt_graft.injector.index_files import published_files
    from dbt_graft.injector.index_page import read_page

    section, is_excerpt = config.docs, config.site.audience is not None
    # The search for hidden names knows the words of an installed dbt's page.
    target = None if is_excerpt else config.target_dir
    page = read_page(config.target_dir) if grafted.index else None
    files: dict[str, bytes | Path] = {}
    try:
        stock.read(target)
    except GraftError as fault:
        if page is None:
            progress.warn(
                f"the site is published without dbt docs: {fault.problem}; {fault.remedy}"
            )
        elif section.pages:
            progress.warn(f"`docs.pages` are parts of the page of dbt 1: {fault.problem}")
    else:
        favicon = Path(config.path(section.favicon)) if section.favicon else None
        title = f"{section.title or config.site.name}{f', as of {past.text}' if past else ''}"
        settings = docs.DocsPageSettings(
            title, favicon, section.slim, section.columns, target=target
        )
        files |= docs.pages(grafted, settings, section.pages, beside_dbt_2=page is not None)
    if page is None or grafted.index is None:
        return (DbtDocs.DBT_1 if files else None), files
    classic = f"{docs.CLASSIC}/index.html" if files else ""
    links = ["[Catalog](../index.html)", *([f"[dbt 1's page]({classic})"] if classic else [])]
    head = "\n\n".join([*notices, " · ".join(links)])
    index = published_files(grafted.index, grafted, grafted.linked_to("../"), head)
    new = page.files(
        index, grafted.redirects, classic=classic, duckdb=config.duckdb, only_code=is_excerpt
    )
    return DbtDocs.DBT_2, files | {f"{docs.FOLDER}/{path}": file for path, file in new.items()}


def check_leaks(audience: AudienceSite, folder: Path) -> None:
    """Search a site for names and texts that its readers may not see.

    Raises:
        GraftError: It has some.
    """
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
    return dict.fromkeys(config.former_namespaces, now.namespace)
