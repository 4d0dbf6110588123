"""`graft.yml`: its keys, and the errors in it."""

from pathlib import Path

import pytest

from dbt_graft.graft.project.config import ConfigError, load
from dbt_graft.lineage.dataset import parse_dataset_id
from tests.cases import for_each

COMPLETE = """
dbt: {project_dir: shop, namespace: spark}
collect:
  - sqlserver: {path: logs/xe/, server: "mssql://crm:1433"}
  - spark: {path: "s3a://logs/spark-events/"}
names:
  - {from: "mssql://crm:1433/ShopDW.dbo.*", to: "spark/raw.*"}
tasks:
  load_orders: {owner: data-platform, tags: [daily], schedule: "0 5 * * *"}
lineage: {failed: true, infer_columns: false}
store: .graft/store
spark: {master: "local[*]", spark.sql.ansi.enabled: true}
site: {name: Shop data, out: build/site}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "graft.yml"
    path.write_text(text)
    return path


def test_a_file_with_all_keys_is_read(tmp_path: Path) -> None:
    config = load(written(tmp_path, COMPLETE))
    sqlserver, spark = config.collect
    assert sqlserver.sqlserver is not None
    assert sqlserver.sqlserver.server == "mssql://crm:1433"
    assert spark.spark is not None
    assert config.spark == {"spark.master": "local[*]", "spark.sql.ansi.enabled": "true"}
    assert config.task_infos["load_orders"].tags == ("daily",)
    assert config.lineage.failed
    assert not config.lineage.infer_columns
    renamed = config.name_rules(parse_dataset_id("mssql://crm:1433/ShopDW.dbo.orders"))
    assert str(renamed) == "spark/raw.orders"


def test_paths_start_at_the_file_and_urls_stay(tmp_path: Path) -> None:
    config = load(written(tmp_path, COMPLETE))
    assert config.target_dir == tmp_path / "shop" / "target"
    assert config.path("logs/xe/") == str(tmp_path / "logs/xe")
    assert config.path("s3a://logs/x/") == "s3a://logs/x/"


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    config = load(written(tmp_path, ""))
    assert config.collect == ()
    assert not config.lineage.failed
    assert config.lineage.infer_columns
    assert config.target_dir == tmp_path / "target"


@for_each(
    "text, line, expected",
    [
        ("dbt:\n  project_dri: x", 2, "did you mean `project_dir`? Allowed: project_dir, target"),
        ("stroe: x", 1, "did you mean `store`?"),
        (
            "\n\nwhatever: x",
            3,
            "Allowed: dbt, collect, names, tasks, check, lineage, openlineage, store, artifacts",
        ),
        ("collect:\n- spark: {path: a}\n- sparc: {path: b}", 3, "did you mean `spark`?"),
        ("collect:\n- spark: {}", 2, "name the logs' `path`, or a `history_server`"),
        ("collect:\n- spark: {path: a, history_server: 'http://h'}", 2, "`path`, or a `history_s"),
        ("collect:\n- spark: {path: 'http://h:18080'}", 2, "name a History Server as `history_s"),
        ("collect:\n- spark: {path: a, authorization: env:A}", 2, "needs a `history_server`"),
        ("collect:\n- spark: {history_server: 'h:18080'}", 2, "write http(s)://<host>:<port>"),
        ("collect:\n- spark: {history_server: 'http://u:p@h'}", 2, "without user and password"),
        (
            "collect:\n- spark: {history_server: 'http://h', authorization: Bearer x}",
            2,
            "write env:NAME",
        ),
        ("collect:\n- spark: {path: 's3a://key:secret@b/l'}", 2, "no password, token or key into"),
        ("collect:\n- spark: {path: 'https://a/l?sv=1&sig=a8Xk2'}", 2, "no password, token or key"),
        (
            "collect:\n- {}",
            2,
            "exactly one kind of log: sqlserver, spark, openlineage, declared, dbt or python",
        ),
        ("collect:\n- sqlserver:\n    path: a\n    server: crm", 4, "write mssql://<host>:<port>"),
        ("collect:\n- sqlserver: {path: a, server: 'mssql://u:p@crm'}", 2, "without user and pass"),
        ("collect:\n- spark: {path: a, task: '('}", 2, "is not a regular expression"),
        ("collect:\n- spark: {path: a, task: 'x'}", 2, "must name the task"),
        ("collect:\n- spark: {path: a, task_from: []}", 2, "task_from` must not be empty"),
        ("privacy: {in_dbt: [tag]}", 1, "must be 'meta' or 'tags'"),
        ("names:\n- {from: 'a/*', to: 'b/{2}'}", 2, "refers to wildcard 2"),
        ("names:\n- {from: 'a', to: 'b/c'}", 2, "write <namespace>/<name>"),
        ("names:\n- {from: 'a/b', to: 'hdfs://jane@nn/x'}", 2, "write the URL without user"),
        ("tasks:\n  load:\n    repo: https://u:p@git/x", 3, "write the URL without user"),
        ("tasks:\n  load:\n    ownr: me", 3, "did you mean `owner`?"),
        ("spark: {mastr: x}", 1, "'mastr' is not a Spark setting"),
        ("site: {name: ''}", 1, "must not be empty"),
        ("a: [", 1, "is not valid YAML"),
        ("- a", None, "must hold keys"),
    ],
)
def test_a_fault_is_named_with_its_line(
    tmp_path: Path, text: str, line: int | None, expected: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:{line}:" if line else f"{path}:")
    assert expected in str(caught.value)
    assert caught.value.exit_code == 2


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, "stroe: x\nsite:\n  nmae: y"))
    assert len(str(caught.value).splitlines()) == 2


def test_a_list_with_one_faulty_entry_is_not_called_empty(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"job_group.* databricks or conf:") as caught:
        load(written(tmp_path, "collect:\n- spark: {path: a, task_from: [app]}"))
    assert len(str(caught.value).splitlines()) == 1


def test_the_remedy_for_a_missing_file_is_graft_init(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="graft init"):
        load(tmp_path / "graft.yml")


def test_a_password_in_a_faulty_file_is_not_repeated(tmp_path: Path) -> None:
    text = "collect:\n- sqlserver: {path: a, server: 'mssql://sa:hunter2@crm'}"
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, text))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("pages", "problem"),
    [
        ("{finance: 'state:modified'}", "'state' is not one of the methods"),
        ("{finance: '@orders+'}", "leave out the"),
        ("{../up: 'tag:finance'}", "a-z, 0-9, _ and - only"),
        ("{Finance: 'tag:finance'}", "a-z, 0-9, _ and - only"),
        ("{classic: 'tag:finance'}", "a folder of dbt's own page"),
    ],
)
def test_a_page_of_docs_has_a_folder_s_name_and_a_selection(
    tmp_path: Path, pages: str, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        load(written(tmp_path, f"docs:\n  pages: {pages}"))
    config = load(written(tmp_path, "docs: {pages: {finance: 'tag:finance +orders'}}"))
    assert config.docs.pages == {"finance": "tag:finance +orders"}
