"""Files that nobody should read carelessly, each with the line that its gap names."""

from __future__ import annotations

HEAD = 'import pandas as pd\ndf = pd.read_sql("SELECT a, b FROM dbo.t", engine)\n'
TAIL = 'df.to_sql("x", engine, schema="dw", index=False)\n'
# A file that appears where any of it is run.
MARK = "was_run"
_RUNS = f"open({MARK!r}, 'w').close()"
_SHELL = f"touch {MARK}"

# Content, and the line of a gap.
BROKEN: dict[str, tuple[bytes, int]] = {
    "brackets": (f"a = 1\nx = {'(' * 10_000}{')' * 10_000}\n".encode(), 2),
    "lists": (f"x = {'[' * 10_000}{']' * 10_000}\n".encode(), 1),
    "open brackets": (b"x = 1\n" + b"{" * 10_000, 2),
    "minus": (b"x = " + b"-" * 50_000 + b"1\n", 1),
    "plus": (b"x = 1" + b" + 1" * 50_000 + b"\n", 1),
    "not": (b"x = " + b"not " * 50_000 + b"1\n", 1),
    "attributes": (b"x = a" + b".b" * 50_000 + b"\n", 1),
    "calls": (b"x = a" + b"()" * 50_000 + b"\n", 1),
    "lambdas": (b"x = " + b"lambda: " * 20_000 + b"1\n", 1),
    "conditions": (b"x = " + b"1 if a else " * 20_000 + b"2\n", 1),
    "elif": (b"if a:\n  x = 1\n" + b"elif a:\n  x = 1\n" * 20_000, 1),
    "indented": ("".join(f"{' ' * n}if a:\n" for n in range(200)).encode(), 101),
    "f-strings": (b"x = " + b'f"{' * 200 + b"1" + b'}"' * 200 + b"\n", 1),
    "syntax": (b"import os\n\nx = = 1\n", 3),
    "python 2": (b'import os\nprint "loaded"\n', 2),
    "except of python 2": (b"try:\n    pass\nexcept Error, e:\n    pass\n", 3),
    "tabs and spaces": (b"if a:\n        x = 1\n\ty = 2\n", 3),
    "null byte": (b"x = 1\ny = \x00\n", 2),
    "bytes": (b"x = 1\ny = '\xff\xfe'\n", 2),
    "utf-16": ("x = 1\n".encode("utf-16"), 1),
    "unknown encoding": (b"# coding: klingon\nx = 1\n", 1),
    "open quotes": (b'x = 1\nq = """SELECT\n', 2),
    "shell": (b"#!/bin/sh\nset -e\nfor f in *; do\n  echo $f\ndone\n", 3),
    "10 MB of lines": (b"x = 1\n" * 1_700_000, 1),
    "10 MB of text": (b"x = '" + b"a" * 10_000_000 + b"'\n", 1),
    "merge conflict": (b"x = 1\n<<<<<<< HEAD\ny = 2\n=======\ny = 3\n>>>>>>> other\n", 2),
}

# Lines between a read and a write that would take for ever, or all memory.
ENDLESS: dict[str, str] = {
    "while": "while True:\n    df = df.copy()\n",
    "while that counts": "n = 0\nwhile n < 10 ** 12:\n    n += 1\n",
    "nested loops": (
        "l = list(range(1000))\nfor a in l:\n for b in l:\n  for c in l:\n   for d in l:\n"
        "    n = a + b\n"
    ),
    "frames joined to themselves": (
        "from pyspark.sql import SparkSession, functions as F\n"
        "n = SparkSession.builder.getOrCreate().table('t')\n"
        + "g = n.groupBy('k').agg(F.max('a').alias('b'))\nn = n.join(g, n.k == g.k)\n"
        * 60
    ),
    "literal list": f"l = {list(range(150_000))}\nfor a in l:\n    n = a\n",
    "range": "for i in range(10 ** 15):\n    n = i\n",
    "list of range": "l = list(range(10 ** 12))\n",
    "comprehension": "l = [1] * 1000\nn = [a for a in l for b in l for c in l for d in l]\n",
    "recursion": "def f(n):\n    return f(n + 1)\nf(0)\n",
    "two recursions": "def f(n):\n    return f(n) + f(n)\nf(0)\n",
    "mutual recursion": "def f(n):\n    return g(n)\ndef g(n):\n    return f(n)\nf(0)\n",
    "methods": "class A:\n    def f(self):\n        return self.f() or A().f()\nA().f()\n",
    "properties": "class A:\n    @property\n    def f(self):\n        return self.f\nA().f\n",
    "own base": "class A(A):\n    pass\nA().f()\n",
    "bases in a ring": "class A: pass\nclass B(A): pass\nA = B\nclass A(B): pass\nA().x\n",
    "decorated": "def d(f):\n    return d(f)\n@d\ndef g(): pass\ng()\n",
    "text doubled": "t = 'ab'\n" + "t = t + t\n" * 100,
    "text doubled in place": "t = 'ab'\n" + "t += t\n" * 100,
    "text multiplied": "t = 'ab' * 10 ** 12\n",
    "text replaced": "t = 'a'\n" + "t = t.replace('a', 'aa')\n" * 100,
    "text joined": "t = 'a'\n" + "t = t.join([t, t, t])\n" * 100,
    "text formatted": "t = 'a'\n" + "t = f'{t}{t}'\n" * 100,
    "text padded": "t = '{:>999999999}'.format(1)\nu = 'a'.zfill(10 ** 10)\nv = '%99999999d' % 1\n",
    "text centred": "t = f'{1:>9999999999}'\nu = 'a'.ljust(10 ** 10)\n",
    "list doubled": "l = [1, 2]\n" + "l = l + l\n" * 100,
    "list extended": "l = [1, 2]\n" + "l.extend(l)\n" * 100,
    "list in itself": "l = [1]\nl.append(l)\nfor a in l:\n  for b in a:\n    n = b\nprint(l)\n",
    "dict in itself": "d = {}\nd['d'] = d\nprint(d['d']['d'])\npd.DataFrame(d)\n",
    "list multiplied": "l = [0] * 10 ** 12\n",
    "nested lists": "l = []\n" + "l = [l, l]\n" * 100 + "for a in l:\n    print(a)\n",
    "power": "n = 10 ** 10 ** 10\nm = 2 ** (2 ** 60)\nk = 1 << 10 ** 12\n",
    "product": "import itertools\nn = list(itertools.product(range(1000), repeat=9))\n",
    "factorial": "import math\nn = math.factorial(10 ** 9)\n",
    "pattern": "import re\nn = re.sub('(a+)+$', '', 'a' * 50 + 'b')\n",
    "pattern of columns": "df = df.filter(regex='(a+)+$')\n",
    "selectors": "import polars as pl\nimport polars.selectors as cs\ns = cs.contains('a')\n"
    + "s = (s & ~s) | s | cs.matches('(a+)+$')\n" * 60
    + "n = pl.from_pandas(df).select(s, pl.col('^(a+)+$', '^a?a?a?a?a?aaaaa$'))\n",
    "generator": "def g():\n  while True:\n    yield 1\nl = list(g())\nfor a in g():\n  n = a\n",
    "iter": "l = list(iter(int, 1))\n",
    "self-made frame": "df = pd.concat([df] * 10 ** 9)\n",
    "columns doubled": "df = pd.concat([df, df], axis=1)\n" * 60,
    "columns of a loop": "for i in range(10 ** 6):\n    df[f'c{i}'] = df['a'] + i\n",
    "branches": "".join(f"if x{n}:\n    df['a'] = df['a'] + df['b']\n" for n in range(200)),
    "branches of texts": "q = ''\n"
    + "".join(f"if x{n}:\n    q += 'a{n}'\nelse:\n    q += 'b{n}'\n" for n in range(200)),
    "lambda of itself": "f = lambda g: g(g)\nf(f)\n",
    "names of builtins": "str = list = dict = len = print = None\n",
    "many statements": "n = 1\n" * 60_000,
    # They take seconds up to the same limit of steps as the comprehension.
    "merged again": "df = df.merge(df, on='a')\n" * 60,
    "functions called by all": "".join(
        f"def f{n}(d):\n    return f{n + 1}(f{n + 1}(d))\n" for n in range(60)
    )
    + "df = f0(df)\n",
}

# Lines that must not be run, between a read and a write.
RUN: dict[str, str] = {
    "import call": f"__import__('os').system({_SHELL!r})\n",
    "system": f"import os\nos.system({_SHELL!r})\nos.popen({_SHELL!r}).read()\n",
    "subprocess": f"import subprocess\nsubprocess.run({_SHELL!r}, shell=True)\n",
    "exec": f"exec({_RUNS!r})\n",
    "eval": f"eval({_RUNS!r})\n",
    "compile": f"exec(compile({_RUNS!r}, 'a', 'exec'))\n",
    "open": f"{_RUNS}\nwith open({MARK!r}, 'w') as f:\n    f.write('x')\n",
    "path": f"from pathlib import Path\nPath({MARK!r}).write_text('x')\nPath({MARK!r}).touch()\n",
    "default argument": f"def f(a={_RUNS}):\n    pass\nf()\n",
    "decorator": f"@(lambda f: {_RUNS})\ndef f():\n    pass\n",
    "class body": f"class A:\n    {_RUNS}\n",
    "metaclass": f"class M(type):\n  def __new__(*a):\n    {_RUNS}\nclass A(metaclass=M): pass\n",
    "f-string": f"q = f\"{{__import__('os').system({_SHELL!r})}}\"\n",
    "annotation": f"x: __import__('os').system({_SHELL!r}) = 1\n",
    "apply": f"df['a'] = df['a'].apply(lambda v: __import__('os').system({_SHELL!r}))\n",
    "query": f"df = df.query(\"@__import__('os').system({_SHELL!r})\")\n",
    "eval of a frame": f"df['a'] = df.eval(\"__import__('os').system('{_SHELL}')\")\n",
    "pickle": "import pickle\ndf = pickle.loads(b\"cos\\nsystem\\n(S'touch was_run'\\ntR.\")\n",
    "yaml": f"import yaml\ny = yaml.load(\"!!python/object/apply:os.system ['{_SHELL}']\")\n",
    "format": "t = '{0.__class__.__mro__}'.format(df)\n",
    "globals": f"globals()['__builtins__'].exec({_RUNS!r})\n",
    "getattr": f"getattr(__import__('os'), 'sys' + 'tem')({_SHELL!r})\n",
    "module beside": "import raising_module\nfrom raising_module import f\nf()\n",
    "importlib": "import importlib\nimportlib.import_module('raising_module').f()\n",
    "walrus": f"[y := {_RUNS} for _ in (1,)]\n",
}
