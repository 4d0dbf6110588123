"""dbt's docs pages of a site: which of them, and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.view import Moment
from dbt_graft.injector.report import Grafted, name_all
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from dbt_graft.catalog.dbt_docs import DbtDocs


def docs_pages(
    config: Config,
    progress: Progress,
    grafted: Grafted,
    past: Moment | None,
    notices: Sequence[str],
    pages: Mapping[str, str],
) -> tuple[DbtDocs | None, dict[str, bytes | Path]]:
    """dbt's docs page that the site's links lead into, and the files of all, by path in the site.

    Args:
        notices: What each page of the site says.
        pages: Name -> selection of each smaller page.

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
        elif pages:
            progress.warn(f"`docs.pages` are parts of the page of dbt 1: {fault.problem}")
    else:
        favicon = Path(config.path(section.favicon)) if section.favicon else None
        title = f"{section.title or config.site.name}{f', as of {past.text}' if past else ''}"
        settings = docs.DocsPageSettings(
            title, favicon, section.slim, section.columns, target=target
        )
        files |= docs.pages(grafted, settings, pages, beside_dbt_2=page is not None)
    if page is None or grafted.index is None:
        return (DbtDocs.DBT_1 if files else None), files
    classic = f"{docs.CLASSIC}/index.html" if files else ""
    links = ["[Catalog](../index.html)", *([f"[dbt 1's page]({classic})"] if classic else [])]
    head = "\n\n".join([*notices, " · ".join(links)])
    index = published_files(grafted.index, grafted, grafted.linked_to("../", name_all), head)
    new = page.files(
        index, grafted.redirects, classic=classic, duckdb=config.duckdb, only_code=is_excerpt
    )
    return DbtDocs.DBT_2, files | {f"{docs.FOLDER}/{path}": file for path, file in new.items()}
