"""The rules of Python that columns are followed through."""

from __future__ import annotations

from dbt_graft.collectors.python_code.task_code import follow_script
from tests.cases import for_each
from tests.collectors.python_code.follow import edges_of, edges_of_frame, follow


@for_each(
    "lines, expected",
    [
        ("def f(d, by=2):\n    return d[['a']] * by\nout = f(df)", "a=~a"),
        ("def f(d):\n    d['z'] = d['a']\nout = df[['a']].copy()\nf(out)", "a=a; z=a"),
        (
            "def f(*frames, **kw):\n    return frames[1][kw['n']]\nout = f(df, other, n=['x'])",
            "x=u.x",
        ),
        ("out = df[['a']].copy()\nif flag:\n    out['a'] = out['a'] + 1", "a=~a"),
        ("out = df[['a']] if flag else df[['b']]", "a=a; b=b"),
        ("out = df[['a']]\nif out.empty:\n    out = df[['b']]", "a=a"),
        (
            "class J:\n    n = 'a'\n    def __init__(self, d):\n        self.d = d\n"
            "    def get(self):\n        return self.d[[self.n]]\nout = J(df).get()",
            "a=a",
        ),
        (
            "def deco(f):\n    def inner(*a):\n        return f(*a)\n    return inner\n"
            "@deco\ndef g(d):\n    return d[['a']]\nout = g(df)",
            "a=a",
        ),
        (
            "def parts():\n    yield df[['a']]\n    yield other[['a']]\nout = pd.concat(parts())",
            "a=a,u.a",
        ),
        (
            "out = df[['a']].copy()\nfor c in ['b', 'c']:\n    out[f'{c}_2'] = df[c] * 2",
            "a=a; b_2=~b; c_2=~c",
        ),
        ("out = df[[c for c in df.columns if c != 'id' and c != 'k']]", "a=a; b=b; c=c"),
        ("out = df[list(set(['a', 'b']) - set(['a']))]", "b=b"),
        (
            "cols = list(df.columns)\ncols.remove('k')\ncols.insert(0, 'k')\n"
            "del cols[1]\nout = df[cols]",
            "k=k; a=a; b=b; c=c",
        ),
        ("r = {'a': 1, 'b': 2}\ndel r['b']\nout = df[list(r)]", "a=a"),
        ("from itertools import chain\nout = df[list(chain(['a'], ['b']))]", "a=a; b=b"),
        (
            "import heapq\nrows = heapq.nlargest(3, df[['a', 'b']].values)\n"
            "out = df[['a']].assign(z=rows[0][0])",
            "a=a; z=~a,~b; ?z",
        ),
        (
            "out = df[['a']].copy()\nout.columns = out.columns.str.upper().str.replace('A', 'Z')",
            "Z=a",
        ),
        (
            "import re\nout = df[['a', 'b']].rename(columns=lambda c: re.sub(r'^a$', 'x', c))",
            "x=a; b=b",
        ),
        ("try:\n    out = df[['a']]\nexcept KeyError:\n    out = df[['b']]", "a=a; b=b"),
        (
            "def f(v):\n    if v > 1:\n        return 'x'\n    return 'y'\n"
            "out = df[['a']].copy()\nout['z'] = df.b.apply(f)",
            "a=a; z=if b",
        ),
        (
            "def mask_name(v):\n    return v[0] + '***'\n"
            "out = df[['a']].copy()\nout['z'] = df.b.map(mask_name)",
            "a=a; z=~b!MASK",
        ),
        (
            "import hashlib\nout = df[['a']].copy()\n"
            "out['z'] = df.b.map(lambda v: hashlib.sha256(v.encode()).hexdigest())",
            "a=a; z=~b!HASH",
        ),
        ("import datetime\nout = df[['a']].copy()\nout['z'] = datetime.datetime.now()", "a=a; z="),
        (
            "import requests\nout = df[['a']].copy()\nout['z'] = requests.get('u').json()['r']",
            "a=a; z=; ?z",
        ),
        ("out = df[['a']].copy()\nout[name] = 1", "a=a; ?*"),
        ("out = df[['a']].copy()\nout.iloc[:, 0] = df.b", "a=b"),
        (
            "out = spark.table('t').groupBy('k', day()).agg({'a': 'sum'}).toPandas()",
            "k=k; sum(a)=+a; *=group k; ?*",
        ),
    ],
)
def test_columns_through_the_language(lines: str, expected: str) -> None:
    assert edges_of_frame(lines) == expected


@for_each(
    "source, files, expected",
    [
        (
            "from lib.db import read\nread('t').to_sql('x', 1, index=False)",
            {
                "lib/db.py": "import pandas as pd\n"
                "def read(t):\n    return pd.read_sql(f'SELECT a FROM {t}', 1)\n",
            },
            "a=a",
        ),
        (
            "import pandas as pd\nfrom pathlib import Path\n"
            "sql = (Path(__file__).parent / 'q.sql').read_text()\n"
            "pd.read_sql(sql, 1).to_sql('x', 1, index=False)",
            {"q.sql": "SELECT a, b FROM t"},
            "a=a; b=b",
        ),
        (
            "import pandas as pd, yaml\nc = yaml.safe_load(open('c.yml'))\n"
            "pd.read_sql(c['sql'], 1)[c['keep']].to_sql(c['to'], 1, index=False)",
            {"c.yml": "sql: SELECT * FROM t\nkeep: [a]\nto: x\n"},
            "a=a",
        ),
        (  # a module that is imported on either way
            "def first():\n    from lib import read\n    return read('a')\n"
            "def second():\n    from lib import read\n    return read('b')\n"
            "if x:\n    out = first()\nelse:\n    out = second()\nout.to_sql('x', 1, index=False)",
            {
                "lib.py": "import pandas as pd\n"
                "def read(c):\n    return pd.read_sql(f'SELECT {c} FROM t', 1)\n"
            },
            "a=a; b=b",
        ),
    ],
)
def test_files_beside_a_script_are_read(source: str, files: dict[str, str], expected: str) -> None:
    assert edges_of(follow(source, files)) == expected


def test_functions_that_others_call_are_followed() -> None:
    script = follow(
        """\
        import pandas as pd
        from airflow.operators.python import PythonOperator
        def load(table, **context):
            pd.read_sql("SELECT a FROM t", 1).to_sql(table, 1, index=False)
        PythonOperator(task_id="a", python_callable=load, op_kwargs={"table": "x"})
        """
    )
    assert (script.targets[0].text, edges_of(script)) == ("x", "a=a")


def test_a_pool_copies_each_table_into_its_own() -> None:
    script = follow(
        """\
        import pandas as pd
        from concurrent.futures import ThreadPoolExecutor
        def copy(table, to):
            pd.read_sql(f"SELECT a FROM {table}", 1).to_sql(to, 1, index=False)
        with ThreadPoolExecutor() as pool:
            pool.map(copy, ["t", "u"], ["x", "y"])
        """
    )
    sources = dict(enumerate(source.text[-1] for source in script.sources))
    found = {t.text: edges_of(script, sources, at) for at, t in enumerate(script.targets)}
    assert found == {"x": "a=t.a", "y": "a=u.a"}


def test_an_edge_is_at_the_line_that_makes_the_column() -> None:
    script = follow(
        """\
        import pandas as pd
        df = pd.read_sql("SELECT a, b FROM t", 1)
        df["c"] = df.a + df.b
        df = df.rename(columns={"a": "x"})
        df.to_sql("y", 1, index=False)
        """
    )
    lines = {edge.column: edge.place.line for edge in script.edges}
    assert lines == {"c": 3, "x": 4, "b": 5}


@for_each(
    "script, module, is_there",
    [
        ("jobs/sales/load.py", "common/rates.py", True),
        ("src/jobs/sales/load.py", "src/common/rates.py", True),
        ("../etl/jobs/load.py", "../etl/common/rates.py", True),
        ("../etl/load.py", "../common/rates.py", True),
        ("jobs/load.py", "src/common/rates.py", True),
        ("airflow/dags/load.py", "airflow/plugins/common/rates.py", True),
        ("jobs/load.py", "../common/rates.py", False),  # nothing of the script is above it
    ],
)
def test_a_module_is_in_a_folder_that_holds_the_script(
    script: str, module: str, is_there: bool
) -> None:
    text = (
        "import pandas as pd\nfrom common.rates import source\n"
        "pd.read_csv(source)[['a']].to_csv('out.csv')\n"
    )
    files = {script: text.encode(), module: b"source = 'in.csv'\n"}

    reads = follow_script(script, files.get).sources

    assert ("in.csv" in {read.text for read in reads}) == is_there


@for_each(
    "lines",
    [
        "sys.path.append('../lib')",
        "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))",
        "sys.path.append(str(Path(__file__).resolve().parent.parent / 'lib'))",
    ],
)
def test_a_module_is_in_a_folder_that_the_script_names(lines: str) -> None:
    files = {
        "jobs/load.py": f"import os, sys\nfrom pathlib import Path\nimport pandas as pd\n{lines}\n"
        "from rates import source\npd.read_csv(source)[['a']].to_csv('out.csv')\n",
        "lib/rates.py": "source = 'in.csv'\n",
    }

    script = follow_script("jobs/load.py", {k: v.encode() for k, v in files.items()}.get)

    assert [source.text for source in script.sources] == ["in.csv"]
