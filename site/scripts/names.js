// @ts-check
// The name index (catalog/name_index.py): names by their beginning, from shards that script
// elements load, so that it works in pages opened as files too.
;(() => {
  "use strict"
  const graft = /** @type {any} */ (globalThis).graft
  const KINDS = ["dataset", "column", "task", "tag", "owner", "dbt", "dbt", "dataset"]
  const TEST = 6, OTHER = 7 // have no key for the words inside
  const KEY = 32, MOST_SHARDS = 6
  const FEW_SHARDS = 24 // all of them are looked through for names that are nearly the same

  /**
   * @typedef {{kind: string, name: string, path: string, platform: string, owner: string,
   *   platforms: string[], owners: string[], note: string, rank: number}} Found
   * @typedef {{rows: any[][], omitted: number[] | null}} Shard
   * @typedef {{kind?: string, platform?: string, owner?: string, limit?: number}} Options
   */

  /** @type {Map<string, Shard>} */
  const shards = new Map()
  /** @type {string[]} The prefixes of shards: those that hold all of their names, those split. */
  let full = [], split = /** @type {string[]} */ ([])

  /** The words of a name, folded. @param {string} name @returns {string[]} */
  const words = name => {
    const apart = name.normalize("NFKC")
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).map(word => word.toLowerCase())
  }

  /**
   * Without accents and capitals; each character in its place, so that what is found in it can be
   * cut out of the text in its composed form (NFC).
   * @param {string} text
   */
  const plain = text => text.normalize("NFC").replace(/[A-Z]|[^\0-\x7f]/gu, char => {
    const simple = char.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    return simple.length === char.length ? simple : char
  })

  /** A name without borders of words. @param {string} name */
  const folded = name => words(name).join("") || name.toLowerCase().replace(/\s+/g, "")

  /** What is left of a name from each of its words on, folded. @param {string} name */
  const endings = name => {
    const parts = words(name)
    return parts.length ? parts.map((_, at) => parts.slice(at).join("")) : [folded(name)]
  }

  /** @param {string} text */
  const key = text => [...text].slice(0, KEY).join("")

  /** @param {string} file @returns {Promise<void>} */
  const load = file => graft.load(`search/names/${file}`)

  /** @param {string} prefix */
  const file = prefix => {
    const safe = [...prefix].map(char =>
      /[a-z0-9]/.test(char) ? char : `_${/** @type {number} */ (char.codePointAt(0)).toString(16)}_`)
    return `n-${safe.join("")}.js`
  }

  /** The shards that can hold names with a key, the best ones first. @param {string} wanted */
  const places = wanted => {
    const longer = [...split, ...full].filter(prefix => prefix.startsWith(wanted))
    if (longer.length) return longer.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    return full.filter(prefix => wanted.startsWith(prefix))
  }

  /**
   * How well a name answers a query: 0 at best, -1 not at all.
   * @param {string} name @param {string} query folded @param {string[]} tokens folded
   */
  const rank = (name, query, tokens) => {
    const all = endings(name)
    const own = folded(name.split(/[./\\]/).filter(Boolean).pop() ?? name)
    if (all[0] === query) return 0
    if (own === query) return 1
    if (own.startsWith(query)) return 2
    if (all[0].startsWith(query)) return 3
    if (all.some(one => one.startsWith(query))) return 4
    return tokens.every(token => all.some(one => one.startsWith(token))) ? 5 : -1
  }

  /** @param {any[]} row @param {number} rank @returns {Found} */
  const found = ([kind, name, path, platforms = [], owners = [], note = ""], rank) => ({
    kind: KINDS[kind], name, path: path.replace(/\/(?=#|$)/, "/index.html"),
    platform: platforms.join(", "), owner: owners.join(", "), platforms, owners, note, rank,
  })

  /** The best results first. @param {Found} a @param {Found} b */
  const order = (a, b) =>
    a.rank - b.rank || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
    a.name.length - b.name.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

  /**
   * The names that begin with a query, or have a word inside that does; the best ones first. Other
   * names of datasets count where their own do not.
   * @param {string} query
   * @param {Options} [options]
   * @returns {Promise<Found[]>}
   */
  const find = async (query, { kind, platform, owner, limit = 20 } = {}) => {
    const tokens = query.trim().split(/\s+/).map(folded).filter(Boolean)
    const joined = folded(query)
    if (!joined) return []
    await load("index.js")
    const wantedKind = (/** @type {number} */ number) => !kind || KINDS[number] === kind
    /** @type {Map<string, Found>} */
    const results = new Map()
    /** @type {Map<string, Found>} */
    const others = new Map()
    const last = folded(query.trim().split(/[.\s/\\]/).pop() ?? "")
    const longest = tokens.reduce((a, b) => (b.length > a.length ? b : a))
    // A name whose words are in another order, and one whose key is too short to tell it.
    const wanted = new Set([joined, longest, ...(last ? [last] : [])].map(key))
    for (const one of wanted) {
      // Other names have a key for their last part alone.
      if (one === key(last) && joined.length <= KEY && results.size) continue
      for (const [at, prefix] of places(one).entries()) {
        if (at === MOST_SHARDS) break
        await load(file(prefix))
        const shard = shards.get(prefix)
        if (!shard) break
        for (const row of shard.rows) {
          if (!wantedKind(row[0])) continue
          if (platform && !row[3]?.includes(platform)) continue
          if (owner && !row[4]?.includes(owner)) continue
          const id = `${row[0]} ${row[2]} ${row[1]}`
          if (results.has(id) || others.has(id)) continue
          const ranked = rank(row[1], joined, tokens)
          if (row[0] === TEST && !folded(row[1]).startsWith(joined)) continue
          if (row[0] === OTHER && ranked > 2 && !endings(row[1]).includes(joined)) continue
          if (ranked >= 0) (row[0] === OTHER ? others : results).set(id, found(row, ranked))
        }
        const more = shard.omitted?.some((count, of) => count && wantedKind(of))
        if (results.size >= limit || !more) break
      }
    }
    const paths = new Set([...results.values()].map(({ path }) => path))
    const unnamed = [...others.values()].filter(({ path }) => !paths.has(path))
    return [...results.values(), ...unnamed].sort(order).slice(0, limit)
  }

  /**
   * The typing errors that make a name of a text, or the beginning of one: a letter too many, too
   * few, another, or two changed over. More than the most are one more.
   * @param {string} text @param {string} name @param {number} most
   */
  const errors = (text, name, most) => {
    const end = Math.min(name.length, text.length + most)
    let before = /** @type {number[]} */ ([]), row = Array.from({ length: end + 1 }, (_, at) => at)
    for (let i = 1; i <= text.length; i++) {
      const next = [i]
      for (let j = 1; j <= end; j++) {
        const same = text[i - 1] === name[j - 1]
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1))
        if (i > 1 && j > 1 && text[i - 1] === name[j - 2] && text[i - 2] === name[j - 1]) {
          next[j] = Math.min(next[j], before[j - 2] + 1)
        }
      }
      if (Math.min(...next) > most) return most + 1
      before = row
      row = next
    }
    return Math.min(...row)
  }

  /** The shards with names that a text may stand for, with an error in its first letters too. @param {string[]} texts */
  const nearPlaces = texts => {
    if (split.length + full.length <= FEW_SHARDS) return [...split, ...full]
    const starts = texts.flatMap(([a, b, c]) => [a + b, a + c, b + a, b + c])
    return [...new Set(starts.flatMap(start => places(start).slice(0, MOST_SHARDS)))]
  }

  /**
   * The names that a query with typing errors may stand for, the nearest ones first: one error in
   * four letters, two in eight.
   * @param {string} query @param {number} limit @returns {Promise<Found[]>}
   */
  const near = async (query, limit) => {
    const most = (/** @type {string} */ text) => (text.length < 4 ? 0 : text.length < 8 ? 1 : 2)
    const last = folded(query.trim().split(/[.\s/\\]/).filter(Boolean).pop() ?? "")
    const texts = [...new Set([folded(query), last])].filter(text => most(text))
    if (!texts.length) return []
    await load("index.js")
    /** @type {Map<string, Found>} */
    const results = new Map()
    for (const prefix of nearPlaces(texts)) {
      await load(file(prefix))
      for (const row of shards.get(prefix)?.rows ?? []) {
        if (row[0] === TEST || row[0] === OTHER) continue
        const parts = endings(row[1])
        for (const text of texts) {
          const least = Math.min(...parts.map(part => errors(text, part, most(text))))
          const longer = parts.every(part => Math.abs(part.length - text.length) > most(text))
          const id = `${row[0]} ${row[2]}`, rank = 4 * least + (longer ? 2 : 0) + (text === texts[0] ? 0 : 1)
          if (least <= most(text) && rank < (results.get(id)?.rank ?? Infinity)) results.set(id, found(row, rank))
        }
      }
    }
    return [...results.values()].sort(order).slice(0, limit)
  }

  graft.names = {
    find, near, words, plain,
    /** Load the list of shards ahead of the first query. */
    prepare: () => load("index.js"),
    /** @param {string[]} ofAll @param {string[]} ofSome */
    list: (ofAll, ofSome) => { full = ofAll; split = ofSome },
    /** @param {string} prefix @param {number[] | null} omitted @param {any[][]} rows */
    add: (prefix, omitted, rows) => shards.set(prefix, { rows, omitted }),
  }
})()
