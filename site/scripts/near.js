// @ts-check
// Pages whose names are like one that is not there: below `data-graft-near`, which holds the name,
// or else like the address.
;(() => {
  "use strict"
  const graft = /** @type {any} */ (globalThis).graft
  const { create } = graft.results
  const SHOWN = 6

  /** The name in an address: `orders` of `/docs/datasets/spark/raw/orders/index.html`. */
  const fromAddress = () => {
    const parts = location.pathname.replace(/index\.html$/, "").split("/").filter(Boolean)
    try {
      return decodeURIComponent(parts.pop() ?? "")
    } catch {
      return ""
    }
  }

  /** @param {HTMLElement} place */
  const fill = async place => {
    const name = place.dataset.graftNear || fromAddress()
    const same = await graft.names.find(name, { limit: SHOWN })
    const results = same.length ? same : await graft.names.near(name, SHOWN)
    if (!results.length) return
    place.append(create("p", {}, "Pages with a name like this one:"), create("ul", {}, ...results.map(
      (/** @type {{name: string, path: string, kind: string, note: string}} */ { name, path, kind, note }) =>
        create("li", {}, create("a", { href: graft.root + path }, name), ` ${[kind, note].filter(Boolean).join(" · ")}`))))
  }

  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-graft-near]"))) {
    fill(place).catch(() => {}) // without the index, the page is as it was
  }
})()
