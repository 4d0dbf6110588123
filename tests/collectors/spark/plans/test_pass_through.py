"""The plan of a view's query -> whether the view is all of one table."""

from __future__ import annotations

from dbt_graft.collectors.spark.application.unnamed import passes_on
from dbt_graft.collectors.spark.plans.tree import Operator
from tests.cases import for_each

TABLE = Operator("LogicalRelation", "parquet, [id#1, amount#2L], `c`.`raw`.`orders`, false")
HIVE = Operator(
    "HiveTableRelation", "[`c`.`raw`.`orders`, X, Data Cols: [id#1], Partition Cols: [ds#2]]"
)


def below(*operators: tuple[str, str], table: Operator = TABLE) -> Operator:
    operator = table
    for name, text in operators:
        operator = Operator(name, text, children=[operator])
    return Operator("CreateViewCommand", children=[operator])


@for_each(
    "plan, expected",
    [
        (below(), True),
        (below(("SubqueryAlias", "c.raw.orders"), ("Project", "[id#1, amount#2L]")), True),
        (below(("Project", "[ds#2, id#1]"), table=HIVE), True),
        (below(("Project", "[id#1]")), False),
        (below(("Project", "[id#1, amount#2L AS paid#3L]")), False),
        (below(("Project", "[id#1, amount#2L, rand(7) AS r#4]")), False),
        (below(("Filter", "(id#1 > 3)"), ("Project", "[id#1, amount#2L]")), False),
        (below(("Project", "[id#1, amount#2L]"), ("Distinct", "")), False),
        (below(("GlobalLimit", "10")), False),
        (
            Operator("CreateViewCommand", children=[Operator("Union", children=[TABLE, TABLE])]),
            False,
        ),
        (Operator("CreateViewCommand"), False),
    ],
)
def test_plans(plan: Operator, expected: bool) -> None:
    assert passes_on(plan) is expected
