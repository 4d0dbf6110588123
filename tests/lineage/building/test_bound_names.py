"""Tables that code alone does not tell are those that the task's runs used, or a gap."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.python_code.task_code import task_code
from dbt_graft.lineage.building.bound_names import bind_names
from dbt_graft.lineage.code import (
    UNKNOWN_PART,
    CodeEdge,
    CodeGap,
    CodePlace,
    CodeRead,
    CodeWrite,
    TableName,
    TaskCode,
    name_text,
)
from dbt_graft.lineage.dataset import Kind, parse_dataset_id
from dbt_graft.lineage.records import Access, Status, Subtype
from tests.notation import access

_RUN = "mssql://sql01:1433/Shop"


def _place(line: int) -> CodePlace:
    return CodePlace("load.py", line)


def _table(name: str) -> TableName:
    name = name.replace("…", UNKNOWN_PART)
    return (name,) if "/" in name else tuple(name.split("."))


def _code(reads: list[str], writes: list[str], gaps: tuple[CodeGap, ...] = ()) -> TaskCode:
    """Code that reads and writes at a line each, all columns of each from each."""
    return TaskCode(
        "load.py",
        reads=tuple(CodeRead(_place(at), (_table(name),)) for at, name in enumerate(reads)),
        writes=tuple(CodeWrite(_place(90 + at), _table(name)) for at, name in enumerate(writes)),
        edges=tuple(
            CodeEdge(_table(target), "a", _table(source), "a", Subtype.IDENTITY, _place(90 + at))
            for at, target in enumerate(writes)
            for source in reads
        ),
        gaps=gaps,
    )


def _accesses(reads: list[str], writes: list[str]) -> list[Access]:
    return [
        access(operation, parse_dataset_id(name if "/" in name else f"{_RUN}.{name}"))
        for operation, names in (("SELECT", reads), ("INSERT", writes))
        for name in names
    ]


@pytest.mark.parametrize(
    ("reads", "writes", "read", "written", "edges"),
    [
        pytest.param(
            ["….orders"],
            ["….totals"],
            ["dbo.orders"],
            ["dw.totals"],
            ["Shop.dw.totals < Shop.dbo.orders"],
            id="a schema",
        ),
        pytest.param(
            ["….orders"],
            ["….orders"],
            ["dbo.orders"],
            ["dw.orders"],
            ["Shop.dw.orders < Shop.dbo.orders"],
            id="a copy from schema to schema",
        ),
        pytest.param(
            ["….….orders"],
            ["dw.totals"],
            ["dbo.orders"],
            ["dw.totals"],
            ["dw.totals < Shop.dbo.orders"],
            id="a database and a schema",
        ),
        pytest.param(
            ["….orders"],
            ["dw.totals"],
            ["dbo.orders", "crm.orders"],
            ["dw.totals"],
            ["gap 0", "gap 90 dw.totals.a"],
            id="one of two tables",
        ),
        pytest.param(
            ["….orders"],
            ["dw.totals"],
            ["dbo.orders_old"],
            ["dw.totals"],
            ["gap 0", "gap 90 dw.totals.a"],
            id="another table",
        ),
        pytest.param(
            ["./…", "dbo.limits"],
            ["./…/…"],
            ["s3://lake/raw/orders", "dbo.limits"],
            ["s3://lake/mart/totals"],
            [
                "s3://lake/mart/totals < dbo.limits",
                "s3://lake/mart/totals < s3://lake/raw/orders",
            ],
            id="what is left over",
        ),
        pytest.param(
            ["./…"],
            ["dw.totals"],
            ["s3://lake/raw/orders", "s3://lake/raw/items"],
            ["dw.totals"],
            ["gap 0", "gap 90 dw.totals.a"],
            id="two are left over",
        ),
        pytest.param(
            ["./…", "./…"],
            ["dw.totals"],
            ["s3://lake/raw/orders"],
            ["dw.totals"],
            ["gap 0", "gap 1", "gap 90 dw.totals.a"],
            id="one is left over for two lines",
        ),
        pytest.param(
            ["./…", "./raw/…"],
            ["dw.totals"],
            ["s3://lake/raw/orders"],
            ["dw.totals"],
            ["gap 0", "gap 1", "gap 90 dw.totals.a"],
            id="one is left over for two names",
        ),
        pytest.param(
            ["./…"],
            ["dw.totals"],
            ["dbo.orders"],
            ["dw.totals"],
            ["gap 0", "gap 90 dw.totals.a"],
            id="a file is no table",
        ),
        pytest.param(
            ["dbo.orders"],
            ["…/totals/day=…", "…/totals/day=latest"],
            ["dbo.orders"],
            ["s3://lake/totals"],
            ["…/totals/day=latest < dbo.orders", "…/totals/day=… < dbo.orders"],
            id="a partition",
        ),
        pytest.param(
            ["dbo.orders"],
            ["dw.…"],
            ["dbo.orders"],
            ["dw.totals", "dw.audit"],
            ["gap 90"],
            id="one of two targets",
        ),
        pytest.param(
            ["dbo.orders"],
            ["dw.…", "dw.audit"],
            ["dbo.orders"],
            ["dw.totals", "dw.audit"],
            ["Shop.dw.totals < dbo.orders", "dw.audit < dbo.orders"],
            id="the other target",
        ),
        pytest.param(["….orders"], ["….totals"], [], [], ["gap 0", "gap 90"], id="no run was seen"),
    ],
)
def test_a_name_is_the_dataset_of_the_runs_or_a_gap(
    reads: list[str], writes: list[str], read: list[str], written: list[str], edges: list[str]
) -> None:
    code = bind_names(_code(reads, writes), _accesses(read, written))

    assert sorted(
        [f"{name_text(edge.to_table)} < {name_text(edge.from_table)}" for edge in code.edges]
        + [
            f"gap {gap.place.line} {name_text(gap.to_table)}.{gap.column}".removesuffix(" .")
            for gap in code.gaps
        ]
    ) == sorted(edges)


def test_what_is_left_over_may_be_of_a_line_that_is_not_followed() -> None:
    gap = CodeGap(_place(5), "the text of a statement is not known")
    code = bind_names(_code(["./…"], ["dw.t"], (gap,)), _accesses(["s3://lake/raw/o"], ["dw.t"]))

    assert not code.edges


def test_what_failed_and_what_was_temporary_is_no_candidate() -> None:
    orders = "mssql://sql01:1433/Shop.dbo.orders"
    code = _code(["….orders"], ["dw.totals"])

    for fields in ({"status": Status.FAILED}, {"kind": Kind.TEMPORARY}):
        assert not bind_names(code, [access("SELECT", parse_dataset_id(orders), **fields)]).edges


_MERGE = b"""\
import pandas as pd
orders = pd.read_parquet("s3://lake/raw/orders")
items = pd.read_parquet(f"{place}/raw/items")
joined = orders.merge(items, on="order_id")
joined["total"] = joined["price"] * 2
joined[["total"]].to_parquet("s3://lake/totals")
"""
_QUERY = b"""\
import pandas as pd
joined = pd.read_sql("SELECT * FROM dbo.orders o JOIN dbo.items i ON o.id = i.order_id", server)
joined["total"] = joined["price"] * 2
joined[["total"]].to_parquet("s3://lake/totals")
"""


@pytest.mark.parametrize(
    ("orders", "items", "sources"),
    [
        ({"order_id"}, {"order_id", "price"}, ["items"]),
        ({"order_id", "price"}, {"order_id"}, ["orders"]),
        ({"order_id", "price"}, {"order_id", "price"}, []),
        ({"order_id"}, {"order_id"}, []),
        (set(), {"order_id", "price"}, []),
        (set(), set(), []),
    ],
)
@pytest.mark.parametrize("script", [_MERGE, _QUERY])
def test_a_column_of_joined_tables_is_of_the_only_one_that_has_it(
    script: bytes, orders: set[str], items: set[str], sources: list[str]
) -> None:
    start = "s3://lake/raw/" if script == _MERGE else f"{_RUN}.dbo."
    datasets = [parse_dataset_id(start + name) for name in ("orders", "items")]
    code = bind_names(
        task_code("load.py", {"load.py": script}.get),
        [access("SELECT", dataset) for dataset in datasets],
        dict(zip(datasets, (orders, items), strict=True)),
    )

    names = {edge.from_table[-1] for edge in code.edges if edge.from_column == "price"}
    assert [name.replace("/", ".").rpartition(".")[2] for name in names] == sources
    assert bool(code.gaps) is not bool(sources)
