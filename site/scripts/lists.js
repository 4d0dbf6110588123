// @ts-check
// Lists: a header sorts, a field filters, and the address holds both. Lists are complete without it.
(() => {
  "use strict"

  // A list as long as this fits on the screen and needs no filter.
  const SHORT = 8

  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

  /** What people call a column in an address. @param {string} text */
  const slug = text => text.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-")

  /** The state in the address: `#tasks-sort=-health&tasks-filter=crm`; other hashes are anchors. */
  const state = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "")

  /**
   * A number, a time, the severity of findings, or a text; empty cells have none.
   * @param {HTMLTableCellElement} cell
   * @returns {number | string | null}
   */
  const value = cell => {
    const time = cell.querySelector("time")
    if (time) return Date.parse(time.dateTime)
    const findings = cell.querySelectorAll(".graft-badge, .graft-status")
    if (findings.length) {
      const ranks = [...findings].map(one => {
        const look = one.className.split("--")[1]
        return { failed: 300, warn: 200, quiet: 100, unknown: 2, ok: 1 }[look] ?? 0
      })
      return Math.max(...ranks) + findings.length / 100
    }
    const text = (cell.textContent ?? "").trim()
    if (!text) return null
    return cell.classList.contains("graft-number") ? Number(text.replace(/,/g, "")) : text
  }

  class List {
    /** @param {HTMLTableElement} table */
    constructor(table) {
      this.table = table
      this.name = table.dataset.list ?? "list"
      this.body = table.tBodies[0]
      this.rows = [...this.body.rows]
      /** What a filter looks at, made when it is first used. @type {string[] | undefined} */
      this.texts = undefined
      this.columns = [...table.tHead?.rows[0].cells ?? []].map(cell => slug(cell.textContent ?? ""))
      this.sort = this.filter = ""
      /** @type {HTMLButtonElement[]} */
      this.buttons = []
      if (this.rows.length > 1) this.addButtons()
      if (this.rows.length > SHORT) this.addField()
      this.read()
    }

    addButtons() {
      for (const [at, cell] of [...this.table.tHead?.rows[0].cells ?? []].entries()) {
        const button = document.createElement("button")
        button.type = "button"
        button.className = "graft-sort"
        button.append(...cell.childNodes)
        cell.append(button)
        button.addEventListener("click", () => this.turn(this.columns[at]))
        this.buttons.push(button)
      }
    }

    addField() {
      const bar = document.createElement("div")
      bar.className = "graft-list-bar"
      this.field = document.createElement("input")
      this.field.type = "search"
      this.field.className = "graft-filter"
      this.field.placeholder = "Filter"
      this.field.setAttribute("aria-label", `Filter the list of ${this.table.dataset.list}`)
      this.field.autocomplete = "off"
      this.field.spellcheck = false
      this.count = document.createElement("span")
      this.count.className = "graft-quiet"
      this.count.setAttribute("role", "status")
      bar.append(this.field, this.count)
      this.table.before(bar)
      this.field.addEventListener("input", () => {
        this.filter = this.field?.value ?? ""
        this.narrow()
        this.write()
      })
      this.field.addEventListener("keydown", event => {
        if (event.key !== "Escape" || !this.filter) return
        event.preventDefault()
        event.stopPropagation()
        this.set(this.sort, "")
        this.write()
      })
    }

    /**
     * The next order by a column: numbers, times and findings begin with the greatest; the third
     * time the list is as it was. @param {string} column
     */
    turn(column) {
      const at = this.columns.indexOf(column)
      const first = this.rows.some(row => typeof value(row.cells[at]) === "number") ? `-${column}` : column
      const second = first === column ? `-${column}` : column
      this.set(this.sort === first ? second : this.sort === second ? "" : first, this.filter)
      this.write()
    }

    /** @param {string} sort @param {string} filter */
    set(sort, filter) {
      const known = this.buttons.length && this.columns.includes(sort.replace(/^-/, "")) ? sort : ""
      if (known !== this.sort) {
        this.sort = known
        this.arrange()
      }
      if (filter !== this.filter) {
        this.filter = filter
        if (this.field) this.field.value = filter
        this.narrow()
      }
    }

    arrange() {
      const down = this.sort.startsWith("-"), column = this.columns.indexOf(this.sort.replace(/^-/, ""))
      for (const [at, button] of this.buttons.entries()) {
        const cell = button.parentElement
        if (at === column) cell?.setAttribute("aria-sort", down ? "descending" : "ascending")
        else cell?.removeAttribute("aria-sort")
      }
      let rows = this.rows
      if (column >= 0) {
        const keyed = rows.map((row, at) => ({ row, at, key: value(row.cells[column]) }))
        keyed.sort((a, b) => {
          // What is not known comes last in either order.
          if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null) || a.at - b.at
          const less = typeof a.key === "number" && typeof b.key === "number"
            ? a.key - b.key : words.compare(String(a.key), String(b.key))
          return (down ? -less : less) || a.at - b.at
        })
        rows = keyed.map(one => one.row)
      }
      this.body.replaceChildren(...rows)
    }

    narrow() {
      this.texts ??= this.rows.map(row => {
        const titles = [...row.querySelectorAll("a[title]")].map(one => one.getAttribute("title"))
        return [row.textContent, ...titles].join(" ").toLowerCase()
      })
      const terms = this.filter.toLowerCase().split(/\s+/).filter(Boolean)
      let shown = 0
      for (const [at, row] of this.rows.entries()) {
        row.hidden = !terms.every(term => this.texts?.[at].includes(term))
        if (!row.hidden) shown += 1
      }
      if (this.count) {
        this.count.textContent = terms.length
          ? `${shown.toLocaleString("en")} of ${this.rows.length.toLocaleString("en")}` : ""
      }
    }

    read() {
      const found = state()
      this.set(found.get(`${this.name}-sort`) ?? "", this.field ? found.get(`${this.name}-filter`) ?? "" : "")
    }

    write() {
      const found = state()
      for (const [key, text] of [["sort", this.sort], ["filter", this.filter]]) {
        if (text) found.set(`${this.name}-${key}`, text)
        else found.delete(`${this.name}-${key}`)
      }
      const hash = found.toString()
      history.replaceState(null, "", `${location.pathname}${location.search}${hash && `#${hash}`}`)
    }
  }

  const tables = /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table.graft-list-table"))
  const lists = [...tables].map(table => new List(table))
  addEventListener("hashchange", () => {
    // An anchor of the page leaves the lists as they are.
    if (!location.hash || location.hash.includes("=")) for (const list of lists) list.read()
  })
})()
