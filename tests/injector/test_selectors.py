"""Selectors of YAML select the models that promoted sources became."""

from __future__ import annotations

from typing import Any

from dbt_graft.injector.selectors import Table, selecting_models
from tests.cases import for_each

TABLES: list[Table] = [
    ("shop", "raw", "orders", "raw_orders"),
    ("shop", "raw", "rates", None),
    ("shop", "crm", "customers", "crm_customers"),
]
ORDERS = {"method": "fqn", "value": "raw_orders"}
RAW = {"method": "source", "value": "raw"}


@for_each(
    "definition, expected",
    [
        ({"method": "source", "value": "raw.orders"}, ORDERS),
        (RAW, {"union": [RAW, ORDERS]}),
        ({**RAW, "value": "raw.rates"}, {**RAW, "value": "raw.rates"}),
        (
            {**RAW, "exclude": [{"method": "source", "value": "raw.orders"}]},
            {"union": [{"union": [RAW, ORDERS]}, {"exclude": [ORDERS]}]},
        ),
        (
            {"method": "tag", "value": "daily", "exclude": ["source:crm.customers+"]},
            {"method": "tag", "value": "daily", "exclude": ["crm_customers+"]},
        ),
    ],
)
def test_a_definition_becomes(definition: Any, expected: Any) -> None:
    selectors = {"nightly": {"name": "nightly", "definition": definition}}
    changed = selecting_models(selectors, TABLES)
    assert changed == {"nightly": {"name": "nightly", "definition": expected}}
