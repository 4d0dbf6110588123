// @ts-check
"use strict"
// The view to start from: all boxes of a graph that can be read at once, else its folders in layers,
// placed at build time; each opens to the datasets in it, the largest at once while all can be read.
{
  const { explore } = graft
  const UP = 0, DOWN = 1, ENDED = 3
  // Datasets of a folder that are shown at once, those with the most neighbours first.
  const MOST_OPENED = 30
  // Folders that are tried to be shown open.
  const MOST_TRIED = 6
  // So few boxes need no folders.
  const FEW = 12

  /** @type {(id: string) => boolean} */
  const isTask = id => id.startsWith("@")

  /** @type {(folder: Folder) => Shown} */
  const shownFolder = folder => ({
    id: folder.id || "/", name: folder.name, note: folder.note, shape: "more", wanted: folder.width,
    title: `${folder.name} (${folder.note})`, failed: false, gone: false, up: 0, down: 0,
    box: null, members: [], folder,
  })

  /** Boxes that the address names would not be among the folders.
   * @type {(state: State) => boolean} */
  const namesBoxes = ({ path, columns, unfolded, views, hidden, fold }) =>
    Boolean(fold || [path, columns, unfolded, views, hidden].some(list => list.length))

  explore.overview = async (state, data, isReadable) => {
    const { boxes, folders } = await data.opening()
    if (boxes.length) {
      const walk = explore.newWalk(state, data)
      await walk.add(boxes.filter(id => !isTask(id)))
      for (const [id, box] of walk.datasets) if (!explore.isThere(box, ENDED, state)) walk.datasets.delete(id)
      for (const id of boxes) if (isTask(id)) walk.ends.add(id)
      await walk.addTasks()
      const view = { ...walk.view(), way: await explore.way(state, data) }
      const isOpened = folders.some(one => state.opened.includes(one.id || "/"))
      if (boxes.length <= FEW || folders.length < 2 || namesBoxes(state) || !isOpened && isReadable(view)) return view
    }
    let view = await inFolders(state, data)
    if (state.opened.length || !isReadable(view)) return view
    const whole = folders.filter(one => one.datasets > 1 && one.datasets <= MOST_OPENED)
    for (const { id } of whole.sort((a, b) => b.datasets - a.datasets).slice(0, MOST_TRIED)) {
      const wider = await inFolders({ ...state, opened: [...view.opened, id || "/"] }, data)
      if (isReadable(wider)) view = wider
    }
    return view
  }

  /** The folders, and the datasets of those that are opened.
   * @type {(state: State, data: Data) => Promise<View>} */
  const inFolders = async (state, data) => {
    const { folders, links } = await data.opening(), walk = explore.newWalk(state, data)
    /** @type {Map<string, string>} where each opened dataset comes from */
    const opened = new Map(), cut = new Map()
    for (const folder of folders.filter(one => state.opened.includes(one.id || "/"))) {
      const inside = (await data.inside(folder.id)).filter(box =>
        owner(folders, box.id) === folder && explore.isThere(box, ENDED, state))
      inside.sort((a, b) => b.links.length - a.links.length || (a.id < b.id ? -1 : 1))
      const some = inside.slice(0, MOST_OPENED)
      await walk.add(some.map(box => box.id))
      for (const box of some) opened.set(box.id, folder.id)
      if (inside.length > some.length) cut.set(folder.id, inside.length - some.length)
    }
    const plain = { ...state, tasks: false }
    walk.state = plain
    const view = walk.view()
    const isShown = (/** @type {Folder} */ folder) => cut.has(folder.id) || !state.opened.includes(folder.id || "/")
    for (const folder of folders.filter(isShown)) {
      const left = cut.get(folder.id)
      view.boxes.set(folder.id || "/", left
        ? { ...shownFolder(folder), name: `+${left.toLocaleString("en")} more`, note: folder.name } : shownFolder(folder))
    }
    const arrows = new Map(view.arrows.map(arrow => [`${arrow.source} ${arrow.target}`, arrow]))
    /** @type {(source: string, target: string) => void} */
    const add = (source, target) => {
      if (source !== target && view.boxes.has(source) && view.boxes.has(target)) {
        arrows.set(`${source} ${target}`, { source, target, flags: 0, both: false })
      }
    }
    for (const [a, b] of links) {
      const [source, target] = [folders[a], folders[b]]
      if (isShown(source) && isShown(target)) add(source.id || "/", target.id || "/")
    }
    for (const id of opened.keys()) {
      const box = /** @type {Box} */ (walk.datasets.get(id))
      for (const side of [UP, DOWN]) {
        for (const other of walk.datasetsBeside(box, side)) {
          if (walk.datasets.has(other)) continue
          const folder = owner(folders, other)?.id || "/"
          if (side === UP) add(folder, id)
          else add(id, folder)
        }
      }
    }
    for (const box of view.boxes.values()) box.up = box.down = 0
    const fixed = opened.size ? null : new Map(folders.map(({ id, x, y, width }) => [id || "/", { x, y, width }]))
    return { ...view, arrows: [...arrows.values()], fixed, opened: state.opened }
  }

  /** The folder of the opening view that a dataset is in: the deepest one above it.
   * @type {(folders: Folder[], id: string) => Folder | undefined} */
  const owner = (folders, id) => folders.reduce((/** @type {Folder | undefined} */ best, folder) =>
    id.startsWith(folder.id) && (!best || folder.id.length > best.id.length) ? folder : best, undefined)
}
