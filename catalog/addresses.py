"""The addresses of a site: its sitemap, and pages where nothing is any more.

Those lead on, or say what was there. The sitemap is for search engines:
https://www.sitemaps.org/protocol.html.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, urljoin

from dbt_graft.catalog.page import Page, path_to_root
from dbt_graft.lineage.addresses import Address, present_path
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.urls import dataset_path

# Addresses hold no character that HTML would read as syntax.
_REDIRECT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={address}">
<title>This page has moved</title>
<p>This page has moved: <a href="{address}">its new address</a>.
</html>
"""
# Of the dbt docs page; those of parts of the project lie below it.
DOCS = "dbt/"
_KINDS = {
    "datasets": "dataset",
    "tasks": "task",
    "tags": "tag",
    "owners": "owner",
    "platforms": "platform",
}
# As many addresses as the protocol allows in a file.
_MOST = 50_000
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<{} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


@frozen(kw_only=True)
class GonePage(Page):
    """The context of `gone.html.j2`.

    Attributes:
        kind: `dataset`, `task`, `tag`, `owner`, `platform`, or `page`.
        folder: The list of its kind, relative to the site's root.
    """

    template: ClassVar[str] = "gone"

    kind: str
    folder: str
    gone_at: datetime | None


def former_paths(lineage: Lineage, moved: Mapping[str, str]) -> dict[str, str]:
    """Former path -> present path: of datasets with other names once, and the folders above them.

    Args:
        moved: Former namespace -> the one that its datasets have now.
    """
    paths = {
        dataset_path(former): dataset_path(dataset)
        for dataset, names in lineage.names.former.items()
        for former in names
    }
    for dataset in lineage.datasets:
        for former, now in moved.items():
            if dataset.namespace == now and former != now:
                old = dataset_path(DatasetId(former, dataset.name))
                paths |= _pair_folders(old, dataset_path(dataset))
    return {old: new for old, new in sorted(paths.items()) if old != new}


def _pair_folders(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Both addresses and those of the folders above them, but not `datasets/` itself."""
    former, present = old.rstrip("/").split("/"), new.rstrip("/").split("/")
    for end in range(2, min(len(former), len(present)) + 1):
        yield "/".join([*former[:end], ""]), "/".join([*present[:end], ""])


def docs_addresses(files: Iterable[str]) -> dict[str, str]:
    """Address -> title of the dbt docs page and of those of parts of the project.

    Args:
        files: Paths of files in the site.
    """
    paths = (file.removesuffix("index.html") for file in files if file.endswith("/index.html"))
    names = {path: path.removeprefix(DOCS).rstrip("/") for path in paths if path.startswith(DOCS)}
    return {path: f"dbt docs: {name}" if name else "dbt docs" for path, name in names.items()}


def former_docs(addresses: Iterable[Address], present: Collection[str]) -> dict[str, str]:
    """Former path -> present path: of a part of the project without a docs page of its own now."""
    if DOCS not in present:
        return {}
    parts = (address.path for address in addresses if address.path.startswith(DOCS))
    return {path: DOCS for path in parts if path not in present}


def gone_pages(addresses: Iterable[Address]) -> list[GonePage]:
    """The pages at addresses that lead nowhere now."""
    by_path = {address.path: address for address in addresses}
    pages = []
    for address in by_path.values():
        if address.is_gone and not present_path(address, by_path):
            folder = address.path.partition("/")[0]
            kind = _KINDS.get(folder, "")
            pages.append(
                GonePage(
                    path=address.path,
                    title=address.title or address.path.rstrip("/").rpartition("/")[2],
                    kind=kind or "page",
                    folder=f"{folder}/" if kind else "",
                    gone_at=address.gone_at,
                )
            )
    return pages


def write_redirects(addresses: Iterable[Address], site: Path) -> None:
    """Write a page at each address that leads to another now."""
    by_path = {address.path: address for address in addresses}
    for address in by_path.values():
        if address.is_gone and (target := present_path(address, by_path)):
            file = site / address.path / "index.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            link = f"{path_to_root(address.path)}{target}index.html"
            file.write_text(_REDIRECT.format(address=link), encoding="utf-8")


def write_sitemap(site: Path, url: str, paths: Sequence[str], at: datetime | None) -> None:
    """Write `sitemap.xml`; of more pages than a file may list, an index of several files.

    Args:
        url: The site's, escaped.
        paths: The addresses of the pages below it.
        at: When they changed last.
    """
    date = f"<lastmod>{at:%Y-%m-%d}</lastmod>" if at else ""
    addresses = [f"{quote(path)}index.html" for path in sorted(paths)]
    files = [addresses[at : at + _MOST] for at in range(0, len(addresses), _MOST)]
    if len(files) == 1:
        _write_addresses(site / "sitemap.xml", "url", url, addresses, date)
        return
    names = [f"sitemap-{n}.xml" for n, _ in enumerate(files, 1)]
    for name, listed in zip(names, files, strict=True):
        _write_addresses(site / name, "url", url, listed, date)
    _write_addresses(site / "sitemap.xml", "sitemap", url, names, date)


def _write_addresses(file: Path, kind: str, url: str, listed: Sequence[str], date: str) -> None:
    base = f"{url.rstrip('/')}/"
    root = f"{kind}set" if kind == "url" else f"{kind}index"
    lines = [f"<{kind}><loc>{urljoin(base, path)}</loc>{date}</{kind}>" for path in listed]
    file.write_text("\n".join([_HEAD.format(root), *lines, f"</{root}>", ""]), encoding="utf-8")
