"""Addresses in dbt's docs page: each generation of dbt has its own."""

from __future__ import annotations

import re
from enum import Enum
from urllib.parse import quote, unquote

PATH = "dbt/index.html"
# `#!/model/model.shop.orders?g_v=1` of dbt 1, `#/details/model.shop.orders/` of dbt 2.
_NODE = re.compile(r"#!?/\w+/(?P<id>[^/?#]+\.[^/?#]+)")


class DbtDocs(Enum):
    """The docs page of a site, by the generation of dbt that it is of."""

    DBT_1 = 1
    DBT_2 = 2

    def address(self, node_id: str) -> str:
        """The address of a node, relative to the site's root."""
        name = quote(node_id, safe="")
        if self is DbtDocs.DBT_2:
            return f"{PATH}#/details/{name}/"
        return f"{PATH}#!/{node_id.partition('.')[0]}/{name}"

    def graph(self, node_id: str) -> str:
        """The address of a node with the nodes next to it, which dbt 2 shows on its page."""
        if self is DbtDocs.DBT_2:
            return self.address(node_id)
        resource, _, rest = node_id.partition(".")
        name = rest.partition(".")[2]
        # A versioned model's id ends in its version; the selector finds `name.v2` too.
        chosen = f"{resource}:{name}" if resource in ("source", "exposure") else name
        return f"{self.address(node_id)}?g_v=1&g_i={quote(f'1+{chosen}+1', safe='')}"

    def translate(self, url: str) -> str:
        """The address of a link of either generation, as in descriptions; empty for other links."""
        if not url.startswith(("#!/", "#/")):
            return ""
        if url.startswith("#!/") is (self is DbtDocs.DBT_1):
            return PATH + url
        node = _NODE.match(url)
        return self.address(unquote(node["id"])) if node else PATH
