"""The command `graft audience`: the proof that the sites of audiences name nothing hidden."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import CommandGroup, config_option, load_config
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.questions.audience.site import audience_configs, audience_site
from dbt_graft.graft.questions.leaks.leaks import LeakSearch, find_leaks
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.errors import GraftError

LEAKS = 8
_LINES = 30


@click.group(cls=CommandGroup, epilog="\b\nExample: graft audience check")
def audience() -> None:
    """Search the sites of audiences for what they may not see: check."""


@audience.command(
    epilog="\b\nExit codes: 0 nothing is found; 1 a site is not published, or cannot be read; "
    "2 invalid command line or graft.yml; 8 something hidden is found.\n\n"
    "\b\nExamples:\n  graft audience check --audience public\n"
    "  graft audience check --json | jq '.[].leaks'"
)
@config_option
@click.option("--audience", "chosen", metavar="NAME", help="Its site only.  [default: all]")
@click.option("--all", "everything", is_flag=True, help="Cut nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(config_path: Path | None, chosen: str | None, *, everything: bool, as_json: bool) -> None:
    """Search the published files for names and texts that the audience may not see.

    Every file is searched, whatever its content is packed and escaped in: gzip, Parquet, Pagefind's
    index, JSON, HTML, URLs, base64. `graft build` does the same before it publishes.
    """
    config = load_config(config_path)
    sites = [*audience_configs(config), *([config] if config.site.audience else [])]
    configs = {str(site.site.audience): site for site in sites}
    if not configs or (chosen and chosen not in configs):
        raise GraftError(
            f"there is no site for {f'the audience {chosen}' if chosen else 'an audience'}",
            place="graft.yml: `site.audiences`",
            remedy=f"name one of {', '.join(configs)}" if configs else "add one there",
        )
    _, grafted = Project(config).described_graft()
    if grafted is None:
        raise GraftError("there are no dbt artifacts", remedy="run `dbt docs generate` first")
    searches = {
        name: _search(site_config, grafted)
        for name, site_config in configs.items()
        if chosen in (None, name)
    }
    if as_json:
        content = [{"audience": name, **search.to_json()} for name, search in searches.items()]
        click.echo(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    else:
        for name, search in searches.items():
            for line in search.lines(None if everything else _LINES):
                click.echo(one_line(line if line.startswith(" ") else f"{name}: {line}"))
    sys.exit(LEAKS if any(search.leaks for search in searches.values()) else 0)


def _search(config: Config, grafted: Grafted) -> LeakSearch:
    site = audience_site(config, grafted)
    folder = Path(config.path(config.site.out))
    if site is None:  # an audience that may see everything
        return LeakSearch((), 0, 0)
    return find_leaks(folder, site.view.words, site.hidden_texts, site.visible_texts)
