"""Lines of code: their words, and their pages at the hosts of repositories."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.code import CodeMatch, TaskCode
from dbt_graft.lineage.code_lines import CodeLine, code_line
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import TaskInfo


@pytest.mark.parametrize(
    ("repo", "url"),
    [
        ("", ""),
        ("https://github.com/shop/data", "https://github.com/shop/data/blob/HEAD/etl/load.py#L41"),
        (
            "https://gitlab.com/shop/data.git",
            "https://gitlab.com/shop/data/blob/HEAD/etl/load.py#L41",
        ),
        (
            "https://bitbucket.org/shop/data/",
            "https://bitbucket.org/shop/data/src/HEAD/etl/load.py#lines-41",
        ),
        (
            "https://dev.azure.com/shop/_git/data",
            "https://dev.azure.com/shop/_git/data?path=/etl/load.py&line=41&lineEnd=41"
            "&lineStartColumn=1&lineEndColumn=999",
        ),
    ],
)
def test_a_line_has_its_page_in_the_repository(repo: str, url: str) -> None:
    line = code_line(_lineage(repo), "load", "jobs/load.py:41")

    assert line == CodeLine("load.py, line 41", url)


def test_a_module_lies_beside_its_script_in_the_repository() -> None:
    line = code_line(_lineage("https://github.com/shop/data"), "load", "jobs/lib/prices.py:7")

    assert line
    assert line.url == "https://github.com/shop/data/blob/HEAD/etl/lib/prices.py#L7"


def test_an_edge_without_code_has_no_line() -> None:
    assert code_line(_lineage(""), "load", "") is None


def _lineage(repo: str) -> Lineage:
    """A task whose script is jobs/load.py here, and etl/load.py in its repository."""
    info = TaskInfo(repo=repo, path="etl/load.py")
    return Lineage(
        tasks={"load": Task("load", info=info)},
        codes={"load": CodeMatch(TaskCode("jobs/load.py"))},
    )
