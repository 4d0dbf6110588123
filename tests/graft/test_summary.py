"""Statements that were not parsed, in the summary for people and as JSON."""

import orjson

from dbt_graft.graft.summary import Summary
from dbt_graft.lineage.gaps import Gap
from dbt_graft.lineage.records import Outcome

CRASH = Gap(Outcome.FAILED, "crashed the parser (SIGSEGV)", 2, "tsql", "SELECT ? FROM t")
PARTIAL = Gap(Outcome.PARTIAL, "other tables", 1_200, "tsql", "SELECT " + "a, " * 100 + "b FROM t")


def test_people_see_each_reason_with_a_short_example() -> None:
    told = str(Summary("store", gaps=(CRASH, PARTIAL)))
    assert "gaps      2 statements not parsed, 1,200 parsed in part\n" in told
    assert "  2 × crashed the parser (SIGSEGV): SELECT ? FROM t\n" in told
    assert "  1,200 × other tables: SELECT a, a, a," in told
    assert max(map(len, told.splitlines())) < 120


def test_many_reasons_have_an_end() -> None:
    gaps = tuple(Gap(Outcome.FAILED, f"reason {n}", 1, "spark", "?") for n in range(9))
    told = str(Summary("store", gaps=gaps))
    assert "reason 4: ?" in told
    assert "reason 5" not in told
    assert told.endswith("and 4 more reasons")


def test_programs_get_all_of_it() -> None:
    told = orjson.loads(orjson.dumps(Summary("store", gaps=(CRASH, PARTIAL)).to_json()))
    assert told["gaps"][0] == {
        "outcome": "failed",
        "reason": "crashed the parser (SIGSEGV)",
        "shapes": 2,
        "dialect": "tsql",
        "example": "SELECT ? FROM t",
    }
    assert told["gaps"][1]["shapes"] == 1_200


def test_where_all_was_understood_nothing_is_said() -> None:
    assert "gaps" not in str(Summary("store"))
