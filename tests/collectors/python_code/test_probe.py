"""Another expression in a script: the columns and rows that it changes, where they are known."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.python_code.probe import changed_outputs

SCRIPT = """\
import pandas as pd
rate = 1.1
orders = pd.read_sql("SELECT id, price, qty FROM dbo.orders WHERE qty > 0", connection)
orders = orders[orders["qty"] > 5]
orders["total"] = orders["price"] * orders["qty"]
orders["euros"] = orders["total"] * rate
orders["note"] = orders["id"].map(lambda number: number + 1)
orders[["id", "total", "euros", "note"]].head(10).to_sql("totals", connection, schema="dw")
"""


@pytest.mark.parametrize(
    ("old", "new", "columns"),
    [
        ("rate = 1.1", "rate = 1.2", {"euros"}),
        ('"price"] * orders', '"price"] + orders', {"total", "euros"}),
        ('"qty"] > 5', '"qty"] > 6', {"*"}),
        ('"qty"] > 5', '"qty"] < 5', {"*"}),
        ("qty > 0", "qty > 1", set()),  # what SQL does, its own parser must say
        ("head(10)", "head(20)", set()),  # what a method does with it is not known
        ("number + 1", "number + 2", set()),
        ("rate = 1.1\n", "rate = 1.1\nrate = rate * 2\n", set()),
    ],
)
def test_a_changed_expression_names_what_it_reaches(old: str, new: str, columns: set[str]) -> None:
    assert old in SCRIPT
    changed = SCRIPT.replace(old, new).encode()

    edges = changed_outputs(
        SCRIPT.encode(), "job.py", lambda file: changed if file == "job.py" else None
    )

    assert {edge.to_column for edge in edges} == columns


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ('orders.to_sql("more", connection, schema="dw")', {"total", "euros"}),
        (
            "for name in NAMES:\n    orders.to_sql(f'{name}', connection)",
            set(),
        ),  # what has the name may change too
        ("connection.execute(STATEMENT, orders.values.tolist())", set()),
    ],
)
def test_nothing_is_named_where_it_may_reach_what_has_no_name(line: str, columns: set[str]) -> None:
    script = (
        f"import os\nNAMES = os.listdir('a')\nSTATEMENT = open(NAMES[0]).read()\n{SCRIPT}{line}\n"
    )
    changed = script.replace('"price"] * orders', '"price"] + orders').encode()

    edges = changed_outputs(script.encode(), "job.py", {"job.py": changed}.get)

    assert {edge.to_column for edge in edges} == columns


def test_an_expression_in_a_module_of_the_script_is_followed_too() -> None:
    module = "def with_total(orders, rate=2):\n    orders['total'] = orders['n'] * rate\n"
    files = {
        "job.py": b"import pandas as pd\nfrom lib.totals import with_total\n"
        b"orders = pd.read_sql_table('orders', connection)\nwith_total(orders)\n"
        b"orders[['n', 'total']].to_sql('totals', connection)\n",
        "lib/totals.py": module.replace("rate=2", "rate=3").encode(),
    }

    edges = changed_outputs(module.encode(), "lib/totals.py", files.get, script="job.py")

    assert {edge.to_column for edge in edges} == {"total"}
