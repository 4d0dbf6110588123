"""The docs page of dbt 2: the user's own, which reads the index that lies beside it.

dbt 2 writes `index.html` and `assets/` into the target folder. They are published as they are, with
one script of ours before dbt's: old addresses still lead to their nodes, and no host is asked for
DuckDB where the site has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from dbt_graft.injector.docs import inline
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

# What `npm` and `esbuild` make of DuckDB-WASM, see docs/dbt-versions.md.
_DUCKDB = (
    *("duckdb-browser.js", "duckdb-eh.wasm", "duckdb-mvp.wasm"),
    *("duckdb-browser-eh.worker.js", "duckdb-browser-mvp.worker.js"),
)
# dbt's page asks for `+esm`, a name without a type that servers know.
_NAMES = '<script type="importmap">{"imports":{"./duckdb/+esm":"./duckdb/esm.js"}}</script>\n'
_BOOTSTRAP = re.compile(
    r"<script>\s*window\.__DBT_DOCS__\s*=\s*(?P<site>\{.*?\})\s*;?\s*</script>", re.DOTALL
)
# Files of dbt's program; others in the folder are pictures of the project.
_CODE = frozenset((".js", ".css", ".ttf", ".woff", ".woff2", ".wasm"))


@frozen
class IndexPage:
    """dbt 2's docs page in a target folder.

    Attributes:
        html: Its `index.html`.
        end: Where its settings end, in characters.
        data_dir: The folder of the index, beside the page.
        duckdb: The address from which it loads DuckDB.
    """

    target: Path
    html: str
    end: int
    data_dir: str
    duckdb: str

    @property
    def duckdb_host(self) -> str:
        """The host that the page asks for DuckDB; empty for that of the page itself."""
        return urlsplit(self.duckdb).hostname or ""

    def shipped(self, duckdb: Path | None) -> dict[str, Path]:
        """Path in the page's folder of the site -> the file that is published there as it is.

        It has no data of the project; in `index.html` and in the index there is more.
        """
        files = {"index.html": self.target / "index.html"}
        files |= {path: file for path, file in self._assets().items() if file.suffix in _CODE}
        files |= {
            f"{self.data_dir}{file.name}": file
            for file in sorted((self.target / "index").glob("*.parquet"))
        }
        return files | (_duckdb_files(duckdb) if duckdb else {})

    def files(
        self,
        index: Mapping[str, bytes],
        redirects: Mapping[str, str],
        *,
        classic: str = "",
        duckdb: Path | None = None,
        only_code: bool = False,
    ) -> dict[str, bytes | Path]:
        """Path in the page's folder of the site -> content, or the file to copy.

        Args:
            index: The files of the index.
            redirects: unique_id of each source that became a model -> that of the model.
            classic: The relative address of the page of dbt 1, if the site has it.
            duckdb: The folder with DuckDB-WASM.
            only_code: Leave out the project's pictures, of which nobody knows what they show.

        Raises:
            GraftError: A file of DuckDB is missing.
        """
        links = {
            "redirects": redirects,
            "classic": classic,
            "duckdb": "duckdb" if duckdb else "",
        }
        script = _own_file("index_page.js").replace("GRAFT_DATA", inline(links))
        head = f"\n{_NAMES if duckdb else ''}<script>{script}</script>\n"
        assets = self._assets().items()
        files: dict[str, bytes | Path] = {
            "index.html": (self.html[: self.end] + head + self.html[self.end :]).encode(),
            **{path: file for path, file in assets if not only_code or file.suffix in _CODE},
            **{f"{self.data_dir}{name}": content for name, content in index.items()},
        }
        if duckdb:
            files |= {"duckdb/esm.js": _own_file("duckdb.js").encode(), **_duckdb_files(duckdb)}
        return files

    def _assets(self) -> dict[str, Path]:
        files = sorted((self.target / "assets").rglob("*"))
        return {file.relative_to(self.target).as_posix(): file for file in files if file.is_file()}


def read_page(target: Path) -> IndexPage | None:
    """dbt 2's docs page in a target folder; None if dbt wrote none.

    Raises:
        GraftError: It is of a version of dbt that we do not know.
    """
    path = target / "index.html"
    content = path.read_bytes() if path.is_file() else b""
    if b"__DBT_DOCS__" not in content:
        return None
    html = content.decode("utf-8", "replace")
    match = _BOOTSTRAP.search(html)
    site: Any = None
    if match:
        try:
            site = json.loads(match["site"])
        except ValueError:
            site = None
    data_dir = str((site or {}).get("data_dir") or "index/")
    parts = PurePosixPath(data_dir).parts
    if not match or not site or not parts or {"/", ".."} & {*parts} or ":" in data_dir:
        raise GraftError(
            "the docs page does not say where its data are",
            place=str(path),
            remedy="report it with the version of dbt (`dbt --version`)",
        )
    data_dir = f"{'/'.join(parts)}/"
    return IndexPage(target, html, match.end(), data_dir, str(site.get("duckdb_cdn_base") or ""))


def _own_file(name: str) -> str:
    return resources.files("dbt_graft.injector").joinpath(name).read_text("utf-8")


def _duckdb_files(folder: Path) -> dict[str, Path]:
    lacking = [name for name in _DUCKDB if not (folder / name).is_file()]
    if lacking:
        raise GraftError(
            f"there is no {lacking[0]}",
            place=str(folder),
            remedy="fill the folder of `docs.duckdb` as docs/dbt-versions.md says",
        )
    return {f"duckdb/dist/{name}": folder / name for name in _DUCKDB}
