"""Make a jar of Spark's Jackson under the name that Iceberg's runtime has it by.

python -m tests.collectors.spark.logs.shade SPARK/jars jackson.jar
"""

from __future__ import annotations

import struct
import sys
import zipfile
from pathlib import Path

FOLDER, SHADED = b"com/fasterxml/jackson", b"org/apache/iceberg/shaded/com/fasterxml/jackson"
PARTS = ("annotations", "core", "databind")
# https://docs.oracle.com/javase/specs/jvms/se17/html/jvms-4.html#jvms-4.4: bytes by tag.
_UTF8, _TWO_PLACES = 1, (5, 6)
_SIZES = {7: 3, 8: 3, 16: 3, 19: 3, 20: 3, 15: 4, 5: 9, 6: 9}
_OTHER_SIZE = 5


def shaded_class(data: bytes) -> bytes:
    """A class file with the new name in its constants."""
    (count,) = struct.unpack_from(">H", data, 8)
    parts, at, place = [data[:10]], 10, 1
    while place < count:
        tag = data[at]
        if tag == _UTF8:
            (size,) = struct.unpack_from(">H", data, at + 1)
            text = _renamed(data[at + 3 : at + 3 + size])
            parts.append(struct.pack(">BH", tag, len(text)) + text)
            at += 3 + size
        else:
            size = _SIZES.get(tag, _OTHER_SIZE)
            parts.append(data[at : at + size])
            at += size
        place += 2 if tag in _TWO_PLACES else 1
    return b"".join([*parts, data[at:]])


def _renamed(text: bytes) -> bytes:
    dotted = FOLDER.replace(b"/", b"."), SHADED.replace(b"/", b".")
    return text.replace(FOLDER, SHADED).replace(*dotted)


def main(jars: Path, target: Path) -> None:
    """Write the jar."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as shaded:
        for part in PARTS:
            [jar] = jars.glob(f"jackson-{part}-[0-9]*.jar")
            with zipfile.ZipFile(jar) as opened:
                for name in opened.namelist():
                    if name.startswith(FOLDER.decode()) and name.endswith(".class"):
                        renamed = name.replace(FOLDER.decode(), SHADED.decode())
                        shaded.writestr(renamed, shaded_class(opened.read(name)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
