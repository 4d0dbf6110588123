// @ts-check
"use strict"
// The way of a column through the boxes that are shown.
{
  const { explore } = graft
  const DIRECT = 3, INFERRED = 16

  explore.lineStyle = kind =>
    (kind & 15) >= DIRECT ? "indirect" : kind & INFERRED ? "inferred" : "direct"

  // What only decides on rows is followed one step: beyond it, every column would light every filter.
  explore.columnWay = (lit, view, data) => {
    /** @type {Map<string, ColumnLine[]>} */
    const into = new Map(), outOf = new Map()
    for (const id of view.boxes.keys()) {
      for (const one of data.loadedColumns(id)?.sources ?? []) {
        if (!view.boxes.has(one.source)) continue
        const line = {
          source: one.source, from: one.from, target: id, own: one.own, kind: one.kind,
          task: view.boxes.has(one.task) ? one.task : "",
        }
        const target = `${id} ${one.own}`, source = `${one.source} ${one.from}`
        into.set(target, [...into.get(target) ?? [], line])
        outOf.set(source, [...outOf.get(source) ?? [], line])
      }
    }
    const start = `${lit.id} ${lit.slug}`
    /** @type {Set<ColumnLine>} */
    const lines = new Set()
    for (const side of ["up", "down"]) {
      const seen = new Set([start])
      for (const key of seen) {
        for (const line of (side === "up" ? into : outOf).get(key) ?? []) {
          if (explore.lineStyle(line.kind) === "indirect") continue
          lines.add(line)
          const next = side === "up" ? line.from && `${line.source} ${line.from}` : line.own && `${line.target} ${line.own}`
          if (next) seen.add(next)
        }
      }
    }
    for (const near of [into.get(start), outOf.get(start), into.get(`${lit.id} `)]) {
      for (const line of near ?? []) lines.add(line)
    }
    /** @type {Map<string, Set<string>>} */
    const columns = new Map([[lit.id, new Set([lit.slug])]])
    /** @type {(id: string, slug: string) => void} */
    const add = (id, slug) => {
      if (!columns.has(id)) columns.set(id, new Set())
      if (slug) columns.get(id)?.add(slug)
    }
    for (const line of lines) {
      add(line.source, line.from)
      add(line.target, line.own)
      if (line.task) add(line.task, "")
    }
    return { lines: [...lines], columns }
  }
}
