// @ts-check
"use strict"
// The controls: search, depth, switches, folding, filters, export.
{
  const { explore } = graft
  const { html, svg } = explore
  // Values of one filter that are listed.
  const MOST = 40
  /** @type {Record<Facet, string>} */
  const FACETS = { platform: "Platform", schema: "Schema", owner: "Owner", tag: "Tag", kind: "Kind", evidence: "Evidence" }
  /** @type {["tasks" | "control" | "inferred" | "deleted", string, string][]} */
  const SWITCHES = [
    ["tasks", "Tasks", "Without: tables only"],
    ["control", "Control flow", "What only decides on rows: joins and filters"],
    ["inferred", "Inferred", "Found by a rule; no log shows it"],
    ["deleted", "Deleted and temporary", "Tables that are gone"],
  ]
  const KEYS = [
    ["← → ↑ ↓", "to the next box"], ["Enter", "choose it"], ["U, D", "open upstream, downstream"], ["C", "columns"], ["V", "views of a table"],
    ["S", "start here"], ["P", "paths to another box"], ["H", "hide"], ["F", "all in sight"], ["T", "tidy up"], ["+ −", "zoom"], ["Esc", "back to plain"],
  ]
  /** @type {Record<string, string>} */
  const ICONS = {
    home: "M10 20v-6h4v6h5v-8h3L12 3 2 12h3v8z",
    fit: "M5 5h5v2H7v3H5zm9 0h5v5h-2V7h-3zm3 9h2v5h-5v-2h3zM10 17v2H5v-5h2v3z",
    tidy: "M3 5h6v5H3zm12 0h6v5h-6zm0 9h6v5h-6zM9 7h6v2H9zm2 2h2v7h2v2h-4z",
    in: "M19 13h-6v6h-2v-6H5v-2h6V5h2v6h6z",
    out: "M19 13H5v-2h14z",
  }

  /** @type {(name: string) => SVGElement} */
  const icon = name => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": true }, svg("path", { d: ICONS[name] }))

  explore.toolbar = (root, actions, search) => {
    /** @type {(name: string, label: string, act: () => void) => HTMLElement} */
    const button = (name, label, act) => html("button", { type: "button", class: "graft-tool", title: label, "aria-label": label, onclick: act }, icon(name))

    /** @type {(label: string, ...children: Node[]) => HTMLDetailsElement} */
    const menu = (label, ...children) => {
      const found = /** @type {HTMLDetailsElement} */ (html("details", { class: "graft-menu" }, html("summary", {}, label), html("div", { class: "graft-menu__body" }, ...children)))
      found.addEventListener("toggle", () => {
        if (found.open) for (const other of menus) if (other !== found) other.open = false
      })
      return found
    }

    /** @type {(name: "up" | "down", label: string) => HTMLElement} */
    const stepper = (name, label) => {
      const input = html("input", { type: "number", min: 0, max: 20, id: `graft-${name}`, "data-name": name, onchange: () => {
        const value = Math.min(Math.max(Math.round(Number(/** @type {HTMLInputElement} */ (input).value)) || 0, 0), 20)
        actions.change({ [name]: value }, true)
      } })
      return html("label", { class: "graft-field", for: `graft-${name}` }, label, input)
    }

    const fold = /** @type {HTMLSelectElement} */ (html("select", { id: "graft-fold", onchange: () =>
      actions.change({ fold: /** @type {State["fold"]} */ (fold.value) }, true) },
    html("option", { value: "" }, "what cannot be read"), html("option", { value: "nothing" }, "nothing"), html("option", { value: "schema" }, "schemas"), html("option", { value: "owner" }, "owners")))

    const switches = SWITCHES.map(([name, label, title]) => html("label", { class: "graft-field", title }, label,
      html("input", { type: "checkbox", "data-name": name, onchange: (/** @type {Event} */ event) =>
        actions.change({ [name]: /** @type {HTMLInputElement} */ (event.target).checked }) })))

    const filters = html("div", { class: "graft-filters" })
    const copy = html("button", { type: "button", class: "graft-link", onclick: async () => {
      await navigator.clipboard?.writeText(location.href).then(() => toolbar.say("Link copied"), () => toolbar.say("The address holds this view"))
    } }, "Copy link")
    const depth = html("div", { class: "graft-depth" }, stepper("up", "Steps upstream"), stepper("down", "Steps downstream"))
    const view = menu("View", depth, html("label", { class: "graft-field", for: "graft-fold" }, "Fold", fold), ...switches)
    const filter = menu("Filter", filters)
    const dates = explore.dateControl(actions), date = menu("Date", ...dates.menu)
    const save = menu("Save", copy,
      html("button", { type: "button", class: "graft-link", onclick: () => actions.save("svg") }, "Picture as SVG"),
      html("button", { type: "button", class: "graft-link", onclick: () => actions.save("png") }, "Picture as PNG"))
    const keys = menu("Keys", html("dl", { class: "graft-keys" }, ...KEYS.flatMap(([key, text]) => [html("dt", {}, key), html("dd", {}, text)])))
    const menus = [view, filter, date, save, keys]
    addEventListener("pointerdown", event => {
      for (const one of menus) if (one.open && !one.contains(/** @type {Node} */ (event.target))) one.open = false
    })
    for (const one of menus) {
      one.addEventListener("keydown", event => {
        if (event.key !== "Escape" || !one.open) return
        one.open = false
        one.querySelector("summary")?.focus()
        event.stopPropagation()
      })
    }
    const status = html("p", { class: "graft-say", role: "status", "aria-live": "polite" })
    root.append(
      html("div", { class: "graft-bar-top" }, button("home", "Overview", actions.home), search, ...menus),
      html("div", { class: "graft-bar-side", role: "group", "aria-label": "Zoom" },
        button("in", "Zoom in", () => actions.zoom(1.3)), button("out", "Zoom out", () => actions.zoom(1 / 1.3)),
        button("fit", "All in sight", actions.fit), button("tidy", "Tidy up", actions.tidy)),
      status)

    /** @type {(state: State, view: View) => void} */
    const showFilters = (state, shown) => {
      const found = explore.facets(shown)
      const parts = Object.entries(FACETS).flatMap(([key, label]) => {
        const facet = /** @type {Facet} */ (key), chosen = state.filters[facet]
        const values = [...new Set([...chosen, ...found[facet].keys()])]
        if (values.length < 2 && !chosen.length) return []
        const boxes = values.slice(0, MOST).map(value => html("label", {},
          html("input", { type: "checkbox", checked: chosen.includes(value), "data-value": `${facet}=${value}`, onchange: () => actions.change({ filters: {
            ...state.filters, [facet]: chosen.includes(value) ? chosen.filter(one => one !== value) : [...chosen, value],
          } }) }), html("span", {}, value), html("span", { class: "graft-count" }, (found[facet].get(value) ?? 0).toLocaleString("en"))))
        return [html("fieldset", {}, html("legend", {}, label), ...boxes)]
      })
      const had = filters.contains(document.activeElement) ? document.activeElement?.getAttribute("data-value") : null
      filters.replaceChildren(...parts.length ? parts : [html("p", { class: "graft-quiet" }, "All boxes are alike.")])
      if (had) for (const one of filters.querySelectorAll("input")) if (one.getAttribute("data-value") === had) one.focus()
    }

    /** @type {Toolbar} */
    const toolbar = {
      show(state, shown) {
        depth.hidden = !state.start
        for (const input of root.querySelectorAll("input[data-name]")) {
          const one = /** @type {HTMLInputElement} */ (input), value = state[/** @type {keyof State} */ (one.dataset.name)]
          if (one.type === "checkbox") one.checked = Boolean(value)
          else one.value = String(value)
        }
        fold.value = state.fold
        const count = Object.values(state.filters).reduce((sum, values) => sum + values.length, 0)
        filter.firstElementChild?.replaceChildren(count ? `Filter (${count})` : "Filter")
        date.hidden = !explore.days
        date.firstElementChild?.replaceChildren(dates.show(state))
        showFilters(state, shown)
      },
      say(text) { status.textContent = text },
    }
    return toolbar
  }
}
