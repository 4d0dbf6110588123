"""Python's own functions, and those of its library that scripts use on data, of `csv` too."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace

import yaml

from dbt_graft.collectors.python_code.libraries.databases import COLUMN_NAME, ROLE
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.programs import (
    add_import_path,
    run_command,
    run_path,
)
from dbt_graft.collectors.python_code.libraries.reading import read_file
from dbt_graft.collectors.python_code.libraries.writing import write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.containers import sorted_items
from dbt_graft.collectors.python_code.values.frames import frame_of_rows, record_of
from dbt_graft.collectors.python_code.values.limits import LARGEST_FILE, MOST_COLUMNS
from dbt_graft.collectors.python_code.values.machine import (
    Call,
    Handler,
    Machine,
    nothing,
    owner_of,
)
from dbt_graft.collectors.python_code.values.texts import concatenate, join_path, substitute_text
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Items,
    Library,
    Method,
    ObjectCell,
    Ref,
    Text,
    Thing,
    Value,
    change,
    count_of,
    derive,
)
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import Subtype


def first_argument(call: Call) -> Value:
    """The first argument, which a function gives back or works on."""
    return call.get("", 0) or UNKNOWN


def _list(call: Call) -> Value:
    if not call.arguments.positional:
        return call.machine.new(Items())
    items = replace(iterate(call.machine, first_argument(call)), names=(), open=())
    return items if call.name == "tuple" else call.machine.new(items)


def _dict(call: Call) -> Value:
    machine = call.machine
    entries: dict[object, Value] = {}
    value = call.get("", 0)
    if isinstance(value, Data) and value.form is Form.SERIES:
        value = machine.call(Method(value, "to_dict"))
    cell = machine.cell(value)
    result = cell if isinstance(cell, DictCell) else DictCell()
    if isinstance(cell, DictCell):
        entries.update(cell.entries)
    elif isinstance(value, Items) and value.names:
        entries.update(zip(value.names, value.items, strict=False))
        result = DictCell({}, value.rest, None, value.open, value.rows)
    elif value is not None:
        pairs = iterate(machine, value)
        for pair in pairs.items:
            items = iterate(machine, pair)
            if len(items.items) == 2:
                entries[machine.key(items.items[0])] = items.items[1]
        if isinstance(pairs.rest, Items) and len(pairs.rest.items) == 2:
            key, item = pairs.rest.items
            if pairs.open:
                return machine.new(DictCell(open=pairs.open, rows=pairs.rows))
            result = replace(result, rest=item, keys=key, rows=pairs.rows)
        elif pairs.rest is not None:
            result = replace(result, rest=machine.data(pairs.rest))
    entries.update(call.arguments.named or {})
    return machine.new(replace(result, entries=entries))


def _default_dict(call: Call) -> Value:
    factory = first_argument(call)
    is_number = isinstance(factory, Library) and factory.name in {"int", "float"}
    return call.machine.new(DictCell(factory=None if is_number else factory))


def _zip(call: Call) -> Value:
    machine = call.machine
    if call.arguments.more:
        return _turned(call, call.arguments.more)
    sides = [iterate(machine, value) for value in call.arguments.positional]
    rows = frozenset().union(*(side.rows for side in sides))
    if sides and all(side.rest is None for side in sides):
        return Items(
            tuple(Items(values) for values in zip(*(s.items for s in sides), strict=False))
        )
    row = tuple(machine.join_all(s.values) or UNKNOWN for s in sides)
    # Of a row that has its columns' names beside its values, a dictionary has them all.
    opened = sides[-1].open if len(sides) == 2 and row[0] == COLUMN_NAME else ()
    return Items((), Items(row), frozenset(rows), open=opened)


def _turned(call: Call, rows: tuple[Value, ...]) -> Value:
    """`zip(*rows)`: the columns of rows."""
    row = call.machine.join_all(rows)
    if isinstance(row, Items) and row.rest is None and not row.open:
        return Items(tuple(Items((), value) for value in row.items))
    data = derive(call.data(), call.place)
    if len({(item.source, item.column) for item in data.inputs}) > 1:
        data = data.with_gap(call.gap("the values of a row are not known one by one"))
    return Items((), data)


def _enumerate(call: Call) -> Value:
    items = iterate(call.machine, first_argument(call))
    start = call.machine.key(call.get("start", 1) or Const(0))
    at = start if isinstance(start, int) else 0
    pairs = tuple(Items((Const(at + n), item)) for n, item in enumerate(items.items))
    number = Data(rows=items.rows)
    rest = Items((number, items.rest)) if items.rest is not None else None
    return Items(pairs, rest, items.rows)


def _range(call: Call) -> Value:
    ends = [call.machine.key(value) for value in call.arguments.positional]
    numbers = [end for end in ends if isinstance(end, int)]
    if len(numbers) == len(ends) and 1 <= len(ends) <= 3 and (len(ends) < 3 or numbers[2]):
        span = range(*numbers)
        if len(span) <= MOST_COLUMNS:
            return Items(tuple(map(Const, span)))
    return Items((), UNKNOWN)


def _length(call: Call) -> Value:
    value = first_argument(call)
    items = call.machine.items(value)
    if items is not None:
        is_known = items.rest is None and not items.open
        return (
            Const(len(items.items)) if is_known else count_of(items.rows, call.machine.parts(value))
        )
    if isinstance(value, Const | Text):
        return UNKNOWN
    frame = call.machine.frame(value)
    if frame is not None:
        return count_of(frame.rows, frame.values)
    data = call.machine.data(value)
    is_value = data.form is Form.VALUE and not isinstance(value, Thing)
    return derive([data], call.place) if is_value else count_of(data.rows, [data])


def _aggregate(call: Call) -> Value:
    machine, values = call.machine, call.arguments.positional
    key = call.get("key")
    if key is not None and len(values) == 1:  # the item that has the greatest
        items = iterate(machine, values[0])
        item = machine.join_all(items.values) or UNKNOWN
        deciding = machine.data(machine.call(key, item)).inputs
        return machine.chosen(item, items.rows | change(deciding, Subtype.FILTER))
    subtype = Subtype.AGGREGATION if len(values) == 1 else Subtype.TRANSFORMATION
    return replace(derive(list(map(machine.data, values)), call.place, subtype), index=())


def _sorted(call: Call) -> Value:
    return sorted_items(call, iterate(call.machine, first_argument(call)))


def _convert(call: Call) -> Value:
    value = first_argument(call)
    if call.name == "str" and isinstance(value, Const | Text):
        return concatenate(call.machine, [value])
    if isinstance(value, Const) and call.name in {"int", "float"}:
        kind = {"int": int, "float": float}[call.name]
        try:
            return Const(kind(value.value))
        except (TypeError, ValueError, OverflowError):
            return UNKNOWN
    return derive(call.data(), call.place)


def _map(call: Call) -> Value:
    function, *values = call.arguments.positional or (UNKNOWN,)
    sides = [iterate(call.machine, value) for value in values]
    if not sides:
        return UNKNOWN
    if len(sides) == 1:
        items = tuple(call.machine.call(function, item) for item in sides[0].items[:MOST_COLUMNS])
        rest = call.machine.call(function, sides[0].rest) if sides[0].rest is not None else None
        return Items(items, rest, sides[0].rows)
    return Items((), derive(call.data(), call.place))


def _reduce(call: Call) -> Value:
    """`reduce(function, items, first)`; of items that stand for any number, twice the function."""
    machine = call.machine
    items = iterate(machine, call.get("", 1))
    first = call.get("initial", 2)
    values = [*([first] if first is not None else []), *items.items]
    values += [items.rest] * (1 if values else 2) if items.rest is not None else []
    if not values or len(values) > MOST_COLUMNS:
        return UNKNOWN
    result = values[0]
    for value in values[1:]:
        result = machine.call(first_argument(call), result, value)
    return result


def _filter(call: Call) -> Value:
    function, *values = call.arguments.positional or (UNKNOWN,)
    items = iterate(call.machine, values[0]) if values else Items()
    item = call.machine.join_all(items.values)
    if item is None:
        return items
    test = call.machine.data(call.machine.call(function, item))
    return Items((), item, items.rows | change(test.inputs, Subtype.FILTER))


def _next(call: Call) -> Value:
    items = iterate(call.machine, first_argument(call))
    return call.machine.chosen(next(iter(items.values), UNKNOWN), items.rows)


def _execute_code(call: Call) -> Value:
    """`exec(open("tidy.py").read())`: a file that runs among the names of the script's."""
    machine = call.machine
    file = machine.contents.get(call.text("source", 0) or "")
    if file is None or machine.stack or len(call.arguments.values()) > 1:
        return _not_followed(call)
    # A file that is run so is no module: its names are the script's.
    scope, _ = machine.modules.get(machine.file) or next(iter(machine.modules.values()))
    machine.run(file, scope)
    return Const(None)


def _not_followed(call: Call) -> Value:
    """`exec`, `eval`: code that is made while the script runs."""
    machine = call.machine
    gap = machine.gap(f"`{call.name}` runs code that is not known")
    names = [value for value in call.arguments.values() if isinstance(value, Ref)]
    for value in names:
        cell = machine.cell(value)
        if isinstance(cell, DictCell):
            data = derive(machine.parts(value), machine.place)
            machine.put(value, replace(cell, rest=replace(data, origin=gap)))
    if not names:
        machine.record.add_gap(gap)
    return Data(origin=gap)


def _open(call: Call) -> Value:
    """`open(path)`, `path.open()`."""
    is_function = isinstance(call.owner, Library)
    path = call.get("file", 0) or UNKNOWN if is_function else call.owner
    mode = call.text("mode", 1 if is_function else 0) or "r"
    return Thing("file", {"path": path, "mode": Const(mode)})


def _path(call: Call) -> Value:
    return join_path(call.machine, call.arguments.positional)


def _directory(call: Call) -> Value:
    value = first_argument(call)
    text = call.machine.text(value)
    if isinstance(value, Const) and text is not None:
        return Const(
            posixpath.dirname(text) if call.name == "dirname" else posixpath.basename(text)
        )
    return UNKNOWN


def read_beside(machine: Machine, path: str | None) -> str | None:
    """The text of a file of the project that a script names; None if it is not known."""
    file = machine.named_file(path or "")
    content = machine.read(file) if file else None
    if content is None or len(content) > LARGEST_FILE:
        return None
    text = content.decode("utf-8-sig", errors="replace")
    machine.contents[text] = file
    return text


def read_of(machine: Machine, value: Value) -> Value:
    """The text of an open file."""
    path = value.traits.get("path") if isinstance(value, Thing) else value
    content = read_beside(machine, machine.text(path))
    return Const(content) if content is not None else Text(UNKNOWN_PART, (UNKNOWN,))


def _joined_path(call: Call) -> Value:
    return join_path(call.machine, [call.owner, *call.arguments.positional])


def _files_below(call: Call) -> Value:
    """The files of a pattern, `folder.glob("*.csv")`: one named by it."""
    return Items((), _joined_path(call))


def _load(call: Call) -> Value:
    """`yaml.safe_load(file)`, `json.load(file)`: the values of a file beside the script."""
    value = first_argument(call)
    text = read_of(call.machine, value) if isinstance(value, Thing) else value
    if not isinstance(text, Const) or not isinstance(text.value, str):
        data = derive([call.machine.data(value)], call.place)
        if call.name != "load" or data.inputs:
            return data
        return outside(call)
    try:
        loaded = json.loads(text.value) if call.name == "loads" else yaml.safe_load(text.value)
    except (ValueError, yaml.YAMLError, RecursionError):
        return UNKNOWN
    return _abstract(call.machine, loaded)


def outside(call: Call) -> Data:
    """Data from outside, which no source of a script's names."""
    return Data(origin=call.gap(f"what `{call.name}` reads is not known"))


def _run_program(call: Call) -> Data:
    """Another program: what it reads is not known, nor what one writes that loads files."""
    command = call.get("args", 0) or call.get("cmd", 0)
    items = call.machine.items(command)
    words = items.items if items is not None else [command]
    run_command(call.machine, " ".join(call.machine.text(word) or "" for word in words))
    text = call.machine.text(words[0] if words else None) or ""
    if _LOADER.match(text):
        call.machine.record.add_gap(call.gap("the columns that `bcp` loads are not followed"))
    return outside(call)


_LOADER = re.compile(r"(?:\S*[/\\])?bcp(?:\.exe)?(?:\s|\Z)", re.IGNORECASE)


def _run_notebook(call: Call) -> Data:
    call.machine.record.add_gap(call.gap("the notebook that it runs is not followed"))
    return outside(call)


def _abstract(machine: Machine, value: object) -> Value:
    machine.budget.spend()
    if isinstance(value, dict):
        return machine.new(DictCell({key: _abstract(machine, item) for key, item in value.items()}))
    if isinstance(value, list):
        return machine.new_list(_abstract(machine, item) for item in value)
    if value is None or isinstance(value, str | int | float | bool):
        return Const(value)
    return UNKNOWN


def _partial(call: Call) -> Value:
    named = call.arguments.named
    traits = {"named": call.machine.new(DictCell(dict(named)))} if named else {}
    return Thing("partial", traits, Items(call.arguments.positional))


def _field(call: Call) -> Value:
    default = call.get("default")
    factory = call.get("default_factory")
    if default is not None:
        return default
    return call.machine.call(factory) if factory is not None else UNKNOWN


def _counter(call: Call) -> Value:
    items = iterate(call.machine, first_argument(call))
    data = call.machine.data(items)
    rows = items.rows | change(data.inputs, Subtype.GROUP_BY)
    return call.machine.new(DictCell({}, UNKNOWN, data, (), rows))


def _group_by(call: Call) -> Value:
    """`itertools.groupby(rows, key)`: keys, each with its rows."""
    machine = call.machine
    items = iterate(machine, first_argument(call))
    row = machine.join_all(items.values) or UNKNOWN
    function = call.get("key", 1)
    key = machine.call(function, row) if function is not None else row
    rows = items.rows | change(machine.data(key).inputs, Subtype.GROUP_BY)
    return Items((), Items((key, Items((), row))), rows)


def _chain(call: Call) -> Value:
    machine = call.machine
    sides = [iterate(machine, value) for value in call.arguments.positional]
    if call.name == "from_iterable":
        sides = [iterate(machine, value) for side in sides for value in side.values]
    rows = frozenset().union(*(side.rows for side in sides))
    if all(side.rest is None for side in sides):
        return Items(tuple(item for side in sides for item in side.items), None, rows)
    return Items((), machine.join_all(value for side in sides for value in side.values), rows)


def _as_dict(call: Call) -> Value:
    cell = call.machine.cell(first_argument(call))
    if isinstance(cell, ObjectCell):
        if call.name == "astuple":
            return Items(tuple(cell.names.values()))
        return call.machine.new(DictCell(dict(cell.names)))
    return first_argument(call)


_TABLE: Mapping[Handler, str] = {
    _list: "builtins.list builtins.tuple builtins.set builtins.frozenset collections.deque",
    _dict: "builtins.dict collections.OrderedDict pyspark.sql.Row pyspark.sql.types.Row",
    _default_dict: "collections.defaultdict",
    _zip: "builtins.zip itertools.zip_longest",
    _enumerate: "builtins.enumerate",
    _range: "builtins.range",
    lambda call: iterate(call.machine, first_argument(call)): "builtins.reversed builtins.iter",
    _sorted: "builtins.sorted",
    first_argument: """builtins.compile concurrent.futures.as_completed concurrent.futures.wait
        tqdm.tqdm tqdm.auto.tqdm tqdm copy.copy copy.deepcopy itertools.islice
        rich.progress.track contextlib.closing typing.cast contextlib.nullcontext
        asyncio.run asyncio.gather os.path.abspath os.path.realpath os.path.normpath
        os.path.expanduser sqlalchemy.text sqlalchemy.sql.text textwrap.dedent
        psycopg2.sql.SQL markupsafe.escape""",
    lambda call: Items((), first_argument(call)): "glob.glob glob.iglob",
    _length: "builtins.len",
    _aggregate: """builtins.sum builtins.max builtins.min statistics.mean statistics.median
        math.fsum statistics.stdev""",
    _convert: "builtins.str builtins.int builtins.float builtins.bool decimal.Decimal",
    _map: "builtins.map",
    _reduce: "functools.reduce",
    _filter: "builtins.filter",
    _next: "builtins.next",
    nothing: """builtins.isinstance builtins.issubclass builtins.hasattr builtins.callable
        builtins.print builtins.input os.getenv os.environ.get dbutils.widgets.get
        dbutils.widgets.getArgument dbutils.widgets.getAll""",
    _execute_code: "builtins.exec",
    _not_followed: "builtins.eval builtins.__import__ pandas.eval",
    run_path: "runpy.run_path",
    add_import_path: "sys.path.append sys.path.insert",
    _open: "builtins.open io.open codecs.open",
    lambda call: join_path(
        call.machine, call.arguments.positional
    ): """pathlib.Path pathlib.PurePath pathlib.PosixPath os.path.join
        pathlib.PurePosixPath""",
    _directory: "os.path.dirname os.path.basename",
    _load: """yaml.safe_load yaml.load yaml.full_load json.load json.loads""",
    outside: """urllib.request.urlopen urllib.request.urlretrieve pickle.load joblib.load
        xml.etree.ElementTree.parse""",
    _run_program: """os.system subprocess.call subprocess.check_call subprocess.check_output
        subprocess.Popen subprocess.run""",
    _run_notebook: """dbutils.notebook.run mssparkutils.notebook.run notebookutils.notebook.run
        mssparkutils.notebook.runMultiple notebookutils.notebook.runMultiple""",
    substitute_text: "re.sub",
    _partial: "functools.partial",
    _field: "dataclasses.field",
    _counter: "collections.Counter",
    _group_by: "itertools.groupby",
    _chain: "itertools.chain itertools.chain.from_iterable",
    _as_dict: "dataclasses.asdict dataclasses.astuple builtins.vars",
    lambda call: Method(
        Thing("getter", {"keys": Items(call.arguments.positional)}), "__call__"
    ): "operator.itemgetter operator.attrgetter",
}
# Methods of paths, which are texts here.
PATH_METHODS: Mapping[str, Handler] = {
    "absolute": owner_of,
    "as_posix": owner_of,
    "expanduser": owner_of,
    "glob": _files_below,
    "joinpath": _joined_path,
    "open": _open,
    "read_text": lambda call: read_of(call.machine, call.owner),
    "resolve": owner_of,
    "rglob": _files_below,
}
BUILTINS: Mapping[str, Handler] = {
    **{name: handler for handler, names in _TABLE.items() for name in names.split()},
    "builtins.super": lambda call: Thing("super"),
    "collections.namedtuple": lambda call: Thing(
        "named tuple", {"names": call.get("", 1) or UNKNOWN}
    ),
}


WRITER = Const("csv writer")


def _file_path(call: Call) -> Value | None:
    file = call.get("f", 0) or call.get("csvfile", 0)
    return file.traits.get("path") if isinstance(file, Thing) else file


def _reader(call: Call) -> Value:
    path = call.machine.text(_file_path(call))
    frame = read_file(call.machine, path, "query")
    return Items((), Items((), None, frame.rows, (), frame.open))


def _dict_reader(call: Call) -> Value:
    path = call.machine.text(_file_path(call))
    frame = read_file(call.machine, path, "query", call.keys("fieldnames", 1) or None)
    return Items((), call.machine.new(record_of(frame)), frame.rows)


def _writer(call: Call) -> Value:
    names = call.get("fieldnames", 1) if call.name == "DictWriter" else None
    path = _file_path(call) or UNKNOWN
    cell = ObjectCell({ROLE: WRITER, "<path>": path, "<header>": names or Const(None)})
    return call.machine.new(cell)


def is_writer(call: Call) -> bool:
    """Whether the owner is a writer of rows."""
    cell = call.machine.cell(call.owner)
    return isinstance(cell, ObjectCell) and cell.names.get(ROLE) == WRITER


def call_writer_method(call: Call) -> Value:
    """`writerow`, `writerows`: texts alone at first are the header."""
    machine, owner = call.machine, call.owner
    cell = machine.cell(owner)
    assert isinstance(cell, ObjectCell)
    assert isinstance(owner, Ref)
    value = call.get("row", 0) or call.get("rows", 0) or UNKNOWN
    names = machine.keys(cell.names["<header>"])
    if call.name == "writerow":
        texts = machine.keys(value) if machine.items(value) is not None else None
        is_header = (
            names == [None] and texts is not None and not isinstance(machine.cell(value), DictCell)
        )
        if is_header:
            machine.put(owner, replace(cell, names={**cell.names, "<header>": value}))
            return UNKNOWN
        value = Items((value,))
    elif call.name != "writerows":
        return UNKNOWN
    rows = iterate(machine, value)
    frame = frame_of_rows(machine, rows, None if names == [None] else names)
    if frame is None:
        frame = Frame(rest=machine.unknown("the rows that are written are not known"))
    write_frame(machine, frame, Medium.FILE, cell.names["<path>"])
    return UNKNOWN


CSV_FUNCTIONS: Mapping[str, Handler] = {
    "csv.DictReader": _dict_reader,
    "csv.DictWriter": _writer,
    "csv.reader": _reader,
    "csv.writer": _writer,
}
