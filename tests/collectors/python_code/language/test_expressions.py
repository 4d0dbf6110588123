"""Expressions of columns: PySpark, Polars, SQLAlchemy."""

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.python_code.follow import edges_of, follow

_SPARK = """\
from pyspark.sql import SparkSession, functions as F, Window
spark = SparkSession.builder.getOrCreate()
df = spark.table("s.t")
other = spark.table("s.u")
"""


@for_each(
    "lines, expected",
    [
        (
            "out = df.select('a', F.col('b').alias('z'), (df.a * df['c']).alias('t'))",
            "a=a; z=b; t=~a,~c",
        ),
        (
            "out = df.select('a').withColumn('z', F.upper('a')).filter('a > 1')",
            "a=a; z=~a; *=filter a",
        ),
        (
            "out = df.groupBy('k').agg(F.sum('a').alias('s'), F.count('*').alias('n'))",
            "k=k; s=+a; n=; *=group k",
        ),
        ("out = df.groupBy('k').count()", "k=k; count=; *=group k"),
        (
            "w = Window.partitionBy('k').orderBy(F.desc('d'))\n"
            "out = df.select('a', F.row_number().over(w).alias('n'), "
            "F.sum('b').over(w).alias('s'))",
            "a=a; n=window d,window k; s=+b,window d,window k",
        ),
        (
            "out = df.alias('l').join(other.alias('r'), F.col('l.k') == F.col('r.k'))"
            ".select('l.a', F.col('r.x').alias('y'))",
            "a=a; y=u.x; *=join k,join u.k",
        ),
        ("out = df.select('a', F.when(df.b > 1, df.c).otherwise(0).alias('z'))", "a=a; z=if b,~c"),
        ("out = df.selectExpr('a as z', 'sum(b) as s')", "z=a; s=+b"),
        (
            "df.createOrReplaceTempView('v')\n"
            "out = spark.sql('SELECT a, SUM(b) AS s FROM v WHERE c > 1 GROUP BY a')",
            "a=a; s=+b; *=filter c,group a",
        ),
        ("out = df.withColumnRenamed('a', 'z')", "z=a; *=* without a,z"),
        ("out = df.select('a', df.b * 2)", "a=a; ?*"),
        ("out = df.select('a', F.col('b').isNull(), F.col('b').cast('int'))", "a=a; b=~b; ?*"),
        ("out = df.groupBy(F.col('a').substr(1, 3)).count()", "count=; *=group a; ?*"),
        (
            "out = df.alias('l').join(other.alias('r'), F.col('l.k') == F.col('r.k'))"
            ".select(F.col('r.*'), F.col('l.b').alias('z'))",
            "z=b; *=join k,join u.k,u.* without z",
        ),
        (
            "l, r = df.select('a', 'k').alias('l'), other.select('k').alias('r')\n"
            "out = l.join(r, F.col('l.k') == F.col('r.k')).select([F.col('l.*')])",
            "a=a; k=k; *=join k,join u.k",
        ),
        ("out = df.select(F.struct('a').alias('s')).select(F.col('s.*'))", "?*"),
        (
            "out = spark.sql('SELECT {c} AS z FROM {v} WHERE b > {n}', "
            "v=df.select('a', 'b'), c=F.col('a'), n=3)",
            "z=a; *=filter b",
        ),
        (
            "out = spark.sql('SELECT {c} AS z FROM {v}', v=df.select('a'), c=F.col('a') + 1)",
            "z=; ?*",
        ),
        ("out = df.select(F.sha2('a', 256).alias('h'))", "h=~a!HASH"),
        ("out = df.agg(F.sum('a').alias('s'))", "s=+a"),
        (
            "out = df.select('a', 'b').na.fill({'a': 0}).na.drop(subset=['b'])",
            "a=~a; b=b; *=filter b",
        ),
        (
            "out = df.select('a').withColumn('z', F.lit(df.select('b').collect()[0]['b']))",
            "a=a; z=b",
        ),
        (
            "@F.udf(returnType='string')\ndef f(v):\n    return v.strip()\n"
            "g = F.udf(lambda v: v.lower())\n"
            "out = df.select(f('a').alias('y'), g(df.b).alias('z'))",
            "y=~a; z=~b",
        ),
        (
            "out = df.selectExpr('id', \"stack(2, 'x', a, 'y', b) as (k, v)\")",
            "id=id; k=~a,~b; v=~a,~b",
        ),
        ("out = df.selectExpr(\"concat(a, 'secret')\")", "concat(a, ?)=~a"),
        (
            "l, r = df.select('k', 'a'), other.select('k', 'x')\n"
            "out = l.join(F.broadcast(r), l.k == r.k).drop(r.k)",
            "k=k; a=a; x=u.x; *=join k,join u.k",
        ),
        (
            "l, r = df.select('k', 'a'), other.select('k', 'x')\n"
            "out = l.join(r, l.k == r.k).drop(l.k)",
            "k=u.k; a=a; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df.join(other, df.k == other.k).drop(other.k)",
            "*=*,join k,join u.k,u.* without k",
        ),
        (
            "from functools import reduce\nfrom pyspark.sql import DataFrame\n"
            "out = reduce(DataFrame.unionByName, [df.select('a'), other.select('a')])",
            "a=a,u.a",
        ),
        (
            "out = df.select('p.q', F.col('m.k').alias('v')).filter('q.r > 1')",
            "q=~p; v=~m; *=filter p",
        ),
        (
            "x = df.alias('l').join(other.alias('r'), F.expr('l.k = r.k'))\n"
            "out = x.select('l.p.q', 'r.x')",
            "q=~p; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df.withColumn('j', F.from_json('js', 'p string')).select('j.p')",
            "p=~js",
        ),
        (
            "out = df.selectExpr('p.q', 'case when s > 1 then a else b end as z')",
            "q=~p; z=if s,~a,~b",
        ),
        (
            "out = df.select(F.col('`a b`'))",
            "a b=a b",
        ),
        (
            "out = df.select('a', 'b').withColumn('A', F.upper('a'))"
            ".withColumnRenamed('B', 'z').drop('Z')",
            "A=~a",
        ),
        (
            "out = df.select(F.date_trunc('month', 'd').alias('m'), F.nanvl('a', 'b').alias('n'))",
            "m=~d; n=~a,~b",
        ),
        (
            "out = df.groupBy('k').agg(F.max_by('a', 'd').alias('m'), F.count('*'), "
            "F.size('b').alias('n'))",
            "k=k; m=+a,+d; count(1)=; n=~b; *=group k",
        ),
        (
            "out = df.groupBy('k').agg({'a': 'sum', '*': 'count'})",
            "k=k; sum(a)=+a; count(1)=; *=group k",
        ),
        (
            "out = df.select(F.transform('a', lambda x: F.concat(x, F.col('b'))).alias('z'))",
            "z=~a,~b",
        ),
        (
            "out = df.select(F.create_map(F.lit(1), F.lit(2))[F.col('k')].alias('z'))",
            "z=~k",
        ),
        (
            "out = df.select('a', 'b').distinct()",
            "a=a; b=b; *=group a,group b",
        ),
        (
            "out = df.dropDuplicates()",
            "*=*,group *",
        ),
        (
            "out = df.select('a').exceptAll(other.select('x'))",
            "a=a; *=filter a,filter u.x",
        ),
        (
            "out = df.select('a').intersect(other.select('x'))",
            "a=a,u.x; *=filter a,filter u.x",
        ),
        (
            "ids = [r.x for r in other.filter('y > 1').collect()]\n"
            "out = df.filter(F.col('k').isin(ids)).select('a')",
            "a=a; *=filter k,filter u.x,filter u.y",
        ),
        (
            "out = df.groupBy('k').count().filter('b > 1')",
            "k=k; count=; *=group k; ?*",
        ),
        (
            "out = df.orderBy('d').offset(2).limit(1).select('a')",
            "a=a; *=sort d",
        ),
        (
            "n = df.filter('a > 1').count()\nout = spark.createDataFrame([('x', n)], ['t', 'n'])",
            "t=; n=; *=filter a",
        ),
        (
            "out, rest = df.select('a').randomSplit([0.5, 0.5])",
            "a=a",
        ),
        (
            "out = df.groupBy('k').max()",
            "k=k; *=group k; ?*",
        ),
        (
            "out = df.select(df.colRegex('a.*'))",
            "?*",
        ),
        (
            "out = spark.createDataFrame([(r.a, 1) for r in df.collect()])",
            "_1=a; _2=",
        ),
        (
            "out = df.select('a', 'b').replace({'x': 'y'}, subset=['b'])",
            "a=a; b=~b",
        ),
        (
            "df.select(F.col('b').alias('a'))"
            ".createOrReplaceGlobalTempView('g')\nout = spark.sql('SELECT a FROM global_temp.g')",
            "a=b",
        ),
        (
            "from pyspark.sql.functions import *\n"
            "from pyspark.sql.types import *\n"
            "out = df.select(weekofyear('d').alias('w'), "
            "max(col('a').cast(LongType())).alias('m'))",
            "w=~d; m=+a",
        ),
        (
            "from pyspark.sql.types import LongType, StructField, StructType\n"
            "s = StructType([StructField('p', LongType()), StructField('q', LongType())])\n"
            "out = spark.createDataFrame([(r.a, r.b) for r in df.collect()], s)",
            "p=a; q=b",
        ),
        (
            "out = spark.table('s.x').join(other, F.col('x.k') == F.col('u.k'))"
            ".select('x.a', 'u.b')",
            "a=a; b=u.b; *=join k,join u.k",
        ),
        (
            "out = df.select(df.p[0].alias('z'), df['m']['k'].alias('v'))",
            "z=~p; v=~m",
        ),
        (
            "out = df.select('a', 'b').selectExpr('*', 'a + b as c')",
            "a=a; b=b; c=~a,~b",
        ),
        (
            "out = spark.createDataFrame(df.rdd.filter(lambda r: r.a > 1), ['z'])",
            "z=; *=filter a; ?z",
        ),
        (
            "most = df.agg(F.max('a')).collect()[0][0]\nout = df.filter(f'b > {most}').select('c')",
            "c=c; *=filter a,filter b",
        ),
        (
            "df.createOrReplaceTempView('v')\n"
            "out = spark.sql('SELECT *, a * 2 AS z FROM v WHERE b > 1')",
            "z=~a; *=* without z,filter b",
        ),
        (
            "def save(rows):\n"
            "    spark.createDataFrame([(r.a,) for r in rows], ['z']).write.saveAsTable('y')\n"
            "df.foreachPartition(save)\n"
            "out = df.select('b')",
            "z=a",
        ),
        (
            "import os\nout = df.select('a', *os.environ['X'].split(','))",
            "a=a; ?*",
        ),
        (
            "import os\nout = df.selectExpr('a', os.environ['X'])",
            "a=a; ?*",
        ),
        (
            "import os\nout = df.select('a').filter(os.environ['X'])",
            "a=a; ?*",
        ),
        (
            "import os\nout = df.select('a').filter(os.environ['X'] + ' > 1')",
            "a=a; ?*",
        ),
        (
            "import os\nout = df.select('a').toDF(*os.environ['X'].split(','))",
            "?*",
        ),
        (
            "import os\nout = df.select('a').drop(os.environ['X'])",
            "a=a; ?*",
        ),
        (
            "import os\nout = df.select('a').withColumns(os.environ)",
            "a=a; ?*",
        ),
        (
            "import os\nout = df.groupBy(*os.environ['X'].split(',')).agg(F.sum('a').alias('s'))",
            "s=+a; ?*",
        ),
        (
            "import os\nout = df.groupBy('k').agg(*[F.sum(c) for c in os.environ['X'].split(',')])",
            "k=k; *=group k; ?*",
        ),
        (
            "import os\n"
            "w = Window.partitionBy(*os.environ['X'].split(',')).orderBy('d')\n"
            "out = df.select(F.row_number().over(w).alias('n'))",
            "n=window d; ?n",
        ),
        (
            "import os\nout = df.select('a').orderBy(*os.environ['X'].split(','))",
            "a=a; ?*",
        ),
        (
            "import os\nout = df.select(F.upper(os.environ['X']).alias('z'))",
            "z=; ?z",
        ),
        (
            "out = df.select('a').filter('a in (select x from s.u)')",
            "a=a; ?*",
        ),
        (
            "out = df.select('a').filter('a >').filter('1; 2')",
            "a=a; ?*",
        ),
        (
            "out = df.groupBy('k').pivot('s', ['x', 'y']).agg(F.sum('a'))",
            "k=k; x=+a,if s; y=+a,if s; *=group k",
        ),
        (
            "out = df.groupBy('k').pivot('s', ['x'])"
            ".agg(F.sum('a').alias('t'), F.max('b').alias('m'))",
            "k=k; x_t=+a,if s; x_m=+b,if s; *=group k",
        ),
        (
            "out = df.groupBy('k').pivot('s').sum('a')",
            "k=k; *=group k; ?*",
        ),
        (
            "out = df.groupBy('k').pivot().agg()",
            "k=k; *=group k; ?*",
        ),
        (
            "out = df.select('id', 'a', 'b').unpivot('id', [F.col('a'), F.col('b')], 'n', 'v')",
            "id=id; n=; v=a,b",
        ),
        (
            "l = df.select('k', 'a')\nout = l.join(other, l.k == other.x).select(l['*'], other.y)",
            "k=k; a=a; y=u.y; *=join k,join u.x",
        ),
        (
            "most = other.agg(F.max('x')).first()[0]\n"
            "out = spark.sql('SELECT a FROM s.t WHERE b > :m', "
            "args={'m': most})",
            "a=a; *=filter u.x",
        ),
        (
            "most = other.agg(F.max('x')).first()[0]\n"
            "df.createOrReplaceTempView('v')\n"
            "out = spark.sql(f'SELECT a FROM v WHERE b > {most}')",
            "a=a; *=filter b,filter u.x",
        ),
        (
            "import os\n"
            "x = os.environ['X']\n"
            "df.createOrReplaceTempView('v')\n"
            "out = spark.sql(f'SELECT a, {x} AS z FROM v')",
            "a=a; z=; ?*",
        ),
        (
            "most = other.filter('y > 1').orderBy('w').first()\n"
            "out = df.select('a', F.lit(most['x']).alias('z'))",
            "a=a; z=if u.w,if u.y,u.x",
        ),
        (
            "most = other.filter('y > 1').select('x').collect()[0][0]\n"
            "out = df.select('a', F.lit(most).alias('z'))",
            "a=a; z=if u.y,u.x",
        ),
        (
            "out = df.groupBy(F.window('d', '1 day'))"
            ".agg(F.mean('a'), F.round(F.sum('b'), 2)).drop('window')",
            "avg(a)=+a; round(sum(b), ?)=+b; *=group d",
        ),
        (
            "out = df.groupBy('k').agg(F.countDistinct('a'), F.sum(F.col('b') * 2))",
            "k=k; count(DISTINCT a)=+a; *=group k; ?*",
        ),
        (
            "g = df.groupBy('k').agg(F.sum('a').alias('s'))\n"
            "out = df.join(g, df.k == g.k).drop(g.k)",
            "s=+a; *=* without s,group k,join k",
        ),
        (
            "l = df.select('k', 'a')\n"
            "g = l.groupBy('k').agg(F.sum('a').alias('s'))\n"
            "out = l.join(g, l.k == g.k).drop(g.k)",
            "k=k; a=a; s=+a; *=group k,join k",
        ),
        (
            "r = other.select('k', 'x')\nout = df.join(r, df.k == r.k).drop(r.k).select('k', 'x')",
            "k=k; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df.select('a').filter('b > 1').orderBy(F.desc('d'))",
            "a=a; *=filter b,sort d",
        ),
        (
            "most = other.orderBy('w').first()['x']\n"
            "out = df.withColumn('z', F.lit(most)).select('a', 'z')",
            "a=a; z=if u.w,u.x",
        ),
        (
            "import os\nx = os.environ['X']\nout = df.select('a', F.col('b').alias(f'{x}_b'))",
            "a=a; ?*",
        ),
        (
            "import os\nx = os.environ['X']\nout = df.select('a').withColumn(f'{x}_b', F.lit(1))",
            "a=a; ?*",
        ),
        (
            "import os\n"
            "x = os.environ['X']\n"
            "out = df.select('a').withColumnsRenamed({'a': f'{x}_a'})",
            "a=a; ?*",
        ),
        (
            "import os\n"
            "x = os.environ['X']\n"
            "out = df.select(F.add_months('d', int(x)).alias('m'), "
            "F.date_sub('d', int(x)).alias('n'))",
            "m=~d; n=~d",
        ),
    ],
)
def test_frames_of_spark(lines: str, expected: str) -> None:
    script = follow(f"{_SPARK}{lines}\nout.write.saveAsTable('x')\n")
    assert edges_of(script, sources={1: "u"} if "other" in lines else {}) == expected


def test_a_function_for_batches_of_a_stream_writes() -> None:
    script = follow(
        f"{_SPARK}def save(batch, number):\n    batch.select('a').write.saveAsTable('x')\n"
        "df.writeStream.foreachBatch(save).start()\n"
    )
    assert ([target.text for target in script.targets], edges_of(script)) == (["x"], "a=a")


def test_a_frame_that_is_not_known_is_written_with_a_gap() -> None:
    script = follow("import lib\nlib.load().write.mode('append').saveAsTable('x')\n")
    assert edges_of(script) == "?*"


@for_each(
    "lines, expected",
    [
        ("out = df.select('a', pl.col('b').alias('z'))", "a=a; z=b"),
        (
            "out = df.select('a').with_columns((pl.col('a') * 2).alias('d'), e=pl.lit(1))",
            "a=a; d=~a; e=",
        ),
        ("out = df.filter(pl.col('b') > 1).select('a')", "a=a; *=filter b"),
        (
            "out = df.group_by('k').agg(pl.col('a').sum().alias('s'), pl.len())",
            "k=k; s=+a; len=; *=group k",
        ),
        ("out = df.select('k', pl.col('a').sum().over('k').alias('s'))", "k=k; s=+a,window k"),
        ("out = df.select(pl.all().exclude('b', 'k'))", "a=a"),
        (
            "out = df.select(pl.when(pl.col('b') > 1).then(pl.col('a')).otherwise(0).alias('z'))",
            "z=if b,~a",
        ),
        ("out = df.lazy().sort('b').rename({'a': 'z'}).drop('k').collect()", "z=a; b=b; *=sort b"),
    ],
)
def test_frames_of_polars(lines: str, expected: str) -> None:
    head = "import polars as pl\ndf = pl.read_database('SELECT a, b, k FROM t', con)\n"
    script = follow(f"{head}{lines}\nout.write_database('x', con)\n")
    assert edges_of(script) == expected


@for_each(
    "lines, expected",
    [
        (
            "con.execute(t.insert().from_select(['p'], sa.select(t.c.a).where(t.c.b > 1)))",
            "p=a; *=filter b",
        ),
        (
            "rows = con.execute(sa.select(t.c.a, t.c.b.label('z')))\n"
            "con.execute(x.insert(), [{'p': r.a, 'q': r.z * 2} for r in rows])",
            "p=a; q=~b",
        ),
        (
            "v = sa.case((t.c.a > 1, t.c.b), else_=0).label('v')\n"
            "q = sa.select(v, sa.func.coalesce(t.c.a, 'x').label('w'))\n"
            "pd.read_sql(q, con).to_sql('y', con, index=False)",
            "v=if a,~b; w=~a",
        ),
        (
            "u = sa.table('u', sa.column('k'), sa.column('b'))\n"
            "q = sa.select(u.c.k).select_from(u.join(t, u.c.b == t.c.b))\n"
            "pd.read_sql(q, con).to_sql('y', con, index=False)",
            "k=k; *=join b,join b",
        ),
        (
            "q = sa.select(t.c.a, unknown.c.b)\npd.read_sql(q, con).to_sql('y', con, index=False)",
            "a=a; ?*",
        ),
        (
            "q = sa.select(t.c.b, sa.func.sum(t.c.a).label('s')).group_by(t.c.b)\n"
            "pd.read_sql(q, con).to_sql('y', con, index=False)",
            "b=b; s=+a; *=group b",
        ),
    ],
)
def test_statements_of_sqlalchemy(lines: str, expected: str) -> None:
    head = (
        "import pandas as pd, sqlalchemy as sa\n"
        "con = sa.create_engine('x').connect()\n"
        "t = sa.Table('t', sa.MetaData(), sa.Column('a'), sa.Column('b'))\n"
        "x = sa.Table('x', sa.MetaData(), sa.Column('p'), sa.Column('q'))\n"
    )
    assert edges_of(follow(head + lines)) == expected


def test_a_table_is_of_the_schema_of_its_metadata() -> None:
    script = follow(
        """\
        from sqlalchemy import Column, MetaData, Table, create_engine
        t = Table("t", MetaData(schema="dw"), Column("a"))
        create_engine("x").execute(t.insert(), [{"a": 1}])
        """
    )
    assert script.targets[0].text == "dw.t"


def test_models_of_sqlalchemy_are_tables() -> None:
    script = follow(
        """\
        from sqlalchemy import Column
        from sqlalchemy.orm import declarative_base, sessionmaker
        Base = declarative_base()
        class Order(Base):
            __tablename__ = "orders"
            __table_args__ = {"schema": "dw"}
            id, total = Column(), Column("total_eur")
        class Source(Base):
            __tablename__ = "source"
            a = Column()
            b = Column()
        session = sessionmaker()()
        for row in session.query(Source).filter(Source.b > 1).all():
            session.add(Order(id=row.a, total=row.b * 2))
        """
    )
    assert (script.targets[0].text, edges_of(script)) == (
        "dw.orders",
        "id=a; total_eur=~b; *=filter b",
    )
