// @ts-check
"use strict"
// The columns that a box unfolds to.
{
  const { explore } = graft
  const { svg } = explore
  const HEADER = 42, ROW = 18, PAD = 4, FOOT = 10, BEFORE = 12
  // A list is wider than its box where names need it, as far as the next layer.
  const LETTER = 6.7, BESIDE = 40
  // Longer lists end in a link to the page. What is lit is always among the rows.
  const MOST = 50

  /** The columns that have rows.
   * @type {(id: string, look: Look) => ColumnName[]} */
  const listed = (id, look) => {
    const names = look.columns.get(id)?.names ?? [], lit = look.way?.columns.get(id)
    if (names.length <= MOST || !lit) return names.slice(0, MOST)
    return [...names.filter(one => lit.has(one.slug)), ...names.filter(one => !lit.has(one.slug))].slice(0, MOST)
  }

  // The height of each unfolded list.
  explore.openHeights = (view, state, look) => {
    const found = new Map()
    for (const id of state.unfolded) {
      const columns = look.columns.get(id)
      if (!view.boxes.has(id) || !columns) continue
      const rows = Math.min(columns.names.length, MOST) + Number(columns.names.length > MOST || !columns.names.length)
      found.set(id, PAD + ROW * rows + FOOT)
    }
    return found
  }

  explore.columnRows = (shown, columns, look, box, fonts) => {
    const names = listed(shown.id, look)
    const longest = Math.max(0, ...names.map(({ name }) => name.length))
    const width = Math.max(box, Math.min(box + BESIDE, LETTER * longest + 2 * BEFORE)), all = columns?.names.length ?? 0
    const lit = look.way?.columns.get(shown.id)
    const mono = getComputedStyle(document.body).getPropertyValue("--md-code-font-family") || "monospace"
    /** @type {(at: number, text: string, attributes: Record<string, string | number>) => SVGElement} */
    const row = (at, text, attributes) => svg("g", { ...attributes, transform: `translate(0 ${HEADER + PAD + ROW * at})` },
      svg("title", {}, text), svg("rect", { x: 3, width: width - 6, height: ROW, rx: 3 }),
      svg("text", { x: BEFORE, y: 13 }, explore.shortened(text, width - 2 * BEFORE, `11px ${mono}`)))
    const rows = names.map(({ name, slug }, at) => row(at, name, {
      class: `graft-column${lit?.has(slug) ? " graft-column--lit" : ""}`, role: "button", tabindex: 0,
      "data-act": "column", "data-id": shown.id, "data-column": slug, "aria-pressed": String(lit?.has(slug) ?? false),
    }))
    if (all > MOST) rows.push(row(MOST, `+${all - MOST} more`, { class: "graft-column graft-column--more" }))
    if (!all) rows.push(row(0, "No columns known", { class: "graft-column graft-column--more" }))
    const height = PAD + ROW * rows.length + FOOT
    return svg("g", { class: "graft-unfolded" },
      svg("rect", { class: "graft-unfolded__shape", y: HEADER - FOOT, width, height: height + FOOT, rx: 4 }), ...rows)
  }

  // The height at which the line of a column meets its box.
  explore.rowMiddle = (scene, open, look, id, slug) => {
    const place = /** @type {Placed} */ (scene.places.get(id))
    const top = place.y + explore.shift(scene, open, place.x, place.y, place.x + place.width)
    const at = open.has(id) && slug ? listed(id, look).findIndex(one => one.slug === slug) : -1
    return at < 0 ? top + HEADER / 2 : top + HEADER + PAD + ROW * (at + .5)
  }
}
