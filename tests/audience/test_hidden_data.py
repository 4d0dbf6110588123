"""No site has a word of what is above its audience, whichever field of whichever resource has it.

Every string that the schemas of dbt's artifacts, of declared lineage, contracts, events and records
allow has a canary: see `canaries` and `canary_project`.
"""

from __future__ import annotations

import re

import pytest

from dbt_graft.analysis.privacy.classification import Classification
from tests.audience.canaries import HIDDEN, SEEN
from tests.audience.canary_project import LABELS, UNLABELLED, CanaryProject, canary_project, graft
from tests.audience.published import canaries_in
from tests.cases import for_each

# Audience -> what it may see, and whether that includes what nobody labelled.
AUDIENCES = {
    "public": (Classification.PUBLIC, False),
    "partners": (Classification.CONFIDENTIAL, True),
    "clerks": (Classification.RESTRICTED_PII, False),
}
TEAM = "team"
SITE = {
    "out": f"build/{TEAM}",
    "data": True,
    "impact": True,
    "audiences": {
        "public": {"out": "build/public"},
        "partners": {"out": "build/partners", "sees": "confidential", "unlabelled": "show"},
        "clerks": {"out": "build/clerks", "sees": "restricted_pii"},
    },
}
Published = dict[str, dict[str, set[str]]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> CanaryProject:
    made = canary_project(tmp_path_factory.mktemp("canaries") / "project", SITE)
    done = graft(made.folder, "site")
    assert done.exit_code == 0, done.output
    return made


@pytest.fixture(scope="module")
def published(project: CanaryProject) -> Published:
    """Site -> its canaries -> the files that have them."""
    word = re.compile(f"(?:{HIDDEN}|{SEEN})[a-z2-7]{{9}}7")
    return {name: canaries_in(project.folder / "build" / name, word) for name in (TEAM, *AUDIENCES)}


def leaks(project: CanaryProject, label: str, canaries: dict[str, set[str]]) -> list[str]:
    """The fields of hidden resources that a site has, each with a file that has it."""
    fields = project.hidden[label]
    return sorted(f"{fields[word]} in {min(canaries[word])}" for word in canaries.keys() & fields)


@for_each("audience", AUDIENCES)
@pytest.mark.parametrize("label", [*LABELS, UNLABELLED])
def test_an_audience_reads_what_it_may_see_and_no_word_of_the_rest(
    project: CanaryProject, published: Published, label: str, audience: str
) -> None:
    sees, shows_unlabelled = AUDIENCES[audience]
    may_see = shows_unlabelled if label == UNLABELLED else Classification[label.upper()] <= sees
    if may_see:
        assert project.names[label] - published[audience].keys() == set()
    else:
        assert leaks(project, label, published[audience]) == []


@pytest.mark.parametrize("audience", AUDIENCES)
def test_each_audience_reads_names_and_descriptions_of_public_tables(
    project: CanaryProject, published: Published, audience: str
) -> None:
    missing = project.seen.keys() - published[audience].keys()
    assert {project.seen[word] for word in missing} == set()


@for_each("label", [*LABELS, UNLABELLED])
def test_the_team_reads_canaries_of_a_thousand_fields_of_each_label(
    project: CanaryProject, published: Published, label: str
) -> None:
    """So that what other sites lack is left out, and not lost before."""
    assert len(leaks(project, label, published[TEAM])) > 1000


@pytest.mark.parametrize("audience", AUDIENCES)
def test_each_audience_reads_them_in_the_index_of_dbt_2(
    project: CanaryProject, published: Published, audience: str
) -> None:
    files = {word: published[audience][word] for word in project.seen}
    missing = [word for word, paths in files.items() if "dbt/index/dbt.nodes.parquet" not in paths]
    assert [project.seen[word] for word in missing] == []
