// @ts-check
"use strict"
// Places of boxes. All of a view is laid out when it is new or tidied up; else what is on the
// screen stays where it is, and new boxes are placed around their neighbours.
{
  const { explore } = graft
  const HEADER = 42

  /** @type {Sizes} */
  const SIZES = { width: 172, widest: 420, room: 1e9, height: HEADER, across: 56, between: 14, lane: 12 }
  explore.SIZES = SIZES

  /** @type {(view: View) => Scene} */
  const laidOut = view => {
    const ids = [...view.boxes.keys()].sort()
    const edges = view.arrows.map(({ source, target }) => /** @type {[string, string]} */ ([source, target]))
    edges.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] < b[1] ? -1 : 1)
    const wanted = new Map([...view.boxes].map(([id, shown]) => [id, shown.wanted]))
    const found = explore.layout(ids, edges, SIZES, wanted)
    const places = new Map(ids.map(id => [id, {
      .../** @type {Point} */ (found.corners.get(id)), width: found.widths.get(id) ?? SIZES.width,
    }]))
    return { view, places: columnsOfAlone(view, places), routes: found.routes }
  }

  // Boxes without arrows would make one endless column: they stand in a grid below the others.
  /** @type {(view: View, places: Map<string, Placed>) => Map<string, Placed>} */
  const columnsOfAlone = (view, places) => {
    const linked = new Set(view.arrows.flatMap(arrow => [arrow.source, arrow.target]))
    const alone = [...places.keys()].filter(id => !linked.has(id))
    if (alone.length < 4) return places
    let top = 0, right = 0
    for (const [id, place] of places) {
      if (linked.has(id)) {
        top = Math.max(top, place.y + HEADER + 3 * SIZES.between)
        right = Math.max(right, place.x + place.width)
      }
    }
    const width = Math.max(...alone.map(id => places.get(id)?.width ?? 0))
    const across = Math.max(3, Math.floor(right / (width + SIZES.between)), Math.ceil(Math.sqrt(alone.length / 4)))
    alone.forEach((id, at) => places.set(id, {
      x: (at % across) * (width + SIZES.between), y: top + Math.floor(at / across) * (HEADER + SIZES.between), width,
    }))
    return places
  }

  /** @type {(view: View) => Scene} */
  const fixed = view => ({ view, places: new Map(view.fixed ?? []), routes: new Map() })

  /** @type {(view: View, places: Map<string, Placed>) => void} */
  const placeAround = (view, places) => {
    /** @type {Map<string, string[]>} */
    const parents = new Map(), children = new Map()
    for (const { source, target } of view.arrows) {
      parents.set(target, [...parents.get(target) ?? [], source])
      children.set(source, [...children.get(source) ?? [], target])
    }
    /** @type {(ids: string[] | undefined) => Placed[]} */
    const placed = ids => (ids ?? []).flatMap(id => places.get(id) ?? [])
    let waiting = [...view.boxes.keys()].filter(id => !places.has(id))
    while (waiting.length) {
      /** @type {Map<string, {id: string, x: number, y: number, width: number}[]>} boxes of a round by column */
      const round = new Map()
      for (const id of waiting) {
        const left = placed(parents.get(id)), right = placed(children.get(id))
        if (!left.length && !right.length) continue
        const width = Math.min(Math.max(view.boxes.get(id)?.wanted ?? 0, 110), SIZES.widest)
        const x = left.length ? column(places, Math.max(...left.map(one => one.x + one.width)), width, 1)
          : column(places, Math.min(...right.map(one => one.x)), width, -1)
        const beside = left.length ? left : right
        const y = beside.reduce((sum, one) => sum + one.y, 0) / beside.length
        const key = `${x} ${Math.round(y)}`
        round.set(key, [...round.get(key) ?? [], { id, x, y, width }])
      }
      if (!round.size) {
        // Nothing that is placed is next to the rest.
        const below = [...places.values()].reduce((most, one) => Math.max(most, one.y + HEADER), 0)
        waiting.forEach((id, at) => places.set(id, {
          x: 0, y: below + (at + 2) * (HEADER + SIZES.between), width: Math.min(view.boxes.get(id)?.wanted ?? 0, SIZES.widest),
        }))
        return
      }
      for (const boxes of round.values()) {
        boxes.forEach(({ id, x, y, width }, at) => {
          const wanted = y + (at - (boxes.length - 1) / 2) * (HEADER + SIZES.between)
          places.set(id, { x, y: free(view, places, x, width, wanted), width })
        })
      }
      waiting = waiting.filter(id => !places.has(id))
    }
  }

  /** The left side of a column beside a line, that of boxes that are there if there are any.
   * @type {(places: Map<string, Placed>, edge: number, width: number, side: 1 | -1) => number} */
  const column = (places, edge, width, side) => {
    const wanted = side > 0 ? edge + SIZES.across : edge - SIZES.across - width
    let best = wanted, distance = 100
    for (const place of places.values()) {
      const there = side > 0 ? place.x >= edge + 20 : place.x + width <= edge - 20
      const apart = Math.abs(place.x - wanted)
      if (there && apart < distance) [best, distance] = [place.x, apart]
    }
    return best
  }

  /** The height nearest to the wanted one at which nothing is overlapped.
   * @type {(view: View, places: Map<string, Placed>, x: number, width: number, wanted: number) => number} */
  const free = (view, places, x, width, wanted) => {
    const step = HEADER + SIZES.between
    const taken = [...places].filter(([id, one]) =>
      view.boxes.has(id) && one.x < x + width + 12 && x - 12 < one.x + one.width).map(([, one]) => one.y)
    const fits = (/** @type {number} */ y) => taken.every(one => Math.abs(one - y) >= step - .01)
    if (fits(wanted)) return wanted
    const near = taken.flatMap(one => [one - step, one + step]).filter(fits)
    return near.reduce((best, y) => Math.abs(y - wanted) < Math.abs(best - wanted) ? y : best, near[0])
  }

  explore.placed = (view, old, tidy) => {
    const isNew = !old || ![...view.boxes.keys()].some(id => old.places.has(id))
    if (view.fixed && (isNew || tidy)) return fixed(view)
    if (isNew || tidy) return laidOut(view)
    /** @type {Map<string, Placed>} */
    const places = new Map()
    for (const id of view.boxes.keys()) {
      const place = old.view.boxes.has(id) ? old.places.get(id) : undefined
      if (place) places.set(id, place)
    }
    // A box that was hidden comes back to where it was, if nothing is there now.
    for (const id of view.boxes.keys()) {
      const place = old.places.get(id)
      if (!places.has(id) && place && free(view, places, place.x, place.width, place.y) === place.y) places.set(id, place)
    }
    placeAround(view, places)
    for (const [id, place] of old.places) if (!places.has(id)) places.set(id, place)
    return { view, places, routes: stillThere(view, old, places) }
  }

  /** Routes of arrows whose boxes have not moved since.
   * @type {(view: View, old: Scene, places: Map<string, Placed>) => Map<string, Point[]>} */
  const stillThere = (view, old, places) => {
    const found = new Map()
    for (const { source, target } of view.arrows) {
      const key = `${source} ${target}`, route = old.routes.get(key)
      if (route && old.places.get(source) === places.get(source) && old.places.get(target) === places.get(target)) found.set(key, route)
    }
    return found
  }

  explore.shift = (scene, open, x, y, right = x) => {
    let pixels = 0
    for (const [id, height] of open) {
      const box = scene.places.get(id)
      if (box && box.x <= right + 1 && x - 1 <= box.x + box.width && y >= box.y + HEADER) pixels += height
    }
    return pixels
  }

  explore.curve = route => route.map(({ x, y }, at) => {
    if (!at) return `M${x} ${y}`
    if (at % 2 === 0) return `H${x}`
    const before = route[at - 1]
    // An arrow that leads back leaves to the right, too.
    const bend = x >= before.x ? (x - before.x) / 2 : 60
    return `C${before.x + bend} ${before.y} ${x - bend} ${y} ${x} ${y}`
  }).join("")
}
