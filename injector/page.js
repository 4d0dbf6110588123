// Runs before dbt's own script. The argument at the end is filled in by injector/docs.py:
// home: address of the catalog; whole: address of the page of all nodes, if this one has some of
// them; pages: unique_id -> [name, address];
// redirects: promoted source's id -> model's id.
((graft) => {
  "use strict";
  const own = (map, key) => (Object.hasOwn(map, key) ? map[key] : undefined);

  // The manifest with what injector/slim.py leaves out because it only repeats a key, and with the
  // names that models had as sources, for the selector `source:`.
  window.graftComplete = (manifest) => {
    for (const [source, model] of Object.entries(graft.redirects)) {
      const [, , group, ...table] = source.split(".");
      (manifest.nodes[model] ?? {}).former_sources ??= [];
      manifest.nodes[model]?.former_sources.push([group, table.join(".")]);
    }
    for (const [id, node] of Object.entries({ ...manifest.nodes, ...manifest.sources })) {
      node.unique_id ??= id;
      for (const [name, column] of Object.entries(node.columns ?? {})) {
        if (column && typeof column === "object" && !("name" in column)) {
          Object.assign(column, { name, meta: {} });
        }
      }
    }
    return manifest;
  };

  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  // A text in which Markdown is no markup: links as their texts.
  Object.defineProperty(String.prototype, "graftPlain", {
    value() {
      const words = this.replace(/\[([^\]]*)\]\([^()\s]*\)/g, "$1").replaceAll("`", "");
      return words.replace(/\\([\\*[\]!|<>~&$_])/g, "$1");
    },
  });

  const redirected = (hash) =>
    hash.replace(/^#!\/source\/([^?#]+)/, (all, id) => {
      const model = own(graft.redirects, decoded(id));
      return model ? `#!/model/${model}` : all;
    });

  const showLinks = () => {
    const box = document.getElementById("graft-links");
    const shown = /^#!\/\w+\/([^?#]+)/.exec(location.hash);
    const page = shown && own(graft.pages, decoded(shown[1]));
    if (!box) return;
    box.querySelector(".graft-page")?.remove();
    if (page) {
      const link = document.createElement("a");
      link.className = "graft-page";
      [link.textContent, link.href] = page;
      link.title = "This page in the catalog";
      box.append(link);
    }
  };

  const follow = () => {
    const hash = redirected(location.hash);
    if (hash !== location.hash) history.replaceState(null, "", hash);
    showLinks();
    leadToWhole();
  };

  // A node that is not on this page is on the page of all nodes. Links to that page lead to the
  // node that is shown.
  const leadToWhole = () => {
    const data = document.getElementById("graft-manifest");
    const shown = /^#!\/\w+\/([^?#]+\.[^?#]+)/.exec(location.hash);
    if (!graft.whole || !data) return;
    for (const link of document.querySelectorAll("#graft-links li:first-child a")) {
      link.href = graft.whole + location.hash;
    }
    if (shown && !data.textContent.includes(`${JSON.stringify(decoded(shown[1]))}:`)) {
      const whole = graft.whole + location.hash;
      // dbt's script goes on until the other page is there, and fails without the node.
      history.replaceState(null, "", "#!/overview");
      location.replace(whole);
    }
  };

  follow();
  // First in line, so that dbt's router sees the redirected address only.
  addEventListener("popstate", follow, true);
  addEventListener("hashchange", follow, true);
  // On the document, whose listeners run before those of the window: before dbt's script starts.
  document.addEventListener("DOMContentLoaded", follow);

  // Opened as a file, a folder's address shows a listing instead of its page.
  if (location.protocol === "file:") {
    addEventListener(
      "click",
      (event) => {
        const link = event.target.closest?.("a[href]");
        if (link?.protocol === "file:" && link.pathname.endsWith("/")) {
          link.pathname += "index.html";
        }
      },
      true,
    );
  }
})(GRAFT_DATA);
