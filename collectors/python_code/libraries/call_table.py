"""Calls of libraries: the tables of their functions and methods, and what is in none of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries import polars_calls
from dbt_graft.collectors.python_code.libraries.builtin_calls import (
    BUILTINS,
    CSV_FUNCTIONS,
    PATH_METHODS,
    call_writer_method,
    is_writer,
    outside,
    read_of,
)
from dbt_graft.collectors.python_code.libraries.column_expressions import (
    call_when_method,
    case,
    when,
)
from dbt_graft.collectors.python_code.libraries.column_functions import (
    aggregate_of,
    all_columns,
    call_function,
    call_user_defined,
    each_column,
    user_defined,
)
from dbt_graft.collectors.python_code.libraries.column_groups import call_column_groups
from dbt_graft.collectors.python_code.libraries.column_selections import (
    by_texts,
    col,
    excluded,
    rename_columns,
    selected_by_name,
    unsure_selection,
)
from dbt_graft.collectors.python_code.libraries.databases import (
    DATABASE_FUNCTIONS,
    call_database_method,
    execute,
    is_statement,
)
from dbt_graft.collectors.python_code.libraries.expression_methods import (
    EXPRESSION_METHODS,
    call_accessor,
    call_struct_method,
    struct,
    window,
)
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.masks import masking_of
from dbt_graft.collectors.python_code.libraries.pandas_frames import PANDAS_METHODS, unknown_method
from dbt_graft.collectors.python_code.libraries.pandas_groups import call_group_method, resample
from dbt_graft.collectors.python_code.libraries.pandas_reads import PANDAS_READS
from dbt_graft.collectors.python_code.libraries.pandas_series import (
    AGGREGATES,
    NUMPY,
    call_series_method,
    rolled,
)
from dbt_graft.collectors.python_code.libraries.pandas_shapes import SHAPE_FUNCTIONS
from dbt_graft.collectors.python_code.libraries.polars_calls import POLARS_FUNCTIONS, POLARS_METHODS
from dbt_graft.collectors.python_code.libraries.spark_frames import SPARK_METHODS
from dbt_graft.collectors.python_code.libraries.spark_sessions import (
    call_delta_method,
    call_spark_method,
    delta_table,
    is_session,
)
from dbt_graft.collectors.python_code.libraries.sql_expressions import sql_expression
from dbt_graft.collectors.python_code.libraries.sqlalchemy_calls import (
    QUERY_METHODS,
    SQLALCHEMY_FUNCTIONS,
    call_table_method,
)
from dbt_graft.collectors.python_code.libraries.subscripts import get_item
from dbt_graft.collectors.python_code.libraries.writing import POLARS_WRITES, WRITE_FUNCTIONS
from dbt_graft.collectors.python_code.values.containers import call_container_method
from dbt_graft.collectors.python_code.values.frames import as_frame, change_open
from dbt_graft.collectors.python_code.values.limits import MOST_ITERATIONS
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Handler
from dbt_graft.collectors.python_code.values.texts import call_text_method, substitute
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Function,
    Items,
    Library,
    ObjectCell,
    Text,
    Thing,
    Value,
    change,
    derive,
)
from dbt_graft.lineage.records import Subtype

FRAME_LIBRARIES: Mapping[str, Mapping[str, Handler]] = {
    "pandas": {**PANDAS_METHODS, **POLARS_WRITES},
    "polars": POLARS_METHODS,
    "query": {**PANDAS_METHODS, **QUERY_METHODS},
    "spark": SPARK_METHODS,
}
FRAME_METHODS = frozenset(name for methods in FRAME_LIBRARIES.values() for name in methods)


def call_thing_method(call: Call) -> Value:
    """A method of such an object."""
    owner = call.owner
    assert isinstance(owner, Thing)
    if owner.role == "future" and call.name in {"result", "get"}:
        return owner.traits["value"]
    if owner.role == "names":
        return _each_name(call, owner)
    if owner.role == "accessor":
        return call_accessor(call)
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


def _get_parts(call: Call) -> Value:
    """The result of `itemgetter(0)`, `attrgetter("a", "b")`."""
    assert isinstance(call.owner, Thing)
    owner, keys = call.get("", 0) or UNKNOWN, iterate(call.machine, call.owner.traits["keys"])
    parts = tuple(get_item(call.machine, owner, key) for key in keys.items)
    return parts[0] if len(parts) == 1 else Items(parts)


_ROLES: Mapping[str, Handler] = {
    "column groups": call_column_groups,
    "delta table": call_delta_method,
    "getter": _get_parts,
    "name": rename_columns,
    "groups": call_group_method,
    "sa.delete": call_table_method,
    "sa.insert": call_table_method,
    "sa.table": call_table_method,
    "sa.update": call_table_method,
    "spark": call_spark_method,
    "sql context": polars_calls.call_sql_context,
    "struct": call_struct_method,
    "udf": call_user_defined,
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


_EXPRESSIONS: Mapping[str, Handler] = {
    **{f"polars.{name}": aggregate_of for name in (*AGGREGATES, "approx_n_unique")},
    **{f"polars.{name}": each_column for name in ("cum_count", "cum_sum")},
    "polars.all": all_columns,
    "polars.col": col,
    "polars.exclude": excluded,
    "polars.sql_expr": sql_expression,
    "polars.struct": struct,
    "polars.when": when,
    "polars.selectors.all": all_columns,
    "polars.selectors.by_name": selected_by_name,
    "polars.selectors.exclude": excluded,
    **{
        f"polars.selectors.{name}": by_texts
        for name in ("contains", "ends_with", "matches", "starts_with")
    },
    "sqlalchemy.case": case,
    "pyspark.sql.functions.col": col,
    "pyspark.sql.functions.column": col,
    "pyspark.sql.functions.expr": sql_expression,
    "pyspark.sql.functions.pandas_udf": user_defined,
    "pyspark.sql.functions.udf": user_defined,
    "pyspark.sql.functions.when": when,
    "pyspark.sql.types.StructField": lambda call: call.get("name", 0) or UNKNOWN,
    "pyspark.sql.types.StructType": lambda call: call.get("fields", 0) or UNKNOWN,
    **{
        f"{module}.{name}": window
        for module in ("pyspark.sql.Window", "pyspark.sql.window.Window")
        for name in ("partitionBy", "orderBy", "rowsBetween", "rangeBetween")
    },
}
FUNCTIONS: Mapping[str, Handler] = {
    **BUILTINS,
    **NUMPY,
    **PANDAS_READS,
    **SHAPE_FUNCTIONS,
    **WRITE_FUNCTIONS,
    **DATABASE_FUNCTIONS,
    **CSV_FUNCTIONS,
    **POLARS_FUNCTIONS,
    **SQLALCHEMY_FUNCTIONS,
    **_EXPRESSIONS,
    **{
        f"{module}.DeltaTable.{name}": delta_table
        for module in ("delta", "delta.tables")
        for name in ("forName", "forPath")
    },
}
# Methods of what is not known, which bring data from outside.
_OUTSIDE = words("xcom_pull json recv get_object read_bytes readlines consume poll receive")
# Classes whose methods are called by the class: `reduce(DataFrame.union, frames)`.
_METHODS_OF = (
    "pandas.DataFrame.",
    "pyspark.sql.DataFrame.",
    "pyspark.sql.dataframe.DataFrame.",
    "builtins.str.",
)
_MAKERS = words("and_ cast distinct literal not_ null or_ true false type_coerce")
_COLUMN_FUNCTIONS = ("pyspark.sql.functions.", "sqlalchemy.func.", "sqlalchemy.sql.func.")
# Libraries whose functions make values of their arguments and read nothing.
_PURE = words("""numpy math dateutil pytz unidecode phonenumbers rapidfuzz scipy regex slugify babel
    pendulum arrow dotenv loguru tqdm click typer structlog decouple cryptography bcrypt
    passlib""")


# Of Python's own those that give back items of their arguments, of which it is not known which.
_REARRANGING = words("itertools heapq random collections bisect queue")


def call_library(call: Call) -> Value:
    """The result of a library's function."""
    assert isinstance(call.owner, Library)
    name = call.owner.name
    handler = FUNCTIONS.get(name) or FUNCTIONS.get(f"*.{call.name}")
    if handler is not None:
        return handler(call)
    if name.startswith(_METHODS_OF) and call.arguments.positional:
        owner, *rest = call.arguments.positional
        arguments = replace(call.arguments, positional=tuple(rest))
        return call_method(replace(call, owner=owner, arguments=arguments))
    if is_session(name):
        return Thing("spark")
    if name.startswith("polars.selectors."):
        return unsure_selection(call)
    if name.startswith(_COLUMN_FUNCTIONS) or polars_calls.is_function(name):
        return call_function(call)
    if is_statement(call):
        return execute(call)
    first = name.partition(".")[0]
    _call_back(call)
    masking = masking_of(call.name, is_method=False)
    data = derive(call.data(), call.place, masking=masking)
    is_pure = (
        name.startswith("pyspark.sql.types.")
        or first in _PURE
        or first in sys.stdlib_module_names
        or first == "builtins"
        or (first == "sqlalchemy" and call.name in _MAKERS)
    )
    is_pure = (
        (is_pure and first not in _REARRANGING)
        or bool(masking)
        or (first == "pandas" and not data.inputs)
    )
    if not is_pure:
        origin = call.gap(f"what `{name}` returns is not known")
        return replace(data, origin=origin, index=())
    return replace(data, index=())


def _call_back(call: Call) -> Value | None:
    """Follow functions that a library gets to call; the result, if it hands that on.

    `PythonOperator(python_callable=load, op_kwargs={…})`, `Thread(target=load, args=(a,))`,
    `pool.submit(load, a)`, `pool.map(load, items)`.
    """
    result: Value | None = None
    for at, value in enumerate(call.arguments.values()):
        if not isinstance(value, Function):
            continue
        if call.name in _MAPS and at == 0:
            made = [call.machine.invoke(value, arguments) for arguments in _each_item(call)]
            result = Items((), call.machine.join_all(made))
            continue
        arguments = _passed_on(call, at)
        is_operator = call.get("task_id") is not None
        has_any = bool(arguments.positional or arguments.named or is_operator)
        if has_any or value.node not in call.machine.called:
            returned = call.machine.invoke(value, arguments)
            if is_operator:
                call.machine.record.add_result(returned)
            if call.name in _FUTURES:
                result = Thing("future", {"value": returned})
    return result


_MAPS = words("map imap imap_unordered starmap")
_FUTURES = words("submit apply_async run_in_executor to_thread create_task")


def _each_item(call: Call) -> list[Arguments]:
    """The arguments for each of the items; of many or of any number, those that stand for all."""
    machine = call.machine
    sides = [iterate(machine, value) for value in call.arguments.positional[1:]]
    is_known = all(side.rest is None and len(side.items) <= MOST_ITERATIONS for side in sides)
    rows = list(zip(*(side.items for side in sides), strict=False)) if is_known else []
    if not is_known:
        rows = [tuple(machine.join_all(side.values) or UNKNOWN for side in sides)]
    if call.name == "starmap":
        rows = [iterate(machine, row[0]).items for row in rows if row]
    return list(map(Arguments, rows))


def _passed_on(call: Call, at: int) -> Arguments:
    """The arguments that a library passes on to the function at a place of its own."""
    machine = call.machine
    if call.name in _FUTURES:
        return Arguments(call.arguments.positional[at + 1 :], call.arguments.named)
    given = machine.items(call.get("args") or call.get("op_args"))
    cell = machine.cell(call.get("op_kwargs") or call.get("kwargs"))
    entries = cell.entries if isinstance(cell, DictCell) else {}
    named = {key: item for key, item in entries.items() if isinstance(key, str)}
    if templates := call.get("templates_dict"):
        named["templates_dict"] = templates
    return Arguments(given.items if given is not None else (), named)


# Methods of models that give their fields as a dictionary.
_FIELDS = frozenset({"dict", "model_dump", "_asdict", "to_dict"})


def call_method(call: Call) -> Value:
    """The result of a method of what is no object of the script's."""
    machine, owner = call.machine, call.owner
    frame = machine.frame(owner)
    if frame is not None:
        methods = FRAME_LIBRARIES.get(frame.library) or FRAME_LIBRARIES["pandas"]
        handler = methods.get(call.name)
        return handler(call) if handler else unknown_method(call)
    if is_writer(call):
        return call_writer_method(call)
    result = call_database_method(call)
    if result is not None:
        return result
    if isinstance(owner, Const | Text):
        return PATH_METHODS.get(call.name, call_text_method)(call)
    if isinstance(owner, Data):
        return _call_data_method(call, owner)
    if isinstance(owner, Items) or isinstance(machine.cell(owner), Items | DictCell):
        return call_container_method(call)
    if isinstance(owner, Thing):
        return call_thing_method(call)
    return _call_other_method(call)


def _call_other_method(call: Call) -> Value:
    """A method of an object of the script's that has none of the name, or of what is no value."""
    machine, owner = call.machine, call.owner
    result = _call_back(call)
    if result is not None:
        return result
    data = derive([machine.data(owner), *call.data()], call.place)
    cell = machine.cell(owner)
    if isinstance(cell, ObjectCell):
        if call.name in _FIELDS:
            return machine.new(DictCell(dict(cell.names)))
        return replace(data, origin=machine.gap(f"what `{call.name}` returns is not known"))
    return data if data.inputs else UNKNOWN


def _call_data_method(call: Call, owner: Data) -> Value:
    machine = call.machine
    if not owner.inputs and not owner.form.value:
        result = _call_back(call)
        if result is not None:
            return result
    if owner == UNKNOWN and call.name in _OUTSIDE:
        return outside(call)
    if owner.form is Form.EXPRESSION and call.name in EXPRESSION_METHODS:
        return EXPRESSION_METHODS[call.name](call)
    if owner.form is Form.SERIES and call.name == "resample":
        return resample(call)
    if owner.form is Form.SERIES and call.name == "unstack":
        frame = as_frame(machine, owner)
        return call_method(replace(call, owner=machine.new(frame))) if frame else owner
    return call_series_method(call)
