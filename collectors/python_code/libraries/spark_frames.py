"""PySpark's frames: what methods make of their columns and rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.python_code.libraries.column_expressions import items_of, named
from dbt_graft.collectors.python_code.libraries.column_groups import call_column_groups, group_rows
from dbt_graft.collectors.python_code.libraries.evaluated_columns import (
    all_of,
    condition,
    evaluate_columns,
)
from dbt_graft.collectors.python_code.libraries.pandas_frames import (
    PANDAS_METHODS,
    drop_missing,
    same_frame,
    unique_rows,
)
from dbt_graft.collectors.python_code.libraries.pandas_series import pipe
from dbt_graft.collectors.python_code.libraries.pandas_shapes import Sides, merge_sides
from dbt_graft.collectors.python_code.libraries.spark_sessions import merge_into
from dbt_graft.collectors.python_code.libraries.sql_expressions import parse_expression
from dbt_graft.collectors.python_code.values.frames import (
    as_frame,
    as_keys,
    change_open,
    exclude,
    filtered,
    find_column,
    inputs_of_rows,
    merge_aliases,
    name_columns,
    record_of,
    rename,
    row_of,
    selected,
    spelling,
    with_rows,
    without_columns,
)
from dbt_graft.collectors.python_code.values.joins import join_frames
from dbt_graft.collectors.python_code.values.machine import (
    NOT_KNOWN,
    Arguments,
    Call,
    Handler,
    nothing,
)
from dbt_graft.collectors.python_code.values.selections import is_selection, names_of
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Frame,
    Items,
    Key,
    OpenPart,
    Ref,
    Thing,
    Value,
    all_gaps,
    all_inputs,
    count_of,
    counted,
    derive,
)
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import Subtype


def select_columns(call: Call) -> Value:
    """`df.select(…)`: of aggregates, one row."""
    frame = call.frame
    values = list(call.arguments.positional)
    if call.name == "selectExpr":
        lists = [call.machine.items(value) or Items((value,)) for value in values]
        texts = [text for items in lists for text in items.values]
        values = [v if _is_star(call, v) else parse_expression(call, v) for v in texts]
    values, fields = _without_fields(call, frame, values)
    if call.arguments.more:
        gap = call.gap("columns are selected whose names are not known")
        parts = call.machine.all_parts(call.arguments.more)
        fields = replace(derive(parts, call.place), origin=gap)
    made = evaluate_columns(call, frame, values, call.arguments.named)
    rest, rows = fields or made.rest, frame.rows | made.rows
    aliases = frame.aliases
    if frame.library == "spark":
        aliases = merge_aliases(((_SELECTED_FROM, replace(frame, aliases=())),), aliases)
    frame = replace(frame, columns=made.columns, open=made.open, rest=rest, rows=rows)
    return call.result(replace(frame, aliases=aliases))


# The alias of the frame that another was selected from.
_SELECTED_FROM = "<from>"


def with_left_out(frame: Frame) -> Frame:
    """The frame with columns that it was selected without: Spark filters and sorts by them."""
    before = dict(frame.aliases).get(_SELECTED_FROM)
    if before is None or frame.open or frame.rest:
        return frame
    columns = {**before.columns, **frame.columns}
    return replace(frame, columns=columns, open=before.open, rest=before.rest)


def _is_star(call: Call, value: Value) -> bool:
    return (call.machine.text(value) or "").rstrip().endswith("*")


def _without_fields(
    call: Call, frame: Frame, values: list[Value]
) -> tuple[list[Value], Data | None]:
    """The selected columns without `data.*`, and its fields, whose names are not known."""
    named: list[Value] = []
    fields: Data | None = None
    for value in (item for given in values for item in items_of(call.machine, given)):
        text = value.name if isinstance(value, Data) else call.machine.text(value)
        if not isinstance(text, str) or not text.endswith(".*"):
            named.append(value)
            continue
        name = text.removesuffix(".*")
        joined = dict(frame.aliases).get(name)
        if joined is not None and joined.open:
            named.append(call.machine.new(joined))
            continue
        if joined is not None:
            named += [Const(f"{name}.{column}") for column in joined.columns]
            continue
        gap = call.gap("the fields that `.*` stands for are not known")
        data = derive([find_column(call.machine, frame, name)], call.place)
        fields = replace(data, origin=gap)
    return named, fields


def with_columns(call: Call) -> Value:
    """`df.with_columns(…)`, `df.withColumn(name, expression)`, `df.withColumns({…})`."""
    frame = call.frame
    values = list(call.arguments.positional)
    named = dict(call.arguments.named or {})
    if call.name == "withColumn":
        name = call.text("colName", 0)
        value = call.get("col", 1) or UNKNOWN
        if name is None or UNKNOWN_PART in name:
            return call.result(frame.with_gap(call.gap("a column is set whose name is not known")))
        values, named = [], {name: value}
    elif call.name == "withColumns":
        cell = call.machine.cell(call.get("colsMap", 0))
        entries = cell.entries if isinstance(cell, DictCell) else {}
        if not isinstance(cell, DictCell) or cell.rest is not None:
            frame = frame.with_more(call.gap("columns are set whose names are not known"))
        values, named = [], {str(key): value for key, value in entries.items()}
    made = evaluate_columns(call, frame, values, named)
    spelled = {spelling(frame, name): name for name in made.columns}
    columns = {spelled.get(name, name): data for name, data in frame.columns.items()}
    for name, data in made.columns.items():
        columns[name] = data if data.place else replace(data, place=call.place)
    if made.open:  # all, or all but some, which stay as they are
        taken = _left_out(made) - _left_out(frame)
        for name in sorted(taken - columns.keys()):
            columns[name] = find_column(call.machine, frame, name)
    opened, rest = made.open or frame.open, made.rest or frame.rest
    # Other rows are only those of what is taken apart: `explode`.
    rows = frame.rows.union(item for item in made.rows if item.subtype is Subtype.JOIN)
    return call.result(replace(frame, columns=columns, open=opened, rest=rest, rows=rows))


def _left_out(frame: Frame) -> frozenset[str]:
    return frozenset().union(*(part.without for group in frame.open for part in group))


def filter_rows(call: Call) -> Value:
    """`df.filter(condition)`."""
    frame = call.frame
    conditions = list(call.arguments.more)
    for value in call.arguments.positional:
        items = call.machine.items(value)
        conditions += items.values if items is not None else [value]
    for name, value in (call.arguments.named or {}).items():  # of Polars `country="DE"`
        is_equal = name not in {"condition", "predicates"}
        conditions.append(call.machine.derived([named(name), value]) if is_equal else value)
    for value in conditions:
        decided_by = condition(call, with_left_out(frame), value)
        gaps = frame.gaps | all_gaps(decided_by)
        frame = replace(filtered(frame, decided_by), gaps=gaps)
    return call.result(frame)


def _renamed(call: Call) -> Value:
    frame = call.frame
    old, new = call.text("existing", 0), call.text("new", 1)
    cell = call.machine.cell(call.get("colsMap", 0))
    names: dict[object, object] = {old: new}
    is_known = old is not None and new is not None and UNKNOWN_PART not in old + new
    if isinstance(cell, DictCell):
        names = {key: call.machine.key(value) for key, value in cell.entries.items()}
        is_known = cell.rest is None and NOT_KNOWN not in names.values()
    if not is_known:
        return call.result(frame.with_gap(call.gap("columns get names that are not known")))
    names = {spelling(frame, name): renamed for name, renamed in names.items()}
    return call.result(rename(call.machine, frame, names))


def drop_columns(call: Call) -> Value:
    """`df.drop("a", "b")`."""
    frame = call.frame
    for value in (*call.arguments.positional, *call.arguments.more):
        keys = call.machine.keys(value)
        if isinstance(value, Data) and is_selection(value.name):
            chosen = selected(call.machine, frame, str(value.name))
            frame = without_columns(frame, names_of(str(value.name)) or chosen.columns)
            if chosen.rest or chosen.open:
                frame = frame.with_gap(call.gap("which columns are dropped is not known"))
        elif isinstance(value, Data) and value.name is not None:
            frame = _without_column(frame, value)
        elif keys is None:
            frame = frame.with_gap(call.gap("columns are dropped whose names are not known"))
        else:
            frame = without_columns(frame, [spelling(frame, name) for name in keys])
    return call.result(frame)


def _without_column(frame: Frame, dropped: Data) -> Frame:
    """The frame without one column; of two of a name, behind a join, the other stays."""
    name = dropped.name
    sides = [side for alias, side in frame.aliases if not alias]
    named_so = [side.columns[name] for side in sides if name in side.columns]
    others = [data for data in named_so if data.inputs != dropped.inputs] or named_so[1:]
    if name in frame.columns and others:
        return frame.with_column(name, others[0])
    if name in frame.columns and sides:  # the other side may have one, which it does not name
        of_sides = [part for side in sides for group in side.open for part in group]
        having = {part.source for part in of_sides if name not in part.without}
        return replace(without_columns(frame, [name]), open=_with(frame, name, having))
    sources = {item.source for item in dropped.inputs}
    of_side = [any(part.source in sources for part in group) for group in frame.open]
    if name in frame.columns or not any(of_side):
        return without_columns(frame, [name])
    groups = zip(frame.open, of_side, strict=True)
    opened = (exclude((group,), [name])[0] if is_its else group for group, is_its in groups)
    return replace(frame, open=tuple(opened))


def _with(frame: Frame, name: Key, sources: set[int]) -> tuple[frozenset[OpenPart], ...]:
    """The open columns of a frame, with those of a name again that sources may have."""
    return tuple(
        frozenset(
            part._replace(without=part.without - {name}) if part.source in sources else part
            for part in group
        )
        for group in frame.open
    )


def join(call: Call) -> Value:
    """`df.join(other, on, how)`."""
    machine, left = call.machine, call.frame
    right = as_frame(machine, call.get("other", 0))
    if right is None:
        gap = machine.gap("a frame that is joined is not known")
        return call.result(left.with_more(gap))
    how = (call.text("how", 2) or "inner").replace("_", "")
    sides = Sides(left, right, how, ("", ""))
    on = call.get("on", 1)
    names = machine.keys(on) if not isinstance(on, Data) else None
    if names and all(isinstance(name, str) for name in names):
        pairs = [[(n, find_column(machine, f, n)) for n in as_keys(names)] for f in (left, right)]
        return call.result(merge_sides(sides, pairs[0], pairs[1]))
    both = _both(left, right)
    parts = [machine.data(on)] if isinstance(on, Data) else machine.parts(on)
    deciding = [condition(call, both, part) for part in parts]
    merged = merge_sides(sides, [], [])
    rows = all_inputs(deciding)
    gaps = merged.gaps.union(*(data.gaps for data in deciding))
    ends = (("", replace(left, aliases=())), ("", replace(right, aliases=())))
    aliases = merge_aliases(merged.aliases, ends)
    return call.result(with_rows(replace(merged, gaps=gaps, aliases=aliases), rows, Subtype.JOIN))


def _both(left: Frame, right: Frame) -> Frame:
    return replace(
        left,
        columns={**right.columns, **left.columns},
        open=(*left.open, *right.open),
        aliases=merge_aliases(left.aliases, right.aliases),
    )


def _unite(call: Call) -> Value:
    frame = call.frame
    other = as_frame(call.machine, call.get("other", 0))
    if other is None:
        return call.result(frame.with_gap(call.gap("a frame that is appended is not known")))
    names = [spelling(frame, name) for name in other.columns]
    if call.name != "unionByName" and not other.open and len(names) == len(frame.columns):
        names = list(frame.columns)
    columns = dict(zip(names, other.columns.values(), strict=True))
    united = join_frames(frame, replace(other, columns=columns))
    if call.name.startswith("intersect"):
        deciding = inputs_of_rows(frame) | inputs_of_rows(other)
        united = with_rows(united, deciding, Subtype.FILTER)
    return call.result(united)


def _without_rows(call: Call) -> Value:
    """`df.exceptAll(other)`: the rows that the other has not, as EXCEPT."""
    frame = call.frame
    other = as_frame(call.machine, call.get("other", 0))
    if other is None:
        return call.result(frame.with_gap(call.gap("a frame that is taken away is not known")))
    deciding = inputs_of_rows(frame) | inputs_of_rows(other)
    both = replace(frame, rows=frame.rows | other.rows, gaps=frame.gaps | other.gaps)
    return call.result(with_rows(both, deciding, Subtype.FILTER))


def unpivot(call: Call) -> Value:
    """`df.unpivot("id", ["a", "b"], "name", "value")`, as `melt` of pandas."""
    given = (_with_names(call, call.get(name, at)) for at, name in enumerate(_UNPIVOT))
    named = {new: value for new, value in zip(_UNPIVOT.values(), given, strict=True) if value}
    return PANDAS_METHODS["melt"](replace(call, arguments=Arguments((), named)))


def _with_names(call: Call, value: Value | None) -> Value | None:
    """A list of columns as their names."""
    items = call.machine.items(value)
    if items is None:
        return value
    named = (Const(v.name) if isinstance(v, Data) and v.name else v for v in items.items)
    return replace(items, items=tuple(named))


# The parameters of Spark -> those of pandas.
_UNPIVOT = {
    "ids": "id_vars",
    "values": "value_vars",
    "variableColumnName": "var_name",
    "valueColumnName": "value_name",
}


def sort_rows(call: Call) -> Value:
    """`df.sort("a", "b")`."""
    frame = call.frame
    values = [*call.arguments.positional]
    values += [v for k, v in (call.arguments.named or {}).items() if k in {"by", "cols"}]
    values += call.arguments.more
    ordering = [data for _, data in all_of(call, with_left_out(frame), values)]
    inputs = all_inputs(ordering)
    gaps = frame.gaps.union(*map(all_gaps, ordering))
    return call.result(replace(with_rows(frame, inputs, Subtype.SORT), order=inputs, gaps=gaps))


def changed(call: Call) -> Value:
    """Columns changed each by itself: those that are named, or all."""
    frame = call.frame
    names = call.keys("subset", 2 if call.name == "replace" else 1)
    cell = call.machine.cell(call.get("value", 0) or call.get("dtypes", 0))
    if isinstance(cell, DictCell) and call.name != "replace":
        names = list(cell.entries)
    chosen = as_keys(names or frame.columns)
    columns = dict(frame.columns)
    for name in chosen:
        columns[name] = derive([find_column(call.machine, frame, name)], call.place)
    opened = frame.open if names else change_open(frame.open, Subtype.TRANSFORMATION)
    return call.result(replace(frame, columns=columns, open=opened))


def to_pandas(call: Call) -> Value:
    """`df.toPandas()`."""
    return call.result(replace(call.frame, library="pandas", index=()))


def rows(call: Call) -> Value:
    """`df.collect()`, `df.rows()`: its rows."""
    frame = call.frame
    row: Value = row_of(frame)
    if call.flag("named") is True or call.name == "to_dicts":
        row = call.machine.new(record_of(frame))
    if call.name == "row":
        return call.machine.chosen(row, frame.rows)
    if call.name in {"first", "head"} and not call.arguments.positional:
        return call.machine.chosen(row, frame.rows)
    return Items((), row, frame.rows)


def _view(call: Call) -> Value:
    name = call.text("name", 0)
    if name is not None and isinstance(call.owner, Ref):
        call.machine.views[name.casefold()] = call.owner
    return UNKNOWN


def _alias(call: Call) -> Value:
    frame = call.frame
    name = call.text("alias", 0)
    return call.result(replace(frame, aliases=((name, frame),)) if name else frame)


def _to_names(call: Call) -> Value:
    frame = call.frame
    names = (*call.arguments.positional, *call.arguments.more)
    if not names:
        return call.result(frame)
    value = names[0] if len(names) == 1 and not isinstance(names[0], Const) else Items(names)
    return call.result(name_columns(call.machine, frame, value))


_TABLE: Mapping[Callable[..., Value], str] = {
    same_frame: """cache persist unpersist repartition coalesce limit sample checkpoint
        hint localCheckpoint withWatermark sortWithinPartitions repartitionByRange broadcast
        offset""",
    select_columns: "select selectExpr",
    with_columns: "withColumn withColumns",
    filter_rows: "filter where",
    _renamed: "withColumnRenamed withColumnsRenamed",
    drop_columns: "drop",
    join: "join crossJoin",
    _unite: "union unionAll unionByName intersect intersectAll",
    _without_rows: "exceptAll subtract",
    group_rows: "groupBy groupby rollup cube",
    sort_rows: "orderBy sort",
    unique_rows: "dropDuplicates drop_duplicates distinct dropDuplicatesWithinWatermark",
    changed: "fillna replace fill",
    drop_missing: "dropna",
    to_pandas: "toPandas pandas_api to_pandas",
    rows: "collect toLocalIterator take head first tail",
    _view: """createOrReplaceTempView createTempView createGlobalTempView registerTempTable
        createOrReplaceGlobalTempView""",
    _alias: "alias",
    merge_into: "mergeInto",
    _to_names: "toDF",
    unpivot: "unpivot melt",
    nothing: "show printSchema explain isEmpty",
    pipe: "transform",
}

SPARK_METHODS: Mapping[str, Handler] = {
    **{name: handler for handler, names in _TABLE.items() for name in names.split()},
    "count": lambda call: count_of(call.frame.rows | counted(inputs_of_rows(call.frame))),
    "foreach": lambda call: call.machine.call(call.get("f", 0) or UNKNOWN, row_of(call.frame)),
    "foreachPartition": lambda call: call.machine.call(call.get("f", 0) or UNKNOWN, rows(call)),
    "randomSplit": lambda call: Items((), call.owner),
    # Of one group.
    "agg": lambda call: call_column_groups(
        replace(call, owner=Thing("column groups", {"keys": Items()}, call.owner))
    ),
    "writeTo": lambda call: Thing(
        "spark.writer", {"table": call.get("table", 0) or UNKNOWN}, call.owner
    ),
}
