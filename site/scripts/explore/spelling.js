// @ts-check
"use strict"
// What a person wrote or copied: a page's identity `spark/analytics.orders`, a table `raw.orders`,
// `mssql://sql01:1433/Shop.dbo.Orders`, the name of a task.
{
  const { explore } = graft
  const { html } = explore
  const NEAR = 6, ALIKE = 200

  /** The letters and digits of a name: how pages' addresses and names are alike.
   * @type {(text: string) => string} */
  const plain = text => graft.names?.words(text).join("") ?? ""

  /** @type {(text: string) => string} */
  const lastPart = text => text.split(/[./\\]/).filter(Boolean).pop() ?? text

  /** Datasets and tasks of the name index.
   * @type {(found: NameFound[]) => NameFound[]} */
  const pages = found => found.filter(one => explore.idOf(one.path) && !one.path.includes("#"))

  /** The id of a box by a spelling; empty where none has it, or several.
   * @type {(text: string, data: Data) => Promise<string>} */
  const idOfSpelling = async (text, data) => {
    if (!text || await data.box(text)) return text
    const { names } = graft
    if (!names) return ""
    const wanted = plain(text), name = text.replace(/^@/, "")
    const alike = await Promise.all([name, lastPart(name)].map(one => names.find(one, { limit: ALIKE })))
    const found = pages(alike.flat()).map(one => {
      const id = explore.idOf(one.path), name = plain(one.name), address = plain(id)
      // A namespace whose address has a digest begins like it.
      const isFull = wanted.endsWith(name) && address.startsWith(wanted.slice(0, -name.length))
      return { id, rank: address === wanted ? 0 : name === wanted ? 1 : isFull ? 2 : 3 }
    })
    const best = Math.min(2, ...found.map(one => one.rank)), ids = new Set(found.filter(one => one.rank === best).map(one => one.id))
    return ids.size === 1 ? [...ids][0] : ""
  }

  explore.spelled = async (state, data) => {
    const [start, ...path] = await Promise.all([state.start, ...state.path].map(async one => await idOfSpelling(one, data) || one))
    return { ...state, start, path, columns: state.columns.map(one => one.toLowerCase()) }
  }

  explore.nothing = (frame, choose) => {
    const place = html("div", { class: "graft-nothing", role: "status", hidden: true })
    frame.append(place)
    let asked = 0
    return {
      async show(text, name) {
        const number = ++asked
        place.hidden = !text
        place.classList.toggle("graft-nothing--beside", Boolean(frame.querySelector(".graft-box")))
        place.replaceChildren(html("p", {}, text))
        if (!text || !name || !graft.names) return
        const same = pages(await graft.names.find(lastPart(name), { limit: ALIKE }))
        const found = same.length ? same : pages(await graft.names.near(name.replace(/^@/, ""), ALIKE))
        if (number !== asked || !found.length) return
        place.append(html("p", { class: "graft-quiet" }, "Names like it:"), html("ul", { class: "graft-list" }, ...found.slice(0, NEAR).map(one =>
          html("li", {}, html("button", { type: "button", class: "graft-link", onclick: () => choose(explore.idOf(one.path)) }, one.name), " ",
            html("span", { class: "graft-quiet" }, [one.note, one.platform].filter(Boolean).join(" · "))))))
      },
    }
  }
}
