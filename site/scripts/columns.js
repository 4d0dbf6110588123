// @ts-check
// Columns in the lineage picture: boxes unfold them, and a column that is pointed at or focused
// lights its path. Without this script the picture is as it is, and the page's lists say the same.
{
  const HEADER = 42, ROW = 18, PAD = 4, FOOT = 10, BEFORE = 12
  const STYLES = ["direct", "inferred", "indirect"]

  /** @typedef {{x: number, y: number}} Place */
  /** @typedef {{source: string, target: string, task: number, style: number}} Line */
  // Names and lists of names stand once; boxes have the number of a list, and how many are left out.
  /** @typedef {{names: (string | [string, string])[], lists: (number[] | number)[], boxes: ([number, number?] | 0)[],
   *   arrows: [number, number][], ways: number[][], lines: [number, number, number, number][]}} PictureData */

  /** @type {(name: string, attributes?: Record<string, any>, ...children: (Node | string)[]) => SVGGraphicsElement} */
  const create = (name, attributes = {}, ...children) => {
    const element = /** @type {SVGGraphicsElement} */ (document.createElementNS("http://www.w3.org/2000/svg", name))
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.append(...children)
    return element
  }

  // Shorten the text of an SVG element until it fits, to `abc…`.
  /** @type {(element: SVGElement, text: string, width: number) => void} */
  const fit = (element, text, width) => {
    const measured = /** @type {SVGTextContentElement} */ (element)
    element.textContent = text
    for (let at = text.length - 1; at > 0 && measured.getComputedTextLength() > width; at -= at > 40 ? 10 : 1) {
      element.textContent = text.slice(0, at) + "…"
    }
  }

  // The corner points of an arrow: those that its path begins, passes and ends at.
  /** @type {(path: string) => Place[]} */
  const points = path => {
    /** @type {Place[]} */
    const found = []
    for (const [, command, numbers] of path.matchAll(/([MCH])([^MCH]*)/g)) {
      const values = numbers.trim().split(/[ ,]+/).map(Number)
      if (command === "H") found.push({ x: values[0], y: found[found.length - 1].y })
      else found.push({ x: values[values.length - 2], y: values[values.length - 1] })
    }
    return found
  }

  /** @type {(route: Place[]) => string} */
  const curve = route => route.map(({ x, y }, at) => {
    if (!at) return `M${x} ${y}`
    if (at % 2 === 0) return `H${x}`
    const bend = (route[at - 1].x + x) / 2
    return `C${bend} ${route[at - 1].y} ${bend} ${y} ${x} ${y}`
  }).join("")

  class ColumnBox {
    // A box with columns: its link in the picture, a button, and the list that it unfolds.
    /** @param {ColumnPicture} picture
     * @param {number} number
     * @param {SVGAElement} link
     * @param {(string | [string, string])[]} columns
     * @param {number} omitted */
    constructor(picture, number, link, columns, omitted) {
      const [x, y] = (link.getAttribute("transform")?.match(/[-\d.]+/g) ?? []).map(Number)
      this.picture = picture
      this.number = number
      this.link = link
      this.x = x
      this.y = y
      this.open = false
      /** @type {SVGElement[]} */
      this.rows = []
      this.width = /** @type {SVGGraphicsElement} */ (link.querySelector("use")).getBBox().width
      this.note = /** @type {SVGElement} */ (link.querySelector("text + text"))
      this.noteText = this.note.textContent
      this.noteLength = this.note.getAttribute("textLength")
      this.columns = columns.map(one => {
        const [name, anchor] = Array.isArray(one) ? one : [one, `column-${one.toLowerCase()}`]
        return { name, anchor }
      })
      this.omitted = omitted
      this.title = (link.querySelector("title, text")?.textContent ?? "").replace(/ \([^(]*\)$/, "")
      if (!columns.length) return
      this.button = create("g", {
        class: "graft-unfold", role: "button", tabindex: 0, "aria-expanded": false,
        "aria-label": `Columns of ${this.title}`,
      },
      create("title", {}, `${columns.length + omitted} columns`),
      create("rect", { class: "graft-unfold__target", x: -20, y: -12, width: 40, height: 24 }),
      create("rect", { class: "graft-unfold__shape", x: -13, y: -7, width: 26, height: 14, rx: 7 }),
      create("path", { class: "graft-unfold__icon", d: "M-4 -2l4 4l4 -4" }))
      this.list = create("g", { class: "graft-unfolded", visibility: "hidden" })
      link.after(this.list, this.button)
      this.button.addEventListener("click", () => this.toggle())
      this.button.addEventListener("keydown", event => {
        if (event.key !== "Enter" && event.key !== " ") return
        event.preventDefault()
        this.toggle()
      })
    }

    get height() {
      return this.open && this.list ? PAD + ROW * this.list.querySelectorAll(".graft-column").length + FOOT : 0
    }

    toggle(open = !this.open) {
      if (this.open === open || !this.button || !this.list) return
      this.open = open
      if (open && !this.rows.length) this.fill()
      this.button.setAttribute("aria-expanded", String(open))
      this.list.setAttribute("visibility", open ? "visible" : "hidden")
      this.list.toggleAttribute("inert", !open)
      this.picture.arrange()
    }

    fill() {
      const { list } = this
      if (!list) return
      const own = this.link.hasAttribute("aria-current")
      const page = own ? "" : this.link.getAttribute("href")
      list.append(create("rect", { class: "graft-unfolded__shape", width: this.width, rx: 4 }))
      this.rows = this.columns.map(({ name, anchor }, at) => {
        const text = create("text", { x: BEFORE, y: 13 })
        const row = create("a", {
          class: "graft-column", href: `${page}#${anchor}`,
          transform: `translate(0 ${PAD + ROW * at})`,
        }, create("title", {}, name), create("rect", { x: 3, width: this.width - 6, height: ROW, rx: 3 }), text)
        list.append(row)
        fit(text, name, this.width - 2 * BEFORE)
        this.picture.listen(row, `${this.number} ${at}`)
        return row
      })
      if (this.omitted) {
        const text = create("text", { x: BEFORE, y: 13 }, `+${this.omitted} more`)
        list.append(create("a", {
          class: "graft-column graft-column--more", href: `${page}#columns`,
          transform: `translate(0 ${PAD + ROW * this.rows.length})`,
        }, create("rect", { x: 3, width: this.width - 6, height: ROW, rx: 3 }), text))
      }
      // Its upper edge is behind the box.
      list.firstElementChild?.setAttribute("y", String(-FOOT))
      list.firstElementChild?.setAttribute("height", String(this.height + FOOT))
    }

    /** @param {number} y */
    place(y) {
      const middle = this.x + this.width / 2
      this.link.setAttribute("transform", `translate(${this.x} ${y})`)
      this.list?.setAttribute("transform", `translate(${this.x} ${y + HEADER})`)
      this.button?.setAttribute("transform", `translate(${middle} ${y + HEADER + this.height})`)
    }

    // The height of a column's line at this box, or of its arrows where the column is folded away.
    /** @param {number} column */
    middle(column) {
      const top = this.y + this.picture.shift(this.x, this.y)
      return this.open && column >= 0 ? top + HEADER + PAD + ROW * (column + .5) : top + HEADER / 2
    }

    // Show which columns are on the lit path: in the list, and in the small line of the box.
    /** @param {Set<number>} columns */
    light(columns) {
      this.link.classList.toggle("graft-box--lit", columns.size > 0)
      for (const [at, row] of this.rows.entries()) row.classList.toggle("graft-column--lit", columns.has(at))
      const names = [...columns].filter(at => at >= 0).map(at => this.columns[at].name)
      this.note.classList.toggle("graft-box__note--lit", names.length > 0 && !this.open)
      if (names.length && !this.open) {
        this.note.removeAttribute("textLength")
        fit(this.note, names.join(", "), this.width - 48)
      } else if (this.note.textContent !== this.noteText) {
        this.note.textContent = this.noteText
        if (this.noteLength) this.note.setAttribute("textLength", this.noteLength)
      }
    }
  }

  class ColumnPicture {
    /** @param {Element} frame
     * @param {PictureData} data */
    constructor(frame, data) {
      this.frame = frame
      this.svg = /** @type {SVGSVGElement} */ (frame.querySelector("svg"))
      this.viewBox = (this.svg.getAttribute("viewBox") ?? "").split(" ").map(Number)
      this.boxes = [.../** @type {NodeListOf<SVGAElement>} */ (this.svg.querySelectorAll(".graft-box"))].map(
        (link, at) => {
          const [list, omitted = 0] = data.boxes[at] || [-1]
          const names = data.lists[list] ?? []
          const columns = typeof names === "number" ? data.names.slice(0, names) : names.map(name => data.names[name])
          return new ColumnBox(this, at, link, columns, omitted)
        })
      const paths = [...this.svg.querySelectorAll(".graft-arrows path")]
      this.arrows = data.arrows.map(([source, target], at) => ({
        source, target, path: paths[at], route: points(paths[at].getAttribute("d") ?? ""),
      }))
      this.routes = new Map(this.arrows.map(({ source, target, route }) => [`${source} ${target}`, route]))
      /** @type {Line[]} */
      this.lines = []
      for (const [source, target, task, way] of data.lines) {
        const numbers = data.ways[way]
        for (let at = 0; at < numbers.length; at += 3) {
          const [from, to, style] = numbers.slice(at, at + 3)
          this.lines.push({ source: `${source} ${from}`, target: `${target} ${to}`, task, style })
        }
      }
      this.up = this.byEnd("target")
      this.down = this.byEnd("source")
      /** @type {string | null} */
      this.focused = null
      /** @type {string | null} */
      this.lit = null
      this.all = document.createElement("button")
      this.words = document.createElement("span")
      this.layer = create("g", { class: "graft-lines", "aria-hidden": true })
      this.svg.querySelector(".graft-box")?.before(this.layer)
      this.foot()
      this.arrange()
      this.svg.addEventListener("focusout", event => {
        this.focused = null
        if (!(event.relatedTarget instanceof Element && event.relatedTarget.closest(".graft-column"))) this.light(null)
      })
      addEventListener("keydown", event => event.key === "Escape" && this.light(null))
      /** @type {ColumnBox[]} */
      let unfolded = []
      addEventListener("beforeprint", () => {
        this.light(null)
        unfolded = this.boxes.filter(box => box.open)
        for (const box of unfolded) box.toggle(false)
      })
      addEventListener("afterprint", () => unfolded.forEach(box => box.toggle(true)))
    }

    /** @param {"source" | "target"} end */
    byEnd(end) {
      /** @type {Map<string, Line[]>} */
      const found = new Map()
      for (const line of this.lines) {
        if (!found.has(line[end])) found.set(line[end], [])
        found.get(line[end])?.push(line)
      }
      return found
    }

    // Below the picture: a button for all boxes, the legend, and the lit path in words.
    foot() {
      const foot = document.createElement("div"), legend = document.createElement("span")
      foot.className = "graft-picture-foot"
      this.all.type = "button"
      this.all.className = "graft-unfold-all"
      this.all.addEventListener("click", () => {
        const open = !this.boxes.some(box => box.open)
        for (const box of this.boxes) box.toggle(open)
      })
      legend.className = "graft-legend"
      const words = ["copied or changed", "inferred", "joined, filtered or grouped by"]
      for (const style of new Set(this.lines.map(line => line.style).sort())) {
        const sample = create("svg", { viewBox: "0 0 26 8", width: 26, height: 8, "aria-hidden": true },
          create("path", { class: `graft-line graft-line--${STYLES[style]}`, d: "M0 4H26" }))
        const entry = document.createElement("span")
        entry.append(sample, words[style])
        legend.append(entry)
      }
      this.words.setAttribute("aria-live", "polite")
      this.words.className = "graft-legend__path"
      foot.append(this.all, legend, this.words)
      this.frame.after(foot)
    }

    // Pixels by which unfolded boxes above push down what is at a place.
    /** @type {(x: number, y: number) => number} */
    shift(x, y) {
      let pixels = 0
      for (const box of this.boxes) {
        if (box.open && box.x <= x + 1 && x - 1 <= box.x + box.width && y >= box.y + HEADER) pixels += box.height
      }
      return pixels
    }

    /** @param {Place[]} route */
    moved(route) {
      return route.map(({ x, y }) => ({ x, y: y + this.shift(x, y) }))
    }

    arrange() {
      let bottom = this.viewBox[1] + this.viewBox[3]
      for (const box of this.boxes) {
        const y = box.y + this.shift(box.x, box.y)
        box.place(y)
        bottom = Math.max(bottom, y + HEADER + box.height + FOOT)
      }
      for (const { path, route } of this.arrows) {
        const moved = this.moved(route)
        path.setAttribute("d", curve(moved))
        bottom = Math.max(bottom, ...moved.map(({ y }) => y + 8))
      }
      const [left, top, width] = this.viewBox
      this.svg.setAttribute("viewBox", `${left} ${top} ${width} ${bottom - top}`)
      this.svg.setAttribute("height", String(bottom - top))
      this.all.textContent = this.boxes.some(box => box.open) ? "Fold columns" : "Unfold columns"
      this.draw()
    }

    /** @type {(row: SVGElement, key: string) => void} */
    listen(row, key) {
      let tapped = false
      row.addEventListener("pointerenter", event => event.pointerType !== "touch" && this.light(key))
      row.addEventListener("pointerleave", event => event.pointerType !== "touch" && this.light(this.focused))
      row.addEventListener("focusin", () => this.light(this.focused = key))
      // A finger cannot point: the first tap lights, the second follows the link.
      row.addEventListener("pointerdown", event => tapped = event.pointerType === "touch" && this.lit !== key)
      row.addEventListener("click", event => {
        if (tapped) event.preventDefault()
        tapped = false
      })
    }

    // The lines of a column's path. What only decides is followed one step: beyond it, every
    // column would light every filter.
    /** @param {string} key */
    path(key) {
      /** @type {Set<Line>} */
      const found = new Set()
      for (const side of ["up", "down"]) {
        const lines = side === "up" ? this.up : this.down, next = side === "up" ? "source" : "target"
        const waiting = [key], seen = new Set(waiting)
        while (waiting.length) {
          for (const line of lines.get(waiting.pop() ?? "") ?? []) {
            if (STYLES[line.style] === "indirect") continue
            found.add(line)
            if (seen.has(line[next]) || line[next].endsWith(" -1")) continue
            seen.add(line[next])
            waiting.push(line[next])
          }
        }
      }
      const rows = `${key.split(" ")[0]} -1`
      for (const one of [this.up.get(key), this.down.get(key), this.up.get(rows)]) {
        for (const line of one ?? []) found.add(line)
      }
      return found
    }

    /** @param {string | null} key */
    light(key) {
      if (this.lit === key) return
      this.lit = key
      this.draw()
    }

    draw() {
      const lines = this.lit ? this.path(this.lit) : new Set()
      const columns = this.boxes.map(() => /** @type {Set<number>} */ (new Set()))
      if (this.lit) lines.add({ source: this.lit, target: this.lit, task: -1, style: 0 })
      this.layer.replaceChildren()
      for (const line of lines) {
        for (const end of [line.source, line.target]) {
          const [box, column] = end.split(" ").map(Number)
          columns[box].add(column)
        }
        if (line.task >= 0) columns[line.task].add(-1)
        if (line.source !== line.target) this.layer.append(this.drawn(line))
      }
      this.svg.classList.toggle("graft-lit", Boolean(this.lit))
      this.boxes.forEach((box, at) => box.light(columns[at]))
      this.words.textContent = this.lit ? this.inWords(lines) : ""
    }

    /** @param {Line} line */
    drawn({ source, target, task, style }) {
      const [from, fromColumn] = source.split(" ").map(Number)
      const [to, toColumn] = target.split(" ").map(Number)
      const stops = task < 0 ? [[from, to]] : [[from, task], [task, to]]
      const route = stops.flatMap(([a, b]) => this.routes.get(`${a} ${b}`) ?? this.straight(a, b))
      const moved = this.moved(route)
      moved[0].y = this.boxes[from].middle(fromColumn)
      moved[moved.length - 1].y = this.boxes[to].middle(toColumn)
      return create("path", { class: `graft-line graft-line--${STYLES[style]}`, d: curve(moved) })
    }

    /** @type {(a: number, b: number) => Place[]} */
    straight(a, b) {
      const [one, other] = [this.boxes[a], this.boxes[b]]
      return [{ x: one.x + one.width, y: one.y + HEADER / 2 }, { x: other.x, y: other.y + HEADER / 2 }]
    }

    /** @param {Iterable<Line>} lines */
    inWords(lines) {
      /** @param {string} key */
      const name = key => {
        const [box, column] = key.split(" ").map(Number)
        const { title, columns } = this.boxes[box]
        return column < 0 ? title : `${title}.${columns[column].name}`
      }
      /** @type {string[]} */
      const from = [], to = []
      for (const line of lines) {
        if (line.target === this.lit && line.source !== this.lit) from.push(name(line.source))
        if (line.source === this.lit && line.target !== this.lit) to.push(name(line.target))
      }
      /** @param {string[]} names */
      const some = names => names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "")
      return name(this.lit ?? "") + (from.length ? `, from ${some(from)}` : "") + (to.length ? `, feeds ${some(to)}` : "")
    }
  }

  for (const data of document.querySelectorAll(".graft-picture > script")) {
    new ColumnPicture(/** @type {HTMLElement} */ (data.parentElement), JSON.parse(data.textContent ?? ""))
  }
}
