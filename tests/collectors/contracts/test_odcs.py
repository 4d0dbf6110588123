"""Data contracts in YAML, in the spellings of the standard and of tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.analysis.checks.contracts import ContractTable, DataContract, WrittenPromise
from dbt_graft.collectors.contracts.odcs import read_contract
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

HEAD = "kind: DataContract\napiVersion: v3.1.0\nid: orders-1\n"
FULL = """\
apiVersion: v3.1.0
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
name: orders
version: 1.1.0
status: active
domain: seller
description:
  purpose: Orders for the month's books.
  limitations: none
tags: [finance]
servers:
  - server: prod
    type: databricks
    host: dbc.example.com
    catalog: main
    schema: raw
schema:
  - name: orders
    physicalName: Orders_V1
    logicalType: object
    physicalType: table
    quality: [{metric: rowCount, mustBeGreaterThan: 100}]
    properties:
      - name: order_id
        logicalType: integer
        primaryKey: true
        primaryKeyPosition: 1
      - name: mail
        physicalName: E_MAIL
        classification: restricted
        criticalDataElement: true
        transformSourceObjects: [crm.contacts]
      - name: address
        logicalType: object
        properties: [{name: street, classification: PII}]
      - name: lines
        logicalType: array
        items: {logicalType: object, properties: [{name: price}]}
  - name: customers
team:
  name: Order processing
  members: [{username: ada@example.com, role: Owner}]
slaDefaultElement: orders.ordered_at
slaProperties:
  - {property: latency, value: 4, unit: d}
  - {property: timeOfAvailability, value: "09:00-08:00", driver: regulatory}
  - {property: generalAvailability, value: "2022-05-12T09:30:10-08:00"}
  - {property: retention, value: 3, unit: y}
support: [{channel: "#orders"}]
price: {priceAmount: 9.95}
"""


def read(folder: Path, text: str) -> DataContract | None:
    file = folder / "orders.odcs.yaml"
    file.write_text(text)
    return read_contract(file)


def test_what_lineage_needs_is_read(tmp_path: Path) -> None:
    contract = read(tmp_path, FULL)
    assert contract
    assert (contract.name, contract.version, contract.owner) == (
        "orders",
        "1.1.0",
        "Order processing",
    )
    assert (contract.text, contract.tags) == ("Orders for the month's books.", ("finance",))
    orders, customers = contract.tables
    assert orders.names == (
        *("main.raw.Orders_V1", "raw.Orders_V1", "Orders_V1"),
        *("main.raw.orders", "raw.orders", "orders"),
    )
    assert [(column.name, column.labels) for column in orders.columns] == [
        ("order_id", ()),
        ("E_MAIL", ("restricted",)),
        ("address", ()),
        ("address.street", ("PII",)),
        ("lines", ()),
        ("lines.price", ()),
    ]
    assert (orders.freshness_slo, orders.deadline) == ("4d", "09:00-08:00")
    # The SLA is that of the element that it names.
    assert (customers.freshness_slo, customers.deadline) == ("", "")


@for_each(
    "sla, slo, deadline",
    [
        ("{property: latency, value: 30, unit: m}", "30m", ""),
        ("{property: freshness, value: 24, unit: hours}", "24 hours", ""),
        ("{property: ly, value: PT2H}", "PT2H", ""),
        ("{property: LATENCY, value: 2, unit: years}", "2 years", ""),
        ("{property: latency, value: 2, unit: months}", "2 months", ""),  # no minutes
        ("{property: latency, value: soon}", "soon", ""),  # a forecast says that it is no length
        ("{property: latency}", "", ""),
        ('{property: ta, value: "08:30 Europe/Berlin"}', "", "08:30 Europe/Berlin"),
        ("{property: timeOfAvailability, value: 18:30}", "", "18:30"),
        ('{property: timeOfAvailability, value: "06:00", unit: UTC}', "", "06:00 UTC"),
        (
            "{property: timeOfAvailability, value: 06:00, unit: Europe/Paris}",
            "",
            "06:00 Europe/Paris",
        ),
        # Of several for one table the strictest counts.
        ("{property: latency, value: 2d}, {property: freshness, value: PT3H}", "PT3H", ""),
        ("{property: latency, value: soon}, {property: latency, value: 2d}", "2d", ""),
        (
            '{property: ta, value: "09:00"}, {property: ta, value: "09:30 Europe/Berlin"}',
            *("", "09:30 Europe/Berlin"),
        ),
        ('{property: timeOfAvailability, value: "08:00", unit: o\'clock}', "", "08:00"),
        ("{property: timeOfAvailability, value: morning}", "", "morning"),
    ],
)
def test_promises_of_time(tmp_path: Path, sla: str, slo: str, deadline: str) -> None:
    contract = read(tmp_path, f"{HEAD}schema: [{{name: t}}]\nslaProperties: [{sla}]\n")
    assert contract
    assert [(table.freshness_slo, table.deadline) for table in contract.tables] == [(slo, deadline)]


@for_each(
    "team, owner",
    [
        ("[{username: ada, role: Data Owner}]", "ada"),
        ("[{username: bob, role: Engineer}, {username: ada, role: owner}]", "ada"),
        ("[{username: ada@example.com, role: owner}]", ""),
        ("{members: [{username: ada, role: owner}]}", "ada"),
        ("{name: Finance}", "Finance"),
        ("Finance", "Finance"),
        ("[{role: Owner, name: Ada}]", "Ada"),
        ("[{username: ada@example.com, name: Ada, role: Owner}]", "Ada"),
        ("[]", ""),
        ("null", ""),
    ],
)
def test_the_owner_is_the_team_or_has_the_role(tmp_path: Path, team: str, owner: str) -> None:
    contract = read(tmp_path, f"{HEAD}team: {team}\n")
    assert contract
    assert contract.owner == owner


def test_a_retired_contract_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, f"{HEAD}status: retired\n") is None


BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))


@for_each(
    "text, message",
    [
        ("", ":1: is not a data contract: it must hold `kind: DataContract`"),
        ("- a\n- b\n", "is not a data contract: it must hold `kind: DataContract`"),
        ("kind: Pod\napiVersion: v1\nid: a\n", "`kind` must be 'DataContract'"),
        ("dataContractSpecification: 1.1.0\n", "`id` is missing"),
        ("kind: DataContract\napiVersion: v2.2.2\nuuid: a\n", "contracts of version 3 can be read"),
        (HEAD.replace("v3.1.0", "v2.2.2"), "contracts of version 3 can be read"),
        (f"{HEAD}schema: orders\n", ":4: `schema` must be a list"),
        (f"{HEAD}schema: [{{physicalName: a}}]\n", ":4: `schema.0.name` is missing"),
        (f"{HEAD}schema: [", "is not valid YAML"),
        (f"{HEAD}name: a\nname: b\n", ":5: `name` is there twice"),
        (f"{HEAD}a0: &a0 [1, 2]\n{BOMB}\n", "has too many nested aliases"),
    ],
)
def test_what_is_no_contract_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GraftError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def tables(folder: Path, text: str) -> tuple[ContractTable, ...]:
    contract = read(folder, f"{HEAD}{text}")
    assert contract
    return contract.tables


@for_each(
    "written, partition, is_date, grain",
    [
        ("{name: ds, partitioned: true, partitionKeyPosition: 1}", 1, True, Grain.DAY),
        ("{name: cob, logicalType: date, partitioned: true}", 1, True, Grain.DAY),
        ("{name: batch, logicalType: string, partitioned: 'true'}", 1, True, None),
        ("{name: batch, physicalName: month, partitioned: true}", 1, True, Grain.MONTH),
        ("{name: shop_id, logicalType: integer, partitioned: true}", 1, False, None),
        ("{name: ds, partitioned: true, partitionKeyPosition: -1}", 1, True, Grain.DAY),
        ("{name: ds, partitioned: true, partitionKeyPosition: two}", 1, True, Grain.DAY),
        ("{name: ds, partitioned: false, partitionKeyPosition: 2}", 0, False, Grain.DAY),
        ("{name: ds, partitionKeyPosition: null}", 0, False, Grain.DAY),
    ],
)
def test_the_partition_columns(
    tmp_path: Path, written: str, partition: int, is_date: bool, grain: Grain | None
) -> None:
    [table] = tables(tmp_path, f"schema: [{{name: t, properties: [{written}]}}]\n")
    [column] = table.columns
    assert (column.partition, column.is_date_partition, column.grain) == (partition, is_date, grain)


@for_each(
    "element, named",
    [
        ("a", ["a"]),
        ("A.day", ["a"]),
        ("raw.b.id", ["b"]),
        ("a.id, b.id", ["a", "b"]),
        ("day", ["a"]),  # a column of one table
        ("old_name.day", ["a"]),
        ("id", ["a", "b"]),
        ("c.other", []),
        ("", ["a", "b"]),
    ],
)
def test_the_tables_of_a_promise(tmp_path: Path, element: str, named: list[str]) -> None:
    found = tables(
        tmp_path,
        "servers: [{server: s, type: x, schema: raw}]\n"
        "schema:\n- {name: a, properties: [{name: id}, {name: day}]}\n"
        "- {name: b, properties: [{name: id}]}\n"
        f"slaProperties: [{{property: latency, value: 1, unit: d, element: '{element}'}}]\n",
    )
    assert [table.names[-1] for table in found if table.freshness_slo] == named


def test_a_promise_that_names_no_table_is_not_lost(tmp_path: Path) -> None:
    text = (
        "schema: [{name: a}, {name: b}]\n"
        "slaProperties: [{property: frequency, value: 1d, element: c.day}]\n"
    )
    written = [table.promises for table in tables(tmp_path, text)]
    assert (
        written == [(WrittenPromise("frequency", "1d", "c.day is no table of the contract"),)] * 2
    )


def test_of_one_table_a_promise_needs_no_name(tmp_path: Path) -> None:
    text = "schema: [{name: t}]\nslaProperties: [{property: ly, value: 1d, column: x}]\n"
    assert [table.freshness_slo for table in tables(tmp_path, text)] == ["1d"]


@for_each(
    "server, name, names",
    [
        ("{database: DWH, schema: RAW}", "T", ["DWH.RAW.T", "RAW.T", "T"]),
        ("{project: p, dataset: d}", "t", ["p.d.t", "d.t", "t"]),
        ("{catalog: main, namespace: sales}", "t", ["main.sales.t", "sales.t", "t"]),
        ("{database: SALES}", "t", ["SALES.t", "t"]),
        ("{schema: 'a.b'}", "t", ["a.b.t", "b.t", "t"]),
        ("{database: '${DB:-dwh}', schema: '${S:-raw}'}", "t", ["dwh.raw.t", "raw.t", "t"]),
        ("{database: '${DB}', schema: '${S:-raw}'}", "t", ["raw.t", "t"]),
        ("{type: kafka, host: 'broker:9092'}", "t", ["t"]),
        ("{}", '\'"raw"."T"\'', ["raw.T"]),
        ("{}", "'[dbo].[T]'", ["dbo.T"]),
        ("{}", "'`p.d.t`'", ["p.d.t", "d.t"]),
        ("{}", "'`p-1`:d.t'", ["p-1.d.t", "d.t"]),
        ("{}", '\' "RAW" . "T" \'', ["RAW.T"]),
        ("{}", "s3://lake/raw.v1/t", ["s3://lake/raw.v1/t"]),
        ("{}", "mssql://sql01:1433/Shop.dbo.T", ["mssql://sql01:1433/Shop.dbo.T"]),
    ],
)
def test_the_names_of_a_table(tmp_path: Path, server: str, name: str, names: list[str]) -> None:
    [table] = tables(tmp_path, f"servers: [{server}]\nschema: [{{name: {name}}}]\n")
    assert list(table.names) == names


@for_each(
    "written, labels",
    [
        ("tags: [daily, PII]", ("PII",)),
        ("tags: pii", ("pii",)),
        ("tags: {pii: true}", ()),
        ("tags: ['pii:email', 'pii:false', 7]", ("pii:email",)),
        ("classification: restricted, tags: [PII]", ("restricted", "PII")),
        ("classification: C3, tags: [pii]", ("C3", "pii")),
        # As datacontract-cli writes the `pii` of the specification before.
        ("customProperties: [{property: pii, value: true}]", ("pii",)),
        ("customProperties: [{property: pii, value: 'True'}]", ("pii",)),
        ("customProperties: [{property: pii, value: 'false'}]", ()),
        ("customProperties: [{property: pii, value: email}]", ("pii: email",)),
        ("customProperties: [{property: sensitivity, value: secret}]", ("sensitivity: secret",)),
        ("customProperties: [{property: unit, value: EUR}, {value: pii}, pii]", ()),
        ("customProperties: {pii: true}", ()),
        (
            "classification: internal, customProperties: [{property: is_pii, value: yes}]",
            ("internal", "is_pii"),
        ),
    ],
)
def test_the_labels_of_a_column(tmp_path: Path, written: str, labels: tuple[str, ...]) -> None:
    [table] = tables(tmp_path, f"schema: [{{name: t, properties: [{{name: a, {written}}}]}}]\n")
    [column] = table.columns
    assert column.labels == labels


def test_a_review_compares_the_highest_label(tmp_path: Path) -> None:
    written = "{name: a, classification: internal, tags: [pii, public]}"
    [table] = tables(tmp_path, f"schema: [{{name: t, properties: [{written}]}}]\n")
    assert table.columns[0].promise.classification == "pii"


@for_each(
    "server, place",
    [
        ("{type: postgres, database: DWH, schema: RAW}", ("DWH", "RAW")),
        ("{type: mysql, database: DWH}", ("DWH", "")),
        ("{type: bigquery, project: p, dataset: d}", ("p", "d")),
        ("{type: custom, schema: a.b}", ("a", "b")),
        ("{type: duckdb, database: ./shop.duckdb, schema: main}", ("", "main")),
        ("{type: postgres, database: '${DB}', schema: '${S:-raw}'}", ("", "raw")),
        ("{type: s3, location: 's3://a'}", ("", "")),
    ],
)
def test_the_schema_of_a_server(tmp_path: Path, server: str, place: tuple[str, str]) -> None:
    [table] = tables(tmp_path, f"servers: [{server}]\nschema: [{{name: t}}]\n")
    assert [(server.database, server.schema) for server in table.servers] == [place]


def test_quotes_are_no_part_of_a_column(tmp_path: Path) -> None:
    written = """{name: a, physicalName: '"Order Id"'}, {name: '[b]'}, {name: '`c`'}"""
    [table] = tables(tmp_path, f"schema: [{{name: t, properties: [{written}]}}]\n")
    assert [column.name for column in table.columns] == ["Order Id", "b", "c"]


def test_what_is_no_text_is_one_fault(tmp_path: Path) -> None:
    with pytest.raises(GraftError) as raised:
        read(tmp_path, "\x00")
    assert len(raised.value.problem.splitlines()) == 1


def test_labels_may_lie_deep(tmp_path: Path) -> None:
    [table] = tables(
        tmp_path,
        "schema:\n- name: t\n  properties:\n"
        "  - {name: m, map: {value: {properties: [{name: mail, classification: pii}]}}}\n"
        "  - {name: l, items: {properties: [{name: iban, tags: [confidential]}]}}\n",
    )
    assert {column.name: column.labels for column in table.columns if column.labels} == {
        "m.mail": ("pii",),
        "l.iban": ("confidential",),
    }


def test_json_and_anchors_are_read(tmp_path: Path) -> None:
    file = tmp_path / "orders.json"
    file.write_text(
        '{\n\t"kind": "DataContract",\n\t"apiVersion": "v3.1.0", "id": "a\\/b\\\\",\n'
        '\t"schema": [{"name": "t"}]\n}\n'
    )
    contract = read_contract(file)
    assert contract
    assert (contract.id, [one.names for one in contract.tables]) == ("a/b\\", [("t",)])
    anchors = "x: &x {classification: pii}\nschema: [{name: t, properties: [{name: c, <<: *x}]}]\n"
    [table] = tables(tmp_path, anchors)
    assert table.columns[0].labels == ("pii",)


def test_a_large_contract_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match="is larger than 5 MB"):
        read(tmp_path, f"{HEAD}# {'x' * 5_000_000}\n")
