"""The sitemap, for search engines: https://www.sitemaps.org/protocol.html."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urljoin

# As many addresses as the protocol allows in a file.
_MOST = 50_000
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<{} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


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
        _write(site / "sitemap.xml", "url", url, addresses, date)
        return
    names = [f"sitemap-{n}.xml" for n, _ in enumerate(files, 1)]
    for name, listed in zip(names, files, strict=True):
        _write(site / name, "url", url, listed, date)
    _write(site / "sitemap.xml", "sitemap", url, names, date)


def _write(file: Path, kind: str, url: str, listed: Sequence[str], date: str) -> None:
    base = f"{url.rstrip('/')}/"
    root = f"{kind}set" if kind == "url" else f"{kind}index"
    lines = [f"<{kind}><loc>{urljoin(base, path)}</loc>{date}</{kind}>" for path in listed]
    file.write_text("\n".join([_HEAD.format(root), *lines, f"</{root}>", ""]), encoding="utf-8")
