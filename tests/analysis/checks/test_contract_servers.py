"""Contracts mean datasets on their servers: by platform, host, location and name."""

from __future__ import annotations

from dbt_graft.analysis.checks.contract_servers import TableServer
from dbt_graft.analysis.checks.contracts import ContractTable, DataContract, match_contracts
from dbt_graft.lineage.dataset import parse_dataset_id
from tests.cases import for_each

DATASETS = [
    *map(
        parse_dataset_id,
        (
            "duckdb://shop.duckdb/main.orders",
            "fabric-warehouse://fabric01/shop.dbo.returns",
            "kafka://broker1:9092/orders",
            "kafka://broker1:9092/legacy.refunds",
            "postgres://db1.example.com:5432/shop.public.payments",
            "snowflake://org-account/SHOP.PUBLIC.REFUNDS",
            "spark/raw.visits",
            "s3://lake/v2/lines",
        ),
    )
]


@for_each(
    "kind, host, location, name, dataset",
    [
        ("kafka", "", "", "orders", "kafka://broker1:9092/orders"),
        ("kafka", "broker0:9092,broker1:9092", "", "orders", "kafka://broker1:9092/orders"),
        ("kafka", "other:9092", "", "orders", None),
        ("kafka", "", "", "legacy.refunds", "kafka://broker1:9092/legacy.refunds"),
        ("kafka", "", "", "refunds", None),  # The dots of a topic separate no schema.
        ("duckdb", "", "", "orders", "duckdb://shop.duckdb/main.orders"),
        ("kafka", "", "", "visits", None),
        (
            "postgres",
            "db1:5432",
            "",
            "payments",
            "postgres://db1.example.com:5432/shop.public.payments",
        ),
        (
            "postgresql",
            "localhost",
            "",
            "payments",
            "postgres://db1.example.com:5432/shop.public.payments",
        ),
        (
            "postgres",
            "${DB_HOST}",
            "",
            "payments",
            "postgres://db1.example.com:5432/shop.public.payments",
        ),
        ("postgres", "db2.example.com", "", "payments", None),
        ("postgres", "", "", "refunds", None),
        ("mysql", "", "", "payments", None),
        ("cloudsql", "", "", "payments", "postgres://db1.example.com:5432/shop.public.payments"),
        ("cloudsql", "", "", "refunds", None),
        ("dremio", "", "", "refunds", None),
        ("of-tomorrow", "", "", "refunds", None),
        ("kinesis", "", "", "visits", None),
        ("snowflake", "", "", "returns", None),
        (
            *("sqlserver", "tcp:fabric01\\prod,1433", "", "returns"),
            "fabric-warehouse://fabric01/shop.dbo.returns",
        ),
        # A namespace of any platform, and a server of any.
        ("databricks", "dbc.example.com", "", "visits", "spark/raw.visits"),
        ("custom", "", "", "payments", "postgres://db1.example.com:5432/shop.public.payments"),
        ("", "", "", "public.refunds", "snowflake://org-account/SHOP.PUBLIC.REFUNDS"),
        ("of-tomorrow", "", "", "visits", "spark/raw.visits"),
        # Files, by their place.
        ("s3", "", "s3a://lake/v2/lines/*.json", "lines", "s3://lake/v2/lines"),
        ("s3", "", "s3://lake/v1/lines/*.json", "visits", None),
        ("s3", "", "", "payments", None),
    ],
)
def test_a_table_is_on_its_server(
    kind: str, host: str, location: str, name: str, dataset: str | None
) -> None:
    server = TableServer(kind, host, location, (name,))
    matches = match_contracts([contract(server)], DATASETS)
    assert [str(one) for *_, one in matches.tables] == ([dataset] if dataset else [])


@for_each(
    "kind, host, port, name, is_there",
    [
        ("postgres", "db1", "5432", "payments", True),
        ("postgres", "db1.example.com", "5433", "payments", False),
        ("postgres", "db1:5433", "", "payments", False),
        ("postgres", "db1:5432", "", "payments", True),
        ("postgres", "db1", "", "payments", True),
        # Through a tunnel.
        ("postgres", "localhost", "15432", "payments", True),
        # The dataset names no port.
        ("snowflake", "org-account.snowflakecomputing.com", "443", "refunds", True),
        ("sqlserver", "fabric01\\prod,1433", "", "returns", True),
        # Another listener, or another broker, of the cluster.
        ("kafka", "broker1:9093", "", "orders", True),
        ("kafka", "broker1", "9093", "orders", True),
    ],
)
def test_a_server_of_another_port_is_another_one(
    kind: str, host: str, port: str, name: str, is_there: bool
) -> None:
    server = TableServer(kind, host, names=(name,), port=port)
    matches = match_contracts([contract(server)], DATASETS)
    assert len(matches.tables) == is_there


@for_each(
    "database, schema, name, dataset",
    [
        ("shop", "public", "payments", "shop.public.payments"),
        ("SHOP", "", "payments", "shop.public.payments"),
        ("", "public", "payments", "shop.public.payments"),
        ("crm", "public", "payments", None),  # There may be one, too.
        ("shop", "archive", "payments", None),
        ("crm", "", "payments", None),
        ("shop", "archive", "public.payments", "shop.public.payments"),
        ("crm", "archive", "public.payments", None),
        ("crm", "archive", "shop.public.payments", "shop.public.payments"),
        # What the dataset's name does not say may be as well.
        ("crm", "raw", "visits", "raw.visits"),
        ("crm", "stage", "visits", None),
    ],
)
def test_a_table_of_another_schema_is_another_one(
    database: str, schema: str, name: str, dataset: str | None
) -> None:
    server = TableServer("", names=(name,), database=database, schema=schema)
    matches = match_contracts([contract(server)], DATASETS)
    assert [one.name for *_, one in matches.tables] == ([dataset] if dataset else [])
    assert bool(dataset) is not any(table.elsewhere for table in matches.unmatched)


def contract(*servers: TableServer) -> DataContract:
    names = servers[0].names
    return DataContract("1", "c", "c.yaml", tables=(ContractTable(names, servers=servers),))


def test_without_a_server_a_name_of_two_datasets_means_none() -> None:
    [unmatched] = match_contracts([contract(TableServer(names=("orders",)))], DATASETS).unmatched
    assert [*map(str, unmatched.candidates)] == [
        "duckdb://shop.duckdb/main.orders",
        "kafka://broker1:9092/orders",
    ]


def test_the_first_server_that_has_it_counts() -> None:
    servers = (TableServer("mysql", names=("orders",)), TableServer("duckdb", names=("orders",)))
    matches = match_contracts([contract(*servers)], DATASETS)
    assert [str(one) for *_, one in matches.tables] == ["duckdb://shop.duckdb/main.orders"]


def test_a_dataset_of_that_name_elsewhere_is_named() -> None:
    matches = match_contracts([contract(TableServer("mysql", names=("payments",)))], DATASETS)
    [unmatched] = matches.unmatched
    assert [*map(str, unmatched.elsewhere)] == [
        "postgres://db1.example.com:5432/shop.public.payments"
    ]
