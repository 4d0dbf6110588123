"""The check `audience`: a search of the published sites for what their audiences may not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.rule import HIDDEN_PUBLISHED
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError
from dbt_graft.injector.report import Grafted

if TYPE_CHECKING:
    from dbt_graft.graft.questions.leaks.leaks import LeakSearch


def check_audience(checked: CheckedProject) -> Answer:
    """The hidden names and texts in the published files; a build searches before it publishes.

    Raises:
        NothingToCheckError: There is no site for the audience, or it is not published.
        GraftError: A label or a pattern of labels says nothing, or a file cannot be read.
    """
    sites = dict(_sites(checked))
    if checked.grafted is None:
        raise NothingToCheckError(
            "there are no dbt artifacts", remedy="run `dbt docs generate` first"
        )
    searches = {name: _search(site, checked.grafted) for name, site in sites.items()}
    return _leaks_answer(searches, {name: site.site.out for name, site in sites.items()})


def _sites(checked: CheckedProject) -> Iterator[tuple[str, Config]]:
    """The audiences, each with the configuration of its site."""
    config, chosen = checked.config, checked.options.audience
    if checked.options.past:
        raise NothingToCheckError("sites of the past are for no audience")
    configs = [*config.for_audiences(), *([config] if config.site.audience else [])]
    names = [str(site.site.audience) for site in configs]
    if not names or (chosen and chosen not in names):
        raise NothingToCheckError(
            f"there is no site for {f'the audience {chosen}' if chosen else 'an audience'}",
            place="graft.yml: `site.audiences`",
            remedy=f"name one of {', '.join(names)}" if names else "add it below `site.audiences`",
        )
    for name, site in zip(names, configs, strict=True):
        if chosen in (None, name):
            folder = site.path(site.site.out)
            if not Path(folder).is_dir():
                problem = f"the site for {name} is not published"
                raise NothingToCheckError(problem, place=folder, remedy="run `graft site` first")
            yield name, site


def _search(config: Config, grafted: Grafted) -> LeakSearch:
    # Most projects have no audience, and need not wait for what looks for leaks.
    from dbt_graft.graft.questions.audience.site import audience_site
    from dbt_graft.graft.questions.leaks.leaks import LeakSearch, find_leaks

    site = audience_site(config, grafted)
    if site is None:  # an audience that may see everything
        return LeakSearch((), 0, 0)
    folder = Path(config.path(config.site.out))
    return find_leaks(folder, site.view.words, site.hidden_texts, site.visible_texts, site.shipped)


def _leaks_answer(searches: Mapping[str, LeakSearch], folders: Mapping[str, str]) -> Answer:
    names = sum(len({leak.name for leak in search.leaks}) for search in searches.values())
    return Answer(
        f"sites for {' and '.join(searches)}",
        f"{count(names, 'hidden name')} found" if names else "nothing hidden found",
        tables=(
            Table(
                "sites",
                ("audience", "files", "searched for", "found"),
                [
                    (name, search.files, search.names, len(search.leaks))
                    for name, search in searches.items()
                ],
            ),
            Table(
                "names that are not searched for, as pages or visible names have them",
                ("audience", "name"),
                [
                    (name, hidden)
                    for name, search in searches.items()
                    for hidden in search.unsearched
                ],
            ),
        ),
        findings=[
            HIDDEN_PUBLISHED.finding(
                leak.name,
                f"is hidden from {name}, and is there [{leak.encoding}]",
                "label what has this name, and build the site again",
                place=f"{folders[name].rstrip('/')}/{leak.path}",
            )
            for name, search in searches.items()
            for leak in search.leaks
        ],
        data={
            "audiences": [
                {
                    "audience": name,
                    "files": search.files,
                    "names": search.names,
                    "unsearched": search.unsearched,
                    "leaks": [
                        {"path": leak.path, "name": leak.name, "encoding": leak.encoding}
                        for leak in search.leaks
                    ],
                }
                for name, search in searches.items()
            ]
        },
    )
