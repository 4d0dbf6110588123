// @ts-check
// The global that our scripts share; it comes before all of them.
;(() => {
  "use strict"
  const own = document.currentScript?.getAttribute("src") ?? "scripts/site.js"
  const graft = (/** @type {any} */ (globalThis).graft ??= {})
  /** The relative path from the page to the site's root: `../../`, empty on the home page. */
  graft.root = own.replace(/scripts\/site\.js(\?.*)?$/, "")
})()
