// @ts-check
"use strict"
// Fewer boxes: those that filters choose, and one box for all of a schema or an owner.
{
  const { explore } = graft
  /** @type {Exclude<Facet, "evidence">[]} */
  const FACETS = ["platform", "schema", "owner", "tag", "kind"]

  /** @type {(box: Box, facet: Facet) => string[]} */
  const values = (box, facet) => {
    const isTask = box.id.startsWith("@")
    switch (facet) {
      case "platform": return isTask ? [] : [box.platform]
      case "schema": return [box.place].filter(Boolean)
      case "owner": return [box.owner].filter(Boolean)
      case "tag": return box.tags
      case "kind": return [box.sort]
      default: return []
    }
  }

  explore.facets = view => {
    /** @type {any} */
    const found = {}
    for (const facet of FACETS) {
      /** @type {Map<string, number>} */
      const counts = new Map()
      for (const { box } of view.boxes.values()) {
        for (const value of box ? values(box, facet) : []) counts.set(value, (counts.get(value) ?? 0) + 1)
      }
      found[facet] = new Map([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)))
    }
    const evidence = explore.EVIDENCE.map((name, at) =>
      [name, view.arrows.filter(arrow => (arrow.flags & 3) === at).length])
    found.evidence = new Map(/** @type {[string, number][]} */ (evidence.filter(([, count]) => count)))
    return found
  }

  explore.filtered = (view, state) => {
    const chosen = FACETS.filter(facet => state.filters[facet].length)
    if (!chosen.length) return view
    const boxes = new Map([...view.boxes].filter(([id, { box }]) => id === state.start || !box
      // A task has no platform or schema of its own: what it carries decides.
      || chosen.every(facet => box.id.startsWith("@") && (facet === "platform" || facet === "schema")
        || values(box, facet).some(value => state.filters[facet].includes(value)))))
    const arrows = view.arrows.filter(arrow => boxes.has(arrow.source) && boxes.has(arrow.target))
    const linked = new Set(arrows.flatMap(arrow => [arrow.source, arrow.target]))
    for (const id of boxes.keys()) {
      if (id.startsWith("@") && id !== state.start && !linked.has(id)) boxes.delete(id)
    }
    return { ...view, boxes, arrows }
  }

  explore.folded = (view, state) => {
    if (state.fold !== "schema" && state.fold !== "owner") return view
    /** @type {Map<string, string>} */
    const group = new Map()
    /** @type {Map<string, Shown[]>} */
    const members = new Map()
    for (const shown of view.boxes.values()) {
      const { box } = shown
      const name = box && (state.fold === "owner" ? box.owner : box.place && `${box.platform} · ${box.place}`)
      const id = `${state.fold}:${encodeURIComponent(name ?? "")}`
      if (!name || shown.id === state.start || state.opened.includes(id)) continue
      group.set(shown.id, id)
      members.set(id, [...members.get(id) ?? [], shown])
    }
    /** @type {(id: string) => string} */
    const drawn = id => {
      const own = group.get(id)
      // A group of one is that box.
      return own && (members.get(own) ?? []).length > 1 ? own : id
    }
    /** @type {Map<string, Shown>} */
    const boxes = new Map()
    for (const shown of view.boxes.values()) {
      const id = drawn(shown.id)
      if (id === shown.id) boxes.set(id, shown)
      else if (!boxes.has(id)) boxes.set(id, folder(id, members.get(id) ?? [], state.fold))
    }
    /** @type {Map<string, Arrow>} */
    const arrows = new Map()
    for (const arrow of view.arrows) {
      const [source, target] = [drawn(arrow.source), drawn(arrow.target)]
      if (source === target) continue
      const key = `${source} ${target}`, same = arrows.get(key)
      if (!same) arrows.set(key, { ...arrow, source, target })
      // The strongest evidence counts, and what one of them carries.
      else same.flags = Math.min(same.flags & 3, arrow.flags & 3) | (same.flags & arrow.flags & ~3)
    }
    return { ...view, boxes, arrows: [...arrows.values()] }
  }

  /** @type {(id: string, found: Shown[], by: string) => Shown} */
  const folder = (id, found, by) => {
    const name = by === "owner" ? found[0].box?.owner : found[0].box?.place
    const note = [by === "owner" ? "" : found[0].box?.platform, `${found.length} boxes`].filter(Boolean).join(" · ")
    return {
      id, name: name ?? "", note, shape: "more", title: `${name} (${note})`,
      wanted: Math.max(110, 7.2 * Math.max((name ?? "").length, note.length) + 48),
      failed: found.some(one => one.failed), gone: false, up: 0, down: 0,
      box: null, members: found.map(one => one.id), folder: null,
    }
  }
}
