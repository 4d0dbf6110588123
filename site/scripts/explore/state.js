// @ts-check
"use strict"
// What the explorer shows, as the part of the address behind `#`, so that a view can be kept:
// `dataset=spark/raw/orders&up=2&down=2&columns=amount`. What is as usual is left out.
{
  const { explore } = graft
  const DEPTH = 2, DEEPEST = 20
  /** @type {Facet[]} */
  const FACETS = ["platform", "schema", "owner", "tag", "kind", "evidence"]
  /** @type {("tasks" | "control" | "inferred" | "deleted")[]} */
  const SWITCHES = ["tasks", "control", "inferred", "deleted"]

  /** @type {(text: string | null) => string[]} */
  const list = text => (text ?? "").split(",").filter(Boolean).map(one => {
    try {
      return decodeURIComponent(one)
    } catch {
      return one
    }
  })

  /** @type {(text: string | null) => number} */
  const depth = text => {
    const value = Number.parseInt(text ?? "", 10)
    return value >= 0 ? Math.min(value, DEEPEST) : DEPTH
  }

  /** @type {(text: string | null) => string} */
  const day = text => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(Date.parse(text ?? "")) ? text ?? "" : ""

  explore.readState = hash => {
    /** @type {Map<string, string>} */
    const parts = new Map()
    for (const part of hash.replace(/^#/, "").split("&")) {
      const [name, ...value] = part.split("=")
      parts.set(name, value.join("="))
    }
    /** @type {(name: string) => string | null} */
    const get = name => parts.get(name) ?? null
    const [dataset = ""] = list(get("dataset")), [task = ""] = list(get("task"))
    const trimmed = dataset.replace(/^\/*(datasets\/)?/, "").replace(/(\/index\.html|\/)$/, "")
    const fold = get("fold")
    /** @type {any} */
    const filters = {}
    for (const facet of FACETS) filters[facet] = list(get(facet))
    return {
      start: trimmed || (task ? `@${task}` : ""),
      up: depth(get("up")),
      down: depth(get("down")),
      columns: list(get("columns")),
      opened: list(get("open")),
      unfolded: list(get("unfold")),
      views: list(get("views")),
      hidden: list(get("hide")),
      path: list(get("path")).slice(0, 2),
      tasks: get("tasks") !== "0",
      control: get("control") !== "0",
      inferred: get("inferred") !== "0",
      deleted: get("deleted") === "1",
      date: day(get("date")),
      fold: fold === "schema" || fold === "owner" || fold === "nothing" ? fold : "",
      filters,
    }
  }

  explore.writeState = state => {
    /** @type {string[]} */
    const parts = []
    /** @type {(text: string) => string} */
    const escaped = text => encodeURIComponent(text).replace(/%2F/g, "/").replace(/%40/g, "@")
    /** @type {(name: string, values: string[]) => void} */
    const add = (name, values) => {
      if (values.length) parts.push(`${name}=${values.map(escaped).join(",")}`)
    }
    if (state.start.startsWith("@")) add("task", [state.start.slice(1)])
    else if (state.start) add("dataset", [state.start])
    if (state.start) parts.push(`up=${state.up}`, `down=${state.down}`)
    add("columns", state.columns)
    add("open", state.opened)
    add("unfold", state.unfolded)
    add("views", state.views)
    add("hide", state.hidden)
    add("path", state.path)
    for (const name of SWITCHES) {
      if (state[name] === (name === "deleted")) parts.push(`${name}=${Number(state[name])}`)
    }
    add("date", state.date ? [state.date] : [])
    add("fold", state.fold ? [state.fold] : [])
    for (const facet of FACETS) add(facet, state.filters[facet])
    return parts.length ? `#${parts.join("&")}` : ""
  }

  explore.litBy = state => {
    const [id, slug] = /^(?:(.*):)?([^:]*)$/.exec(state.columns[0] ?? "")?.slice(1) ?? []
    return slug ? { id: id || state.start, slug } : null
  }

  // What a state has come to, in words.
  explore.message = (state, unfiltered, view, look, fresh) => {
    const as = state.date && explore.days ? ` as of ${explore.dateInWords(state.date)}` : ""
    /** @type {(text: string) => {text: string, missing: boolean}} */
    const missing = text => ({ text, missing: true })
    if (as && !view.boxes.size) return missing(`Nothing of this was there${as}.`)
    if (state.start && !unfiltered.boxes.has(state.start)) return missing(`No table or task is called ${state.start.replace(/^@/, "")}.`)
    if (state.columns.length && !look.lit) return missing(`No box here has the column ${state.columns[0].replace(/^.*:/, "")}.`)
    if (view.way && !view.way.size) return missing("There is no path between the two.")
    return { text: countOf(state, view, fresh, as), missing: false }
  }

  /** @type {(number: number, noun: string, nouns: string) => string} */
  const counted = (number, noun, nouns) => `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`

  /** @type {(state: State, view: View, fresh: number, as: string) => string} */
  const countOf = (state, view, fresh, as) => {
    const { size } = view.boxes
    if (view.cut) return `${size} boxes${as}: more do not fit. Open single ones with their +.`
    const schemas = [...view.boxes.values()].filter(one => one.folder).length, news = fresh ? `, ${fresh.toLocaleString("en")} new` : ""
    if (!schemas) return `${counted(size, "box", "boxes")}${news}${as}${view.opened.length ? ", without tasks: View and Fold show more." : ""}`
    const boxes = size > schemas ? `${counted(size - schemas, "box", "boxes")}${news} and ` : ""
    return `${boxes}${counted(schemas, "schema", "schemas")}${as}: a double click opens a schema, View and Fold show more.`
  }
}
