"""The command `graft review`: what a change of the dbt project does, against a base."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import click
import orjson

from dbt_graft.collectors import store
from dbt_graft.collectors.dbt.review_nodes import review_nodes
from dbt_graft.exporters.review import (
    Place,
    changed_line,
    review_json,
    review_markdown,
    review_sarif,
)
from dbt_graft.graft.annotations import annotation
from dbt_graft.graft.command import CommandGroup, config_option, load_config
from dbt_graft.graft.config import Config
from dbt_graft.graft.dbt_relations import dbt_relations
from dbt_graft.graft.described_lineage import described_lineage
from dbt_graft.graft.impact_graph import impact_graph, surroundings
from dbt_graft.graft.review_base import artifacts_at, base_artifacts, revisions
from dbt_graft.graft.review_text import review_annotations, review_lines
from dbt_graft.graft.terminal import one_line
from dbt_graft.injector import artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.review.compare import NodeChange, NodeReview, ReviewVerdict, compare
from dbt_graft.lineage.review.project import ProjectReview, ReviewImpact, review_impact

FAILS = 8
_LINES = 20
_FORMS = ("text", "json", "markdown", "github", "sarif")
fail_option = click.option(
    "--fail-on",
    type=click.Choice([one.name.lower() for one in reversed(ReviewVerdict)]),
    help="End with 8 from this verdict on.  [default: never]",
)


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog="\b\nExit codes: 0 compared; 1 the base or the project cannot be read; 2 invalid "
    "command line or\ngraft.yml; 8 a change reaches --fail-on, or `review.fail_on`.\n\n"
    "\b\nExamples:\n"
    "  graft review --base ../base/target\n"
    "  graft review --base origin/main --format markdown\n"
    "  graft review --base origin/main --format github --fail-on breaking\n"
    "  graft review replay --last 30",
)
@config_option
@click.option(
    "--base",
    metavar="DIR|REF",
    help="A folder with the base's manifest.json and catalog.json, or a revision of git at which "
    "dbt's target folder is committed.",
)
@fail_option
@click.option("--all", "everything", is_flag=True, help="Cut nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default="text",
    show_default=True,
    help="Output format: markdown for one comment on a pull request, github for annotations on "
    "lines, sarif for code scanning.",
)
@click.pass_context
def review(
    context: click.Context,
    config_path: Path | None,
    base: str | None,
    fail_on: str | None,
    form: str,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    """Show what a change of the dbt project does, against a base.

    Per model, by the syntax tree of its compiled SQL: columns removed, renamed, retyped or with
    another expression; other filters, joins and grain. Then the impact of all of it on tables,
    tasks, tests and dashboards. What cannot be compared is UNKNOWN, with the reason.
    """
    if context.invoked_subcommand:
        return
    if not base:
        raise click.UsageError("--base is missing: name a folder or a revision of git")
    config = load_config(config_path)
    new = artifacts.read(config.target_dir)
    old = base_artifacts(base, config.target_dir)
    nodes = _compared(old, new)
    impact = _impact(config, old, nodes)
    found = ProjectReview(base, nodes, impact, _notices(old, new))
    place = _places(config, new)
    if as_json or form == "json":
        click.echo(orjson.dumps(review_json(found, place), option=orjson.OPT_INDENT_2))
    elif form == "sarif":
        click.echo(orjson.dumps(review_sarif(found, place), option=orjson.OPT_INDENT_2))
    elif form == "markdown":
        click.echo(review_markdown(found), nl=False)
    elif form == "github":
        for finding in review_annotations(found, place):
            click.echo(annotation(finding))
    else:
        for line in review_lines(found, None if everything else _LINES):
            click.echo(one_line(line))
    limit = ReviewVerdict[fail_on.upper()] if fail_on else config.review.failing
    if found.fails(limit):
        sys.exit(FAILS)


@review.command(
    epilog="\b\nExit codes: 0 printed; 1 git has no manifests there; 2 invalid command line or "
    "graft.yml.\n\n\b\nExample: graft review replay --last 30 --fail-on rows",
)
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@config_option
@click.option(
    "--last", type=click.IntRange(1, 1000), default=30, show_default=True, help="Commits."
)
@fail_option
def replay(folder: Path | None, config_path: Path | None, last: int, fail_on: str | None) -> None:
    """Show what the policy would have said to the last commits of a folder's manifest.

    FOLDER is where manifests are committed; by default dbt's target folder. Nothing fails.
    """
    config = load_config(config_path)
    target = folder.resolve() if folder else config.target_dir
    limit = ReviewVerdict[fail_on.upper()] if fail_on else config.review.failing
    commits = list(revisions(target, last))
    if len(commits) < 2:
        raise GraftError(
            f"git has {len(commits)} version(s) of its manifest.json: two are needed",
            place=str(target),
            remedy="name a folder in which manifests are committed",
        )
    before: Artifacts | None = None
    failed = compared = 0
    for commit, date in commits:
        try:
            after = artifacts_at(commit, target)
        except GraftError as error:
            click.echo(one_line(f"{commit} {date}  left out: {error.problem}"))
            continue
        if before:
            nodes = _compared(before, after)
            found = ProjectReview(commit, nodes)
            compared += 1
            failed += found.fails(limit)
            counts = [
                f"{sum(one.verdict is verdict for one in nodes)} {verdict.name}"
                for verdict in reversed(ReviewVerdict)
                if any(one.verdict is verdict for one in nodes)
            ]
            mark = "  fails" if found.fails(limit) else ""
            click.echo(f"{commit} {date}  {', '.join(counts) or 'no change'}{mark}")
        before = after
    policy = f"fail_on {limit.name.lower()}" if limit else "no fail_on"
    click.echo(f"{compared} changes compared, {failed} would fail ({policy})")


def _compared(old: Artifacts, new: Artifacts) -> tuple[NodeReview, ...]:
    """The nodes that differ; a version without a catalog borrows that of the other."""
    return compare(
        review_nodes(
            old.manifest, (old if old.has_catalog else new).catalog, borrowed=not old.has_catalog
        ),
        review_nodes(
            new.manifest, (new if new.has_catalog else old).catalog, borrowed=not new.has_catalog
        ),
    )


def _notices(old: Artifacts, new: Artifacts) -> tuple[str, ...]:
    found = [f"the base has no catalog.json: {_NO_TYPES}"] if not old.has_catalog else []
    found += [f"the project has no catalog.json: {_NO_TYPES}"] if not new.has_catalog else []
    return (*found, *new.notices)


_NO_TYPES = "types are compared as far as YAML has them"


def _impact(config: Config, old: Artifacts, nodes: tuple[NodeReview, ...]) -> ReviewImpact | None:
    if store.collected_at(config.path(config.store)) is None:
        return None
    described = described_lineage(config)
    datasets = dict(dbt_relations(config, old).datasets)
    for dataset, about in described.descriptions.items():
        datasets |= dict.fromkeys((about.node_id, *about.dbt_ids), dataset)
    return review_impact(impact_graph(config, described), nodes, datasets, surroundings(described))


def _places(config: Config, new: Artifacts) -> Place:
    """The file, from the current folder, and the line of a change."""

    @lru_cache(maxsize=1)
    def code(path: Path, node_id: str) -> str:
        try:
            return path.read_text("utf-8", "replace")
        except OSError:
            node = new.manifest["nodes"].get(node_id) or {}
            return str(node.get("raw_code") or "")

    def place(node: NodeReview, change: NodeChange | None) -> tuple[str, int]:
        path = config.project_dir / node.file
        here = Path.cwd()
        file = path.relative_to(here).as_posix() if path.is_relative_to(here) else node.file
        if not node.file.endswith(".sql"):
            return file, 1
        return file, changed_line(code(path, node.node_id), change)

    return place
