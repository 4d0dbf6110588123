// @ts-check
// The full text: descriptions, found by Pagefind (catalog/full_text.py). Browsers do not let a page
// that is opened as a file read its index; there, search finds names only.
;(() => {
  "use strict"
  const graft = /** @type {any} */ (globalThis).graft
  const SENTINEL = "graftabout" // behind it are words that are not shown
  const BEFORE = 60, LENGTH = 180, MOST = 60, MOST_PLACES = 200

  /**
   * @typedef {{kind: string, name: string, path: string, platform: string, owner: string,
   *   note: string, excerpt: string}} FoundText
   * @typedef {{texts: number, platforms: [string, string][], owners: [string, string][],
   *   kinds: number[]}} About
   */

  /** @type {About} */
  let about = { texts: 0, platforms: [], owners: [], kinds: [] }
  /** @type {Promise<any> | undefined} */
  let engine

  /** What there is to search, as the build wrote it. @returns {Promise<About>} */
  const known = async () => {
    await graft.load("search/about.js")
    return about
  }

  /** Why texts are not searched here; empty where they are. */
  const reason = async () => {
    if (location.protocol === "file:") return "Descriptions are searched when the site is on a server."
    return (await known()).texts || !about.kinds.length ? "" : "This site was built without a search of descriptions."
  }

  /** Load Pagefind and all parts of its index; it must find its files wherever the site is. */
  const prepare = () => engine ??= (async () => {
    const { texts } = await known()
    const [base, ...parts] = Array.from(
      { length: texts }, (_, part) => new URL(`${graft.root}search/text/${part}/`, location.href))
    const pagefind = await import(new URL("pagefind.js", base).href)
    const options = { baseUrl: "/", excerptLength: 1 }
    await pagefind.options({ ...options, basePath: base.pathname })
    await pagefind.init()
    await Promise.all(parts.map(part => pagefind.mergeIndex(part.pathname, options)))
    return pagefind
  })().catch(error => {
    engine = undefined
    throw error
  })

  /**
   * Whether a page has all words of a query, in some form, and its text at least one of them: names
   * alone are found above. Where a word is nowhere, Pagefind finds what begins like a part of it.
   * @param {string} content @param {string} query
   */
  const answers = (content, query) => {
    const low = graft.names.plain(content), end = low.lastIndexOf(SENTINEL)
    /** @type {string[]} */
    const words = graft.names.words(graft.names.plain(query)).map((/** @type {string} */ word) => word.slice(0, Math.max(3, word.length - 3)))
    const places = words.map(word => low.indexOf(word))
    return places.every(at => at >= 0) && places.some(at => at < end)
  }

  /** Some words around the place where most that was looked for stands. @param {string} content @param {string} query */
  const excerpt = (content, query) => {
    const end = content.lastIndexOf(SENTINEL)
    const text = content.slice(0, end < 0 ? undefined : end).trim().normalize("NFC")
    /** @type {string[]} */
    const words = graft.names.words(graft.names.plain(query))
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|") || "$"})`, "gu")
    /** @type {{0: string, index: number}[]} */
    const places = [...graft.names.plain(text).matchAll(pattern)].slice(0, MOST_PLACES)
    const near = places.map(({ index }) => new Set(places
      .filter(place => place.index >= index && place.index < index + LENGTH - BEFORE).map(place => place[0])).size)
    const first = places.length ? places[near.indexOf(Math.max(...near))].index : 0
    const from = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1
    const to = text.length <= from + LENGTH ? text.length : text.lastIndexOf(" ", from + LENGTH)
    return (from ? "… " : "") + text.slice(from, to > from ? to : from + LENGTH) + (to < text.length ? " …" : "")
  }

  /**
   * The pages whose text has all words of a query, the best ones first.
   * @param {string} query
   * @param {{platform?: string, owner?: string, limit?: number, without?: Set<string>}} [options]
   *   without: paths that are not wanted
   * @returns {Promise<FoundText[]>}
   */
  const find = async (query, { platform, owner, limit = 8, without = new Set() } = {}) => {
    if (await reason() || !about.texts || !query.trim()) return []
    const tokens = [
      ...about.platforms.filter(([name]) => name === platform),
      ...about.owners.filter(([name]) => name === owner),
    ].map(([, token]) => token)
    const pagefind = await prepare()
    // The last word is a beginning, so it must be the query's.
    const { results } = await pagefind.search([...tokens, query].join(" "))
    /** @type {FoundText[]} */
    const found = []
    // Each page is a file: no more of them than are shown, as a rule.
    for (let at = 0; at < MOST && at < results.length && found.length < limit; at += limit) {
      const pages = await Promise.all(
        results.slice(at, at + limit).map((/** @type {any} */ one) => one.data()))
      for (const { meta, content } of pages) {
        const path = meta.path.replace(/\/(?=#|$)/, "/index.html")
        if (without.has(path) || !answers(content, query)) continue
        found.push({
          kind: meta.kind, name: meta.name, path, platform: meta.platform ?? "",
          owner: meta.owner ?? "", note: meta.note ?? "", excerpt: excerpt(content, query),
        })
      }
    }
    return found.slice(0, limit)
  }

  graft.texts = {
    find, known, reason, prepare,
    /** @param {About} written */
    about: written => { about = written },
  }
})()
