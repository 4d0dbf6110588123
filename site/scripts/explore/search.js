// @ts-check
"use strict"
// The explorer's search: the site's name index where there is one, else the names at hand.
{
  const { explore } = graft
  const { html } = explore
  const MOST = 10

  /** @type {(query: string, entries: NameFound[]) => NameFound[]} */
  const byPrefix = (query, entries) => {
    const wanted = query.toLowerCase()
    return entries.filter(({ name }) => name.toLowerCase().split(/[\s./_-]+/).some(word => word.startsWith(wanted))
      || name.toLowerCase().startsWith(wanted))
  }

  explore.search = (choose, entries) => {
    const list = html("ul", { id: "graft-found", class: "graft-found", role: "listbox", "aria-label": "Found", hidden: true })
    const input = /** @type {HTMLInputElement} */ (html("input", {
      type: "search", class: "graft-find", placeholder: "Start from a table, task or column", "aria-label": "Start from", autocomplete: "off",
      spellcheck: "false", role: "combobox", "aria-expanded": "false", "aria-controls": "graft-found", "aria-autocomplete": "list",
    }))
    /** @type {NameFound[]} */
    let found = []
    let chosen = 0, asked = 0

    const show = () => {
      const isOpen = Boolean(input.value.trim()) && document.activeElement === input
      list.hidden = !isOpen
      input.setAttribute("aria-expanded", String(isOpen))
      list.replaceChildren(...found.map((one, at) => html("li", {
        role: "option", id: `graft-found-${at}`, "aria-selected": String(at === chosen), onpointerdown: (/** @type {Event} */ event) => {
          event.preventDefault()
          take(one)
        },
      }, html("span", {}, one.name), html("span", { class: "graft-quiet" }, [one.kind, one.platform].filter(Boolean).join(" · ")))))
      if (!found.length) list.append(html("li", { class: "graft-quiet" }, "Nothing found"))
      if (found.length) input.setAttribute("aria-activedescendant", `graft-found-${chosen}`)
      else input.removeAttribute("aria-activedescendant")
    }

    /** @param {NameFound} one */
    const take = one => {
      input.value = ""
      found = []
      input.blur()
      show()
      choose(explore.idOf(one.path), one.path.split("#column-")[1] ?? "")
    }

    const look = async () => {
      const query = input.value.trim(), number = ++asked
      const all = query ? graft.names ? await graft.names.find(query, { limit: 30 }) : byPrefix(query, entries()) : []
      if (number !== asked) return
      found = all.filter(one => explore.idOf(one.path)).slice(0, MOST)
      chosen = 0
      show()
    }

    input.addEventListener("input", look)
    input.addEventListener("focus", look)
    input.addEventListener("blur", show)
    input.addEventListener("keydown", event => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault()
        chosen = (chosen + (event.key === "ArrowDown" ? 1 : -1) + found.length) % (found.length || 1)
        show()
      } else if (event.key === "Enter" && found[chosen]) take(found[chosen])
      else if (event.key === "Escape") input.blur()
    })
    return html("div", { class: "graft-search-explorer" }, input, list)
  }
}
