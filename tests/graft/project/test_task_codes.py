"""The scripts of tasks: which file is whose."""

from __future__ import annotations

from pathlib import Path

from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.task_codes import TaskCodes

_DAG = """\
import pandas as pd
from airflow.decorators import dag, task

@task
def {name}():
    pd.read_csv("lake/in.csv")[["a"]].to_csv("lake/{name}.csv")

@task
def stop():
    return 1

@task(task_id="both")
def twice():
    pd.read_csv("lake/in.csv")[["a"]].to_csv("lake/both.csv")

@dag
def pipeline():
    {name}() >> twice() >> stop()

pipeline()
"""


def test_scripts_are_of_the_tasks_called_like_them_and_dags_of_the_tasks_in_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "code").mkdir()
    for name, text in (
        ("night.py", _DAG.format(name="load")),
        ("day.py", _DAG.format(name="send")),
        ("move.py", "import pandas as pd\npd.read_csv('a.csv').to_csv('b.csv')\n"),
        (
            "log.py",
            "client.send(f, task_id='x')\nimport pandas as pd\npd.read_csv('a').to_csv('b')\n",
        ),
        ("loads.py", "import pandas as pd\npd.read_csv('a.csv').to_csv('b.csv')\n"),
    ):
        (tmp_path / "code" / name).write_text(text)
    (tmp_path / "graft.yml").write_text(
        "collect:\n  - python: {path: code/}\ntasks:\n  load: {code: code/loads.py}\n"
    )

    codes = TaskCodes(load(tmp_path / "graft.yml"))

    assert codes.files == {
        "load": "code/loads.py",  # by graft.yml, which comes before a DAG
        "loads": "code/loads.py",
        "log": "code/log.py",  # its task is none of Airflow
        "move": "code/move.py",
        "send": "code/day.py",
    }
    (write,) = codes.codes()["send"].writes
    assert write.table == ("lake/send.csv",)
