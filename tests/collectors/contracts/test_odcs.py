"""Data contracts in YAML, in the spellings of the standard and of tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.collectors.contracts.odcs import read_contract
from dbt_graft.lineage.contracts import DataContract
from dbt_graft.lineage.errors import GraftError

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
    found = read(tmp_path, FULL)
    assert found
    assert (found.name, found.version, found.owner) == ("orders", "1.1.0", "Order processing")
    assert (found.text, found.tags) == ("Orders for the month's books.", ("finance",))
    orders, customers = found.tables
    assert orders.names == (
        *("main.raw.Orders_V1", "raw.Orders_V1", "Orders_V1"),
        *("main.raw.orders", "raw.orders", "orders"),
    )
    assert [(one.name, one.classification) for one in orders.columns] == [
        ("order_id", ""),
        ("E_MAIL", "restricted"),
        ("address", ""),
        ("address.street", "PII"),
        ("lines", ""),
        ("lines.price", ""),
    ]
    assert (orders.freshness_slo, orders.deadline) == ("4d", "09:00-08:00")
    # The SLA is that of the element that it names.
    assert (customers.freshness_slo, customers.deadline) == ("", "")


@pytest.mark.parametrize(
    ("sla", "slo", "deadline"),
    [
        ("{property: latency, value: 30, unit: m}", "30m", ""),
        ("{property: freshness, value: 24, unit: hours}", "24h", ""),
        ("{property: ly, value: PT2H}", "PT2H", ""),
        ("{property: latency, value: 2, unit: years}", "", ""),
        ("{property: latency, value: soon}", "", ""),
        ("{property: latency}", "", ""),
        ('{property: ta, value: "08:30 Europe/Berlin"}', "", "08:30 Europe/Berlin"),
        ("{property: timeOfAvailability, value: 18:30}", "", "18:30"),
        ("{property: timeOfAvailability, value: morning}", "", ""),
    ],
)
def test_promises_of_time(tmp_path: Path, sla: str, slo: str, deadline: str) -> None:
    found = read(tmp_path, f"{HEAD}schema: [{{name: t}}]\nslaProperties: [{sla}]\n")
    assert found
    assert [(one.freshness_slo, one.deadline) for one in found.tables] == [(slo, deadline)]


@pytest.mark.parametrize(
    ("team", "owner"),
    [
        ("[{username: ada, role: Data Owner}]", "ada"),
        ("[{username: bob, role: Engineer}, {username: ada, role: owner}]", "ada"),
        ("[{username: ada@example.com, role: owner}]", ""),
        ("{members: [{username: ada, role: owner}]}", "ada"),
        ("{name: Finance}", "Finance"),
        ("[]", ""),
        ("null", ""),
    ],
)
def test_the_owner_is_the_team_or_has_the_role(tmp_path: Path, team: str, owner: str) -> None:
    found = read(tmp_path, f"{HEAD}team: {team}\n")
    assert found
    assert found.owner == owner


def test_a_retired_contract_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, f"{HEAD}status: retired\n") is None


BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`kind` is missing"),
        ("- a\n- b\n", "is no data contract: it must hold `kind: DataContract`"),
        ("kind: Pod\napiVersion: v1\nid: a\n", "`kind` must be 'DataContract'"),
        ("dataContractSpecification: 1.1.0\nid: a\n", "`kind` is missing"),
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
