"""Frames of pandas, by columns."""

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.python_code.follow import edges_of_frame


@for_each(
    "lines, expected",
    [
        ("out = df[['a', 'b']]", "a=a; b=b"),
        ("out = df[['a']].rename(columns={'a': 'z'})", "z=a"),
        ("out = df[['a']].assign(t=df.b * df['c'])", "a=a; t=~b,~c"),
        ("out = df[['a']].assign(t=lambda d: d.a + 1)", "a=a; t=~a"),
        ("out = df[['a']].copy()\nout['u'] = out['a'].str.upper()", "a=a; u=~a"),
        ("out = df[df.b > 1][['a']]", "a=a; *=filter b"),
        ("out = df.query('b > 1 and c == @x')[['a']]", "a=a; *=filter b,filter c"),
        ("out = df.drop(columns=['id', 'c', 'k'])", "a=a; b=b"),
        ("out = df[['a', 'b']].sort_values('b')", "a=a; b=b; *=sort b"),
        ("out = df[['a']].copy()\nout.columns = ['z']", "z=a"),
        ("out = df[['a', 'b']].copy()\nout.columns = [b'y', 'z']", "z=; ?z"),
        ("out = df[['a', 'b', 'c']].copy()\nout.columns = ['x', 'x', 'z']", "x=a,b; z=c"),
        ("out = df[['a', 'b']].set_axis(['x', 'x'], axis=1)", "x=a,b"),
        ("out = df[['a', 'b']].rename(columns={'a': 'b'})", "b=a,b"),
        ("out = pd.DataFrame(df[['a', 'b']].values, columns=['x', 'x'])", "x=a,b"),
        ("out = pd.concat([df[['a']], df[['b']].set_axis(['a'], axis=1)], axis=1)", "a=a,b"),
        ("df.drop('a', axis=1, inplace=True)\nout = df[['b']]", "b=b"),
        ("out = df[['a', 'b']].fillna({'a': 0})", "a=~a; b=b"),
        ("out = df[['a']].copy()\nout.loc[df.b > 1, 'a'] = 0", "a=if b,~a"),
        ("out = df[['a']].copy()\nout['f'] = np.where(df.b > 1, df.c, 0)", "a=a; f=if b,~c"),
        ("out = df[['a']].copy()\nout['n'] = 1", "a=a; n="),
        ("out = df[['a']].apply(lambda r: r['a'] * 2, axis=1).to_frame('z')", "z=~a"),
        (
            "out = df.apply(lambda r: pd.Series([r.a, r.b * 2], index=['x', 'y']), axis=1)",
            "x=a; y=~b",
        ),
        (
            "out = df[['k']].copy()\n"
            "out[['x', 'y']] = df.apply(lambda r: pd.Series([r.a, r.b]), axis=1)",
            "k=k; x=a; y=b",
        ),
        ("out = df[['k']].copy()\nout['x'], out['y'] = zip(*df.a.map(divmod))", "k=k; x=~a; y=~a"),
        (
            "out = df[['k']].copy()\nout['z'] = [f'{a}-{b}' for a, b in zip(df.a, df.b)]",
            "k=k; z=~a,~b",
        ),
        (
            "out = pd.DataFrame(np.column_stack([df.a, df.b]), columns=['x', 'y'])",
            "x=~a,~b; y=~a,~b; ?x; ?y",
        ),
        (
            "out = df[['k', 'a']].set_index('k')\nout.index.name = 'z'\nout = out.reset_index()",
            "z=k; a=a",
        ),
        ("out = df[['a']].describe()", "a=+a"),
        ("out = df[['a', 'b']].isna()", "a=~a; b=~b"),
        ("out = df[['a', 'b']].cumsum(axis=1)", "a=~a,~b; b=~a,~b"),
        ("out = df[['a', 'b']].dropna(axis='columns')", "a=a; b=b; ?*"),
        ("out = df[['k', 'a']].explode('a')", "k=k; a=~a; *=join a"),
        ("out = df[['a', 'b', 'c']].iloc[:, [True, False, True]]", "a=a; c=c"),
        ("out = df.pivot(index='id', columns='k')['a']", "?*"),
        (
            "out = df.pivot_table(index='k', values='a', aggfunc=['sum', 'mean'])\n"
            "out.columns = ['_'.join(name) for name in out.columns.ravel()]",
            "sum_a=+a; mean_a=+a; *=group k",
        ),
        (
            "out = df.pivot_table(index='k', values=['a', 'b'], "
            "aggfunc={'a': ['min', 'max'], 'b': 'sum'})",
            "('a', 'min')=+a; ('a', 'max')=+a; ('b', 'sum')=+b; *=group k",
        ),
        (
            "out = df.pivot(index='id', columns='k')['a'].reset_index()[['id']]",
            "id=id",
        ),
        (
            "out = df.groupby('k').agg({'a': ['min', 'max']}).reset_index()",
            "('k', '')=k; ('a', 'min')=+a; ('a', 'max')=+a; *=group k",
        ),
        ("out = df.drop(df[df.b > 1].index)[['a']]", "a=a; *=filter b"),
        (
            "v, w = df.a.copy(), df.a.copy()\nv[df.b > 1] = df.c\nw.loc[df.k > 1] = 0\n"
            "out = pd.DataFrame({'v': v, 'w': w})",
            "v=if b,~a,~c; w=if k,~a",
        ),
        ("x, y = df[['a', 'b']].sum()\nout = pd.DataFrame([{'x': x, 'y': y}])", "x=+a; y=+b"),
        (
            "out = df[['a']].assign(z=df[['b', 'c']].apply(lambda r: '/'.join(r.values), axis=1))",
            "a=a; z=~b,~c",
        ),
        (
            "rows = [f'{r.a};{r.b}'.split(';') for r in df.itertuples()]\n"
            "out = pd.DataFrame(rows, columns=['x', 'y'])",
            "x=~a,~b; y=~a,~b; ?x; ?y",
        ),
        (
            "out = df[['a']].copy()\nfor i, r in df.iterrows():\n    if r.b > 1:\n"
            "        out.at[i, 'a'] = 0",
            "a=if b,~a",
        ),
        (
            "v = [None] * len(df)\nw = np.zeros(len(df))\nfor i, b in enumerate(df.b):\n"
            "    v[i] = b\n    w[i] = b * 2\nout = pd.DataFrame({'v': v, 'w': w})",
            "v=b; w=~b",
        ),
        ("out = df[['a']].assign(z=pd.eval('df.b + df.c'))", "a=a; z=; ?; ?z"),
        (
            "v = df[['a', 'b']].values\nout = pd.DataFrame({'x': v[:, 0] * 2, 'y': v[:, 1]})",
            "x=~a; y=b",
        ),
        (
            "v = df[['a', 'b']].to_numpy() * 2\nout = pd.DataFrame({'x': v[:, 0]})",
            "x=~a,~b; ?x",
        ),
        ("out = pd.DataFrame(df[['a', 'b']].to_numpy(), columns=['x', 'y'])", "x=a; y=b"),
        ("out = df[['a']].melt(id_vars=[], value_vars=['a'])", "variable=; value=a"),
        ("out = df[['a', 'b']].copy()\nout['b'].fillna(out['a'], inplace=True)", "a=a; b=~a,~b"),
        ("out = df[['a', 'b']].copy()\nout['b'].update(df.c)", "a=a; b=~b,~c"),
        (
            "out = df[['a', 'b']].copy()\nnames = out.select_dtypes('number').columns\n"
            "out[names] = out[names].round(1)",
            "a=a; b=b; ?*",
        ),
        ("out = df[['a', 'b']].sub(df[['a', 'b']].mean())", "a=+a; b=+b"),
        (
            "out = pd.DataFrame(np.array([df.a, df.b]).T, columns=['x', 'y'])",
            "x=~a,~b; y=~a,~b; ?x; ?y",
        ),
        ("out = df[['id', 'a']].melt(['id'], None, 'v', 'x')", "id=id; v=; x=a"),
        ("out = df.set_index('k').loc['DE'][['a']]", "a=a; *=filter k"),
        (
            "rows = df[['a', 'b']].to_dict('records')\nfor r in rows:\n"
            "    r['z'] = r.pop('b') * 2\nout = pd.DataFrame(rows)",
            "a=a; z=~b",
        ),
        (
            "rows = {r.id: [r.a, r.b] for r in df.itertuples()}\n"
            "out = pd.DataFrame.from_dict(rows, orient='index', columns=['x', 'y']).reset_index()",
            "index=id; x=a; y=b",
        ),
        ("out = df[['a', 'b']].drop_duplicates()", "a=a; b=b; *=group a,group b"),
        ("out = pd.DataFrame({'a': df.a.unique()})", "a=a; *=group a"),
    ],
)
def test_columns_of_a_frame(lines: str, expected: str) -> None:
    assert edges_of_frame(lines) == expected


@for_each(
    "lines, expected",
    [
        ("out = df[['id']].assign(z=df[df.b > 2].a.sum())", "id=id; z=+a,if b"),
        ("out = df[['id']].assign(z=df[df.b > 2].a)", "id=id; z=a,if b"),
        ("out = df[['id']].assign(z=len(df[df.b > 2]))", "id=id; z=if b"),
        ("out = df[['id']].assign(z=df[df.b > 2].shape[0])", "id=id; z=if b"),
        ("out = df[['id']].assign(z=sum(1 for b in df.b if b > 2))", "id=id; z=if b"),
        ("out = df[df.b > 2][['id']]\nout['z'] = out.id.max()", "id=id; z=+id; *=filter b"),
        ("out = df[['id']].assign(z=df.sort_values('b').a)", "id=id; z=a"),
        ("out = df[['id']].assign(z=df.sort_values('b').a.values)", "id=id; z=a,if b"),
        ("out = df[['id']].assign(z=df.sort_values('b').a.tolist())", "id=id; z=a,if b"),
        ("out = df[['id']].assign(z=df.sort_values('b').a.iloc[0])", "id=id; z=a,if b"),
        ("out = df[['id']].assign(z=df.sort_values('b').iloc[0]['a'])", "id=id; z=a,if b"),
        ("out = df[['id']].assign(z=df.loc[df.b.idxmax(), 'a'])", "id=id; z=a,if b"),
        (
            "out = df[['id']].copy()\nout['z'] = 1\nout.loc[df.index[df.b > 2], 'z'] = 0",
            "id=id; z=if b",
        ),
        ("out = df.loc[df.b.nlargest(3).index, ['id']]", "id=id; *=sort b"),
        ("out = df.groupby('k').a.sum().nlargest(2).reset_index()", "k=k; a=+a; *=group k,sort a"),
        (
            "ids = set(df[df.b > 2].id)\n"
            "out = pd.DataFrame([{'x': x} for x in other.x if x in ids])",
            "x=u.x; *=filter b,filter id,filter u.x",
        ),
        (
            "first = max(df.itertuples(), key=lambda r: r.b)\nout = pd.DataFrame([{'z': first.a}])",
            "z=a; *=filter b",
        ),
        (
            "rows = df[['a', 'b']].to_dict('records')\nrows.sort(key=lambda r: r['b'])\n"
            "out = pd.DataFrame(rows)[['a']]",
            "a=a; *=sort b",
        ),
        (
            "names = {r.id: (r.a, r.b) for r in df.itertuples()}\n"
            "out = pd.DataFrame([{'z': names.get(x)[0]} for x in other.x])",
            "z=a,if id,if u.x",
        ),
        (
            "best = None\nfor r in df.itertuples():\n"
            "    if best is None or r.b > best[1]:\n        best = (r.a, r.b)\n"
            "out = df[['id']].assign(z=best[0])",
            "id=id; z=a,if b",
        ),
    ],
)
def test_what_decides_on_a_value_goes_with_it_where_it_is_put(lines: str, expected: str) -> None:
    assert edges_of_frame(lines) == expected


@for_each(
    "lines, expected",
    [
        (
            "out = df[['a', 'k']].merge(other[['k', 'x']], on='k')",
            "a=a; k=k; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df[['a', 'k']].merge(other[['k', 'a']], on='k', suffixes=('', '_r'))",
            "a=a; k=k; a_r=u.a; *=join k,join u.k",
        ),
        (
            "out = pd.merge(df[['a', 'k']], other[['k', 'x']], how='right')",
            "a=a; k=u.k; x=u.x; *=join k,join u.k",
        ),
        (
            "right = other[['k', 'x', 'a']].rename(columns={'a': 'id'})\n"
            "out = pd.merge_asof(df[['id', 'k']], right, on='id', by='k')",
            "id=id; k=k; x=u.x; *=join id,join k,join u.a,join u.k",
        ),
        (
            "names = {r.k: r.x for r in other.itertuples()}\n"
            "out = df[['a']].assign(z=df.k.map(names))",
            "a=a; z=if k,if u.k,u.x",
        ),
        (
            "out = pd.concat({'t': df[['a']], 'u': other[['a']]}, names=['s'])\n"
            "out = out.reset_index(level=0)",
            "s=; a=a,u.a",
        ),
        ("out = pd.concat([df[['a']], other[['a', 'x']]])", "a=a,u.a; x=u.x"),
        (
            "r = other[['k', 'x']].set_index('k')\n"
            "out = df[['a', 'k']].merge(r, left_on='k', right_index=True)",
            "a=a; k=k; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df[['a', 'k']].join(other.set_index('k')[['x']], on='k')",
            "a=a; k=k; x=u.x; *=join k,join u.k",
        ),
        (
            "out = df[['k']].copy()\nout['v'] = df['k'].map(other.set_index('k')['x'])",
            "k=k; v=if k,if u.k,u.x",
        ),
        (
            "out = df[['k']].copy()\nnames = other.set_index('k')['x']\n"
            "out['v'] = [names[k] for k in df.k]",
            "k=k; v=if k,if u.k,u.x",
        ),
        (
            "out = df[['k']].copy()\nnames = other.set_index('k')['x'].to_dict()\n"
            "out['v'] = df.k.replace(names)",
            "k=k; v=if k,if u.k,u.x,~k",
        ),
        (
            "out = df[['k']].copy()\nout['v'] = other.set_index('k')['x'].reindex(df.k).values",
            "k=k; v=if k,if u.k,u.x",
        ),
        (
            "out = df[['k', 'a']].set_index('k')\nout.update(other.set_index('k')[['a']])\n"
            "out = out.reset_index()",
            "k=k; a=if k,if u.k,~a,~u.a",
        ),
        (
            "r = other[['k', 'x']].set_index('k')\nl = df[['k', 'a']].set_index('k')\n"
            "out = l.merge(r, left_index=True, right_index=True).reset_index()",
            "k=k; a=a; x=u.x; *=join k,join u.k",
        ),
        (
            "l = df[['id', 'a']].set_index('id')\n"
            "out = l.join(other[['k', 'x']].set_index('k'), how='inner').reset_index()",
            "index=id; a=a; x=u.x; *=join id,join u.k",
        ),
        ("out = pd.concat([df.a, df.b], axis=1, keys=['x', 'y'])", "x=a; y=b"),
        (
            "out = pd.concat([df[['a', 'b']], other[['a', 'x']]], join='inner')",
            "a=a,u.a",
        ),
        (
            "names = {r.k: (r.x, r.a) for r in other.itertuples()}\nrows = []\n"
            "for k in df.k:\n    found = names.get(k)\n"
            "    if found:\n        rows.append({'k': k})\n"
            "out = pd.DataFrame(rows)",
            "k=k; *=filter k,filter u.k",
        ),
        (
            "l = df[['id', 'a']].set_index('id')\n"
            "out = l.join(other[['k', 'x']].set_index('k')).reset_index()",
            "id=id; a=a; x=u.x; *=join id,join u.k",
        ),
        (
            "names = dict(other.groupby('k')['x'].sum())\n"
            "out = pd.DataFrame([{'z': max(names, key=names.get)}])",
            "z=u.k; *=filter u.k,filter u.x,group u.k",
        ),
        (
            "out = df[['id', 'a']].set_index('id')\nout['x'] = other.groupby('k')['x'].sum()\n"
            "out = out.reset_index()",
            "id=id; a=a; x=+u.x,if id,if u.k",
        ),
        (
            "last, rows = {}, []\nfor r in df.itertuples():\n"
            "    rows.append({'z': last.get(r.k)})\n    last[r.k] = r.a\n"
            "out = pd.DataFrame(rows)",
            "z=a; *=group k",
        ),
        (
            "t = pd.read_sql_table('v', con, columns=['p'], index_col='q')\nout = t.reset_index()",
            "q=q; p=p",
        ),
        (
            "l, r = df.set_index('id')['a'], other.groupby('k')['x'].sum()\n"
            "out = (l - r).reset_index(name='z')",
            "id=id,u.k; z=+u.x,~a; *=group u.k,join id,join u.k",
        ),
        (
            "names = df.sort_values('b').k\nranks = {k: at for at, k in enumerate(names)}\n"
            "out = other[['x']].assign(z=other.k.map(ranks))",
            "x=u.x; z=if b,if k,if u.k",
        ),
        (
            "out = df.head(0)[['a']]\nfor _, g in df.groupby('k'):\n"
            "    out = pd.concat([out, g.nlargest(1, 'b')[['a']]])",
            "a=a; *=group k,sort b",
        ),
    ],
)
def test_columns_of_frames_put_together(lines: str, expected: str) -> None:
    assert edges_of_frame(lines) == expected


@for_each(
    "lines, expected",
    [
        ("out = df.groupby('k')['a'].sum().reset_index()", "k=k; a=+a; *=group k"),
        ("out = df.groupby(['k'], as_index=False).agg({'a': 'sum'})", "k=k; a=+a; *=group k"),
        (
            "out = df.groupby('k').agg(t=('a', 'sum'), n=('b', 'count')).reset_index()",
            "k=k; t=+a; n=+b; *=group k",
        ),
        (
            "rows = []\nfor k, g in df.groupby('k'):\n    rows.append((k, g['a'].sum()))\n"
            "out = pd.DataFrame(rows, columns=['k', 's'])",
            "k=k; s=+a; *=group k",
        ),
        (
            "g = df.groupby('k')\nout = pd.DataFrame({'n': g.size(), 's': g.a.sum()})\n"
            "out = out.reset_index()",
            "k=k; n=; s=+a; *=group k",
        ),
        (
            "rows = []\nfor k in df.k.unique():\n    part = df[df.k == k]\n"
            "    rows.append({'k': k, 's': part.a.sum()})\n"
            "out = pd.DataFrame(rows)",
            "k=k; s=+a; *=filter k,group k",
        ),
        ("out = df.groupby('k').size().reset_index(name='n')", "k=k; n=; *=group k"),
        (
            "out = df[['a']].copy()\nout['s'] = df.groupby('k')['a'].transform('sum')",
            "a=a; s=+a,window k",
        ),
        (
            "out = df.groupby('k').agg({'a': ['min', 'max']})\n"
            "out.columns = ['_'.join(c) for c in out.columns]\nout = out.reset_index()",
            "k=k; a_min=+a; a_max=+a; *=group k",
        ),
        (
            "out = df[['k', 'a']].sort_values('a')\nout['r'] = out.groupby('k')['a'].cumsum()",
            "k=k; a=a; r=+a,window a,window k; *=sort a",
        ),
        (
            "out = df.groupby(['k', 'c'])['a'].sum().unstack().reset_index()\n"
            "out = out[['k', 'x']]",
            "k=k; x=+a,if c; *=group c,group k",
        ),
        (
            "out = df.set_index('b').resample('ME')['a'].sum().reset_index()",
            "b=~b; a=+a; *=group b",
        ),
        (
            "out = df.groupby('k').resample('ME', on='b')[['a']].sum().reset_index()",
            "k=k; b=~b; a=+a; *=group b,group k",
        ),
        (
            "out = df.groupby('k')[['a', 'b']].apply(lambda g: g.assign(z=g.a.max()))",
            "a=a; b=b; z=+a; *=group k",
        ),
        (
            "out = df.groupby('k').agg({'a': ['min', 'max']})\n"
            "out.columns = out.columns.to_flat_index().map(lambda c: '-'.join(c))\n"
            "out = out.reset_index()",
            "k=k; a-min=+a; a-max=+a; *=group k",
        ),
    ],
)
def test_columns_of_groups(lines: str, expected: str) -> None:
    assert edges_of_frame(lines) == expected


@for_each(
    "lines, expected",
    [
        ("out = every", "*=w.*"),
        ("out = every.rename(columns={'p': 'q'})", "q=w.p; *=w.* without p,q"),
        ("out = every[['p']]", "p=w.p"),
        ("out = every.assign(t=every.p * 2)", "t=~w.p; *=w.* without t"),
        ("out = every.frobnicate()", "?*"),
        ("out = df[names]", "?*"),
    ],
)
def test_columns_that_the_code_does_not_name(lines: str, expected: str) -> None:
    assert edges_of_frame(lines) == expected
