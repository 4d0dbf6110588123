"""The main file of an application: `load_orders.py`, as the log of its start shows it.

| where | of |
|---|---|
| `…SparkSubmit --master yarn /opt/jobs/load_orders.py 2026-11-25` | a command on the driver |
| `…ApplicationMaster --primary-py-file load_orders.py --arg …` | a driver that YARN started |
| `spark.yarn.dist.files=hdfs:///jobs/load_orders.py` | the same: YARN copies it to the driver |

`spark.submit.pyFiles` and `spark.yarn.dist.pyFiles` are the modules that scripts import, and no
names of them. `python load_orders.py` starts a driver that does not know the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_COMMAND = "sun.java.command"
_DRIVER = re.compile(r"org\.apache\.spark\.deploy\.[\w.$]+")
_FILE = re.compile(r"(?:.*[/\\])?(?P<name>[^/\\#]+\.(?:py|R))(?:#.*)?")
_MAIN_OPTIONS = frozenset({"--primary-py-file", "--primary-r-file"})
# Options without a value.
_FLAGS = frozenset({"--supervise", "--verbose", "-v"})
_DISTRIBUTED = "spark.yarn.dist.files"
_LONGEST = 20_000


def main_file(system: Mapping[str, str], spark: Mapping[str, str]) -> str:
    """Return the name of an application's main file, without its folder; empty where none is known.

    Args:
        system: The properties of the driver's Java.
        spark: The settings of Spark.
    """
    driver, *words = str(system.get(_COMMAND) or "")[:_LONGEST].split() or [""]
    names = list(_main_files(words)) if _DRIVER.fullmatch(driver) else []
    if not names:
        files = (_FILE.fullmatch(file.strip()) for file in spark.get(_DISTRIBUTED, "").split(","))
        names = [file["name"] for file in files if file]
    return names[0] if len(names) == 1 else ""


def _main_files(words: list[str]) -> Iterator[str]:
    """The main file of a command; what follows it are the file's own arguments."""
    option = ""
    for word in words:
        file = _FILE.fullmatch(word)
        if file and (not option or option in _MAIN_OPTIONS):
            yield file["name"]
            return
        is_option = word.startswith("-") and "=" not in word and word not in _FLAGS
        option = word if is_option else ""
