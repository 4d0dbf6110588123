// @ts-check
"use strict"
// The explorer: the graph as one can walk it. All that is shown follows from a state, which the
// address holds; what a person does changes the state.
{
  const { explore } = graft

  /** @param {HTMLElement} root */
  const run = root => {
    const data = explore.data("data/")
    let state = explore.readState(location.hash)
    /** @type {Scene | null} */
    let scene = null
    let selected = "", asked = 0, pathFrom = ""
    /** @type {Lit | null} */
    let pointed = null
    /** @type {Look} */
    let look = { selected, path: null, lit: null, way: null, columns: new Map() }
    /** @type {Promise<void>} */
    let busy = Promise.resolve()

    const toAddress = (isNew = false) => {
      const hash = explore.writeState(state)
      if (hash === location.hash) return
      const address = hash || location.href.split("#")[0]
      if (isNew) history.pushState(null, "", address)
      else history.replaceState(null, "", address)
    }

    /** Load the columns that are shown, and those of all boxes while one is lit.
     * @type {(view: View, lit: Lit | null) => Promise<Map<string, Columns>>} */
    const columnsOf = async (view, lit) => {
      const datasets = [...view.boxes.values()].filter(one => one.box && !one.id.startsWith("@")).map(one => one.id)
      const wanted = lit ? datasets : datasets.filter(id => state.unfolded.includes(id))
      return new Map(await Promise.all(wanted.map(async id => /** @type {[string, Columns]} */ ([id, await data.columns(id)]))))
    }

    /** @type {(of: Scene, ids?: string[]) => Rectangle} */
    const bounds = (of, ids) => explore.bounds(of, explore.openHeights(of.view, state, look), ids)

    /** The boxes of the view on the paths between two.
     * @type {(view: View) => Set<string> | null} */
    const onWay = ({ boxes, way }) => way?.size
      ? new Set([...boxes].flatMap(([id, shown]) => shown.members.some(one => way.has(one)) ? [id] : [])) : null

    const draw = async () => {
      const number = asked, shown = scene
      if (!shown) return
      const lit = pointed ?? explore.litBy(state)
      const columns = await columnsOf(shown.view, lit)
      if (number !== asked || shown !== scene) return
      const isThere = lit && columns.get(lit.id)?.names.some(one => one.slug === lit.slug)
      const way = isThere ? explore.columnWay(lit, shown.view, data) : null
      look = { selected, path: onWay(shown.view), lit: isThere ? lit : null, way, columns }
      canvas.draw(shown, state, look)
      panel.show(shown.view.boxes.get(selected) ?? null, state, shown.view, look)
      toolbar.show(state, unfiltered)
    }

    /** @type {View} the view before filters */
    let unfiltered = { boxes: new Map(), arrows: [], cut: false, fixed: null, way: null, opened: [] }

    /** Show the state: what is there stays in its place, unless all is laid out anew. */
    const show = async (tidy = false) => {
      const number = ++asked
      const found = await explore.walk(state, data, isReadable)
      const view = explore.withViews(explore.folded(explore.filtered(found, state), state), state)
      if (number !== asked) return
      const old = scene, anchor = [selected, state.start].find(id => old?.view.boxes.has(id) && view.boxes.has(id))
      unfiltered = found
      scene = explore.placed(view, old, tidy)
      await draw()
      if (number !== asked || !scene) return
      const isNew = !old || ![...view.boxes.keys()].some(id => old.view.boxes.has(id))
      const before = anchor && old?.places.get(anchor), after = anchor && scene.places.get(anchor)
      if (isNew) inSight()
      else if (before && after) camera.moveTo(camera.x + (before.x - after.x) * camera.scale, camera.y + (before.y - after.y) * camera.scale, camera.scale)
      else if (tidy) inSight()
      if (old && !isNew && !tidy) lookAtNew(old, scene)
      const fresh = old ? [...view.boxes.keys()].filter(id => !old.view.boxes.has(id)).length : 0
      const { text, missing } = explore.message(state, unfiltered, view, look, fresh)
      toolbar.say(missing ? "" : text)
      await nothing.show(missing ? text : "", state.start && !unfiltered.boxes.has(state.start) ? state.start : "")
    }

    /** Bring new boxes into sight where none of them is. */
    const lookAtNew = (/** @type {Scene} */ old, /** @type {Scene} */ now) => {
      const fresh = [...now.view.boxes.keys()].filter(id => !old.view.boxes.has(id))
      if (fresh.length && !explore.anyInSight(now, camera, frame, fresh)) camera.reveal(bounds(now, fresh))
    }

    /** All of a view can be read at once.
     * @type {(view: View) => boolean} */
    const isReadable = view => {
      const there = explore.filtered(view, state)
      return !there.boxes.size || camera.fits(bounds(explore.placed(there, null, false)))
    }

    /** The way of a column or between two boxes, else all; as much as can be read, from the start on. */
    const inSight = () => {
      if (!scene?.view.boxes.size) return
      const ids = [...look.path ?? look.way?.columns.keys() ?? scene.view.boxes.keys()], all = bounds(scene, ids)
      const about = [look.lit?.id ?? "", selected, state.start].find(id => ids.includes(id))
      camera.read(all, about ? bounds(scene, [about]) : [all[0], all[1], all[0], all[1]])
    }

    /** Nothing lies on the box that was chosen, nor is it beyond the edge. */
    const revealChosen = () => {
      if (scene?.view.boxes.has(selected)) camera.reveal(bounds(scene, [selected]))
    }

    const failed = (/** @type {unknown} */ error) => {
      toolbar.say(error instanceof Error ? `${error.message}. Load the page again.` : String(error))
    }

    /** @type {(change: Partial<State>, tidy?: boolean, isNew?: boolean) => void} */
    const change = (change, tidy = false, isNew = false) => {
      state = { ...state, ...change }
      toAddress(isNew)
      busy = show(tidy).catch(failed)
    }
    const redraw = (then = () => {}) => { busy = draw().then(then).catch(failed) }

    /** @type {(list: string[], value: string) => string[]} */
    const toggled = (list, value) => list.includes(value) ? list.filter(one => one !== value) : [...list, value]

    /** @type {ToolbarActions} */
    const actions = {
      change,
      select(id) {
        if (pathFrom && id && id !== pathFrom) {
          const ends = [pathFrom, id]
          pathFrom = ""
          selected = id
          const isThere = ends.every(one => unfiltered.boxes.get(one)?.box)
          change({ path: ends, start: state.start || (isThere && !unfiltered.boxes.values().next().value?.folder ? "" : ends[0]) })
          return
        }
        pathFrom = ""
        selected = id
        redraw(revealChosen)
      },
      open(id, side) {
        const one = side ? `${id}>` : `<${id}`
        if (!state.opened.includes(one)) change({ opened: [...state.opened, one], start: state.start || id })
      },
      enter: id => change({ opened: [...new Set([...unfiltered.opened, ...state.opened, id])] }),
      unfold: id => {
        state = { ...state, unfolded: toggled(state.unfolded, id) }
        toAddress()
        redraw()
      },
      views: id => change({ views: toggled(state.views, id) }),
      light(lit) {
        if (lit?.id === pointed?.id && lit?.slug === pointed?.slug) return
        pointed = lit
        redraw()
      },
      column(id, slug) {
        const one = id === state.start ? slug : `${id}:${slug}`
        state = { ...state, columns: state.columns[0] === one ? [] : [one] }
        pointed = null
        selected = id
        toAddress()
        redraw(() => {
          const way = [...look.way?.columns.keys() ?? []]
          if (scene && way.some(one => scene && !explore.anyInSight(scene, camera, frame, [one]))) inSight()
          else revealChosen()
        })
      },
      start(id) {
        selected = id
        change({ start: id, opened: [], hidden: [], columns: [], path: [], views: [], unfolded: state.unfolded.filter(one => one === id) }, true, true)
      },
      hide(id) {
        if (selected === id) selected = ""
        change({ hidden: [...state.hidden, id] })
      },
      join(id) {
        pathFrom = selected
        actions.select(id)
      },
      path(id) {
        selected = pathFrom = id
        toolbar.say("Choose the other box to see the paths between the two, or press Escape.")
      },
      tidy: () => change({}, true),
      fit: () => scene?.view.boxes.size && camera.fit(bounds(scene)),
      zoom: factor => camera.zoom(factor),
      save: kind => {
        const name = (state.start || "lineage").replace(/[^\w.-]+/g, "_").replace(/^_+/, "")
        explore.save(canvas.layer, kind, name).catch(failed)
      },
      home() {
        selected = ""
        change({ ...explore.readState("") }, true, true)
      },
      focus(id) {
        canvas.focus(id)
        if (scene?.view.boxes.has(id)) camera.reveal(bounds(scene, [id]))
      },
    }

    const frame = explore.html("div", { class: "graft-canvas", role: "group", "aria-label": "Lineage, left to right" })
    root.append(frame)
    const canvas = explore.canvas(frame), camera = explore.camera(frame, canvas.sheet)
    const panel = explore.panel(root, actions)
    const nothing = explore.nothing(frame, actions.start)
    const entries = () => [...document.querySelectorAll(".graft-entries .graft-list a")].map(link => ({
      kind: "", name: link.textContent ?? "", path: (link.getAttribute("href") ?? "").replace(/^\.\.\//, ""),
    })).concat([...scene?.view.boxes.values() ?? []].filter(one => one.box).map(one => ({ kind: one.note, name: one.name, path: explore.pageOf(one.id) })))
    const search = explore.search((id, column) => {
      actions.start(id)
      if (column) {
        state = { ...state, columns: [column], unfolded: [id] }
        toAddress()
      }
    }, entries)
    const toolbar = explore.toolbar(root, actions, search)
    explore.keys(frame, actions, () => scene)

    explore.events(frame, actions, () => ({ scene, selected }))
    addEventListener("keydown", event => {
      if (event.key !== "Escape") return
      pathFrom = ""
      pointed = null
      if (state.columns.length || state.path.length) change({ columns: [], path: [] })
      else actions.select("")
    })
    addEventListener("hashchange", () => {
      const wanted = explore.readState(location.hash)
      if (explore.writeState(wanted) === explore.writeState(state)) return
      busy = begin(wanted).catch(failed)
    })
    new MutationObserver(() => redraw()).observe(document.body, { attributeFilter: ["data-md-color-scheme"] })

    explore.running = {
      get state() { return state },
      get scene() { return scene },
      async idle() {
        /** @type {Promise<void> | null} */
        let last = null
        while (last !== busy) await (last = busy)
      },
    }
    /** Show what an address says. */
    const begin = async (/** @type {State} */ wanted) => {
      const number = ++asked, found = await explore.spelled(wanted, data)
      if (number !== asked) return
      const lit = explore.litBy(state = found)
      toAddress()
      if (lit && !found.unfolded.length) state = { ...found, unfolded: [lit.id] }
      // On a phone the panel would cover the picture.
      selected = root.clientWidth > 720 ? state.start : ""
      await show(true)
    }
    busy = begin(state).catch(failed)
  }

  const root = /** @type {HTMLElement | null} */ (document.querySelector(".graft-explorer"))
  if (root && document.querySelector(".graft-entries .graft-list")) {
    document.documentElement.classList.add("graft-exploring")
    root.hidden = false
    run(root)
  }
}
