// @ts-check
"use strict"
// The paths between two boxes: all that lies downstream of the one and upstream of the other.
{
  const { explore } = graft
  // Boxes looked at in each direction. A path through more is not looked for.
  const MOST = 3000

  /** What is reached from a box, step by step, without going through the other end.
   * @type {(from: string, end: string, side: 0 | 1, state: State, data: Data) => Promise<Set<string>>} */
  const reached = async (from, end, side, state, data) => {
    const found = new Set([from])
    let frontier = [from]
    while (frontier.length && found.size < MOST) {
      const boxes = await data.boxes(frontier)
      frontier = []
      for (const box of boxes.values()) {
        if (box.id === end) continue
        for (const link of box.links) {
          if (link.side !== side || found.has(link.to) || state.hidden.includes(link.to)) continue
          // A task may read and write more than what it carries from the one to the other.
          if (!explore.allows(link, state) || link.to.startsWith("@") && link.to !== end) continue
          found.add(link.to)
          frontier.push(link.to)
        }
      }
    }
    return found
  }

  /** The boxes on all ways, the tasks among them too; empty where there is none. */
  explore.between = async (from, to, state, data) => {
    for (const [a, b] of [[from, to], [to, from]]) {
      const down = await reached(a, b, 1, state, data)
      if (!down.has(b)) continue
      const up = await reached(b, a, 0, state, data)
      const both = [...down].filter(id => up.has(id)), found = new Set(both)
      for (const box of (await data.boxes(both)).values()) {
        for (const link of box.links) {
          if (link.side === 1 && up.has(link.to) && down.has(link.to)) link.tasks.forEach(task => found.add(task))
        }
      }
      return found
    }
    return new Set()
  }

  explore.way = async (state, data) =>
    state.path.length === 2 ? explore.between(state.path[0], state.path[1], state, data) : null
}
