"""Partition mappings: how the dates of an input and an output belong together."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.dates.calendar import ALL_DATES, Dates
from dbt_graft.lineage.dates.date_text import dates_text, parse_dates
from dbt_graft.lineage.dates.partition_mapping import (
    EdgeRun,
    MappingEvidence,
    PartitionMapping,
    mapping_from_runs,
    with_declared,
)
from dbt_graft.lineage.dates.period import Grain
from tests.cases import for_each


def runs(*pairs: str) -> list[EdgeRun]:
    """Runs, each written `read > written`; `?` is an undated read."""
    found = []
    for number, pair in enumerate(pairs):
        read, _, written = pair.partition(" > ")
        dates = None if read == "?" else parse_dates(read)
        found.append(EdgeRun(str(number), dates, parse_dates(written)))
    return found


SAME = ("2026-10-03 > 2026-10-03", "2026-10-02 > 2026-10-02", "2026-10-01 > 2026-10-01")
WINDOW = tuple(f"2026-10-{n:02}..2026-10-{n + 6:02} > 2026-10-{n + 6:02}" for n in (1, 2, 9))


@for_each(
    "pairs, grain, shown, evidence",
    [
        (SAME, "day", "same day", "runs"),
        (WINDOW, "day", "[-6, 0] by day", "runs"),
        (SAME[:1], "day", "same day", "hint"),
        (SAME[:2], "day", "same day", "hint"),
        ((SAME[0], WINDOW[0]), "day", "same month", "hint"),
        ((*SAME, WINDOW[0]), "day", "same day", "runs"),
        ((*SAME, *WINDOW), "day", "same month", "runs"),
        (("?  > 2026-10-03".replace("  ", " "),) * 3, "day", "all dates", "none"),
        ((), "day", "all dates", "none"),
        (
            ("..2026-10-01 > 2026-10-01", "..2026-10-02 > 2026-10-02", "..2026-10-03 > 2026-10-03"),
            "day",
            "[…, 0] by day",
            "runs",
        ),
        (
            ("2026-10-01..2026-10-09 > 2026-10", "2026-10 > 2026-10", "2026-09 > 2026-09"),
            "month",
            "same month",
            "runs",
        ),
        (
            tuple(f"2026-09-01..2026-10-0{n} > 2026-10-0{n}" for n in (2, 3, 4)),
            "day",
            "[-1 month, 0 days] by day",
            "runs",
        ),
        # Month to date, week to date, and all that was before.
        (
            tuple(f"2026-10-01..2026-10-{n:02} > 2026-10-{n:02}" for n in (3, 4, 5)),
            "day",
            "month to date",
            "runs",
        ),
        (
            tuple(f"2026-10-05..2026-10-{n:02} > 2026-10-{n:02}" for n in (6, 8, 9)),
            "day",
            "week to date",
            "runs",
        ),
        (
            tuple(f"2026-10-02..2026-10-{n:02} > 2026-10-{n:02}" for n in (3, 4, 5)),
            "day",
            "[…, 0] by day",
            "runs",
        ),
        # One date three times shows nothing of others.
        (("2026-10-02..2026-10-03 > 2026-10-03",) * 3, "day", "[-1, 0] by day", "runs"),
    ],
)
def test_runs_that_agree_make_a_rule(
    pairs: tuple[str, ...], grain: str, shown: str, evidence: str
) -> None:
    mapping = mapping_from_runs(runs(*pairs), Grain(grain), Grain.DAY)

    assert (str(mapping), mapping.evidence) == (shown, MappingEvidence(evidence))
    assert mapping.is_rule == (evidence == "runs")


@pytest.mark.parametrize(
    ("pairs", "shown"),
    [
        (
            tuple(
                f"2026-10-{n:02}T22..2026-10-{n + 1:02}T21 > 2026-10-{n + 1:02}" for n in (1, 2, 3)
            ),
            "[-2 hours, -2 hours] by day",
        ),
        (tuple(f"2026-10-0{n} > 2026-10-0{n}" for n in (1, 2, 3)), "same day"),
        (
            tuple(f"2026-10-01..2026-10-0{n} > 2026-10-0{n}" for n in (2, 3, 5)),
            "month to date",
        ),
    ],
)
def test_offsets_count_in_the_grain_of_the_input(pairs: tuple[str, ...], shown: str) -> None:
    assert str(mapping_from_runs(runs(*pairs), Grain.DAY, Grain.HOUR)) == shown


def test_runs_that_do_not_agree_are_listed() -> None:
    mapping = mapping_from_runs(runs(WINDOW[0], *SAME), Grain.DAY, Grain.DAY)

    assert (mapping.agreeing, mapping.of, mapping.exceptions) == (3, 4, ("0",))


TO_DATE = PartitionMapping(Grain.DAY, 0, 0, units=(Grain.MONTH, Grain.DAY))
LOCAL_DAY = PartitionMapping(Grain.DAY, -2, -2, units=(Grain.HOUR, Grain.HOUR))


@for_each(
    "mapping, bad, affected",
    [
        (TO_DATE, "2026-10-03", "3 to 31 Oct 2026"),
        (TO_DATE, "2026-10-31", "31 Oct 2026"),
        (LOCAL_DAY, "2026-10-02T21", "2 Oct 2026"),
        (LOCAL_DAY, "2026-10-02T22", "3 Oct 2026"),
        (LOCAL_DAY, "2026-10-02", "2 to 3 Oct 2026"),
        (PartitionMapping(Grain.DAY, 0, 0), "2026-10-03", "3 Oct 2026"),
        (PartitionMapping(Grain.DAY, -6, 0), "2026-10-03", "3 to 9 Oct 2026"),
        (PartitionMapping(Grain.DAY, -1, -1), "2026-10-03", "4 Oct 2026"),
        (PartitionMapping(Grain.DAY, None, 0), "2026-10-03", "since 3 Oct 2026"),
        (PartitionMapping(Grain.MONTH, 0, 0), "2026-10-03", "1 to 31 Oct 2026"),
        (PartitionMapping(Grain.MONTH, -1, 0), "2026-10-31", "1 Oct to 30 Nov 2026"),
        (PartitionMapping(Grain.WEEK, 0, 0), "2026-10-03", "28 Sep to 4 Oct 2026"),
        (PartitionMapping(Grain.DAY, 0, 0), "2026-10-03T01..2026-10-03T10", "3 Oct 2026"),
        (PartitionMapping(Grain.DAY, 0, 0, Grain.MONTH), "2026-10-03", "1 to 31 Oct 2026"),
        (PartitionMapping(), "2026-10-03", "all dates"),
        (PartitionMapping(Grain.DAY, -6, 0), "..", "all dates"),
    ],
)
def test_bad_dates_are_mapped_to_the_dates_that_need_them(
    mapping: PartitionMapping, bad: str, affected: str
) -> None:
    dates = ALL_DATES if bad == ".." else parse_dates(bad)

    assert dates_text(mapping.affected_dates(dates)) == affected


@for_each(
    "mapping, output, needed",
    [
        (TO_DATE, "2026-10-03", "1 to 3 Oct 2026"),
        (TO_DATE, "2026-10-31..2026-11-02", "1 Oct to 2 Nov 2026"),
        (LOCAL_DAY, "2026-10-03", "2 Oct 2026 22:00 to 3 Oct 2026 22:00"),
        (PartitionMapping(Grain.DAY, -6, 0), "2026-10-09", "3 to 9 Oct 2026"),
        (PartitionMapping(Grain.MONTH, 0, 0), "2026-10", "1 to 31 Oct 2026"),
        (PartitionMapping(Grain.DAY, None, 0), "2026-10-09", "up to 9 Oct 2026"),
        (PartitionMapping(Grain.DAY, 0, 0, Grain.MONTH), "2026-10-09", "1 to 31 Oct 2026"),
        (PartitionMapping(), "2026-10-09", "all dates"),
    ],
)
def test_an_output_needs_dates_of_its_input(
    mapping: PartitionMapping, output: str, needed: str
) -> None:
    assert dates_text(mapping.needed_dates(parse_dates(output))) == needed


def test_no_bad_dates_affect_nothing() -> None:
    assert not PartitionMapping().affected_dates(Dates())
    assert not PartitionMapping().needed_dates(Dates())


def test_what_is_declared_wins_and_keeps_the_count_of_runs_that_agree() -> None:
    derived = mapping_from_runs(runs(*SAME), Grain.DAY, Grain.DAY)
    same = PartitionMapping(Grain.DAY, 0, 0, evidence=MappingEvidence.DECLARED)
    window = PartitionMapping(Grain.DAY, -6, 0, evidence=MappingEvidence.DECLARED)

    assert with_declared(derived, same).agreeing == 3
    assert (with_declared(derived, window).agreeing, with_declared(derived, window).of) == (0, 3)
    assert with_declared(derived, None) is derived
