"""Methods of objects of libraries that have a role: groups, rolling windows, open files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.python_code.libraries.builtin_calls import outside, read_of
from dbt_graft.collectors.python_code.libraries.column_expressions import (
    call_columns_method,
    call_when_method,
    window,
)
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.pandas_groups import call_group_method
from dbt_graft.collectors.python_code.libraries.pandas_series import call_accessor_method, rolled
from dbt_graft.collectors.python_code.libraries.spark_calls import (
    call_column_groups,
    call_spark_method,
)
from dbt_graft.collectors.python_code.libraries.sqlalchemy_calls import call_table_method
from dbt_graft.collectors.python_code.values.frames import change_open
from dbt_graft.collectors.python_code.values.machine import Call, Handler
from dbt_graft.collectors.python_code.values.texts import call_text_method, substitute
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Items,
    Thing,
    Value,
    change,
    derive,
)
from dbt_graft.lineage.records import Subtype


def call_thing_method(call: Call) -> Value:
    """A method of such an object."""
    owner = call.owner
    assert isinstance(owner, Thing)
    if owner.role == "future" and call.name in {"result", "get"}:
        return owner.traits["value"]
    if owner.role == "names":
        return _each_name(call, owner)
    if owner.role == "accessor":
        return call_accessor_method(call)
    handler = _ROLES.get(owner.role)
    if handler is not None:
        return handler(call)
    if owner.role == "rolling":
        return _rolled(call, owner)
    if owner.role == "file":
        return _file_method(call, owner)
    if owner.role in {"tuples", "array"} and call.name in {"tolist", "to_list"}:
        return owner.traits["items"]
    data = call.machine.data(owner)
    return derive([data, *call.data()], call.place) if data.inputs or call.data() else UNKNOWN


_ROLES: Mapping[str, Handler] = {
    "column groups": call_column_groups,
    "columns of": call_columns_method,
    "groups": call_group_method,
    "sa.delete": call_table_method,
    "sa.insert": call_table_method,
    "sa.table": call_table_method,
    "sa.update": call_table_method,
    "spark": call_spark_method,
    "spark.reader": call_spark_method,
    "spark.writer": call_spark_method,
    "when": call_when_method,
    "window": window,
}


def _each_name(call: Call, owner: Thing) -> Value:
    """`df.columns.str.lower()`: a method of a text for each of the names."""
    items = iterate(call.machine, owner.traits["items"])
    if call.machine.is_true(call.get("regex")):
        replaced = [substitute(call, item) for item in items.items]
        return Items(tuple(replaced), items.rest)
    named = {k: v for k, v in (call.arguments.named or {}).items() if k != "regex"}
    arguments = replace(call.arguments, named=named)
    each = [
        call_text_method(replace(call, owner=item, arguments=arguments)) for item in items.items
    ]
    return Items(tuple(each), items.rest)


def _rolled(call: Call, owner: Thing) -> Value:
    frame = call.machine.frame(owner.owner)
    if frame is None:
        return rolled(call)
    order = change(frame.order, Subtype.WINDOW)
    columns = {
        name: replace(made, inputs=made.inputs | order)
        for name, data in frame.columns.items()
        if (made := derive([data], call.place, Subtype.AGGREGATION))
    }
    opened = change_open(frame.open, Subtype.AGGREGATION)
    return call.machine.new(replace(frame, columns=columns, open=opened))


def _file_method(call: Call, owner: Thing) -> Value:
    if call.name in {"read", "read_text"}:
        return read_of(call.machine, owner)
    return outside(call) if call.name in {"readlines", "readline"} else UNKNOWN
