"""Files of declared lineage are checked, each fault with its line, and have a published schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from dbt_graft.collectors.declared import document
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

COMPLETE = """\
version: 1
tasks:
  load_orders:
    description: Fetches orders from the carrier.
    owner: Data platform
    tags: [nightly]
    flows:
      - from: [sftp://carrier/orders]
        to: [spark/raw.orders]
        columns:
          spark/raw.orders:
            amount: [sftp://carrier/orders.amt]
            mail: [{column: sftp://carrier/orders.mail, how: TRANSFORMATION, masking: true}]
      - to: [spark/raw.days]
consumers:
  revenue_dashboard:
    type: dashboard
    url: https://bi.example/revenue
    maturity: high
    reads: [spark/mart.revenue]
datasets:
  spark/mart.revenue:
    period: day
    kind: sliding
    reads: {spark/raw.orders: [-6, 0], spark/raw.days: [null, 0], spark/raw.months: month to date}
    estimated: {spark/raw.days: last}
"""


def test_a_file_with_all_keys_is_read(tmp_path: Path) -> None:
    path = tmp_path / "orders.yml"
    path.write_text(COMPLETE)
    found = document.read(path)

    assert found.tasks["load_orders"].flows[0].target == ("spark/raw.orders",)
    info = found.infos()["revenue_dashboard"]
    assert (info.type, info.url, info.maturity) == (
        "dashboard",
        "https://bi.example/revenue",
        "high",
    )
    [(_, dates)] = found.dates().items()
    assert [str(dates.mapping(source)) for source in dates.reads] == [
        *("[-6, 0] by day", "[…, 0] by day", "month to date"),
    ]


@for_each(
    "column, dataset, name",
    [
        ("spark/raw.orders.id", "spark/raw.orders", "id"),
        ("SPARK/Raw.Orders.Id", "spark/raw.orders", "Id"),
        ("spark/raw.orders.address.street", "spark/raw.orders", "address.street"),
        ("spark/raw.id", "spark/raw", "id"),
        ("file//in/orders.csv.amount", "file//in/orders.csv", "amount"),
        ("iceberg://prod/silver/sales.orders.id", "iceberg://prod/silver/sales.orders", "id"),
    ],
)
def test_of_which_dataset_a_column_is_the_flow_tells(column: str, dataset: str, name: str) -> None:
    flow = document.DeclaredFlow(
        (
            *("spark/raw.orders", "spark/raw", "file//in/orders.csv"),
            document.SplitDataset("iceberg://prod/silver", "sales.orders"),
        ),
        ("spark/a",),
    )
    assert flow.origin(column) == (parse_dataset_id(dataset), name)


FAULTS: list[tuple[str, str, int | None, str]] = [
    ("version: 1", "version: 2", 1, "`version` must be 1"),
    ("version: 1\n", "", 1, "`version` is missing"),
    ("owner:", "onwer:", 5, "did you mean `owner`?"),
    ("to: [spark/raw.orders]", "to: [raw]", 9, "'raw' is not a dataset: write <namespace>/<name>"),
    ("orders.amt]", "orders]", 12, "is not a column: write <namespace>/<name>.<column>"),
    ("          spark/raw.orders:", "          spark/raw.other:", 8, "but not in `to`"),
    ("carrier/orders.amt", "carrier/other.amt", 8, "but its dataset is not in `from`"),
    ("from: [sftp://carrier/orders]", "from: []", 8, "but its dataset is not in `from`"),
    ("      - to: [spark/raw.days]", "      - {}", 14, "name datasets in"),
    ("type: dashboard", "type: sheet", 17, "must be 'dashboard'"),
    ("    reads: [spark/mart.revenue]\n", "", 16, "`consumers.revenue_dashboard.reads` is missing"),
    ("  revenue_dashboard:", "  load_orders:", 1, "a task and a consumer have the same name"),
    ("    owner:", "    tags: [x]\n    owner:", 7, "`tags` is there twice"),
    ("url: https://", "url: https://jane:pass@", 18, "`consumers.revenue_dashboard.url`: is pub"),
    (
        "    owner:",
        "    repo: https://t0k@git.example/x\n    owner:",
        5,
        "write the URL without user",
    ),
    (
        *("    owner:", "    runbook: https://w/x?token=t0k\n    owner:", 5),
        "without user, password, token and key",
    ),
    ("    owner:", "    rerun: make --token t0k\n    owner:", 5, "write $NAME where the password"),
    ("from: [sftp://", "from: [sftp://jane@", 8, "write the URL without user"),
    ("version: 1", "version: [", None, "not valid YAML"),
    ("version: 1", f"version: {'[' * 5000}", None, "nested too deeply"),
]


MAIL, FLOW = (
    "tasks.load_orders.flows.0.columns.spark/raw.orders.mail.0",
    "tasks.load_orders.flows.0",
)
READS = "datasets.spark/mart.revenue.reads.spark/raw.orders"


@for_each(
    "before, after, expected",
    [
        ("from: [sftp://carrier/orders]", "from: [orders]", f"`{FLOW}.from.0`: 'orders' is not a"),
        ("from: [sftp://carrier/orders]", "from: [3]", f"`{FLOW}.from.0` must be text"),
        ("from: [sftp://carrier/orders]", "from: [{name: x}]", "from.0.namespace` is missing"),
        ("how: TRANSFORMATION", "how: COPY", f"`{MAIL}.how` must be 'IDENTITY', 'TRANSFORMATION'"),
        ("how: TRANSFORMATION", "hw: COPY", f"`{MAIL}.hw` is not a key here; did you mean `how`?"),
        ("masking: true", "masking: none", f"`{MAIL}.masking` must be 'HASH'"),
        ("[-6, 0]", "[0, -6]", f"`{READS}`: write the first unit before the last"),
        ("[-6, 0]", "week to day", f"`{READS}` must be 'week to date'"),
        ("[-6, 0]", "3", f"`{READS}` must be a list"),
    ],
)
def test_a_value_of_several_types_has_one_fault(
    tmp_path: Path, before: str, after: str, expected: str
) -> None:
    path = tmp_path / "orders.yml"
    assert before in COMPLETE
    path.write_text(COMPLETE.replace(before, after, 1))

    with pytest.raises(GraftError) as caught:
        document.read(path)

    assert expected in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1, str(caught.value)


@for_each("before, after, line, expected", FAULTS)
def test_a_fault_is_named_with_file_and_line(
    tmp_path: Path, before: str, after: str, line: int | None, expected: str
) -> None:
    path = tmp_path / "orders.yml"
    assert before in COMPLETE
    path.write_text(COMPLETE.replace(before, after, 1))

    with pytest.raises(GraftError) as caught:
        document.read(path)

    assert str(caught.value).startswith(f"{path}:{line}: " if line else str(path))
    assert expected in str(caught.value)


def test_the_published_schema_is_that_of_the_code(root: Path) -> None:
    published = json.loads((root / "docs/schemas/declared-lineage.schema.json").read_text())

    assert published == document.schema(), (
        "run `graft schema declared > docs/schemas/declared-lineage.schema.json`"
    )


@for_each(
    "before, after, valid",
    [
        ("", "", True),
        ("version: 1", "version: 2", False),
        ("owner:", "onwer:", False),
        ("to: [spark/raw.orders]", "to: [raw]", False),
        ("orders.amt]", "orders]", False),
        ("type: dashboard", "type: sheet", False),
    ],
)
def test_the_schema_takes_what_the_code_takes(before: str, after: str, valid: bool) -> None:
    content = yaml.safe_load(COMPLETE.replace(before, after, 1) if before else COMPLETE)
    validator = jsonschema.Draft202012Validator(document.schema())

    assert validator.is_valid(content) is valid


def test_the_doctor_names_all_faults_of_files(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yml", tmp_path / "bad.yml"
    good.write_text(COMPLETE)
    bad.write_text(COMPLETE.replace("owner:", "onwer:").replace("type: dashboard", "type: sheet"))

    done = CliRunner().invoke(main, ["doctor", str(good), str(bad)])

    assert done.exit_code == 3
    assert f"{bad}:5: " in done.stdout
    assert f"{bad}:17: " in done.stdout
    assert "2 errors" in done.stdout
    assert CliRunner().invoke(main, ["doctor", str(good)]).exit_code == 0


def test_the_example_of_the_documents_is_valid(root: Path, tmp_path: Path) -> None:
    text = (root / "docs/declared.md").read_text()
    (tmp_path / "example.yml").write_text(text.split("```yaml\n")[1].split("```")[0])

    assert document.read(tmp_path / "example.yml").consumers
