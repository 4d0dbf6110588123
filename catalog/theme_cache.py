"""The theme's files and shells, as an earlier build of a site with these settings left them.

MkDocs and Material take a second to import and to build the blank pages, which are the same until
a version, the design or a setting of the site is another. They are kept in one archive, for all
projects and checkouts of this user; one that is damaged, or of another key, counts as none.
"""

from __future__ import annotations

import logging
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from dbt_graft.catalog.compiled_templates import private_folder
from dbt_graft.catalog.page_keys import Digest, digest
from dbt_graft.catalog.shells import Shell, Shells, ThemeSettings
from dbt_graft.replaced_file import replaced_file

_log = logging.getLogger(__name__)
# In the archive: the key, and the shells. No file of a site has this name.
_SHELLS = ".graft-shells.json"


def theme_archive(settings: ThemeSettings) -> Path | None:
    """The file that keeps the theme with these settings; None where nothing is kept."""
    folder = private_folder()
    return folder / f"graft_theme_{digest(settings).hex()}.zip" if folder else None


def write_cached_theme(
    design: Path, out: Path, settings: ThemeSettings, archive: Path | None, key: Digest
) -> Shells:
    """Write the theme's files into an empty folder, and return the shells.

    Args:
        archive: The file that keeps them for the next build; None to keep nothing.
        key: Differs once the theme makes other files.

    Raises:
        GraftError: `mkdocs.yml` is faulty, or the theme is not as it should be.
    """
    if archive and (shells := _unpack(archive, key, out)):
        return shells
    from dbt_graft.catalog.theme import write_theme

    shells = write_theme(design, out, settings)
    if archive:
        try:
            _pack(archive, key, out, shells)
        except OSError:
            # The next build makes them again, no more.
            _log.debug("the theme is not kept", exc_info=True)
    return shells


def _pack(archive: Path, key: Digest, out: Path, shells: Shells) -> None:
    document = {"key": key.hex(), "shells": asdict(shells)}
    with replaced_file(archive) as new, zipfile.ZipFile(new, "w") as packed:
        packed.writestr(_SHELLS, orjson.dumps(document))
        for file in sorted(out.rglob("*")):
            if file.is_file():
                packed.write(file, file.relative_to(out).as_posix())


def _unpack(archive: Path, key: Digest, out: Path) -> Shells | None:
    """The shells of an archive with this key, its files unpacked; None where there is none."""
    try:
        with zipfile.ZipFile(archive) as packed:
            document = orjson.loads(packed.read(_SHELLS))
            if document["key"] != key.hex() or packed.testzip():
                return None
            packed.extractall(out, [name for name in packed.namelist() if name != _SHELLS])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    shells = document["shells"]
    of_entries = {address: _shell(each) for address, each in shells["of_entries"].items()}
    return Shells(of_entries, _shell(shells["other"]))


def _shell(document: dict[str, Any]) -> Shell:
    return Shell(tuple(document["parts"]), document["section"], document["files"])
