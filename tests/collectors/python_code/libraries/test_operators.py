"""Operators of Airflow, and programs that are started: the tables of the files that they name."""

from __future__ import annotations

from dbt_graft.collectors.python_code.task_code import task_code
from dbt_graft.lineage.code import name_text
from tests.cases import for_each

_LOAD = "import pandas as pd\npd.read_csv('in.csv')[['a']].to_csv('out.csv')\n"
_FILES = {
    "include/load.sql": "INSERT INTO dw.a (n) SELECT n FROM stg.a WHERE d = '{{ ds }}'",
    "etl/load.py": _LOAD,
    "etl/run.sh": "set -e\nexec python3 etl/load.py --day 1\n",
    "etl/main.py": f"def main():\n    {_LOAD.replace(chr(10), chr(10) + '    ')}\n"
    "if __name__ == '__main__':\n    main()\n",
}
_A, _OUT = ["dw.a < stg.a"], ["./out.csv < ./in.csv"]


@for_each(
    "call, tables, gaps",
    [
        ("MsSqlOperator(task_id='t', sql='INSERT INTO dw.a SELECT * FROM stg.a')", _A, 0),
        ("SQLExecuteQueryOperator(task_id='t', sql=['DELETE FROM x', 'SELECT 1'])", [], 0),
        ("SQLExecuteQueryOperator(task_id='t', sql='load.sql')", _A, 0),
        ("SQLExecuteQueryOperator(task_id='t', sql='/opt/airflow/include/load.sql')", _A, 0),
        ("SQLExecuteQueryOperator(task_id='t', sql='other.sql')", [], 1),
        ("SparkSubmitOperator(task_id='t', application='/opt/repo/etl/load.py')", _OUT, 0),
        ("SparkSubmitOperator(task_id='t', application='/opt/repo/etl/main.py')", _OUT, 0),
        ("SparkSubmitOperator(task_id='t', application='s3://jobs/etl.jar')", [], 1),
        ("BashOperator(task_id='t', bash_command='cd /opt && python3 -u etl/load.py 1')", _OUT, 0),
        ("BashOperator(task_id='t', bash_command='docker exec x python -m etl.load')", _OUT, 0),
        ("BashOperator(task_id='t', bash_command='etl/run.sh ')", _OUT, 0),
        ("BashOperator(task_id='t', bash_command='python3 /opt/gone.py')", [], 1),
        ("BashOperator(task_id='t', bash_command='echo {{ ds }}')", [], 0),
    ],
)
def test_an_operator_does_what_its_files_do(call: str, tables: list[str], gaps: int) -> None:
    dag = f"with DAG('d', template_searchpath=['/opt/airflow/include']):\n    {call}\n"
    files = {**_FILES, "dags/d.py": f"from airflow.x import {call.partition('(')[0]}\n{dag}"}
    code = task_code("dags/d.py", {k: v.encode() for k, v in files.items()}.get, "t")

    reads = [name_text(table) for read in code.reads for table in read.tables]
    writes = [name_text(write.table) for write in code.writes if write.table != ("x",)]

    assert [f"{to} < {of}" for to, of in zip(writes, reads, strict=False)] == tables
    named = [gap for gap in code.gaps if "is not here" in gap.reason or "of Python" in gap.reason]
    assert len(named) == gaps


@for_each(
    "line",
    [
        "exec(open('tidy.py').read())",
        "exec(compile(open('tidy.py').read(), 'tidy.py', 'exec'))",
        "import runpy\nrunpy.run_path('all.py')",
        "from helper import frame",
        "import subprocess\nsubprocess.run(['python3', 'all.py'], check=True)",
    ],
)
def test_a_file_that_a_script_runs_is_followed(line: str) -> None:
    files = {
        "etl/task.py": f"{line}\nframe[['a']].to_csv('out.csv')\n",
        "etl/tidy.py": "import pandas as pd\nframe = pd.read_csv('in.csv')\n",
        "etl/all.py": _LOAD,
        "etl/helper.py": "exec(open('tidy.py').read())\n",
    }
    code = task_code("etl/task.py", {k: v.encode() for k, v in files.items()}.get)

    assert "./out.csv.a < ./in.csv.a" in {
        f"{name_text(edge.to_table)}.{edge.to_column} < "
        f"{name_text(edge.from_table)}.{edge.from_column}"
        for edge in code.edges
    }
