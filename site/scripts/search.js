// @ts-check
// The search dialog: names from the name index at once, descriptions below them. It opens by
// Ctrl-K, Cmd-K, `/`, anything with `data-graft-search`, and an address that ends in `#search=orders`.
;(() => {
  "use strict"
  const graft = /** @type {any} */ (globalThis).graft
  const { create, group } = graft.results
  const GROUPS = [
    { kind: "dataset", title: "Datasets", shown: 8 },
    { kind: "column", title: "Columns", shown: 6 },
    { kind: "task", title: "Tasks", shown: 6 },
    { kind: "tag", title: "Tags", shown: 4 },
    { kind: "owner", title: "Owners", shown: 4 },
    { kind: "dbt", title: "Only in dbt docs", shown: 4 },
  ]
  const TEXTS = { kind: "text", title: "In descriptions", shown: 6 }
  const NEAR = { kind: "near", title: "Did you mean", shown: 6 }
  const MORE = 50
  const FACETS = ["platform", "owner"]

  /**
   * @typedef {{name: string, path: string, note: string, platform: string, owner: string,
   *   kind: string, rank?: number, excerpt?: string}} Result
   * @typedef {{kind: string, title: string, shown: number, results: Result[]}} Group
   */

  class SearchDialog {
    constructor() {
      this.turn = 0
      this.active = -1
      /** @type {Set<string>} Kinds of which more than the first are shown. */
      this.unfolded = new Set()
      this.before = ""
      this.input = /** @type {HTMLInputElement} */ (create("input", {
        type: "text", role: "combobox", "aria-label": "Search", "aria-autocomplete": "list",
        "aria-controls": "graft-results", "aria-expanded": "false", autocomplete: "off",
        autocapitalize: "off", spellcheck: "false", enterkeyhint: "go",
        placeholder: "Table, column, task, or words of a description",
      }))
      this.filters = /** @type {HTMLSelectElement[]} */ (FACETS.map(facet => create(
        "select", { name: facet, "aria-label": facet === "owner" ? "Owner" : "Platform", hidden: "" })))
      this.copy = create("button", { type: "button", class: "graft-dialog__copy", hidden: "" }, "Copy link")
      const close = create("button", { type: "button", class: "graft-dialog__close", "aria-label": "Close search" },
        create("kbd", {}, "Esc"), create("span", {}, "Close"))
      this.list = /** @type {HTMLElement} */ (create("div", { id: "graft-results", role: "listbox", "aria-label": "Search results" }))
      this.empty = create("div", { class: "graft-dialog__empty" })
      this.status = create("p", { class: "graft-dialog__status", role: "status" })
      this.note = create("span", {})
      const scroll = create("div", { class: "graft-dialog__results" }, this.list, this.empty)
      this.dialog = /** @type {HTMLDialogElement} */ (create("dialog", { class: "graft-dialog", "aria-label": "Search" },
        create("div", { class: "graft-dialog__head" }, this.input, close),
        create("div", { class: "graft-dialog__filters" }, ...this.filters, this.copy),
        scroll,
        create("div", { class: "graft-dialog__foot" }, this.status, this.note,
          create("span", { class: "graft-dialog__keys", "aria-hidden": "true" }, "↑ ↓ choose · Enter opens · Esc closes"))))
      document.body.append(this.dialog)
      this.input.addEventListener("input", () => { this.unfolded.clear(); this.search() })
      for (const filter of this.filters) filter.addEventListener("change", () => this.search())
      close.addEventListener("click", () => this.close())
      this.copy.addEventListener("click", () => this.copyLink())
      this.dialog.addEventListener("cancel", () => this.restore())
      this.dialog.addEventListener("keydown", event => this.key(event))
      // A click beside the dialog is one on the dialog's own, empty edge.
      this.dialog.addEventListener("click", event => event.target === this.dialog && this.close())
      this.list.addEventListener("click", event => this.clicked(event))
      this.list.addEventListener("pointermove", event => {
        const option = /** @type {Element} */ (event.target).closest("[role=option]")
        if (option) this.activate(this.options().indexOf(option), false)
      })
      this.ready = this.prepare()
    }

    /** Fill the filters, and load what the first query needs. */
    async prepare() {
      await graft.names.prepare()
      const about = await graft.texts.known()
      const values = [about.platforms, about.owners]
      for (const [at, filter] of this.filters.entries()) {
        const all = FACETS[at] === "owner" ? "All owners" : "All platforms"
        filter.replaceChildren(new Option(all, ""), ...values[at].map((/** @type {[string]} */ [name]) => new Option(name, name)))
        filter.hidden = values[at].length < (FACETS[at] === "owner" ? 1 : 2)
      }
      this.note.textContent = await graft.texts.reason()
      if (!this.note.textContent && about.text) graft.texts.prepare().catch(() => this.withoutTexts())
    }

    withoutTexts() {
      this.note.textContent = "Descriptions cannot be searched in this browser."
    }

    /** @param {URLSearchParams} wanted */
    async open(wanted = new URLSearchParams()) {
      if (!this.dialog.open) {
        this.before = /^#search=/.test(location.hash) ? location.pathname + location.search : location.href
        this.dialog.showModal()
      }
      if (wanted.has("search")) this.input.value = wanted.get("search") ?? ""
      this.input.select()
      this.input.focus()
      try {
        await this.ready
      } catch {
        this.say("The index of the search cannot be loaded.")
        this.ready = this.prepare()
        this.ready.catch(() => {})
        return
      }
      if (wanted.has("search")) for (const filter of this.filters) filter.value = wanted.get(filter.name) ?? ""
      // An address can name an owner that is gone.
      for (const filter of this.filters) if (filter.selectedIndex < 0) filter.selectedIndex = 0
      this.search()
    }

    /** The address from before the search. The dialog's own event comes too late for that. */
    restore() {
      history.replaceState(history.state, "", this.before)
    }

    close() {
      this.restore()
      this.dialog.close()
    }

    /** The query and the filters as an address. */
    address() {
      const parts = new URLSearchParams({ search: this.input.value.trim() })
      for (const filter of this.filters) if (filter.value) parts.set(filter.name, filter.value)
      return `#${parts}`
    }

    async copyLink() {
      const address = new URL(this.address(), location.href).href
      try {
        await navigator.clipboard.writeText(address)
        this.copy.textContent = "Copied"
      } catch {
        this.copy.textContent = "Copy it from the address bar"
      }
      setTimeout(() => { this.copy.textContent = "Copy link" }, 2000)
    }

    async search() {
      const turn = ++this.turn, query = this.input.value.trim()
      history.replaceState(history.state, "", this.address())
      this.copy.hidden = !query
      if (!query) return this.hint()
      const [platform, owner] = this.filters.map(filter => filter.value)
      const limit = (/** @type {{kind: string, shown: number}} */ group) =>
        this.unfolded.has(group.kind) ? MORE : group.shown
      try {
        const found = await Promise.all(GROUPS.map(async group => ({
          ...group, shown: limit(group),
          results: await graft.names.find(query, { kind: group.kind, platform, owner, limit: limit(group) + 1 }),
        })))
        if (turn !== this.turn) return
        // What is called like the query comes before what only begins like it.
        const best = (/** @type {Group} */ { results: [first] }) => first.rank === undefined ? 9 : first.rank >> 1
        const groups = /** @type {Group[]} */ (found).filter(group => group.results.length)
          .sort((a, b) => best(a) - best(b))
        if (!groups.length && !platform && !owner) {
          const results = await graft.names.near(query, NEAR.shown)
          if (turn !== this.turn) return
          if (results.length) groups.push({ ...NEAR, results })
        }
        this.show(groups, query, true)
        const without = new Set(groups.flatMap(group => group.results.slice(0, group.shown).map(one => one.path)))
        const results = await this.texts(query, { platform, owner, limit: limit(TEXTS) + 1, without })
        if (turn !== this.turn) return
        if (results.length) groups.push({ ...TEXTS, shown: limit(TEXTS), results })
        this.show(groups, query, false)
      } catch (error) {
        if (turn === this.turn) this.say("The index of the search cannot be loaded.")
        throw error
      }
    }

    /** @param {string} query @param {object} options @returns {Promise<Result[]>} */
    async texts(query, options) {
      try {
        return await graft.texts.find(query, options)
      } catch {
        this.withoutTexts()
        return []
      }
    }

    /** @param {string} text @param {...Node} more */
    say(text, ...more) {
      this.list.replaceChildren()
      this.activate(-1)
      this.empty.replaceChildren(create("p", {}, text), ...more)
      this.status.textContent = ""
      this.input.setAttribute("aria-expanded", "false")
    }

    hint() {
      const examples = [["orders", "a table, view or file"], ["raw.ord", "the beginning of its full name"],
        ["amount", "a column, with the tables that have it"], ["refund policy", "words of a description"]]
      this.say("Search what the site knows.", create("dl", {}, ...examples.map(([query, words]) =>
        create("div", {}, create("dt", {}, create("code", {}, query)), create("dd", {}, words)))))
    }

    /** @param {Group[]} groups @param {string} query @param {boolean} waiting for descriptions */
    show(groups, query, waiting) {
      if (!groups.length) return waiting ? undefined : this.none(query)
      const chosen = this.options()[this.active]?.getAttribute("href")
      this.list.replaceChildren(...groups.map(one => group(one, query, this.unfolded.has(one.kind))))
      this.empty.replaceChildren()
      const count = groups.reduce((sum, group) => sum + Math.min(group.results.length, group.shown), 0)
      const more = groups.some(group => group.results.length > group.shown)
      if (!waiting) this.status.textContent = more ? `the first ${count} results` : count === 1 ? "1 result" : `${count} results`
      this.input.setAttribute("aria-expanded", "true")
      // Descriptions come later: they must not move what is chosen.
      const again = this.options().findIndex(option => option.getAttribute("href") === chosen)
      this.activate(Math.max(0, waiting ? 0 : again))
    }

    /** @param {string} query */
    none(query) {
      const filtered = this.filters.filter(filter => filter.value)
      const where = filtered.map(filter => `${filter.name} ${filter.value}`).join(" and ")
      if (!where) return this.say(`Nothing found for “${query}”.`)
      const clear = create("button", { type: "button", class: "md-button" }, "Search everything")
      clear.addEventListener("click", () => {
        for (const filter of filtered) filter.value = ""
        this.input.focus()
        this.search()
      })
      this.say(`Nothing found for “${query}” with ${where}.`, clear)
    }

    options() {
      return [...this.list.querySelectorAll("[role=option]")]
    }

    /** @param {number} at @param {boolean} [scroll] */
    activate(at, scroll = true) {
      const options = this.options()
      for (const option of options) option.setAttribute("aria-selected", "false")
      this.active = options.length ? at : -1
      const chosen = options[this.active]
      if (!chosen) return this.input.removeAttribute("aria-activedescendant")
      chosen.setAttribute("aria-selected", "true")
      this.input.setAttribute("aria-activedescendant", chosen.id)
      // The title of the first group is seen too.
      if (scroll) (at ? chosen : this.list).scrollIntoView({ block: at ? "nearest" : "start" })
    }

    /** @param {KeyboardEvent} event */
    key(event) {
      const count = this.options().length
      if (event.isComposing || event.target !== this.input || !count) return
      const moves = { ArrowDown: this.active + 1, ArrowUp: this.active - 1 + count }
      const to = moves[/** @type {"ArrowDown" | "ArrowUp"} */ (event.key)]
      if (to !== undefined) {
        event.preventDefault()
        this.activate(to % count)
      } else if (event.key === "Enter") {
        event.preventDefault()
        this.follow(this.options()[this.active], event.ctrlKey || event.metaKey)
      }
    }

    /** @param {MouseEvent} event */
    clicked(event) {
      const option = /** @type {Element} */ (event.target).closest("[role=option]")
      if (!option || event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      this.follow(option)
    }

    /** @param {Element | undefined} option @param {boolean} [beside] in a new tab */
    follow(option, beside = false) {
      if (!option) return
      const more = option.getAttribute("data-more")
      if (more) {
        this.unfolded.add(more)
        this.search()
        return
      }
      const to = new URL(option.getAttribute("href") ?? "", document.baseURI)
      if (beside) window.open(to)
      else if (to.pathname === location.pathname && to.search === location.search) {
        this.before = to.pathname + to.search
        this.close()
        location.hash = to.hash
      } else location.assign(to)
    }
  }

  /** @type {SearchDialog | undefined} */
  let search
  const openSearch = (/** @type {URLSearchParams} */ wanted) => (search ??= new SearchDialog()).open(wanted)

  addEventListener("keydown", event => {
    const target = /** @type {HTMLElement} */ (event.target)
    const typing = target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey
    const letter = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
    if (!slash && !letter) return
    event.preventDefault()
    if (letter && search?.dialog.open) search.close()
    else openSearch(new URLSearchParams())
  })
  addEventListener("click", event => {
    if (/** @type {Element} */ (event.target).closest?.("[data-graft-search]")) openSearch(new URLSearchParams())
  })
  const fromAddress = () => {
    if (location.hash.startsWith("#search=")) openSearch(new URLSearchParams(location.hash.slice(1)))
  }
  addEventListener("hashchange", fromAddress)
  fromAddress()
  if (/Mac|iP/.test(navigator.platform)) {
    for (const key of document.querySelectorAll("[data-graft-search] kbd")) key.textContent = "⌘ K"
  }
})()
