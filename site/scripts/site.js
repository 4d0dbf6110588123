// @ts-check
// The global that our scripts share; it comes before all of them.
;(() => {
  "use strict"
  const own = document.currentScript?.getAttribute("src") ?? "scripts/site.js"
  const graft = (/** @type {any} */ (globalThis).graft ??= {})
  /** The relative path from the page to the site's root: `../../`, empty on the home page. */
  graft.root = own.replace(/scripts\/site\.[^/]*$/, "")

  // The address that a person copies is the permanent one, that of the page's folder. Links name the
  // file, since not each server has the folder's; one with the site's own address has.
  const canonical = /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel="canonical"]'))
  const path = canonical && new URL(canonical.href).pathname
  if (path && location.pathname === `${path}index.html`) {
    history.replaceState(history.state, "", path + location.search + location.hash)
  }

  /** @type {Map<string, Promise<void>>} */
  const loading = new Map()

  /**
   * Load a classic script of the site, once; pages opened as files may do that, too.
   * @param {string} path relative to the site's root
   * @returns {Promise<void>}
   */
  graft.load = path => {
    let found = loading.get(path)
    if (!found) {
      found = new Promise((resolve, reject) => {
        const script = document.createElement("script")
        script.src = graft.root + path
        script.onload = () => resolve()
        script.onerror = () => {
          loading.delete(path) // the next one tries again
          script.remove()
          reject(new Error(`${path} cannot be loaded`))
        }
        document.head.append(script)
      })
      loading.set(path, found)
    }
    return found
  }
})()
