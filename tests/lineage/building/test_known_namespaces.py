"""Namespaces with a path: one dataset, whoever names it and wherever its text is cut."""

from __future__ import annotations

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind, parse_dataset_id
from dbt_graft.lineage.records import Dataset, Evidence, Records
from tests.notation import access

NAMESPACE = "iceberg://prod/enforcement"
EVENTS, BREACHES = (
    DatasetId(NAMESPACE, name) for name in ("silver.case_event", "gold.case_sla_breach")
)


def _written(dataset: DatasetId) -> DatasetId:
    """A dataset as people write it."""
    return parse_dataset_id(str(dataset))


def _records(*datasets: Dataset, also_observed: bool = True) -> Records:
    """A task that is declared, and that an event shows."""
    declared = {"evidence": Evidence.DECLARED, "shape_id": "d", "run_id": "d"}
    accesses = [
        access("SELECT", _written(EVENTS), kind=Kind.PATH, **declared),
        access("INSERT", _written(BREACHES), kind=Kind.PATH, **declared),
    ]
    if also_observed:
        accesses += [access("SELECT", EVENTS), access("INSERT", BREACHES)]
    return Records(accesses=tuple(accesses), datasets=datasets)


def test_what_is_declared_and_what_is_seen_is_one_flow() -> None:
    lineage = build(_records(Dataset(EVENTS), Dataset(BREACHES)))
    assert [(flow.source, flow.target) for flow in lineage.flows] == [(EVENTS, BREACHES)]
    assert [flow.evidence for flow in lineage.flows] == [Evidence.OBSERVED]


def test_a_declared_name_is_cut_where_a_log_knows_the_namespace() -> None:
    records = _records(Dataset(DatasetId(NAMESPACE, "other.t")), also_observed=False)
    named = build(records).datasets[EVENTS]
    assert (named.id.namespace, named.id.parts, named.kind) == (
        NAMESPACE,
        ("silver", "case_event"),
        Kind.TABLE,
    )


def test_a_name_stays_where_nothing_knows_its_namespace() -> None:
    named = build(_records(also_observed=False)).datasets[EVENTS]
    assert (named.id.namespace, named.kind) == ("iceberg://prod", Kind.PATH)


def test_the_longest_namespace_that_is_known_counts() -> None:
    deep = DatasetId(f"{NAMESPACE}/eu", "silver.t")
    records = Records(
        accesses=(access("INSERT", _written(deep)),),
        datasets=(Dataset(DatasetId(NAMESPACE, "a.b")), Dataset(DatasetId(deep.namespace, "a.b"))),
    )
    assert build(records).datasets[deep].id.namespace == deep.namespace
