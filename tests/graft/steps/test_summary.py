"""Statements that were not parsed, in the summary for people and as JSON."""

import orjson

from dbt_graft.graft.steps.summary import Summary
from dbt_graft.lineage.definition import DefinitionColumns
from dbt_graft.lineage.gaps import Gap
from dbt_graft.lineage.records import Outcome, Reject

CRASH = Gap(Outcome.FAILED, "crashed the parser (SIGSEGV)", 2, "tsql", "SELECT ? FROM t")
PARTIAL = Gap(Outcome.PARTIAL, "other tables", 1_200, "tsql", "SELECT " + "a, " * 100 + "b FROM t")


def test_people_see_each_reason_with_a_short_example() -> None:
    text = str(Summary("store", gaps=(CRASH, PARTIAL)))
    assert "gaps      2 statements not parsed, 1,200 parsed in part\n" in text
    assert "  2 × crashed the parser (SIGSEGV): SELECT ? FROM t\n" in text
    assert "  1,200 × other tables: SELECT a, a, a," in text
    assert max(map(len, text.splitlines())) < 120


def test_a_gap_of_a_run_has_no_example() -> None:
    text = str(Summary("store", gaps=(Gap(Outcome.PARTIAL, "rows in code", 2, "spark-plan", ""),)))
    assert text.endswith("  2 × rows in code")


def test_many_reasons_have_an_end() -> None:
    gaps = tuple(Gap(Outcome.FAILED, f"reason {n}", 1, "spark", "?") for n in range(9))
    text = str(Summary("store", gaps=gaps))
    assert "reason 4: ?" in text
    assert "reason 5" not in text
    assert text.endswith("and 4 more reasons")


def test_programs_get_all_of_it() -> None:
    text = orjson.loads(orjson.dumps(Summary("store", gaps=(CRASH, PARTIAL)).to_json()))
    assert text["gaps"][0] == {
        "outcome": "failed",
        "reason": "crashed the parser (SIGSEGV)",
        "shapes": 2,
        "dialect": "tsql",
        "example": "SELECT ? FROM t",
    }
    assert text["gaps"][1]["shapes"] == 1_200


def test_without_gaps_there_is_no_line() -> None:
    assert "gaps" not in str(Summary("store"))


def test_models_whose_columns_were_followed_are_counted() -> None:
    gaps = {f"model.shop.m{n}": "columns that its query does not have: x" for n in range(8)}
    followed = DefinitionColumns({f"model.shop.m{n}": () for n in range(1_240)}, gaps)
    summary = Summary("store", columns=followed.coverage)
    assert "columns   followed through 1,232 of 1,240 dbt models\n" in str(summary)
    assert str(summary).endswith("  8 × columns that its query does not have")
    assert orjson.loads(orjson.dumps(summary.to_json()))["columns"] == {
        "followed": 1_232,
        "of": 1_240,
        "reasons": {"columns that its query does not have": 8},
    }


def test_what_could_not_be_read_is_named() -> None:
    unread = tuple(Reject(f"logs/{n}", "", "there is nothing at this path") for n in range(12))
    text = str(Summary("store", unread=unread[:1]))
    assert "unread    logs/0: there is nothing at this path\n" in text
    forged = Reject("logs/a\nrejected  0\x1b[2K", "", "gone")
    assert "unread    logs/a rejected  0 [2K: gone\n" in str(Summary("store", unread=(forged,)))
    text = str(Summary("store", unread=unread))
    assert "logs/9: " in text
    assert "logs/10" not in text
    assert "and 2 more\n" in text
