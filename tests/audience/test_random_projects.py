"""Random projects: the published folder has what the rule shows, and nothing that it hides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.audience.canaries import HIDDEN_WORD
from tests.audience.canary_project import graft
from tests.audience.published import canaries_in
from tests.audience.random_projects import RandomProject, readable
from tests.cases import for_each


@for_each("number", range(100), quick=1)
def test_a_site_has_no_name_that_the_rule_hides_and_each_that_it_shows(
    tmp_path: Path, number: int
) -> None:
    project = RandomProject(number)
    project.write(tmp_path / "project")
    for command in ("collect", "site"):
        done = graft(tmp_path / "project", command)
        assert done.exit_code == 0, done.output
    published = canaries_in(tmp_path / "project/public", HIDDEN_WORD)
    expected = readable(project)
    assert {word: published[word] for word in expected.hidden & published.keys()} == {}
    assert expected.visible - published.keys() == set()


@pytest.mark.parametrize(
    "before",
    [
        {"out": "public"},
        {"out": "public", "audience": "board", "sees": "secret"},
        {"out": "team", "audiences": {"board": {"out": "public", "sees": "secret"}}},
    ],
)
def test_a_folder_that_is_switched_to_fewer_rights_has_nothing_of_before(
    tmp_path: Path, before: dict[str, Any]
) -> None:
    project, folder = RandomProject(0), tmp_path / "project"
    project.write(folder)
    hidden = readable(project).hidden
    for site in (before, None):
        project.write_site(folder, site)
        for command in ("collect", "site"):
            done = graft(folder, command)
            assert done.exit_code == 0, done.output
        published = canaries_in(folder / "public", HIDDEN_WORD)
        assert hidden & published.keys() == (hidden if site else set())


def test_the_projects_have_hidden_and_visible_names_for_each_audience() -> None:
    """So that the others can fail."""
    projects = [RandomProject(number) for number in range(100)]
    assert {project.sees for project in projects if readable(project).hidden} == {
        project.sees for project in projects
    }
    assert sum(bool(readable(project).visible) for project in projects) > 50
    assert {project.shows_unlabelled for project in projects} == {True, False}
