// @ts-check
"use strict"
// The drawing: boxes and arrows as in the pictures of the pages, changed where they differ.
{
  const { explore } = graft
  const { svg } = explore
  const HEADER = 42, BEFORE = 34, AFTER = 14
  const CONTROL = 4, FAILED = 8, INFERRED = 2

  /** @type {Record<string, string>} */
  const ICONS = {
    table: "M13 14h15v14h-15zM13 19h15M18 19v9",
    view: "M13 21c4 -7 12 -7 16 0c-4 7 -12 7 -16 0zM21 18.5a2.5 2.5 0 1 0 .01 0z",
    path: "M13 15h6l2 2h8v11h-16z",
    topic: "M13 16h15M13 21h15M13 26h15",
    dbt: "M21 13l7 4v8l-7 4l-7 -4v-8zM14 17l7 4l7 -4M21 21v8",
    task: "M17 14l10 7l-10 7z",
    consumer: "M14 28v-7M19 28v-13M24 28v-10M12 28h15",
    more: "M14 17h10v10h-10zM18 17v-4h10v10h-4",
  }

  /** @type {(shape: string, w: number) => string} */
  const outline = (shape, w) => {
    const h = HEADER, r = h / 2
    switch (shape) {
      case "task": return `M${r} 0H${w - r}a${r} ${r} 0 0 1 0 ${h}H${r}a${r} ${r} 0 0 1 0 ${-h}z`
      case "dbt": return `M9 0H${w - 9}l9 9V${h - 9}l-9 9H9l-9 -9V9z`
      case "view": return `M10 0H${w}L${w - 10} ${h}H0z`
      case "path": return `M0 4a4 4 0 0 1 4 -4H58l6 5H${w - 4}a4 4 0 0 1 4 4V${h}H0z`
      case "consumer": return `M0 0H${w - 14}L${w} ${r}L${w - 14} ${h}H0z`
      default: return `M4 0H${w - 4}a4 4 0 0 1 4 4V${h - 4}a4 4 0 0 1 -4 4H4a4 4 0 0 1 -4 -4V4a4 4 0 0 1 4 -4z`
    }
  }

  /** @type {(id: string, className: string) => SVGElement} */
  const marker = (id, className) => svg("marker", {
    id, class: className, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse",
  }, svg("path", { d: "M0 0L8 4L0 8z" }))

  explore.canvas = root => {
    const layer = /** @type {SVGSVGElement} */ (svg("svg", { class: "graft-scene", width: 1, height: 1 }))
    const arrows = svg("g", { "aria-hidden": true }), lines = svg("g", { "aria-hidden": true }), boxes = svg("g")
    layer.append(svg("defs", {}, marker("graft-tip", "graft-tip"), marker("graft-tip-failed", "graft-tip graft-tip--failed")), arrows, lines, boxes)
    // A transform of the SVG itself would make the browser measure all of its texts again.
    const sheet = explore.html("div", { class: "graft-sheet" }, layer)
    root.append(sheet)
    const font = () => getComputedStyle(root).fontFamily
    let fonts = font()
    /** @type {Map<string, {node: SVGElement, key: string}>} */
    const drawn = new Map()
    /** @type {Map<string, {node: SVGElement, key: string}>} */
    const paths = new Map()

    /** As many of the notes as there is room for.
     * @type {(note: string, room: number) => string} */
    const fitting = (note, room) => {
      const size = `10px ${fonts}`, notes = note.split(" · ")
      for (let count = notes.length; count > 1; count--) {
        const some = notes.slice(0, count).join(" · ")
        if (explore.shortened(some, room, size) === some) return some
      }
      return explore.shortened(notes[0], room, size)
    }

    /** @type {(id: string, label: string, className: string, act: string, ...children: SVGElement[]) => SVGElement} */
    const button = (id, label, className, act, ...children) => {
      const found = svg("g", { class: className, role: "button", tabindex: -1, "aria-label": label, "data-act": act, "data-id": id },
        svg("title", {}, label), ...children)
      return found
    }

    /** The + at a side, with the number of neighbours that are not shown.
     * @type {(shown: Shown, side: 0 | 1, width: number) => SVGElement[]} */
    const handle = (shown, side, width) => {
      const count = side ? shown.down : shown.up
      if (!count) return []
      const text = count > 999 ? "999+" : `+${count}`, wide = 10 + 6 * text.length
      const found = button(shown.id, `${count} more ${side ? "downstream" : "upstream"} of ${shown.name}`, "graft-step", side ? "down" : "up",
        svg("rect", { class: "graft-step__target", x: -wide / 2 - 6, y: -14, width: wide + 12, height: 28 }),
        svg("rect", { class: "graft-step__shape", x: -wide / 2, y: -9, width: wide, height: 18, rx: 9 }),
        svg("text", { class: "graft-step__text", y: 3.5 }, text))
      found.setAttribute("transform", `translate(${side ? width + 4 : -4} ${HEADER / 2})`)
      return [found]
    }

    /** @type {(shown: Shown, width: number, height: number, isOpen: boolean) => SVGElement[]} */
    const unfold = (shown, width, height, isOpen) => {
      if (!shown.box || shown.id.startsWith("@")) return []
      const found = button(shown.id, `Columns of ${shown.name}`, "graft-unfold", "unfold",
        svg("rect", { class: "graft-unfold__target", x: -20, y: -12, width: 40, height: 24 }),
        svg("rect", { class: "graft-unfold__shape", x: -13, y: -7, width: 26, height: 14, rx: 7 }),
        svg("path", { class: "graft-unfold__icon", d: "M-4 -2l4 4l4 -4" }))
      found.setAttribute("aria-expanded", String(isOpen))
      found.setAttribute("transform", `translate(${width / 2} ${HEADER + height})`)
      return [found]
    }

    /** @type {(shown: Shown, width: number, state: State, look: Look, height: number) => SVGElement} */
    const box = (shown, width, state, look, height) => {
      const room = width - BEFORE - AFTER
      const lit = look.way?.columns.get(shown.id), columns = look.columns.get(shown.id)
      const isOpen = height > 0
      const named = !isOpen && lit?.size ? columns?.names.filter(one => lit.has(one.slug)).map(one => one.name) ?? [] : []
      const note = named.length ? named.join(", ") : shown.note
      const node = svg("g", {
        class: `graft-box graft-box--${shown.shape}`, role: "group", "aria-roledescription": "box", tabindex: -1, "data-act": "select", "data-id": shown.id,
        "aria-label": `${shown.title}${shown.failed ? ", last run failed" : ""}`,
      })
      node.classList.toggle("graft-box--failed", shown.failed)
      node.classList.toggle("graft-box--gone", shown.gone)
      node.classList.toggle("graft-box--centre", shown.id === state.start)
      node.append(svg("title", {}, `${shown.title}${shown.failed ? ", last run failed" : ""}`))
      if (isOpen) node.append(explore.columnRows(shown, columns, look, width, fonts))
      node.append(
        svg("path", { class: "graft-box__shape", d: outline(shown.shape, width) }),
        svg("path", { class: "graft-box__icon", d: ICONS[shown.shape] ?? ICONS.table }),
        svg("text", { class: "graft-box__name", x: BEFORE, y: 18 }, explore.shortened(shown.name, room, `600 12px ${fonts}`)),
        svg("text", { class: `graft-box__note${named.length ? " graft-box__note--lit" : ""}`, x: BEFORE, y: 32 }, fitting(note, room)),
        ...unfold(shown, width, height, isOpen), ...handle(shown, 0, width), ...handle(shown, 1, width))
      return node
    }

    /** @type {(scene: Scene, open: Map<string, number>, source: string, target: string) => Point[]} */
    const route = (scene, open, source, target) => {
      const [a, b] = [/** @type {Placed} */ (scene.places.get(source)), /** @type {Placed} */ (scene.places.get(target))]
      const stored = scene.routes.get(`${source} ${target}`)
      const points = stored ?? [{ x: a.x + a.width, y: a.y + HEADER / 2 }, { x: b.x, y: b.y + HEADER / 2 }]
      return open.size ? points.map(({ x, y }) => ({ x, y: y + explore.shift(scene, open, x, y) })) : points
    }

    /** @type {(scene: Scene, open: Map<string, number>, look: Look) => void} */
    const drawLines = (scene, open, look) => {
      lines.replaceChildren()
      for (const line of look.way?.lines ?? []) {
        const stops = line.task ? [line.source, line.task, line.target] : [line.source, line.target]
        const points = stops.slice(1).flatMap((stop, at) => route(scene, open, stops[at], stop))
        points[0] = { ...points[0], y: explore.rowMiddle(scene, open, look, line.source, line.from) }
        points[points.length - 1] = { ...points[points.length - 1], y: explore.rowMiddle(scene, open, look, line.target, line.own) }
        lines.append(svg("path", { class: `graft-line graft-line--${explore.lineStyle(line.kind)}`, d: explore.curve(points) }))
      }
    }

    return {
      draw(scene, state, look) {
        fonts = font()
        const open = explore.openHeights(scene.view, state, look)
        const dimmed = look.path ?? (look.way ? new Set(look.way.columns.keys()) : null)
        for (const [id, { node }] of drawn) {
          if (!scene.view.boxes.has(id)) {
            node.remove()
            drawn.delete(id)
          }
        }
        const fresh = drawn.size > 0
        for (const [id, shown] of scene.view.boxes) {
          const place = /** @type {Placed} */ (scene.places.get(id)), height = open.get(id) ?? 0
          const lit = look.way?.columns.get(id)
          const key = JSON.stringify([shown.name, shown.note, shown.up, shown.down, place.width, height, id === state.start, lit && [...lit]])
          const old = drawn.get(id)
          let node = old?.node
          if (!old || old.key !== key) {
            node = box(shown, place.width, state, look, height)
            const had = old?.node.contains(document.activeElement) && document.activeElement?.getAttribute("data-act")
            if (old) old.node.replaceWith(node)
            else boxes.append(node)
            if (!old && fresh) node.classList.add("graft-box--new")
            if (had) /** @type {any} */ (had === "select" ? node : node.querySelector(`[data-act="${had}"]`) ?? node).focus()
            drawn.set(id, { node, key })
          }
          const one = /** @type {SVGElement} */ (node)
          const y = place.y + explore.shift(scene, open, place.x, place.y, place.x + place.width)
          one.setAttribute("transform", `translate(${place.x} ${y})`)
          one.classList.toggle("graft-box--selected", id === look.selected)
          one.setAttribute("aria-current", String(id === look.selected))
          one.classList.toggle("graft-dim", Boolean(dimmed && !dimmed.has(id)))
          one.classList.toggle("graft-box--lit", Boolean(dimmed?.has(id)))
        }
        const wanted = new Set()
        for (const arrow of scene.view.arrows) {
          const key = `${arrow.source} ${arrow.target}`
          wanted.add(key)
          let old = paths.get(key)
          if (!old) {
            old = { node: svg("path", {}), key: "" }
            arrows.append(old.node)
            paths.set(key, old)
          }
          const isOn = look.path ? look.path.has(arrow.source) && look.path.has(arrow.target) : !look.way
          const d = explore.curve(route(scene, open, arrow.source, arrow.target))
          const tip = arrow.flags & FAILED ? "url(#graft-tip-failed)" : "url(#graft-tip)"
          const classes = ["graft-arrow", arrow.flags & FAILED && "graft-arrow--failed", (arrow.flags & 3) === INFERRED && "graft-arrow--inferred",
            arrow.flags & CONTROL && "graft-arrow--control", !isOn && "graft-dim", isOn && look.path && "graft-arrow--lit"].filter(Boolean).join(" ")
          const state = `${classes} ${arrow.both} ${d}`
          if (old.key === state) continue
          old.key = state
          old.node.setAttribute("class", classes)
          old.node.setAttribute("d", d)
          old.node.setAttribute("marker-end", tip)
          if (arrow.both) old.node.setAttribute("marker-start", tip)
          else old.node.removeAttribute("marker-start")
        }
        for (const [key, { node }] of paths) {
          if (!wanted.has(key)) {
            node.remove()
            paths.delete(key)
          }
        }
        drawLines(scene, open, look)
        const first = drawn.get(look.selected) ?? drawn.get(state.start) ?? drawn.values().next().value
        for (const { node } of drawn.values()) node.setAttribute("tabindex", node === first?.node ? "0" : "-1")
      },
      layer,
      sheet,
      focus(id) {
        const node = drawn.get(id)?.node
        for (const one of drawn.values()) one.node.setAttribute("tabindex", one.node === node ? "0" : "-1")
        node?.focus({ preventScroll: true })
      },
    }
  }
}
