"""Labels of columns: what follows from those that people declare."""

from __future__ import annotations

from random import Random

import pytest

from dbt_graft.analysis.impact.graph import EdgeKind, ImpactGraph
from dbt_graft.analysis.privacy.classification import (
    Classification,
    PrivacyRules,
    classification,
    remaining_level,
)
from dbt_graft.analysis.privacy.findings import privacy_findings
from dbt_graft.analysis.privacy.labels import (
    ColumnRules,
    DeclaredLabel,
    PrivacyLabels,
    privacy_labels,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Column,
    ColumnEdge,
    Dataset,
    EdgeType,
    Masking,
    Subtype,
)
from tests.cases import for_each
from tests.lineage.histories import chance
from tests.notation import column_edge

PII, CONFIDENTIAL, INTERNAL = (
    Classification.PII,
    Classification.CONFIDENTIAL,
    Classification.INTERNAL,
)
ALL_LOWER = PrivacyRules(CONFIDENTIAL, INTERNAL, Classification.PUBLIC)


def table(name: str) -> DatasetId:
    return DatasetId("db", name)


def edge(
    text: str,
    subtype: Subtype = Subtype.IDENTITY,
    *,
    masking: bool = False,
    masked_by: Masking = Masking.NONE,
) -> ColumnEdge:
    """`a.x -> b.y`."""
    (source, column), (target, output) = (one.rsplit(".", 1) for one in text.split(" -> "))
    ends = (table(target), output, table(source), column, subtype)
    hides = {"masking": masking or bool(masked_by), "masked_by": masked_by}
    return column_edge(*ends, task=f"to {target}", **hides)


def label(text: str, found: Classification = PII, reason: str = "") -> DeclaredLabel:
    dataset, column = text.rsplit(".", 1)
    return DeclaredLabel(table(dataset), column, found, "dbt", reason)


def labelled(
    edges: list[ColumnEdge],
    *declared: DeclaredLabel,
    rules: PrivacyRules | None = None,
    datasets: tuple[Dataset, ...] = (),
    flows: tuple[Flow, ...] = (),
) -> PrivacyLabels:
    return privacy_labels(ImpactGraph(edges, flows, datasets), declared, rules)


def texts(labels: PrivacyLabels) -> dict[str, str]:
    graph = labels.graph
    return {
        f"{graph.datasets[graph.dataset_of[column]].name}.{graph.column_names[column]}": found.text
        for column in labels.columns()
        if (found := labels.classification(column)) is not None
    }


@for_each(
    "text, found",
    [
        ("PII", "pii"),
        ("Restricted-PII", "restricted_pii"),
        ("public", "public"),
        ("GDPR", "pii"),
        ("password", "secret"),
        ("sensitive", "confidential"),
        ("is_sensitive", "confidential"),
        ("contains phi", "restricted_pii"),
        ("pii_type: email", "pii"),
        ("pii_name", "pii"),
        ("pii: restricted_pii", "restricted_pii"),
        ("gdpr: personal", "pii"),
        ("gdpr: special_category", "restricted_pii"),
        ("privacy.category: personal", "pii"),
        ("policy_tags: pii", "pii"),
        ("governance.pii", "pii"),
        ("security: confidential", "confidential"),
        ("Personally Identifiable Information", "pii"),
        ("contains sensitive data", "confidential"),
        ("classification: Internal Use Only", "internal"),
        ("top secret", "secret"),
        ("strictly_confidential", None),
        # Nobody knows what these leave, or which class they are.
        ("pii: masked", None),
        ("pii_removed_at", None),
        ("pii: none", None),
        ("pii: n/a", None),
        ("pii: TBD", None),
        ("pii: name", "pii"),
        ("gdpr: article 6", None),
        ("privacy.level: 3", None),
        ("masking_policy: mask_mail", None),
        ("policy_tags: projects/p/taxonomies/1", None),
        ("nightly", None),
        ("", None),
    ],
)
def test_a_label_names_a_classification(text: str, found: str | None) -> None:
    named = classification(text)
    assert (named.text if named is not None else None) == found


@for_each(
    "operation, rules, left",
    [
        ("IDENTITY", ALL_LOWER, PII),
        ("TRANSFORMATION", ALL_LOWER, PII),
        ("TRANSFORMATION HASH", ALL_LOWER, PII),
        ("TRANSFORMATION MASK", PrivacyRules(), PII),
        ("TRANSFORMATION MASK", ALL_LOWER, CONFIDENTIAL),
        ("TRANSFORMATION TOKENIZE", ALL_LOWER, CONFIDENTIAL),
        ("TRANSFORMATION ENCRYPT", PrivacyRules(), PII),
        ("TRANSFORMATION ENCRYPT", ALL_LOWER, INTERNAL),
        ("AGGREGATION", PrivacyRules(), PII),
        ("AGGREGATION", ALL_LOWER, Classification.PUBLIC),
        ("AGGREGATION HASH", ALL_LOWER, Classification.PUBLIC),
        ("AGGREGATION HASH", PrivacyRules(masked=CONFIDENTIAL), PII),
        ("TRANSFORMATION MASK", PrivacyRules(masked=Classification.SECRET), PII),
    ],
)
def test_an_operation_lowers_by_rule_only(
    operation: str, rules: PrivacyRules, left: Classification
) -> None:
    subtype, _, masked_by = operation.partition(" ")
    kind = EdgeKind(Subtype(subtype), bool(masked_by), Masking(masked_by))
    assert remaining_level(PII, kind, rules) is left


def test_what_hides_a_value_in_a_way_that_nobody_tells_may_be_a_hash() -> None:
    kind = EdgeKind(Subtype.TRANSFORMATION, masking=True, masked_by=Masking.NONE)
    assert remaining_level(PII, kind, ALL_LOWER) is PII


def test_a_label_goes_where_values_go_with_its_path() -> None:
    labels = labelled(
        [
            edge("raw.mail -> stage.email"),
            edge("stage.email -> mart.domain", Subtype.TRANSFORMATION, masking=True),
            edge("raw.id -> stage.id"),
        ],
        label("raw.mail"),
    )
    assert texts(labels) == {"raw.mail": "pii", "stage.email": "pii", "mart.domain": "pii"}
    last = labels.graph.find_column(labels.graph.dataset(table("mart")), "DOMAIN")
    assert last is not None
    assert [(str(one.dataset), one.column, one.task, one.masking) for one in labels.path(last)] == [
        ("db/raw", "mail", "", False),
        ("db/stage", "email", "to stage", False),
        ("db/mart", "domain", "to mart", True),
    ]


def test_what_decides_on_rows_is_noted_and_labels_nothing() -> None:
    labels = labelled([edge("raw.mail -> mart.*", Subtype.FILTER)], label("raw.mail"))
    assert texts(labels) == {"raw.mail": "pii"}
    [(column, dataset)] = labels.decides
    assert (labels.graph.column_names[column], labels.graph.datasets[dataset]) == (
        "mail",
        table("mart"),
    )


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        pytest.param(label("mart.m", INTERNAL), {"mart.m": "pii", "top.m": "pii"}, id="no reason"),
        pytest.param(
            label("mart.m", INTERNAL, "test data"),
            {"mart.m": "internal", "top.m": "internal"},
            id="with a reason",
        ),
        pytest.param(
            label("mart.m", Classification.SECRET),
            {"mart.m": "secret", "top.m": "secret"},
            id="a higher one",
        ),
    ],
)
def test_a_lower_label_counts_where_it_has_a_reason(
    declared: DeclaredLabel, expected: dict[str, str]
) -> None:
    labels = labelled([edge("raw.m -> mart.m"), edge("mart.m -> top.m")], label("raw.m"), declared)
    assert texts(labels) == {"raw.m": "pii", **expected}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        pytest.param(("MAIL", "id"), {"mart.MAIL": "pii"}, id="its name"),
        pytest.param(("id",), {}, id="it has no such column"),
        pytest.param((), {"mart.*": "pii"}, id="no column is known"),
    ],
)
def test_a_column_goes_through_select_star_under_its_own_name(
    columns: tuple[str, ...], expected: dict[str, str]
) -> None:
    mart = Dataset(table("mart"), columns=tuple(map(Column, columns)))
    labels = labelled([edge("raw.* -> mart.*")], label("raw.mail"), datasets=(mart,))
    assert texts(labels) == {"raw.mail": "pii", **expected}


@for_each(
    "edges, labelled_column, expected",
    [
        (["raw.address -> mart.a"], "address.street", {"mart.a"}),
        (["raw.address -> mart.a"], "ADDRESS.Street", {"mart.a"}),
        (["raw.address.street -> mart.s"], "address", {"mart.s"}),
        (["raw.address.street.name -> mart.s"], "address.street", {"mart.s"}),
        (["raw.address.street -> mart.s"], "address.street.name", {"mart.s"}),
        (["raw.address.city -> mart.c"], "address.street", set()),
        (["raw.address.city -> mart.c", "raw.address -> top.a"], "address.street", {"top.a"}),
        (["raw.addresses -> mart.a"], "address.street", set()),
    ],
)
def test_a_label_of_a_field_goes_with_its_struct_and_the_other_way(
    edges: list[str], labelled_column: str, expected: set[str]
) -> None:
    declared = DeclaredLabel(table("raw"), labelled_column, PII, "dbt")
    for columns in ((), (Column("address"), Column("address.street"), Column("address.city"))):
        datasets = (Dataset(table("raw"), columns=columns),)
        names = texts(labelled(_field_edges(edges), declared, datasets=datasets)).keys()
        assert {name for name in names if not name.startswith("raw.")} == expected


def _field_edges(written: list[str]) -> list[ColumnEdge]:
    """`table.column.field -> table.column`."""
    ends = [[end.split(".", 1) for end in text.split(" -> ")] for text in written]
    return [
        column_edge(table(to), output, table(source), column, Subtype.IDENTITY, task=f"to {to}")
        for (source, column), (to, output) in ends
    ]


@for_each(
    "output, is_found",
    [
        ("address", False),
        ("address.street", False),
        ("address.city", True),
        ("id", True),
        ("*", False),
    ],
)
def test_a_field_comes_from_what_its_struct_comes_from(output: str, *, is_found: bool) -> None:
    known = column_edge(table("mart"), output, table("raw"), "a", Subtype.IDENTITY, task="t")
    flows = (Flow(table("raw"), table("mart"), "t"),)
    declared = DeclaredLabel(table("mart"), "address.street", PII, "dbt")
    findings = privacy_findings(labelled([known], declared, flows=flows), PII)
    assert [finding.code for finding in findings] == (
        ["SENSITIVE_ASSET_MISSING_PRIVACY_LINEAGE"] if is_found else []
    )


@pytest.mark.parametrize("is_written", [True, False])
def test_what_is_written_out_of_nothing_known_has_no_lineage(*, is_written: bool) -> None:
    """As a task does that loads from an API: no flow leads to its table."""
    declared = DeclaredLabel(table("raw"), "mail", PII, "dbt")
    datasets = (Dataset(table("raw"), columns=(Column("mail"),)),)
    labels = labelled([], declared, datasets=datasets)
    findings = privacy_findings(labels, PII, written=[table("raw")] if is_written else ())
    assert [finding.code for finding in findings] == (
        ["SENSITIVE_ASSET_MISSING_PRIVACY_LINEAGE"] if is_written else []
    )


def test_behind_a_flow_without_known_columns_all_is_unknown() -> None:
    flows = (
        Flow(table("raw"), table("stage"), "known"),
        Flow(table("raw"), table("export"), "script"),
        Flow(table("export"), table("upload"), "script"),
    )
    labels = labelled([edge("raw.mail -> stage.mail")], label("raw.mail"), flows=flows)
    # The flow of `stage` is another task's than its column edges.
    assert table("upload") in labels.unknown
    assert (table("raw"), table("export"), "script") in [
        (one.source, one.target, one.task) for one in labels.unmapped
    ]


def test_without_sensitive_columns_nothing_is_unknown() -> None:
    flows = (Flow(table("raw"), table("export"), "script"),)
    labels = labelled([], label("raw.mail", INTERNAL), flows=flows)
    assert (labels.unknown, labels.unmapped) == ((), ())


def test_it_agrees_with_a_slow_model_on_random_graphs() -> None:
    for seed in range(300):
        random = chance(seed)
        edges, declared, rules = _random(random)
        labels = labelled(edges, *declared, rules=rules)
        assert texts(labels) == _slow(edges, declared, rules), seed


def _random(random: Random) -> tuple[list[ColumnEdge], list[DeclaredLabel], PrivacyRules]:
    columns = [f"t{n // 3}.c{n % 3}" for n in range(random.randint(2, 18))]
    subtypes = [*Subtype, *[Subtype.IDENTITY] * 4]
    edges = [
        edge(
            f"{random.choice(columns)} -> {random.choice(columns)}",
            random.choice(subtypes),
            masked_by=random.choice([*Masking, Masking.NONE]),
        )
        for _ in range(random.randint(1, 30))
    ]
    levels = list(Classification)
    declared = [
        label(choice, random.choice(levels), random.choice(("", "", "agreed")))
        for choice in {*random.choices(columns, k=random.randint(1, 4))}
    ]
    limits = [None, None, *levels]
    rules = PrivacyRules(*(random.choice(limits) for _ in range(3)))
    return edges, declared, rules


def _slow(
    edges: list[ColumnEdge], declared: list[DeclaredLabel], rules: PrivacyRules
) -> dict[str, str]:
    """Each label again and again, until nothing changes."""
    labels = {f"{one.dataset.name}.{one.column}": one.classification for one in declared}
    limits = {
        f"{one.dataset.name}.{one.column}": one.classification for one in declared if one.reason
    }
    while True:
        before = dict(labels)
        for one in edges:
            source = f"{one.from_dataset.name}.{one.from_column}"
            target = f"{one.to_dataset.name}.{one.to_column}"
            if one.type is EdgeType.DIRECT and source in labels and ANY_COLUMN not in target:
                left = remaining_level(
                    labels[source], EdgeKind(one.subtype, one.masking, one.masked_by), rules
                )
                left = min(left, limits.get(target, left))
                labels[target] = max(left, labels.get(target, left))
        if labels == before:
            return {name: one.text for name, one in labels.items()}


def test_all_labelled_columns_behind_a_column_are_its_origins() -> None:
    edges = [
        edge("raw.first -> stg.name"),
        edge("raw.last -> stg.name", Subtype.TRANSFORMATION),
        edge("raw.city -> stg.name"),
        edge("stg.name -> mart.name"),
        edge("raw.mail -> mart.name", Subtype.TRANSFORMATION, masked_by=Masking.HASH),
        edge("raw.mail -> mart.mails", Subtype.AGGREGATION),
        edge("mart.name -> stg.name"),  # a loop
        edge("raw.phone -> mart.name", Subtype.FILTER),
    ]
    declared = [label(f"raw.{name}") for name in ("first", "last", "mail", "phone")]
    labels = labelled(edges, *declared, rules=ALL_LOWER)
    origins = {
        ".".join(labels.place(column)): [labels.place(at)[1] for at in labels.origins(column)]
        for column in labels.columns()
    }
    assert origins["db/stg.name"] == ["first", "last", "mail"]
    assert origins["db/mart.name"] == ["mail", "first", "last"]  # the nearest first
    assert origins["db/raw.first"] == []
    assert origins["db/mart.mails"] == []  # a count of addresses is none


PATTERNS = (
    "raw.*.IBAN",
    "*.mail",
    "spark/db.*",
    "raw.people.*_name",
    "*.address.street",
    "?.a[bc]",
    "x[.]y",
)


@for_each(
    "dataset, column, expected",
    [
        ("raw.bank", "iban", {0}),
        ("RAW.BANK", "Iban", {0}),
        ("db.bank", "iban", {2}),
        ("raw.bank", "mail", {1}),
        ("db.people", "mail", {1, 2}),
        ("raw.people", "last_name", {3}),
        ("raw.people", "name", set()),
        ("raw.people", "address.street", {4}),
        ("raw.people", "street", set()),
        ("t", "ab", {5}),
        ("x", "y", {6}),
        ("mail", "x", set()),
    ],
)
def test_the_patterns_that_name_a_column(dataset: str, column: str, expected: set[int]) -> None:
    assert ColumnRules(PATTERNS).matching(DatasetId("spark", dataset), column) == expected


@for_each("pattern", ["file/shop/out.mail", "FILE/shop/*.mail", "/shop/out.mail", "*/out.mail"])
def test_a_pattern_names_a_file_as_pages_do(pattern: str) -> None:
    assert ColumnRules([pattern]).matching(DatasetId("file", "/shop/out"), "mail") == {0}


def test_without_patterns_no_column_is_named() -> None:
    assert ColumnRules(()).matching(DatasetId("spark", "raw.people"), "mail") == set()
