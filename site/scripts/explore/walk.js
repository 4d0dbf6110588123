// @ts-check
"use strict"
// From a state to the boxes and arrows that it shows. Steps go from dataset to dataset; the tasks
// that carry the data stand in between, as in the pictures of the pages.
{
  const { explore } = graft
  const CONTROL = 4, DEFINITION = 16, GONE = 32, LEVEL = 3
  // Flags of a box: dropped, temporary.
  const ENDED = 3
  const UP = 0, DOWN = 1
  // Beyond this a picture is no help; boxes that are cut off keep their +.
  const MOST = 600

  explore.EVIDENCE = ["observed", "declared", "inferred"]

  /** @type {(id: string) => boolean} */
  const isTask = id => id.startsWith("@")

  explore.allows = (link, state) => {
    if (link.flags & CONTROL && !state.control) return false
    if (!explore.isThere(link, GONE, state)) return false
    const evidence = explore.EVIDENCE[link.flags & LEVEL]
    if (evidence === "inferred" && !state.inferred) return false
    const wanted = state.filters.evidence
    return !wanted.length || wanted.includes(evidence)
  }

  /** @type {(box: Box, state: State) => Shown} */
  const shown = (box, state) => {
    const note = [box.place, box.platform, box.sort === box.platform.toLowerCase() || isTask(box.id) ? "" : box.sort]
    const page = isTask(box.id) ? "" : box.id
    return {
      id: box.id, name: box.name, note: note.filter(Boolean).join(" · "), shape: box.shape,
      wanted: box.wanted + 48, title: `${box.name} (${note.filter(Boolean).join(" · ")})${page && `, ${page}`}`,
      // How a run ended is known of the last one only.
      failed: Boolean(box.flags & 4) && !state.date, gone: explore.hasEnded(box, ENDED, state),
      up: 0, down: 0, box, members: [box.id], folder: null,
    }
  }

  /** What is found on a walk. */
  class Walk {
    /** @param {State} state
     * @param {Data} data */
    constructor(state, data) {
      this.state = state
      this.data = data
      /** @type {Map<string, Box>} */
      this.datasets = new Map()
      /** @type {Map<string, Box>} */
      this.tasks = new Map()
      /** @type {Set<string>} tasks that are shown though no flow between shown datasets needs them */
      this.ends = new Set()
      this.cut = false
      this.without = new Set(state.hidden)
    }

    /** @type {(box: Box, side: number) => Link[]} */
    links(box, side) {
      return box.links.filter(link =>
        link.side === side && !this.without.has(link.to) && explore.allows(link, this.state))
    }

    /** @type {(box: Box, side: number) => string[]} */
    datasetsBeside(box, side) {
      return this.links(box, side).filter(link => !isTask(link.to)).map(link => link.to)
    }

    /** Take datasets in, as far as there is room.
     * @type {(ids: Iterable<string>) => Promise<Box[]>} */
    async add(ids) {
      const fresh = [...new Set(ids)].filter(id => !this.datasets.has(id))
      const room = Math.max(0, MOST - this.datasets.size)
      this.cut ||= fresh.length > room
      const found = [...(await this.data.boxes(fresh.slice(0, room))).values()]
      for (const box of found) this.datasets.set(box.id, box)
      return found
    }

    /** @type {(from: Box[], side: 0 | 1, depth: number) => Promise<void>} */
    async outward(from, side, depth) {
      let frontier = from
      for (let step = 0; step < depth && frontier.length; step++) {
        if (side === DOWN) for (const box of frontier) this.addEnds(box, side)
        frontier = await this.add(frontier.flatMap(box => this.datasetsBeside(box, side)))
      }
    }

    /** The tasks on a side of a dataset, those too that carry nothing further.
     * @type {(box: Box, side: number) => void} */
    addEnds(box, side) {
      for (const link of this.links(box, side)) if (isTask(link.to)) this.ends.add(link.to)
    }

    /** Open a box outward by one step.
     * @type {(id: string, side: 0 | 1) => Promise<void>} */
    async open(id, side) {
      const box = this.datasets.get(id) ?? await this.data.box(id)
      if (!box || this.without.has(id)) return
      if (isTask(id)) this.ends.add(id)
      else {
        await this.add([id])
        this.addEnds(box, side)
      }
      await this.add(this.datasetsBeside(box, side))
    }

    async start() {
      const { start, up, down, opened } = this.state
      const box = await this.data.box(start)
      if (!box || !explore.isThere({ ...box, until: 0 }, 0, this.state)) return false
      if (isTask(start)) {
        this.ends.add(start)
        const inputs = up ? await this.add(this.datasetsBeside(box, UP)) : []
        const outputs = down ? await this.add(this.datasetsBeside(box, DOWN)) : []
        await this.outward(inputs, UP, up - 1)
        await this.outward(outputs, DOWN, down - 1)
      } else {
        await this.add([start])
        if (up) this.addEnds(box, UP)
        await this.outward([box], UP, up)
        await this.outward([box], DOWN, down)
      }
      for (const one of opened) {
        if (one.startsWith("<")) await this.open(one.slice(1), UP)
        else if (one.endsWith(">")) await this.open(one.slice(0, -1), DOWN)
      }
      return true
    }

    /** The tasks between the datasets, and those at their ends. */
    async addTasks() {
      if (!this.state.tasks && !isTask(this.state.start)) return
      const wanted = new Set(this.state.tasks ? this.ends : [this.state.start])
      if (this.state.tasks) {
        for (const box of this.datasets.values()) {
          for (const link of this.links(box, DOWN)) {
            if (this.datasets.has(link.to)) link.tasks.forEach(task => wanted.add(task))
          }
        }
      }
      const ids = [...wanted].filter(id => !this.without.has(id)).sort()
      const room = Math.max(0, MOST - this.datasets.size)
      this.cut ||= ids.length > room
      this.tasks = await this.data.boxes(ids.slice(0, room))
      for (const [id, task] of this.tasks) {
        if (id !== this.state.start && !explore.isThere(task, 0, this.state)) this.tasks.delete(id)
      }
    }

    /** @returns {Arrow[]} */
    arrows() {
      /** @type {Map<string, Arrow>} */
      const found = new Map()
      /** @type {(source: string, target: string, flags: number) => void} */
      const add = (source, target, flags) => {
        const back = found.get(`${target} ${source}`)
        if (back && isTask(source) !== isTask(target)) {
          back.both = true
          if (isTask(source)) Object.assign(back, { source, target })
        } else if (!found.has(`${source} ${target}`)) found.set(`${source} ${target}`, { source, target, flags, both: false })
      }
      for (const box of this.datasets.values()) {
        const goesOn = this.tasksThatGoOn(box)
        for (const link of this.links(box, UP)) {
          if (isTask(link.to)) {
            if (this.tasks.has(link.to)) add(link.to, box.id, link.flags)
          } else if (this.datasets.has(link.to) && this.isDirect(link)) add(link.to, box.id, link.flags)
        }
        for (const link of this.links(box, DOWN)) {
          if (isTask(link.to)) {
            if (this.tasks.has(link.to) && !goesOn.has(link.to)) add(box.id, link.to, link.flags)
          } else if (this.datasets.has(link.to) && link.tasks.some(task => goesOn.has(task))) add(box.id, link.to, link.flags)
        }
      }
      return [...found.values()]
    }

    /** The tasks that write a table and make another of it: their steps are drawn in their order,
     * from table to table.
     * @type {(box: Box) => Set<string>} */
    tasksThatGoOn(box) {
      const writers = new Set(this.links(box, UP).map(link => link.to).filter(id => this.tasks.has(id)))
      const made = this.links(box, DOWN).filter(link => link.to !== box.id && this.datasets.has(link.to))
      return new Set(made.flatMap(link => link.tasks).filter(task => writers.has(task)))
    }

    /** No task that is shown stands between the two datasets.
     * @type {(link: Link) => boolean} */
    isDirect(link) {
      return Boolean(link.flags & DEFINITION) || !link.tasks.some(task => this.tasks.has(task))
    }

    /** The number of neighbours on a side that are not shown.
     * @type {(box: Box, side: number) => number} */
    more(box, side) {
      const links = this.links(box, side)
      const carrying = new Set(links.flatMap(link => link.tasks))
      return links.filter(link => isTask(link.to)
        ? this.state.tasks && !carrying.has(link.to) && !this.tasks.has(link.to)
        : !this.datasets.has(link.to)).length
    }

    /** @returns {View} */
    view() {
      const boxes = new Map()
      for (const box of [...this.datasets.values(), ...this.tasks.values()]) {
        if (this.without.has(box.id)) continue
        boxes.set(box.id, {
          ...shown(box, this.state), up: this.more(box, UP), down: this.more(box, DOWN),
        })
      }
      const arrows = this.arrows()
      if (this.state.date) this.prune(boxes, arrows)
      return { boxes, arrows, cut: this.cut, fixed: null, way: null, opened: [] }
    }

    /** Remove tasks that were there, but did nothing here yet.
     * @type {(boxes: Map<string, Shown>, arrows: Arrow[]) => void} */
    prune(boxes, arrows) {
      const linked = new Set(arrows.flatMap(arrow => [arrow.source, arrow.target]))
      for (const id of boxes.keys()) {
        if (isTask(id) && id !== this.state.start && !linked.has(id)) boxes.delete(id)
      }
    }
  }

  explore.walk = async (state, data, isReadable) => {
    if (!state.start) return explore.overview(state, data, isReadable)
    const walk = new Walk(state, data)
    if (!await walk.start()) return { boxes: new Map(), arrows: [], cut: false, fixed: null, way: null, opened: [] }
    const way = await explore.way(state, data)
    await walk.add([...way ?? []].filter(id => !isTask(id)))
    for (const id of way ?? []) if (isTask(id)) walk.ends.add(id)
    await walk.addTasks()
    return { ...walk.view(), way }
  }

  explore.newWalk = (state, data) => new Walk(state, data)
}
