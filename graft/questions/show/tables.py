"""The page of a table: what it is, where it comes from and goes, its columns and dates, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.tasks_around import tasks_of_states
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.analysis.render.phrases import count, join_names, time_text
from dbt_graft.catalog.formatting import KIND, ROLE, platform
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.questions.show.columns import column_rows, column_table
from dbt_graft.graft.questions.show.dates import DateWindow, shown_dates
from dbt_graft.graft.questions.show.evidence import read_evidences, use_table, uses, why, why_tables
from dbt_graft.graft.questions.show.facts import BEGINNING, plain_facts, readers_json, readers_text
from dbt_graft.graft.questions.show.state import table_state
from dbt_graft.graft.questions.show.trees import Steps
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Direction

_COLUMNS = 8
_TITLE = ("role", "kind", "platform")


@frozen
class Sections:
    """The sections of a page that are wanted beside the first.

    Attributes:
        columns, dates: Of a table.
        why: Of a table or a task.
    """

    columns: bool
    dates: bool
    why: bool
    window: DateWindow


def table_answer(
    asked: AskedLineage, dataset: DatasetId, sections: Sections, steps: Steps
) -> Answer:
    """The page of a table, files or a topic."""
    evidences = read_evidences(asked)
    accesses = evidences.accesses(dataset)
    evidence = why(dataset, accesses, evidences)
    dated = asked.with_runs(lambda lineage: tasks_of_states(AccessHistory(lineage), dataset))
    dates = shown_dates(AccessHistory(dated.lineage), dataset, sections.window)
    if sections.dates and not dates.dates.entities:
        raise GraftError("nothing is known of its dates", place=str(dataset))
    about = _about(dataset, evidence["relation"], steps)
    state = list(table_state(dated, dataset, datetime.now(UTC)))
    last = about["last_write"]
    columns = column_rows(steps, dataset)
    written, read = (uses(accesses, way, evidences) for way in (Direction.WRITE, Direction.READ))
    consumers = steps.readers(dataset)
    reached = steps.reached(dataset)
    names = [column["name"] for column in columns if not column["is_gone"]]
    return Answer(
        str(dataset),
        ", ".join(about[name] for name in _TITLE if about[name]),
        plain_facts(
            {
                **{name: value for name, value in about.items() if name not in _TITLE},
                "last_write": f"{time_text(last['at'])} by {last['task']}" if last else None,
                "dropped_at": time_text(about["dropped_at"]),
                "dates": dates.summary(),
                "columns": f"{len(names):,}: {join_names(names, _COLUMNS)}" if names else None,
                **{side: count(len(far), "table") for side, far in reached.items() if far},
                "read_by": readers_text(consumers),
            }
        ),
        [
            Table("needs attention", ("",), [(words,) for _, words in state]),
            *steps.trees(dataset, steps.of_dataset, 1),
            use_table("written by", written, "task"),
            use_table("read by", read, "task"),
            *([column_table(columns)] if sections.columns else ()),
            *(dates.tables() if sections.dates else ()),
            *(why_tables(evidence) if sections.why else ()),
        ],
        [*_notes(evidence, with_why=sections.why), *(dates.notes() if sections.dates else ())],
        grade=dates.grade,
        question="show",
        data={
            "thing": "table",
            "dataset": str(dataset),
            "state": [{"kind": kind, "text": words} for kind, words in state],
            **about,
            **reached,
            "consumers": readers_json(consumers),
            "written_by": written,
            "read_by": read,
            "columns": columns,
            "dates": dates.to_json(),
            "why": evidence,
        },
    )


def _about(dataset: DatasetId, relation: str | None, steps: Steps) -> dict[str, Any]:
    """All that a table is, by logs, dbt and people."""
    lineage = steps.described.lineage
    facts, described = lineage.datasets.get(dataset), steps.described.descriptions.get(dataset)
    former = lineage.names.former.get(dataset, ())
    last = max(
        (usage for usage in lineage.writers(dataset) if usage.last_at),
        key=lambda usage: usage.last_at or BEGINNING,
        default=None,
    )
    return {
        "kind": KIND[facts.kind if facts else Kind.TEMPORARY].lower(),
        "platform": platform(dataset),
        "role": ROLE[described.role] if described else None,
        "owner": described.owner if described else None,
        "description": described.text if described else None,
        "tags": [*described.tags] if described else [],
        "labels": [*described.labels] if described else [],
        "dbt": relation,
        "other_names": [str(name) for name in lineage.names_of(dataset)[1:] if name not in former],
        "former_names": [*map(str, former)],
        "last_write": {"at": exact_iso(last.last_at), "task": last.task} if last else None,
        "dropped_at": exact_iso(facts.dropped_at) if facts else None,
    }


def _notes(evidence: Mapping[str, Any], *, with_why: bool) -> Iterator[str]:
    """Reasons for what is missing, dbt's relation too."""
    if evidence["ambiguous"]:
        names = ", ".join(evidence["ambiguous"])
        yield f"its name fits several relations of dbt: {names}; decide with a rule under `names`"
    elif evidence["alike"] and with_why:
        names = " or ".join(evidence["alike"])
        yield f"no relation of dbt; if it is {names}, say so with a rule under `names`"
    yield from evidence["reasons"]
