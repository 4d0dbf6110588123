"""The command `graft review`: what a change of the project does, against a base."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.render.github import annotation
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.analysis.review.merged import merge_reviews
from dbt_graft.analysis.review.node_change import NodeReview, ReviewVerdict
from dbt_graft.analysis.review.project import ProjectReview, ReviewImpact, review_impact
from dbt_graft.analysis.review.report import Place, review_json, review_markdown, review_sarif
from dbt_graft.analysis.review.report_text import review_annotations, review_lines
from dbt_graft.analysis.review.task_version import TaskVersion
from dbt_graft.collectors import store
from dbt_graft.graft.commands.command import CommandGroup, config_option, load_config
from dbt_graft.graft.commands.review_replay import fail_option, replay
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dbt_relations import dbt_relations
from dbt_graft.graft.project.impact_graph import impact_graph, surroundings
from dbt_graft.graft.project.past import Moment, PastTime
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.questions.review.base import base_artifacts
from dbt_graft.graft.questions.review.contracts import compare_contracts
from dbt_graft.graft.questions.review.declared import compare_declarations
from dbt_graft.graft.questions.review.files import base_files
from dbt_graft.graft.questions.review.models import compare_artifacts
from dbt_graft.graft.questions.review.names import ReviewNames
from dbt_graft.graft.questions.review.places import review_places, with_files
from dbt_graft.graft.questions.review.tasks import base_moment, compare_runs
from dbt_graft.injector import artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage

FAILS = 8
_LINES = 20
_ONLY_DBT = "nothing was collected yet: no task is compared, and the impact is on dbt alone"
_FORMS = ("text", "json", "markdown", "github", "sarif")


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog="\b\nExit codes: 0 compared; 1 the base or the project cannot be read; 2 invalid "
    "command line or\ngraft.yml; 8 a change reaches --fail-on, or `review.fail_on`.\n\n"
    "\b\nExamples:\n"
    "  graft review --base ../base/target\n"
    "  graft review --base origin/main --format markdown\n"
    "  graft review --base origin/main --format github --fail-on breaking\n"
    "  graft review --base ../base/target --base-store ../base/.graft/store\n"
    "  graft review replay --last 30",
)
@config_option
@click.option(
    "--base",
    metavar="DIR|REF",
    help="A folder with the base's manifest.json and catalog.json, or a revision of git at which "
    "dbt's target folder is committed.",
)
@click.option(
    "--base-store",
    metavar="DIR",
    help="The lineage store of the base build: tasks are compared by the runs that it lacks.",
)
@click.option(
    "--since",
    type=PastTime(),
    metavar="TIME",
    help="Tasks are compared by their runs since then: 2026-10-01T06:00, 2d.  [default: when the "
    "base's manifest was made]",
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
    base_store: str | None,
    since: Moment | None,
    fail_on: str | None,
    form: str,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    """Show what a change of the project does, against a base.

    Per model, by the syntax tree of its compiled SQL: columns removed, renamed, retyped or with
    another expression; other filters, joins and grain. Per task the same, by what it ran since the
    base and by how it is declared; and what data contracts promise. Then the impact of all of it on
    tables, tasks, tests and dashboards. What cannot be compared is UNKNOWN, with the reason.
    """
    if context.invoked_subcommand:
        return
    if not base:
        raise click.UsageError("--base is missing: name a folder or a revision of git")
    if base_store and since:
        raise click.UsageError("--since is for one store: leave out --base-store")
    config = load_config(config_path)
    new = artifacts.read(config.target_dir)
    project_review = _review(config, new, base, base_store, since)
    place = review_places(config, new)
    _print(project_review, place, "json" if as_json else form, None if everything else _LINES)
    limit = ReviewVerdict[fail_on.upper()] if fail_on else config.review.failing
    if project_review.fails(limit):
        sys.exit(FAILS)


review.add_command(replay)


def _print(project_review: ProjectReview, place: Place, form: str, most: int | None) -> None:
    if form in ("json", "sarif"):
        document = (review_json if form == "json" else review_sarif)(project_review, place)
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    elif form == "markdown":
        click.echo(review_markdown(project_review), nl=False)
    elif form == "github":
        for finding in review_annotations(project_review, place):
            click.echo(annotation(finding))
    else:
        for line in review_lines(project_review, most):
            click.echo(one_line(line))


def _review(
    config: Config, new: Artifacts, base: str, base_store: str | None, since: Moment | None
) -> ProjectReview:
    old = base_artifacts(base, config.target_dir)
    has_store = store.collected_at(config.path(config.store)) is not None
    described = Project(config).described()
    nodes, notices = compare_artifacts(old, new)
    notices = notices if has_store else (*notices, _ONLY_DBT)
    names = ReviewNames(config, new, described.lineage.former_names)
    ran = compare_runs(
        config, names, since or base_moment(old), base_store, described if has_store else None
    )
    declared = [entry.declared.path for entry in config.collect if entry.declared]
    with base_files(base, config, [*declared, *config.contracts]) as files:
        declarations = compare_declarations(config, names, files, base_store, described)
        contracts = compare_contracts(config, files, described)
    tasks = with_files(merge_reviews(ran.nodes, declarations.nodes), config, declarations.files)
    all_nodes = tuple(
        sorted((*nodes, *tasks, *contracts.nodes), key=lambda o: (-o.verdict, o.kind, o.node_id))
    )
    impact = _impact(config, old, all_nodes, described, ran.now)
    notices = (*notices, *ran.notices, *declarations.notices, *contracts.notices)
    return ProjectReview(base, all_nodes, impact, notices)


def _impact(
    config: Config,
    old: Artifacts,
    nodes: tuple[NodeReview, ...],
    described: DescribedLineage,
    now: Mapping[str, TaskVersion],
) -> ReviewImpact:
    datasets: dict[str, DatasetId] = dict(dbt_relations(config, old).datasets)
    for dataset, description in described.descriptions.items():
        datasets |= dict.fromkeys((description.node_id, *description.dbt_ids), dataset)
    graph = impact_graph(config, described)
    return review_impact(graph, nodes, datasets, surroundings(described), now)
