"""Settings in two versions: the verdict on each, and what is no change."""

from __future__ import annotations

from dbt_graft.analysis.review.settings import ReviewedSetting, setting_changes
from tests.cases import for_each

MERGE, APPEND = ReviewedSetting("1", "1", "merge"), ReviewedSetting("2", "2", "append")
BY_TARGET = (
    ReviewedSetting("1", "written", "view", by_environment=True),
    ReviewedSetting("2", "written", "table", by_environment=True),
)
REPLACED = "it decides which rows a run replaces"


@for_each(
    "name, old, new, expected",
    [
        ("incremental_strategy", MERGE, MERGE, []),
        (
            "incremental_strategy",
            MERGE,
            APPEND,
            [f"ROWS incremental_strategy is append, no longer merge: {REPLACED}"],
        ),
        ("unique_key", MERGE, None, [f"ROWS unique_key is no longer set: {REPLACED}"]),
        ("unique_key", None, MERGE, [f"ROWS unique_key is merge now: {REPLACED}"]),
        # Of the adapters' own settings no macro reads some: their Python does.
        (
            "immutable_where",
            MERGE._replace(is_unread=True),
            None,
            [f"ROWS immutable_where is no longer set: {REPLACED}"],
        ),
        (
            "environment_key",
            None,
            MERGE._replace(is_unread=True),
            ["ROWS environment_key is merge now: a statement that runs with it may change rows"],
        ),
        # Two targets, or two versions of a variable.
        ("snowflake_warehouse", *BY_TARGET, []),
        (
            "snowflake_warehouse",
            BY_TARGET[0]._replace(by_environment=False),
            BY_TARGET[1]._replace(by_environment=False),
            ["COST snowflake_warehouse is table, no longer view: it decides how it runs"],
        ),
        (
            "grants",
            MERGE,
            MERGE._replace(written="2"),
            ["METADATA grants is written otherwise, and is the same"],
        ),
        # A name that people invent may have a value that is a secret.
        (
            "own_password",
            None,
            MERGE,
            ["UNKNOWN own_password is another: what it decides is not known here"],
        ),
        (
            "team_setting",
            None,
            MERGE._replace(is_unread=True),
            ["METADATA team_setting is another: it is none of dbt's, and no macro reads it"],
        ),
        (
            "team_setting",
            MERGE,
            APPEND._replace(is_unread=True),
            ["UNKNOWN team_setting is another: what it decides is not known here"],
        ),
        (
            "partition_by",
            MERGE,
            APPEND,
            ["COST partition_by is append, no longer merge: it decides how the table is stored"],
        ),
    ],
)
def test_a_setting_that_is_another(
    name: str, old: ReviewedSetting | None, new: ReviewedSetting | None, expected: list[str]
) -> None:
    before, after = ({name: setting} if setting else {} for setting in (old, new))
    assert [
        f"{change.verdict.name} {change.text}"
        for change in setting_changes(before, after, incremental=False)
    ] == expected
