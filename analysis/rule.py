"""The rules that `graft check` holds: the code of each finding, its severity and what breaks it.

`docs/check.md` has them as a table, which a test compares with this one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.lineage.frozen import frozen


@frozen
class Rule:
    """A rule; `rules: {severity: …}` in graft.yml changes its severity or turns it off.

    Attributes:
        check: The check of `graft check --only` that finds what breaks it.
        code: The code of its findings.
        severity: Where graft.yml names no other.
        doc: What breaks it, in Markdown.
    """

    check: str
    code: str
    severity: Severity
    doc: str

    def finding(
        self,
        subject: str,
        problem: str,
        remedy: str = "",
        owner: str = "",
        place: str = "",
        path: Sequence[str] = (),
    ) -> Finding:
        """A finding that breaks this rule."""
        return Finding(
            self.code, self.severity, subject, problem, remedy, owner, place, tuple(path)
        )


def matches_any(names: Iterable[str], patterns: Collection[str]) -> bool:
    """Whether a name fits a pattern with `*` as a wildcard; case is ignored.

    Names of tasks have brackets and question marks: `load [prod]`.
    """
    parts = (map(re.escape, pattern.casefold().split("*")) for pattern in patterns)
    fits = re.compile("|".join(map(".*".join, parts)), re.DOTALL).fullmatch
    return bool(patterns) and any(fits(name.casefold()) for name in names)


RULES: dict[str, Rule] = {}


def _rule(check: str, code: str, severity: Severity, doc: str) -> Rule:
    rule = RULES[code] = Rule(check, code, severity, doc)
    return rule


_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

CERTIFIED_WITHOUT_OWNER = _rule(
    "rules",
    "CERTIFIED_ASSET_MISSING_OWNER",
    _ERROR,
    "a dataset with the tag `certified` has no owner",
)
CERTIFIED_WITHOUT_SLO = _rule(
    "rules",
    "CERTIFIED_ASSET_MISSING_SLO",
    _WARNING,
    "nothing says how fresh it must be: no `freshness` of a dbt source, no reader with "
    "`freshness_slo` or `deadline`",
)
GOLD_WITHOUT_RESULT = _rule(
    "rules",
    "GOLD_ASSET_MISSING_QUALITY_RESULT",
    _WARNING,
    "no test of a dataset with the tag `gold` has a result",
)
PROMISE_NOT_READ = _rule(
    "rules",
    "PROMISE_NOT_READ",
    _WARNING,
    "the deadline or the freshness SLO of a consumer or a contract is [no time](#deadlines)",
)
MISSING_PRODUCING_RUN = _rule(
    "rules",
    "MISSING_PRODUCING_RUN",
    _WARNING,
    "a dataset is written as people declare, and no run of a writer is known",
)
MISSING_CODE_REF = _rule(
    "rules",
    "MISSING_CODE_REF",
    _NOTE,
    "a task writes, and neither `repo`, `path` nor a code version of its runs is known",
)
SECOND_WRITER = _rule(
    "rules",
    "SECOND_WRITER",
    _WARNING,
    "several tasks write a dataset, or a task and dbt; not [former ones](#former-writers)",
)
OUTSIDE_PLATFORM = _rule(
    "rules",
    "WRITE_OUTSIDE_PLATFORM",
    _WARNING,
    "a task writes, deletes, alters or drops that `rules: {platform: […]}` does not name",
)
UNRESOLVED = _rule(
    "rules",
    "UNRESOLVED_STATEMENTS",
    _WARNING,
    "a task may [read or write more](#unresolved-statements) than is known, or not all columns in "
    "its statements are known",
)
STALE_EDGE = _rule(
    "rules",
    "STALE_EDGE",
    _NOTE,
    "data flowed and has not for `impact: {stale_after: 90d}`",
)
PHANTOM_EDGE = _rule(
    "drift",
    "PHANTOM_EDGE",
    _WARNING,
    "an edge of a task or a dbt model is declared, and [none of its runs does it](#drift)",
)
UNDECLARED_EDGE = _rule(
    "drift", "UNDECLARED_EDGE", _WARNING, "an edge is seen, and [nobody declared it](#drift)"
)
CODE_DRIFT = _rule(
    "drift",
    "CODE_DRIFT",
    _WARNING,
    "[the code of a task](python-code.md) is not what runs: logs show a table or a column that it "
    "does not have, or it has one that no run was seen to write, or the last run had another",
)
COLUMN_DRIFT = _rule(
    "drift",
    "COLUMN_DRIFT",
    _WARNING,
    "dbt's catalog or YAML and the logs do not agree on [a column](#columns)",
)
SENSITIVE_UNCLASSIFIED = _rule(
    "privacy",
    "SENSITIVE_COLUMN_UNCLASSIFIED",
    _WARNING,
    "a column is sensitive, and neither it nor its dataset says so",
)
SENSITIVE_PUBLISHED = _rule(
    "privacy",
    "SENSITIVE_COLUMN_PUBLISHED",
    _WARNING,
    "a report or a dashboard reads a sensitive column",
)
SENSITIVE_IN_FILE = _rule(
    "privacy", "SENSITIVE_COLUMN_IN_FILE", _WARNING, "a sensitive column is in a file"
)
SENSITIVE_WITHOUT_LINEAGE = _rule(
    "privacy",
    "SENSITIVE_ASSET_MISSING_PRIVACY_LINEAGE",
    _WARNING,
    "a task writes a sensitive column, and nothing tells what it comes from",
)
LOWERED = _rule(
    "privacy",
    "LOWERED_WITHOUT_REASON",
    _WARNING,
    "more sensitive values flow into a column than its label says, and it gives no reason",
)
CONTRACT_COLUMN = _rule(
    "contracts",
    "CONTRACT_COLUMN_MISSING",
    _ERROR,
    "a [data contract](declared.md#data-contracts) promises a column that the table lacks",
)
CONTRACT_NOT_READ = _rule("contracts", "CONTRACT_NOT_READ", _WARNING, "a contract cannot be read")
CONTRACT_UNMATCHED = _rule(
    "contracts", "CONTRACT_WITHOUT_DATASET", _WARNING, "a contract means no dataset, or several"
)
CONTRACT_PROMISE = _rule(
    "contracts",
    "CONTRACT_PROMISE_BROKEN",
    _WARNING,
    "a contract promises rows more often than they come, or is past its end",
)
CYCLE_BROKEN = _rule(
    "artifacts",
    "CYCLE_BROKEN",
    _WARNING,
    "an edge of a task is not in dbt's artifacts, as it would close a cycle",
)
UNKNOWN_DATASET = _rule(
    "artifacts",
    "UNKNOWN_DATASET",
    _NOTE,
    "tasks use datasets that dbt does not know: one finding for all",
)
LINEAGE_LOST = _rule(
    "artifacts",
    "LINEAGE_LOST",
    _WARNING,
    "a task of the last published build is gone, or reads or writes a dataset no more; by names, "
    "so not one that moved to another server",
)
DAG_BEFORE_WRITER = _rule(
    "dags", "DAG_BEFORE_WRITER", _WARNING, "a task runs before the one that writes what it reads"
)
DAG_NOT_AFTER_WRITER = _rule(
    "dags",
    "DAG_NOT_AFTER_WRITER",
    _WARNING,
    "nothing makes a task wait for the writer: it works by luck",
)
DAG_BY_CLOCK = _rule(
    "dags",
    "DAG_BY_CLOCK",
    _WARNING,
    "writer and reader are in two DAGs with schedules of their own, with no asset, sensor or "
    "trigger between them",
)
DAG_CYCLE = _rule(
    "dags",
    "DAG_CYCLE",
    _NOTE,
    "two tasks read what the other one writes, so that no order is right: add one edge to "
    "`airflow: {ignore: …}`",
)
DAG_WITHOUT_TASK = _rule("dags", "DAG_WITHOUT_TASK", _NOTE, "no DAG runs a task of the lineage")
DAG_TASK_GONE = _rule(
    "dags", "DAG_TASK_GONE", _NOTE, "the lineage no longer has a task of an exported DAG"
)
DAG_NEEDLESS_WAIT = _rule(
    "dags",
    "DAG_NEEDLESS_WAIT",
    _NOTE,
    "a task waits for another one, and lineage has no reason for it, not even by tasks in between; "
    "not of tasks that [may read or write more](#unresolved-statements) than is known",
)
DAG_NOT_READ = _rule("dags", "DAG_NOT_READ", _NOTE, "a file that should have DAGs cannot be read")
FAULT_REACHES_CONSUMER = _rule(
    "quality",
    "FAULT_REACHES_CONSUMER",
    _WARNING,
    "a test or a write failed, or a source had no new rows, and [a consumer has it](#quality)",
)
CHECK_NOT_RUN = _rule(
    "quality",
    "CHECK_NOT_RUN",
    _WARNING,
    "a test or a freshness check could not run, so that nobody knows whether the data is good",
)
DEADLINE_MISSED = _rule(
    "quality",
    "DEADLINE_MISSED",
    _ERROR,
    "the last [deadline](#deadlines) passed without the data, which is still not there",
)
DEADLINE_AT_RISK = _rule(
    "quality",
    "DEADLINE_AT_RISK",
    _WARNING,
    "the data will come after the deadline, as far as can be told",
)
DATA_TOO_OLD = _rule(
    "quality", "DATA_TOO_OLD", _ERROR, "the data is older than the `freshness_slo` of a consumer"
)
SOURCE_LATE = _rule(
    "freshness",
    "SOURCE_LATE",
    _WARNING,
    "the newest event of a source is older than `--max-age` or days ahead, or it has none",
)
SOURCE_UNREACHABLE = _rule(
    "freshness", "SOURCE_UNREACHABLE", _WARNING, "the logs of a source cannot be listed"
)
LINK_GONE = _rule(
    "links", "LINK_GONE", _ERROR, "a link leads to a page whose dataset or task is gone"
)
LINK_MISSING = _rule(
    "links", "LINK_MISSING", _ERROR, "a link leads to what was never a page of the site"
)
LINK_MOVED = _rule("links", "LINK_MOVED", _NOTE, "a link leads to a page that has moved")
HIDDEN_PUBLISHED = _rule(
    "audience",
    "HIDDEN_NAME_PUBLISHED",
    _ERROR,
    "a published site has [what its audience may not see](publishing.md#the-proof)",
)
