"""One answer in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dbt_graft.analysis.answer import Answer, Table, Tree
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.forms import FORMS
from tests.cases import for_each

ANSWER = Answer(
    "spark/raw.orders",
    "2 findings",
    {"owner": "sales", "rows": 1200, "size": None},
    [
        Table("datasets", ("name", "owner"), [("a\x1b[2J|", "x"), ("b", None), ("c", "z")]),
        Table("tasks", (), []),
        Tree("amount", (Tree("price", (Tree("list_price"),)), Tree("make price", is_command=True))),
    ],
    ["12 statements were not read"],
    [
        Finding("NO_OWNER", Severity.NOTE, "spark/raw.b", "has no owner", accepted="agreed"),
        Finding(
            *("SECOND_WRITER", Severity.ERROR, "spark/raw.a"),
            *("has 2 writers", "let one go", "sales", "a.yml:3"),
            ("a", "b"),
        ),
    ],
    "error",
    "show",
    {"rows": 3},
)

TEXT = """\
spark/raw.orders: 2 findings
  owner  sales
  rows   1,200
  size   -
  note: 12 statements were not read

datasets (3)
  name    owner
  a [2J|  x
  b       -
  and 1 more: --all shows them

amount
├── price
│   └── list_price
└── $ make price

error: SECOND_WRITER (1)
  a.yml:3: spark/raw.a (sales): has 2 writers  by a > b
  do: let one go

note: NO_OWNER (1)
  spark/raw.b: has no owner (accepted: agreed)

1 error, 1 note
"""

MARKDOWN = r"""<!-- dbt-graft show -->
### spark/raw.orders: 2 findings

- owner: sales
- rows: 1200

|  | code | place | subject | problem | do | owner | by |
|---|---|---|---|---|---|---|---|
| error | SECOND\_WRITER | a.yml:3 | spark/raw.a | has 2 writers | let one go | sales | a &#62; b |
| note | NO\_OWNER |  | spark/raw.b | has no owner (accepted: agreed) |  |  |  |

**datasets** (3)

| name | owner |
|---|---|
| a [2J\| | x |
| b |  |

… and 1 more.

**amount**

- price
  - list\_price
- `make price`

Note: 12 statements were not read.
"""

GITHUB = """\
::notice title=NO_OWNER spark/raw.b::has no owner (accepted: agreed)
::error file=a.yml,line=3,title=SECOND_WRITER spark/raw.a::has 2 writers%0Alet one go
::notice title=spark/raw.orders::2 findings
::notice ::12 statements were not read
"""


def test_text_aligns_rows_and_groups_findings_by_code() -> None:
    assert FORMS["text"](ANSWER, 2) == TEXT


def test_markdown_escapes_what_is_markup() -> None:
    assert FORMS["markdown"](ANSWER, 2).replace("\\[", "[") == MARKDOWN


def test_github_has_an_annotation_for_each_finding_and_the_verdict() -> None:
    assert FORMS["github"](ANSWER, 2) == GITHUB


def test_json_is_the_envelope_with_the_data() -> None:
    document = json.loads(FORMS["json"](ANSWER, 2))
    assert document["data"] == {"rows": 3}
    assert (document["question"], document["grade"]) == ("show", "error")
    assert [finding["code"] for finding in document["findings"]] == ["NO_OWNER", "SECOND_WRITER"]


def test_sarif_has_a_result_for_each_finding_at_its_line() -> None:
    (run,) = json.loads(FORMS["sarif"](ANSWER, 2))["runs"]
    note, error = run["results"]
    assert (note["level"], "locations" in note) == ("note", False)
    assert note["suppressions"] == [{"kind": "inSource", "justification": "agreed"}]
    place = error["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("a.yml", 3)


@for_each(
    "subject, place, annotation, uri",
    [
        ("spark/raw.a", "a.yml", "file=a.yml,title=X spark/raw.a", "a.yml"),
        # Names of tables and tasks look like files.
        ("landing/orders.csv", "", "title=X landing/orders.csv", None),
        ("load.py", "", "title=X load.py", None),
        (
            "load.py",
            "a,%\n.yml:3",
            "file=a%2C%25%0A.yml,line=3,title=X load.py",
            "a%2C%25%0A.yml",
        ),
        (
            "a",
            "run book#1.rst:12",
            "file=run book#1.rst,line=12,title=X a",
            "run%20book%231.rst",
        ),
        ("a", "ä.yml", "file=ä.yml,title=X a", "%C3%A4.yml"),
        ("a", "https://wiki/run:12", "title=X a", None),
    ],
)
def test_a_file_is_named_where_there_is_one(
    subject: str, place: str, annotation: str, uri: str | None
) -> None:
    answer = Answer("a", findings=[Finding("X", Severity.ERROR, subject, "is wrong", place=place)])
    assert FORMS["github"](answer, None) == f"::error {annotation}::is wrong\n"
    [result] = json.loads(FORMS["sarif"](answer, None))["runs"][0]["results"]
    places = [at["physicalLocation"]["artifactLocation"] for at in result.get("locations", ())]
    assert places == ([{"uri": uri}] if uri else [])


@for_each(
    "place, file",
    [
        ("models/a.sql:3", "warehouse/dbt/models/a.sql"),
        ("../load.py", "warehouse/load.py"),
        ("/etc/a.yml", "/etc/a.yml"),
    ],
)
def test_a_file_is_counted_from_the_top_of_the_repository(
    place: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    project = tmp_path / "warehouse/dbt"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    answer = Answer("a", findings=[Finding("X", Severity.ERROR, "a", "is wrong", place=place)])
    line = ",line=3" if place.endswith(":3") else ""
    assert FORMS["github"](answer, None) == f"::error file={file}{line},title=X a::is wrong\n"
    assert f'"uri": "{file}"' in FORMS["sarif"](answer, None)
