// @ts-check
"use strict"
// What is known of the chosen box, and what can be done with it.
{
  const { explore } = graft
  const { html } = explore
  const MOST = 12
  const KINDS = ["copied", "changed", "aggregated", "joined by", "filtered by", "grouped by", "sorted by", "windowed by", "decided by"]

  explore.idOf = path => {
    const page = path.replace(/[?#].*$/, "").replace(/(^|\/)index\.html$/, "$1").replace(/\/$/, "")
    if (page.startsWith("datasets/")) return page.slice("datasets/".length)
    return page.startsWith("tasks/") ? `@${page.slice("tasks/".length)}` : ""
  }
  explore.pageOf = id => id.startsWith("@") ? `tasks/${id.slice(1)}/index.html` : `datasets/${id}/index.html`

  explore.panel = (root, actions) => {
    const panel = html("aside", { class: "graft-panel", "aria-label": "The chosen box", hidden: true })
    root.append(panel)

    /** @type {(text: string, act: () => void, title?: string) => HTMLElement} */
    const button = (text, act, title = "") => html("button", { type: "button", class: "graft-button", onclick: act, ...title && { title } }, text)

    /** @type {(view: View, id: string) => string} */
    const nameOf = (view, id) => view.boxes.get(id)?.name ?? id.replace(/^@/, "").split("/").slice(-2).join(".")

    /** @type {(title: string, links: Link[], view: View, from: string, side: 0 | 1) => Node[]} */
    const neighbours = (title, links, view, from, side) => {
      if (!links.length) return []
      const shown = links.slice(0, MOST).map(link => html("li", {}, html("button", {
        type: "button", class: `graft-link graft-name g-${view.boxes.get(link.to)?.shape ?? (link.to.startsWith("@") ? "task" : "table")}`,
        onclick: () => {
          if (!view.boxes.has(link.to)) actions.open(from, side)
          actions.select(link.to)
        },
      }, nameOf(view, link.to)), (link.flags & 3) === 2 ? html("span", { class: "graft-inferred" }, "inferred") : "",
      link.flags & 64 ? html("span", { class: "graft-quiet", title: "Several sources show it: a log, and an event or a declaration" }, " confirmed") : ""))
      const more = links.length > MOST ? [html("li", { class: "graft-quiet" }, `and ${(links.length - MOST).toLocaleString("en")} more`)] : []
      return [html("h3", {}, title), html("ul", { class: "graft-list" }, ...shown, ...more)]
    }

    /** @type {(shown: Shown, look: Look, view: View) => Node[]} */
    const column = (shown, look, view) => {
      const { lit, way } = look
      if (!lit || !way || lit.id !== shown.id) return []
      const name = look.columns.get(lit.id)?.names.find(one => one.slug === lit.slug)?.name ?? lit.slug
      /** @type {(id: string, slug: string) => string} */
      const full = (id, slug) => slug ? `${nameOf(view, id)}.${look.columns.get(id)?.names.find(one => one.slug === slug)?.name ?? slug}` : `rows of ${nameOf(view, id)}`
      /** @type {(id: string, slug: string, kind: number) => HTMLElement} */
      const item = (id, slug, kind) => html("li", {}, html("span", { class: "graft-quiet" }, `${KINDS[kind & 15]}${kind & 16 ? ", inferred" : ""} `),
        slug ? html("button", { type: "button", class: "graft-link", onclick: () => actions.column(id, slug) }, full(id, slug)) : full(id, slug))
      const from = way.lines.filter(line => line.target === lit.id && (line.own === lit.slug || !line.own)).map(line => item(line.source, line.from, line.kind))
      const to = way.lines.filter(line => line.source === lit.id && line.from === lit.slug).map(line => item(line.target, line.own, line.kind))
      return [
        html("h3", {}, "Column ", html("code", {}, name)),
        ...from.length ? [html("p", { class: "graft-quiet" }, "comes from"), html("ul", { class: "graft-list" }, ...from.slice(0, MOST))] : [],
        ...to.length ? [html("p", { class: "graft-quiet" }, "feeds"), html("ul", { class: "graft-list" }, ...to.slice(0, MOST))] : [],
        ...from.length || to.length ? [] : [html("p", { class: "graft-quiet" }, "Nothing on the screen comes from it, or feeds it.")],
      ]
    }

    /** When it came, and when it went, where that is known.
     * @type {(box: Box) => Node[]} */
    const spans = ({ id, flags, since, until }) => {
      if (!explore.days) return []
      /** @type {(name: string, day: number) => Node[]} */
      const fact = (name, day) => [html("dt", {}, name), html("dd", {}, explore.dateInWords(explore.dateOf(day)))]
      const end = flags & 1 ? "Dropped" : id.startsWith("@") ? "Not run since" : "Gone"
      return [...since ? fact("First seen", since) : [], ...until ? fact(end, until - 1) : []]
    }

    /** @type {(shown: Shown, state: State, view: View, look: Look) => Node[]} */
    const ofBox = (shown, state, view, look) => {
      const box = /** @type {Box} */ (shown.box), isTask = box.id.startsWith("@")
      /** @type {(side: number) => Link[]} */
      const links = side => box.links.filter(link => link.side === side && explore.allows(link, state)
        && (isTask || (state.tasks ? link.flags & 16 || link.to.startsWith("@") : !link.to.startsWith("@"))))
      const isOpen = state.unfolded.includes(box.id)
      const facts = [
        ...box.owner ? [html("dt", {}, "Owner"), html("dd", {}, box.owner)] : [],
        ...spans(box),
        ...box.tags.length ? [html("dt", {}, "Tags"), html("dd", {}, box.tags.join(", "))] : [],
      ]
      return [
        html("p", { class: "graft-quiet graft-panel__note" }, shown.note, box.flags & 1 && shown.gone ? " · dropped" : "", box.flags & 2 ? " · temporary" : ""),
        ...shown.failed ? [html("p", { class: "graft-status graft-status--failed" }, "last run failed")] : [],
        html("p", { class: "graft-panel__actions" },
          html("a", { class: "md-button md-button--primary", href: `../${explore.pageOf(box.id)}` }, "Open page"),
          ...box.id === state.start ? [] : [button("Start here", () => actions.start(box.id))],
          ...isTask ? [] : [button(isOpen ? "Fold columns" : "Columns", () => actions.unfold(box.id))],
          ...box.views.length ? [button(state.views.includes(box.id) ? "Fold views" : `Views (${box.views.length})`,
            () => actions.views(box.id), "Views that pass all rows on, which are other names of it")] : [],
          button("Paths to…", () => actions.path(box.id), "Choose another box to see the paths between the two"),
          ...box.id === state.start ? [] : [button("Hide", () => actions.hide(box.id))]),
        ...facts.length ? [html("dl", { class: "graft-panel__facts" }, ...facts)] : [],
        ...column(shown, look, view),
        ...neighbours(isTask ? "Reads" : "Comes from", links(0), view, box.id, 0),
        ...neighbours(isTask ? "Writes" : "Feeds", links(1), view, box.id, 1),
      ]
    }

    /** @type {(shown: Shown, of: string) => Node[]} */
    const ofView = (shown, of) => [
      html("p", { class: "graft-quiet graft-panel__note" }, shown.note),
      html("p", { class: "graft-panel__actions" },
        html("a", { class: "md-button md-button--primary", href: `../${explore.pageOf(of)}#other-names` }, "Open page"),
        button("Fold views", () => { actions.select(of); actions.views(of) })),
      html("p", { class: "graft-quiet" }, "What reads it reads the table."),
    ]

    /** @type {(shown: Shown) => Node[]} */
    const ofFolded = shown => [
      html("p", { class: "graft-quiet graft-panel__note" }, shown.note),
      html("p", { class: "graft-panel__actions" },
        html("button", { type: "button", class: "md-button md-button--primary", onclick: () => actions.enter(shown.id) }, "Unfold"),
        ...shown.folder ? [html("a", { class: "md-button", href: `../datasets/${shown.folder.id}index.html` }, "Open list")] : []),
    ]

    return {
      show(shown, state, view, look) {
        panel.hidden = !shown
        root.classList.toggle("graft-explorer--panel", Boolean(shown))
        if (!shown) return
        const had = panel.contains(document.activeElement) ? document.activeElement?.textContent : null
        panel.replaceChildren(
          html("button", { type: "button", class: "graft-close", "aria-label": "Close", onclick: () => actions.select("") }, "×"),
          html("h2", {}, shown.name),
          ...shown.box ? [html("code", { class: "graft-panel__id" }, shown.box.id.startsWith("@") ? shown.box.id.slice(1) : shown.box.id)] : [],
          ...shown.box ? ofBox(shown, state, view, look) : shown.of ? ofView(shown, shown.of) : ofFolded(shown))
        // A button that was pressed keeps the focus, though it was made anew.
        if (had) for (const one of panel.querySelectorAll("button")) if (one.textContent === had) one.focus()
      },
    }
  }
}
