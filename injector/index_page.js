// Runs before the script of dbt 2's page. The argument at the end is filled in by
// injector/index_page.py:
// redirects: promoted source's id -> model's id; classic: address of the page of dbt 1, empty if
// there is none; duckdb: the folder of DuckDB beside this page, empty if the page asks elsewhere.
((graft) => {
  "use strict";
  const site = window.__DBT_DOCS__;
  if (site?.telemetry) site.telemetry.enabled = false;
  // Asked for by a worker too, which knows no address of this page.
  if (site && graft.duckdb) site.duckdb_cdn_base = new URL(graft.duckdb, document.baseURI).href;

  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const known = (id) => {
    const name = decoded(id);
    return Object.hasOwn(graft.redirects, name) ? graft.redirects[name] : name;
  };

  // `#!/model/model.shop.orders` was the address of a node in dbt 1.
  const redirected = (hash) => {
    if (hash.startsWith("#!")) {
      const id = /^#!\/\w+\/([^?#]+\.[^?#]+)/.exec(hash)?.[1];
      return id ? `#/details/${encodeURIComponent(known(id))}/` : "#/";
    }
    return hash.replace(
      /^(#\/details\/|#\/lineage\/\?(?:.*&)?uniqueId=)([^/?&#]+)/,
      (_, before, id) => before + encodeURIComponent(known(id)),
    );
  };

  const follow = () => {
    if (graft.classic && location.hash.startsWith("#!")) {
      location.replace(graft.classic + location.hash);
      return;
    }
    const hash = redirected(location.hash);
    if (hash !== location.hash) history.replaceState(history.state, "", hash);
  };

  follow();
  // First in line, so that the page's router sees the redirected address only.
  addEventListener("popstate", follow, true);
  addEventListener("hashchange", follow, true);
})(GRAFT_DATA);
