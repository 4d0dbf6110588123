// @ts-check
// The results of a search as elements; all that comes from a log or from dbt is text.
;(() => {
  "use strict"
  const graft = /** @type {any} */ (globalThis).graft

  /**
   * @typedef {{name: string, path: string, note: string, platform: string, owner: string,
   *   kind: string, rank?: number, excerpt?: string}} Result
   * @typedef {{kind: string, title: string, shown: number, results: Result[]}} Group
   */

  /**
   * @param {string} name @param {Record<string, string>} [attributes]
   * @param {...(Node | string)} children
   */
  const create = (name, attributes = {}, ...children) => {
    const element = document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.append(...children)
    return element
  }

  /** The text with the beginnings of words marked that a query has. @param {string} text @param {string} query */
  const marked = (text, query) => {
    /** @type {string[]} */
    const all = graft.names.words(query).map(graft.names.plain)
    const words = all.filter((word, _, { length }) => word.length > 1 || length === 1)
    if (!words.length) return [text]
    // At the beginning of a word: after no letter or digit, or at a capital.
    const pattern = new RegExp(words.sort((a, b) => b.length - a.length).join("|"), "gu")
    const shown = text.normalize("NFC")
    /** @type {(string | Node)[]} */
    const parts = []
    let end = 0
    for (const { 0: { length }, index } of graft.names.plain(shown).matchAll(pattern)) {
      const before = shown.slice(0, index).slice(-1), part = shown.slice(index, index + length)
      if (/[\p{L}\p{N}]/u.test(before) && !(/[\p{Ll}\p{N}]/u.test(before) && /^\p{Lu}/u.test(part))) continue
      parts.push(shown.slice(end, index), create("mark", {}, part))
      end = index + length
    }
    return [...parts, shown.slice(end)]
  }

  /** @param {Result} one @param {string} id @param {string} query */
  const option = (one, id, query) => {
    const facts = [one.note, ...(/^(column|owner)$/.test(one.kind) ? [] : [one.platform, one.owner])]
    const option = create("a", { role: "option", id, class: "graft-result", tabindex: "-1",
      href: graft.root + one.path, "aria-selected": "false" },
    create("span", { class: "graft-result__name" }, ...marked(one.name, query)),
    create("span", { class: "graft-result__note" }, facts.filter(Boolean).join(" · ")))
    if (one.excerpt) option.append(create("span", { class: "graft-result__text" }, ...marked(one.excerpt, query)))
    return option
  }

  /** A group of results. @param {Group} group @param {string} query @param {boolean} unfolded all of it is shown */
  const group = ({ kind, title, shown, results }, query, unfolded) => {
    const id = `graft-results-${kind}`
    const options = results.slice(0, shown).map((one, at) => option(one, `${id}-${at}`, query))
    if (results.length > shown && !unfolded) {
      options.push(create("div", { role: "option", id: `${id}-more`, class: "graft-result graft-result--more",
        "data-more": kind, "aria-selected": "false" }, "More…"))
    }
    return create("div", { role: "group", "aria-labelledby": id },
      create("div", { id, role: "presentation", class: "graft-results__title" }, title), ...options)
  }

  graft.results = { create, group, marked }
})()
