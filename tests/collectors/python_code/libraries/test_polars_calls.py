"""Frames of Polars, by columns: selections, expressions, groups, joins, and what is not known."""

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.python_code.follow import edges_of, follow

_HEAD = """\
import polars as pl
import polars.selectors as cs
df = pl.read_database("SELECT id, a, b, c, k, t FROM dbo.t", con)
other = pl.read_database("SELECT k, x, a, uid, ut FROM dbo.u", con)
every = pl.read_database("SELECT * FROM dbo.w", con)
"""


@for_each(
    "lines, expected",
    [
        ("out = df.select('id', pl.col('^[ab]$'))", "id=id; a=a; b=b"),
        ("out = df.select('id', '^[ab]$')", "id=id; a=a; b=b"),
        ("out = df.select(pl.col('a', 'b').round(1).name.suffix('_x'))", "a_x=~a; b_x=~b"),
        (
            "out = df.select(pl.col('a').name.prefix('n_'), pl.col('b').name.to_uppercase(), "
            "pl.col('c').alias('z').name.keep())",
            "n_a=a; B=b; c=c",
        ),
        ("out = df.select(pl.col('a').name.map(lambda n: n + '_y'))", "a_y=a"),
        ("out = df.select(pl.col('a', 'b').name.map(str.upper))", "A=a; B=b"),
        ("out = df.select(pl.col(['a', 'b']) * pl.col('c'))", "a=~a,~c; b=~b,~c"),
        ("out = df.select(pl.all().exclude('t', 'k') * 2)", "id=~id; a=~a; b=~b; c=~c"),
        ("out = df.select(pl.exclude('^[abc]$'))", "id=id; k=k; t=t"),
        ("out = df.select(cs.starts_with('i', 'a'), cs.ends_with('k'))", "id=id; a=a; k=k"),
        ("out = df.select(~cs.by_name('t', 'k') - cs.contains('d'))", "a=a; b=b; c=c"),
        (
            "out = df.select((cs.by_name('a', 'b') | cs.matches('^k')) & ~cs.by_name('b'))",
            "a=a; k=k",
        ),
        ("out = df.select('id', cs.numeric() * 2)", "id=id; ?*"),
        ("out = df.select(pl.col(pl.String))", "?*"),
        ("out = df.select('id', 'c').with_columns(cs.float().round(0))", "id=id; c=c; ?*"),
        ("out = df.drop(cs.starts_with('t') | cs.by_name('k', 'c'))", "id=id; a=a; b=b"),
        ("out = df.select('id', 'a').drop(cs.temporal())", "id=id; a=a; ?*"),
        ("out = every.select(pl.exclude('r').round(0))", "*=~w.* without r"),
        ("out = every.with_columns(pl.all().round(0))", "*=~w.*"),
        ("out = every.select(pl.col('p', 'q'))", "p=w.p; q=w.q"),
        ("out = every.select(cs.starts_with('p'))", "?*"),
        ("out = every.select(pl.all().name.suffix('_x'))", "?*"),
        ("out = df.select('id', z=pl.sum_horizontal(cs.by_name('a', 'b')))", "id=id; z=~a,~b"),
        (
            "out = df.filter(pl.any_horizontal(pl.col('a', 'b') > 4)).select('id')",
            "id=id; *=filter a,filter b",
        ),
        ("out = df.filter(pl.col('a') > 3, k='DE').select('id')", "id=id; *=filter a,filter k"),
        (
            "out = df.filter([pl.col('a') > 3, pl.col('b') > 1]).select('id')",
            "id=id; *=filter a,filter b",
        ),
        (
            "out = df.select('id', z=pl.when(pl.col('a') > 3, k='DE').then('b').otherwise('c'))",
            "id=id; z=if a,if k,~b,~c",
        ),
        (
            "out = df.select('id', pl.when(pl.col('a') > "
            "3).then(pl.col('b')).otherwise(pl.lit('none')))",
            "id=id; b=if a,~b",
        ),
        ("out = df.select(pl.col('id').filter(pl.col('a') > 3))", "id=id; *=filter a"),
        ("out = df.select(pl.col('k').unique())", "k=k; *=group k"),
        (
            "out = df.select(pl.col('b').drop_nulls().mean(), pl.col('a').filter(pl.col('k') "
            "== 'DE').sum())",
            "b=+b; a=+a,if k",
        ),
        (
            "out = df.select('id', m=pl.col('a').filter(pl.col('b') > 1).mean().over('k'))",
            "id=id; m=+a,if b,window k",
        ),
        (
            "out = df.select('id', p=pl.col('a').shift(1).over('k', order_by='t'))",
            "id=id; p=window k,window t,~a",
        ),
        (
            "out = df.select('id', p=pl.col('a').sort_by('t').over('k', "
            "mapping_strategy='group_to_rows'))",
            "id=id; p=a,if t,window k",
        ),
        ("out = df.select(y=pl.col('t').dt.year(), d=pl.col('t').dt.date())", "y=~t; d=~t"),
        (
            "out = df.select(z=pl.format('{}-{}', 'a', 'k'), d=pl.duration(days='b'))",
            "z=~a,~k; d=~b",
        ),
        (
            "out = df.select('id', *pl.sql_expr(['a + b AS z', 'UPPER(k) AS y']))",
            "id=id; z=~a,~b; y=~k",
        ),
        (
            "out = df.group_by('k').agg(pl.all().exclude('t').max())",
            "k=k; id=+id; a=+a; b=+b; c=+c; *=group k",
        ),
        ("out = df.group_by('k').agg(cs.numeric().mean())", "k=k; *=group k; ?*"),
        (
            "out = df.group_by('k').agg(pl.col('a', 'b').mean().name.suffix('_mean'), pl.sum('c'))",
            "k=k; a_mean=+a; b_mean=+b; c=+c; *=group k",
        ),
        (
            "out = df.group_by('k').agg(pl.col('a').sort_by('t').last(), "
            "b=pl.col('b').top_k_by('c', 1).first())",
            "k=k; a=+a,if t; b=+b,if c; *=group k",
        ),
        (
            "out = df.group_by('k').agg(pl.col('id'), m=pl.col('a').max() - pl.col('a').min())",
            "k=k; id=+id; m=+a; *=group k",
        ),
        ("out = df.group_by('k').quantile(0.5).select('k', 'a')", "k=k; a=+a; *=group k"),
        # Of selectors `~` and `-` make selectors, of expressions values.
        ("out = df.select(~pl.col('a', 'b'))", "a=~a; b=~b"),
        ("out = df.select(pl.col('a', 'b') - pl.col('b'))", "a=~a,~b; b=~b"),
        ("out = df.select(~cs.starts_with('a').as_expr())", "a=~a"),
        ("out = df.select(~cs.exclude('a', 'b'))", "a=a; b=b"),
        (
            "out = df.select('id', 'a').explode('a', empty_as_null=False)",
            "id=id; a=~a; *=join a",
        ),
        ("out = df.select(sorted(df.select('b', 'a').collect_schema()))", "a=a; b=b"),
        ("out = df.select(df.select('b', 'a').collect_schema().names())", "b=b; a=a"),
        # Texts that are columns, and texts that are values.
        (
            "out = df.select(pl.col('a').sort_by(by='t').first(), pl.col('b').log(base='c'))",
            "a=+a,if t; b=~b,~c",
        ),
        ("out = df.select(z=pl.reduce(lambda x, y: x + y, ['a', 'b']))", "z=~a,~b"),
        ("out = df.select(z=pl.col('a').is_in('b'), y=pl.col('a').is_in(['b']))", "z=~a,~b; y=~a"),
        ("out = df.select(pl.col('a').max_by('t'))", "a=+a,if t"),
        ("out = df.select(s=pl.sum('a').rolling('t', period='2d'))", "s=+a,window t"),
        (
            "out = df.select(pl.col('a').str.slice('b', 3), pl.col('c').str.pad_start(5, 'k'))",
            "a=~a,~b; c=~c",
        ),
        (
            "out = df.select(pl.col('a').str.zfill('b'), pl.col('c').str.replace('a', 'b'))",
            "a=~a,~b; c=~c",
        ),
        ("out = df.select(pl.col('t').dt.replace(day='b', year=2025))", "t=~b,~t"),
        (
            "out = df.select(pl.col('a').list.concat('b'), z=pl.col('c').list.contains('k'))",
            "a=~a,~b; z=~c",
        ),
        (
            "out = df.select(pl.col('a').list.get('b'), z=pl.col('c').list.join('k'))",
            "a=~a,~b; z=~c",
        ),
        (
            "out = df.select(z=pl.business_day_count('a', 't'), y=pl.concat_arr('b', 'c'))",
            "z=~a,~t; y=~b,~c",
        ),
        ("out = df.select('id', z=pl.date_ranges('a', 't', '1mo'))", "id=id; z=~a,~t"),
        (
            "out = df.select(pl.time('a', 'b'), pl.cum_sum_horizontal('b', 'c'))",
            "time=~a,~b; cum_sum=~b,~c",
        ),
        ("out = df.select(pl.datetime('a', month='b', day=1))", "a=~a,~b"),
        ("out = df.select(pl.int_ranges('a', 'b', step='c'))", "a=~a,~b,~c"),
        (
            "out = df.select(pl.fold(acc=pl.lit(0), function=lambda a, b: a + b, "
            "exprs=['b', 'c']))",
            "literal=~b,~c",
        ),
        (
            "out = df.select(pl.cum_sum('a', 'b'), pl.approx_n_unique('c', 'k'))",
            "a=+a; b=+b; c=+c; k=+k",
        ),
        ("out = df.select((pl.lit(1) / pl.col('a', 'b')).name.keep())", "a=~a; b=~b"),
        # Values that decide on the number of rows.
        ("out = df.select(pl.col('a').explode())", "a=~a; *=join a"),
        ("out = df.select(pl.col('a').drop_nans())", "a=a; *=filter a"),
        ("out = df.select(n=pl.col('a').unique_counts())", "n=~a; *=group a"),
        ("out = df.select(pl.arg_where(pl.col('a') > 1))", "a=~a; *=filter a"),
        ("out = df.select(pl.col('a').str.extract_groups('x').struct['2'])", "2=~a"),
        ("out = df.select(pl.col('a').struct[1])", "?*"),
        # SQL of Polars has names in quotes.
        ('out = df.sql(\'SELECT "a", b / 2 AS "b/2" FROM self\')', "a=a; b/2=~b"),
        ("out = df.sql('SELECT a, 0::float4 FROM self')", "a=; 0=; ?*"),
        ("out = df.group_by('k').len(name='rows')", "k=k; rows=; *=group k"),
        ("out = df.select('k', 'a').group_by('k').head(2)", "k=k; a=a; *=group k"),
        ("out = df.group_by(y=pl.col('t').dt.year()).agg(pl.len())", "y=~t; len=; *=group t"),
        (
            "out = df.group_by(cs.by_name('k', 'b')).agg(pl.sum('a'))",
            "k=k; b=b; a=+a; *=group b,group k",
        ),
        (
            "out = df.group_by_dynamic('t', every='1mo', group_by='k').agg(pl.sum('a'))",
            "k=k; t=~t; a=+a; *=group k,group t",
        ),
        ("out = df.rolling('t', period='30d').agg(s=pl.sum('a'))", "t=t; s=+a,window t"),
        ("out = df.select('t', 'a').upsample('t', every='1d')", "t=~t; a=a; *=join t"),
        (
            "out = df.group_by('k').map_groups(lambda g: g.sort('a').head(1)).select('id')",
            "id=id; *=group k,sort a",
        ),
        (
            "rows = [{'k': k[0], 'm': g['a'].max()} for k, g in df.group_by('k')]\n"
            "out = pl.DataFrame(rows)",
            "k=k; m=+a; *=group k",
        ),
        ("out = pl.concat([g.select('id') for g in df.partition_by('k')])", "id=id; *=group k"),
        (
            "out = pl.concat([df.select('k', 'a'), other.select('k', 'x')], how='align')",
            "k=k,u.k; a=a; x=u.x; ?*",
        ),
        (
            "out = df.select('id', 'k').join(other.select('k', 'x'), on='k', how='full')",
            "id=id; k=k; k_right=u.k; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df.select('id').join(other.select('uid', 'x'), left_on='id', "
            "right_on='uid', how='full', coalesce=True)",
            "id=~id,~u.uid; x=u.x; *=join id,join u.uid",
        ),
        (
            "out = df.select('id', 'a').join(other.select('uid', 'x'), left_on='id', "
            "right_on='uid', how='right')",
            "uid=u.uid; a=a; x=u.x; *=join id,join u.uid",
        ),
        (
            "out = df.select('id', 'k').join(other.select('k', 'x'), left_on='id', right_on='k')",
            "id=id; k=k; x=u.x; *=join id,join u.k",
        ),
        (
            "out = df.select('id', 'k').join(other.select('k', 'x'), on='k', how='left', "
            "coalesce=False)",
            "id=id; k=k; k_right=u.k; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df.select('id', 't', 'k').join_asof(other.select('ut', 'x', 'k'), "
            "left_on='t', right_on='ut', by='k')",
            "id=id; t=t; k=k; ut=u.ut; x=u.x; *=join k,join t,join u.k,join u.ut",
        ),
        (
            "out = df.select('id', 'a').join_where(other.select('x'), pl.col('a') > pl.col('x'))",
            "id=id; a=a; x=u.x; *=join a,join u.x",
        ),
        ("out = df.drop_nulls('b').select('id')", "id=id; *=filter b"),
        ("out = df.unique(cs.by_name('k', 'a')).select('id')", "id=id; *=group a,group k"),
        (
            "out = df.select('id', w=pl.col('k').str.split(' ')).explode('w')",
            "id=id; w=~k; *=join k",
        ),
        ("out = df.select('id', 'k').unnest('k')", "id=id; ?*"),
        (
            "out = df.select('id', z=pl.struct('a', 'b').map_elements(lambda r: r['a'] * 2))",
            "id=id; z=~a",
        ),
        (
            "out = df.select('id', z=pl.struct('a', b=pl.col('c')).rank().over('k'))",
            "id=id; z=window a,window c,window k",
        ),
        ("out = df.select('a', 'b').max()", "a=+a; b=+b"),
        (
            "out = "
            "df.select('id').with_columns(pl.lit(other.select(pl.col('x').max()).item()).alias('z'))",
            "id=id; z=+u.x",
        ),
        (
            "out = df.select('id').with_columns(pl.Series('z', [v * 2 for v in df['a']]))",
            "id=id; z=~a",
        ),
        (
            "out = pl.DataFrame(df.select('id', 'a').rows(), schema=['i', 'z'], orient='row')",
            "i=id; z=a",
        ),
        (
            "a, b = pl.collect_all([df.lazy().select('id'), other.lazy().select('x')])\n"
            "out = pl.concat([a, b], how='horizontal')",
            "id=id; x=u.x",
        ),
        ("out = df.select('id')\nout.insert_column(1, df['a'].alias('z'))", "id=id; z=a"),
        (
            "out = df.select('id', 'a')\nout.extend(other.select(pl.col('uid').alias('id'), 'a'))",
            "id=id,u.uid; a=a,u.a",
        ),
        ("out = df.select('id').hstack([df['a'], other['x']])", "id=id; a=a; x=u.x"),
        ("out = df['k'].value_counts().sort('count')", "k=k; count=; *=group k"),
        (
            "ctx = pl.SQLContext(orders=df, eager=True)\n"
            "ctx.register('u', other)\n"
            "out = ctx.execute('SELECT o.id, u.x * 2 AS z FROM orders o JOIN u ON o.id = u.uid "
            "WHERE o.a > 3')",
            "id=id; z=~u.x; *=filter a,join id,join u.uid",
        ),
        ("out = df.sql('SELECT k, SUM(a) AS s FROM self GROUP BY k')", "k=k; s=+a; *=group k"),
        ("out = pl.sql('SELECT a FROM df').collect()", "?*"),
        ("out = df.select('id', 'a').no_such_method().lazy().collect()", "?*"),
        ("out = pl.read_something('x').lazy().select('a').collect()", "?*"),
        ("out = every.with_columns(pl.all().exclude('r').round(0))", "r=w.r; *=~w.* without r"),
        (
            "out = every.drop('q').with_columns(pl.exclude('r').round(0))",
            "r=w.r; *=~w.* without q,r",
        ),
        ("out = df.select(pl.concat_str('a', 'b'), z=pl.col.a + pl.col.c)", "a=~a,~b; z=~a,~c"),
        ("out = df.select(pl.concat_str(pl.col('a', 'b')))", "a=~a,~b"),
        ("out = df.select(pl.col('a', f'x_{env}'))", "?*"),
        (
            "out = df.lazy().select([pl.col(n) for n in df.lazy().collect_schema().names() if "
            "n != 't'])",
            "id=id; a=a; b=b; c=c; k=k",
        ),
        ("out = df.select('id')\nif df.is_empty():\n    out = df.select('a')", "id=id"),
        ("out = df.select('id', pl.quantile('a', 0.5), pl.std('b', 1))", "id=id; a=+a; b=+b"),
        (
            "out = df.select(pl.col('k').struct.field('x'), pl.col('t').struct.field('y', 'z'))",
            "x=~k; y=~t; z=~t",
        ),
        ("out = df.select('id', pl.col('k').struct.unnest())", "id=id; ?*"),
        (
            "out = df.unpivot(on=cs.by_name('a', 'b'), index=cs.by_name('id'), "
            "variable_name='v', value_name='x')",
            "id=id; v=; x=a,b",
        ),
        ("out = df.unpivot(['a', 'b'], index='id')", "id=id; variable=; value=a,b"),
        (
            "out = df.select('id', 'a').unpivot(cs.numeric(), index='id')",
            "id=id; variable=; value=a; ?*",
        ),
        (
            "out = df.pivot('k', index='id', values='a').unpivot(index='id')",
            "id=id; variable=; value=; *=group id; ?value; ?variable",
        ),
        (
            "out = df.select('id', s=pl.col('a').rolling_sum_by('t', window_size='60d').over('k'))",
            "id=id; s=+a,window k,window t",
        ),
        (
            "out = df.group_by_dynamic('t', every='1mo', include_boundaries=True).agg(pl.len())",
            "t=~t; _lower_boundary=~t; _upper_boundary=~t; len=; *=group t",
        ),
        ("out = pl.concat(df.select('id').iter_slices(100))", "id=id"),
        ("import duckdb\nout = duckdb.sql('SELECT a FROM df').pl()", "?*"),
        ("out = df.select('id', cs.numeric() * 2).select('a')", "a=; ?a"),
        ("out = every.select(cs.starts_with('p')).select('pq')", "pq=; ?pq"),
        ("out = every.select(pl.all().name.suffix('_x')).select('p_x')", "p_x=; ?p_x"),
        ("out = df.select(pl.all().name.map(rename)).select('z')", "z=a,b,c,id,k,t; ?z"),
        ("out = df.select(pl.col('a').name.map(rename)).select('z')", "z=a"),
        ("out = df.select('id', s=pl.col('k').str.json_decode()).unnest('s').select('x')", "x=~k"),
        ("out = df.select('id', s=pl.struct('a', 'b')).unnest('s').select('a')", "a=~a,~b; ?a"),
        ("out = pl.sql('SELECT a FROM df').select('a')", "?*"),
        ("out = df.sql('SELECT').select('a')", "a=; ?a"),
        ("out = pl.read_csv('f.csv', with_column_names=f).select('a')", "a=; ?a"),
        ("out = pl.read_csv('f.csv', new_columns=['a', 'b']).select('a')", "a=; ?a"),
        ("out = pl.read_csv('f.csv', has_header=False, new_columns=['x', 'y'])", "x=x; y=y"),
        ("out = pl.read_csv('f.csv', columns=[0, 1]).select('a')", "a=a; ?*; ?a"),
        (
            "out = df.group_by('k').agg(cs.numeric().mean()).select('k', 'a')",
            "k=k; a=; *=group k; ?a",
        ),
        (
            "out = df.pivot('k', index='id', values='a').select('id', 'DE')",
            "id=id; DE=+a,if k; *=group id",
        ),
        (
            "out = df['k'].value_counts(name='n').rename({'k': 'z'}).filter(pl.col('n') > 2)",
            "z=k; n=; *=group k",
        ),
        (
            "out = df['a'].rename('z').to_frame().join(other.select('x'), "
            "how='cross').with_columns(pl.col('z') * 2)",
            "z=~a; x=u.x",
        ),
        ("out = df.to_series(1).to_frame('z').lazy().collect()", "z=a"),
        (
            "out = df.select('id', pl.col('a', 'b').max().over('k').name.map(lambda n: "
            "f'max_{n}'))",
            "id=id; max_a=+a,window k; max_b=+b,window k",
        ),
        (
            "out = df.select('id', z=pl.struct(pl.all()).map_elements(lambda r: r['a'] + r['b']))",
            "id=id; z=~a,~b",
        ),
        (
            "out = df.select(pl.struct(pl.col('a', 'b')).map_elements(lambda r: "
            "r['b']).alias('z'), pl.struct('c', 'k'))",
            "z=b; c=~c,~k",
        ),
        (
            "out = df.select('id', 'a').join(other.select('uid', 'x'), left_on=pl.col('id') + "
            "1, right_on='uid')",
            "id=id; a=a; uid=u.uid; x=u.x; *=join id,join u.uid",
        ),
        ("out = df.no_such_method().write_parquet('p.parquet')\nout = df.select('id')", "?*"),
        (
            "parts = [b.select('a') for b in pl.read_database('SELECT a, b FROM t', con, "
            "iter_batches=True)]\n"
            "out = pl.concat(parts)",
            "a=a",
        ),
        ("out = pl.DataFrame({s.name: s * 2 for s in df.select('a', 'b')})", "a=~a; b=~b"),
        ("out = pl.DataFrame({s.name: s for s in df.select('a', 'b').get_columns()})", "a=a; b=b"),
        (
            "d = df.to_dict(as_series=False)\nout = pl.DataFrame({'z': [v * 2 for v in d['a']]})",
            "z=~a",
        ),
        ("out = other.select('x', z=pl.lit(df[0, 'c']))", "x=u.x; z=c"),
        (
            "out = other.select('x', z=pl.lit(df.filter(pl.col('a') > 1)['c'].to_list()[0]))",
            "x=u.x; z=c,if a",
        ),
        ("out = df[:, ['a', 'b']]", "a=a; b=b"),
        ("out = df.select('a', 'b')\nout[0, 'a'] = 5", "a=~a; b=b"),
        (
            "out = pl.DataFrame({'d': pl.date_range(df['t'].min(), df['t'].max(), '1d', "
            "eager=True)})",
            "d=+t; *=join t",
        ),
        (
            "out = df.select(pl.date_range(pl.col('t').min(), pl.col('t').max(), '1d'))",
            "t=+t; *=join t",
        ),
        (
            "out = df.select('id', r=pl.lit('x').repeat_by('a'), c=pl.col('c').clip('a', 'b'))",
            "id=id; r=~a; c=~a,~b,~c",
        ),
        ("out = df.top_k(3, by='c').select('id')", "id=id; *=sort c"),
        (
            "out = df.group_by('k').having(pl.len() > 3, pl.sum('b') > 1).agg(pl.sum('a'))",
            "k=k; a=+a; *=filter b,group k",
        ),
        (
            "out = df.select(pl.col('a').cast(pl.Decimal(10, 2)), "
            "pl.col('t').cast(pl.Datetime('us')))",
            "a=~a; t=~t",
        ),
        (
            "out = df.lazy().select_seq('id', pl.col('a') * "
            "2).with_columns_seq(z=pl.col('a')).collect()",
            "id=id; a=~a; z=~a",
        ),
        ("out = every.select(pl.all().sort_by('t').last())", "*=+w.*; ?*"),
        ("out = every.select(pl.all().filter(pl.col('p') > 3))", "*=filter w.p,w.*"),
        ("out = every.with_columns(pl.all() / pl.col('q'))", "*=~w.*; ?*"),
        ("out = every.select(pl.all().sum().over('p'))", "*=+w.*; ?*"),
        (
            "out = every.join(pl.read_parquet('b.parquet'), on='p')",
            "p=w.p; *=* without p,join p,join w.p,w.* without p; ?*",
        ),
        (
            "out = every.join(pl.read_parquet('b.parquet'), on='p', how='semi')",
            "*=join p,join w.p,w.*",
        ),
        ("out = df.select('id', 'k').partition_by('k')[0]", "id=id; k=k; *=group k"),
        (
            "out = pl.union([df.select('id'), other.select(pl.col('uid').alias('id'))])",
            "id=id,u.uid",
        ),
    ],
)
def test_columns_of_frames(lines: str, expected: str) -> None:
    script = follow(f'{_HEAD}{lines}\nout.write_parquet("o.parquet")\n')
    assert edges_of(script, {1: "u", 2: "w"}) == expected
