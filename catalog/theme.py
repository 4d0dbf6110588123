"""The theme: Material for MkDocs writes its files, and the blank pages that shells are made of.

Nothing else knows Material for MkDocs. It takes as long as a hundred pages, so what it wrote is
kept for the next build (`theme_cache`).
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException
from mkdocs.plugins import BasePlugin

from dbt_graft.catalog.compiled_templates import compiled_templates
from dbt_graft.catalog.markup import text
from dbt_graft.catalog.page_keys import digest, package_versions
from dbt_graft.catalog.shells import CONTENT, HEADING, OTHER, TITLE, Shells, ThemeSettings, shell
from dbt_graft.lineage.errors import GraftError

# Markdown of a blank page.
BLANK = f"""---
title: {TITLE}
hide: [navigation, toc]
---
<h1>{TITLE}</h1>

## {HEADING}

{CONTENT}
"""
# The entry of the menu that not each site has.
_PRIVACY = {"Sensitive columns": "privacy/index.md"}
# Folders of the designer that are copied into the site.
_PUBLISHED = ("styles", "scripts", "images")


class _CompiledTemplatesPlugin(BasePlugin):  # type: ignore[misc]
    """Gives MkDocs' environment what earlier builds compiled."""

    def on_env(self, env: Environment, **_: object) -> Environment:
        env.bytecode_cache = compiled_templates("theme", digest(package_versions()))
        return env


def write_theme(design: Path, out: Path, settings: ThemeSettings) -> Shells:
    """Write the theme's styles, scripts and pictures into an empty folder; return the shells.

    Args:
        design: The designer's folder, with `mkdocs.yml`.

    Raises:
        GraftError: `mkdocs.yml` is faulty, or the theme is not as it should be.
    """
    config_file = design / "mkdocs.yml"
    with (
        _silence_mkdocs(),
        tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder,
    ):
        pages = Path(folder)
        try:
            config = load_config(
                str(config_file),
                site_name=str(text(settings.site_name)),  # the theme does not escape it
                site_url=settings.url,
                docs_dir=folder,
                site_dir=str(out),
            )
            config.nav = _menu(config.nav or (), settings)
            paths = [path for entry in config.nav for path in entry.values()]
            entries = [path for path in paths if path.endswith(".md")]
            for path in (*entries, f"{OTHER}index.md"):
                (pages / path).parent.mkdir(parents=True, exist_ok=True)
                (pages / path).write_text(BLANK, encoding="utf-8")
            for file in _published_files(design):
                (pages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(design / file, pages / file)
            config.plugins["compiled templates"] = _CompiledTemplatesPlugin()
            config.plugins.on_startup(command="build", dirty=False)
            try:
                mkdocs_build(config)
            finally:
                config.plugins.on_shutdown()
        except MkDocsException as error:
            raise GraftError(
                f"MkDocs cannot build the site: {error}", place=str(config_file)
            ) from error
    addresses = [path.removesuffix("index.md") for path in entries]

    def read(path: str) -> str:
        return (out / path).read_text(encoding="utf-8")

    shells = {address: shell(read(f"{address}index.html"), read) for address in (*addresses, OTHER)}
    for address, page_shell in shells.items():
        for path, content in page_shell.files.items():
            (out / path).write_text(content, encoding="utf-8")
        shells[address] = replace(page_shell, files={})
    shutil.rmtree(out / OTHER.partition("/")[0])
    for name in ("sitemap.xml", "sitemap.xml.gz"):  # of blank pages
        (out / name).unlink(missing_ok=True)
    for name in ("lunr", "workers"):  # of the theme's search
        shutil.rmtree(out / "assets" / "javascripts" / name, ignore_errors=True)
    for source_map in out.rglob("*.map"):  # half of all bytes, for who debugs the theme
        source_map.unlink()
    return Shells({address: shells[address] for address in addresses}, shells[OTHER])


def _menu(entries: Sequence[Mapping[str, str]], settings: ThemeSettings) -> list[dict[str, str]]:
    """The entries of which a site has the page."""
    present = [dict(entry) for entry in entries if settings.has_labels or entry != _PRIVACY]
    return [*present, {"dbt docs": "dbt/index.html"}] if settings.has_dbt_docs else present


def _published_files(design: Path) -> list[Path]:
    """The files of the designer that are copied into the site, relative to the folder."""
    files = (file for name in _PUBLISHED for file in (design / name).rglob("*"))
    return [file.relative_to(design) for file in files if file.is_file()]


@contextmanager
def _silence_mkdocs() -> Iterator[None]:
    """Silence MkDocs' progress and its advice on navigation."""
    log = logging.getLogger("mkdocs")
    level, propagate = log.level, log.propagate
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
        log.propagate = propagate
