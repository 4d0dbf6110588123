"""The options of each JVM that tests start: it lives for a short time, and starts with an archive.

The archive holds the classes that Spark loads; with it, a session starts in half the time. The
demo leaves it, and a run without it only takes longer. Java itself leaves an archive alone that is
not of its version or of these jars.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parents[1] / "build/demo/classes.jsa"
# A JVM of tests lives too short for a second compiler: with it, jobs take twice the time.
OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"


def java_options(settings: Mapping[str, str] | None = None) -> str:
    """The options of each JVM that tests start, as `SPARK_SUBMIT_OPTS` has them.

    Args:
        settings: Those of Spark. A folder with them, `SPARK_CONF_DIR`, is before Spark's jars in
            Java's list of places, and Java leaves the archive alone.
    """
    usable = ARCHIVE.is_file() and " " not in str(ARCHIVE)
    archive = [f"-XX:SharedArchiveFile={ARCHIVE}"] if usable else []
    return " ".join([OPTIONS, *archive, *(f"-D{key}={it}" for key, it in (settings or {}).items())])
