// @ts-check
"use strict"
// Views that only pass a table on are other names of it: boxes of their own when one asks for them.
{
  const { explore } = graft
  const DEFINITION = 16
  const NOTE = "view that passes all rows on"

  explore.withViews = (view, state) => {
    const boxes = new Map(view.boxes), arrows = [...view.arrows]
    for (const id of state.views) {
      const table = view.boxes.get(id)
      for (const [at, name] of (table?.box?.views ?? []).entries()) {
        const own = `${id}|${at}`
        boxes.set(own, {
          id: own, name, note: NOTE, shape: "view", title: `${name} (${NOTE})`,
          wanted: Math.max(110, 7.2 * Math.max(name.length, NOTE.length) + 48),
          failed: false, gone: Boolean(table?.gone), up: 0, down: 0, box: null, members: [], folder: null, of: id,
        })
        arrows.push({ source: id, target: own, flags: DEFINITION, both: false })
      }
    }
    return { ...view, boxes, arrows }
  }
}
