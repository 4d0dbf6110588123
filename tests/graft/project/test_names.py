"""Things by the names that people write."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from dbt_graft.graft.project.names import (
    Names,
    NameSearch,
    all_names,
    find_run,
    lineage_names,
    shown_name,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import DatasetNames
from dbt_graft.lineage.records import Column, Dataset, Run
from tests.cases import for_each

NAMESPACES = ("spark", "file", "s3://Bucket", "mssql://crm:1433")
PARTS = ("orders", "Orders", "raw", "dm", "#t~2", "a.b", "ÜBER", "o", "x y")


def random_dataset(random: Random) -> DatasetId:
    separator = random.choice("./")
    name = separator.join(random.choices(PARTS, k=random.randint(1, 3)))
    return DatasetId(random.choice(NAMESPACES), name)


def looked_up(
    name: str, datasets: Iterable[DatasetId], former: dict[DatasetId, DatasetId]
) -> list[DatasetId]:
    """The datasets of a name by a look at each."""
    wanted = name.casefold()
    named = [[(d, d) for d in datasets], [*former.items()]]
    for test in (
        lambda text: text == wanted,
        lambda text: bool(wanted) and text.endswith((f".{wanted}", f"/{wanted}")),
    ):
        for pairs in named:
            texts = [({str(n).casefold(), shown_name(n).casefold()}, d) for n, d in pairs]
            if matches := list(dict.fromkeys(d for t, d in texts if any(map(test, t)))):
                return [d for d in matches if str(d) == name] or matches
    return []


@pytest.mark.parametrize("count", [1, 5, 30, 1000])
@for_each("seed", range(20), quick=5)
def test_the_names_of_many_datasets_are_searched_as_one_text(seed: int, count: int) -> None:
    random = Random(seed)  # noqa: S311
    datasets = list(dict.fromkeys(random_dataset(random) for _ in range(count)))
    former = {random_dataset(random): datasets[0] for _ in range(3)}
    names = NameSearch.of(datasets, former.items())
    for _ in range(30):
        one = random.choice([*datasets, *former, random_dataset(random)])
        for name in (str(one), one.name, one.short, one.parts[-1].upper(), one.name[1:], "", "."):
            assert sorted(names.named(name)) == sorted(looked_up(name, datasets, former)), name


ORDERS, CUSTOMERS = DatasetId("spark", "raw.orders"), DatasetId("mssql://crm:1433", "Shop.dbo.Cust")
MART, UPPER = DatasetId("spark", "analytics.orders"), DatasetId("s3://b", "x/Files")
LOWER = DatasetId("s3://b", "x/files")
LOAD = Task("load_orders", runs=(Run("r1", "load_orders", "spark", application_id="app"),))
BOARD = Consumer("exposure.shop.revenue", "Board", "dashboard", (MART,))
LINEAGE = Lineage(
    datasets={
        dataset: Dataset(dataset, columns=(Column("id"), Column("a.b")))
        for dataset in (ORDERS, CUSTOMERS, MART, UPPER, LOWER)
    },
    tasks={"load_orders": LOAD, "other": Task("other", runs=(Run("r1", "other", "spark"),))},
    names=DatasetNames(
        former={ORDERS: (DatasetId("spark", "raw.orders_old"),)},
        aliases={ORDERS: (DatasetId("file", "/mnt/orders"),)},
    ),
    definitions={
        "model.shop.orders_v2": Definition("model.shop.orders_v2", DefinitionKind.DBT, MART)
    },
)
DESCRIBED = DescribedLineage(
    LINEAGE,
    {ORDERS: Description(ORDERS, "model.a", "a", Role.PROMOTED, dbt_ids=("source.shop.raw.o",))},
    (BOARD,),
)


@pytest.fixture
def names() -> Names:
    return lineage_names(DESCRIBED, all_names(LINEAGE, [DatasetId("mssql", "#t~7")]))


@pytest.mark.parametrize(("name", "thing"), [
    ("spark/raw.orders", ORDERS),
    ("RAW.Orders", ORDERS),
    ("mssql://crm:1433/Shop.dbo.Cust", CUSTOMERS),
    ("mssql://sa:secret@crm:1433/shop.DBO.cust", CUSTOMERS),
    ("cust", CUSTOMERS),
    ("s3://b/x/Files", UPPER),
    ("s3://b/x/files", LOWER),
    ("raw.orders_old", ORDERS),
    ("file/mnt/orders", ORDERS),
    ("file//mnt/orders", ORDERS),
    ("source.shop.raw.o", ORDERS),
    ("model.shop.orders_v2", MART),
    ("model orders_v2", MART),
    ("orders_v2", MART),
    ("#t~7", DatasetId("mssql", "#t")),
    ("#t", DatasetId("mssql", "#t")),
    ("raw.orders.ID", ColumnId(ORDERS, "id")),
    ("raw.orders.a.b", ColumnId(ORDERS, "a.b")),
    ("[shop].[dbo].[cust]", CUSTOMERS),
    ('"Shop"."dbo"."Cust"', CUSTOMERS),
    ("`raw`.`orders`.`id`", ColumnId(ORDERS, "id")),
    (" raw.orders ", ORDERS),
    ("mnt/orders/", ORDERS),
    ("LOAD_orders", LOAD),
    ("board", BOARD),
    ("exposure.shop.revenue", BOARD),
    ("exposure revenue", BOARD),
    ("Revenue", BOARD),
])  # fmt: skip
def test_a_thing_has_many_names(names: Names, name: str, thing: object) -> None:
    assert names.find(name) == thing


@pytest.mark.parametrize(("name", "error"), [
    ("orders", "2 have this name\n  write one of: spark/analytics.orders, spark/raw.orders"),
    ("orders.id", "write one of: spark/analytics.orders.id, spark/raw.orders.id"),
    ("S3://B/X/FILES", "write one of: s3://b/x/Files, s3://b/x/files"),
    ("raw.orders.idd", "spark/raw.orders is not known to have a column idd\n  did you mean spark"),
    ("raw.orders.zz", "its columns: id, a.b"),
    ("raw.ordres", "there is no such table, column, task or run\n  did you mean spark/raw.orders?"),
    ("load_order", "did you mean load_orders, spark"),
    ("ID", "did you mean mssql://crm:1433/Shop.dbo.Cust.id, s3://b/x/Files.id, s3://b/x/files.id"),
    ("CUS", "did you mean mssql://crm:1433/Shop.dbo.Cust?"),
    ("mssql://old:1433/Shop.dbo.Cust", "did you mean mssql://crm:1433/Shop.dbo.Cust?"),
    ("spark_catalog.raw.orders", "did you mean spark/raw.orders"),
    ("models/marts/cust.sql", "did you mean mssql://crm:1433/Shop.dbo.Cust?"),
    ("invoices", '`graft query "from datasets"` lists all'),
    ("", '`graft query "from datasets"` lists all'),
])  # fmt: skip
def test_an_error_has_the_names_that_may_be_meant(names: Names, name: str, error: str) -> None:
    with pytest.raises(GraftError) as raised:
        names.find(name)
    assert error in str(raised.value)


def test_a_run_has_the_id_of_its_application_too() -> None:
    assert find_run(LINEAGE, "app") == (LOAD, LOAD.runs[0])
    assert find_run(LINEAGE, "last", "LOAD_ORDERS") == (LOAD, LOAD.runs[0])
    with pytest.raises(GraftError, match="2 runs have this name"):
        find_run(LINEAGE, "r1")
