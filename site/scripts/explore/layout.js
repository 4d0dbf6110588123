// @ts-check
"use strict"
// Layered layout: `catalog/layout.py` step by step, so that a graph is laid out in the browser as in
// the pictures of the pages. A test compares the two; what is explained there is not repeated here.
{
  globalThis.graft ??= /** @type {Graft} */ ({})
  graft.explore ??= /** @type {Explore} */ ({})

  const SWEEPS = 6, NARROWEST = 110, STEP = 8

  /** @type {Explore["layout"]} */
  const layout = (nodes, edges, sizes, wanted) => {
    const names = [...new Set(nodes)]
    const number = new Map(names.map((name, at) => [name, at]))
    /** @param {string} name */
    const numbered = name => {
      const at = number.get(name)
      if (at === undefined) throw new Error(`${name} is not among the nodes`)
      return at
    }
    const count = names.length
    /** @type {Map<number, [number, number]>} */
    const pairs = new Map()
    for (const [a, b] of edges) {
      const [from, to] = [numbered(a), numbered(b)]
      if (from !== to) pairs.set(from * count + to, [from, to])
    }
    const forward = withoutCycles(count, [...pairs.values()])
    const { chains, rank } = chained(forward, ranks(count, forward), count)
    const links = [...chains.values()].flatMap(chain => chain.slice(1).map((to, at) => [chain[at], to]))
    const after = neighbours(rank.length, links)
    const before = neighbours(rank.length, links.map(([a, b]) => [b, a]))
    const rows = ordered(rank, after, before)
    const heights = rank.map((_, node) => node < count ? sizes.height : sizes.lane)
    const middle = middles(rows, after, before, heights, sizes)
    const columns = columnWidths(rank, wanted ? names.map(name => wanted.get(name) ?? 0) : [], sizes)
    const starts = [0]
    for (const width of columns) starts.push(starts[starts.length - 1] + width + sizes.across)
    /** @param {number} node */
    const left = node => starts[rank[node]]
    /** @param {number} node */
    const right = node => left(node) + columns[rank[node]]
    /** @type {Map<string, Point[]>} */
    const routes = new Map()
    for (const [a, b] of pairs.values()) {
      const own = chains.get(a * count + b)
      const chain = own ?? /** @type {number[]} */ (chains.get(b * count + a))
      const last = chain.length - 1
      const route = [{ x: right(chain[0]), y: middle[chain[0]] }]
      for (const lane of chain.slice(1, -1)) {
        route.push({ x: left(lane), y: middle[lane] }, { x: right(lane), y: middle[lane] })
      }
      route.push({ x: left(chain[last]), y: middle[chain[last]] })
      routes.set(`${names[a]} ${names[b]}`, own ? route : route.reverse())
    }
    return {
      width: names.reduce((most, _, box) => Math.max(most, right(box)), 0),
      height: middle.reduce((most, y, at) => Math.max(most, y + heights[at] / 2), 0),
      corners: new Map(names.map((name, box) => [name, { x: left(box), y: middle[box] - sizes.height / 2 }])),
      widths: new Map(names.map((name, box) => [name, columns[rank[box]]])),
      routes,
    }
  }

  /** @type {(rank: number[], wanted: number[], sizes: Sizes) => number[]} */
  const columnWidths = (rank, wanted, sizes) => {
    const count = rank.reduce((most, at) => Math.max(most, at), -1) + 1
    if (!wanted.length) return new Array(count).fill(sizes.width)
    const widest = new Array(count).fill(NARROWEST)
    wanted.forEach((width, node) => {
      widest[rank[node]] = Math.max(widest[rank[node]], Math.ceil(width))
    })
    const room = sizes.room - (count - 1) * sizes.across
    let limit = sizes.widest
    const total = () => widest.reduce((sum, width) => sum + Math.min(width, limit), 0)
    while (limit > sizes.width && total() > room) limit = Math.max(limit - STEP, sizes.width)
    return widest.map(width => Math.min(width, limit))
  }

  /** @type {(count: number, pairs: number[][]) => number[][]} */
  const neighbours = (count, pairs) => {
    /** @type {number[][]} */
    const found = Array.from({ length: count }, () => [])
    for (const [a, b] of pairs) found[a].push(b)
    return found
  }

  /** The edges, with those reversed that lead back to a node being visited.
   * @type {(count: number, pairs: [number, number][]) => [number, number][]} */
  const withoutCycles = (count, pairs) => {
    const children = neighbours(count, pairs)
    const hasParent = new Array(count).fill(false)
    for (const [, b] of pairs) hasParent[b] = true
    const state = new Array(count).fill(0), next = new Array(count).fill(0)
    /** @type {Set<number>} */
    const backward = new Set()
    const nodes = [...hasParent.keys()]
    for (const start of [...nodes.filter(n => !hasParent[n]), ...nodes.filter(n => hasParent[n])]) {
      if (state[start]) continue
      state[start] = 1
      const stack = [start]
      while (stack.length) {
        const node = stack[stack.length - 1]
        if (next[node] === children[node].length) {
          state[node] = 2
          stack.pop()
          continue
        }
        const child = children[node][next[node]++]
        if (state[child] === 1) backward.add(node * count + child)
        else if (!state[child]) {
          state[child] = 1
          stack.push(child)
        }
      }
    }
    /** @type {Map<number, [number, number]>} */
    const found = new Map()
    for (const [a, b] of pairs) {
      const pair = /** @type {[number, number]} */ (backward.has(a * count + b) ? [b, a] : [a, b])
      if (!found.has(pair[0] * count + pair[1])) found.set(pair[0] * count + pair[1], pair)
    }
    return [...found.values()]
  }

  /** Longest path from the left; then nodes with more children than parents move right.
   * @type {(count: number, pairs: [number, number][]) => number[]} */
  const ranks = (count, pairs) => {
    const children = neighbours(count, pairs), parents = neighbours(count, pairs.map(([a, b]) => [b, a]))
    const waiting = parents.map(found => found.length)
    const order = [...waiting.keys()].filter(node => !waiting[node])
    const rank = new Array(count).fill(0)
    for (const node of order) {
      for (const child of children[node]) {
        rank[child] = Math.max(rank[child], rank[node] + 1)
        if (!--waiting[child]) order.push(child)
      }
    }
    for (const node of order.reverse()) {
      if (children[node].length > parents[node].length) {
        rank[node] = children[node].reduce((least, child) => Math.min(least, rank[child]), Infinity) - 1
      }
    }
    return rank
  }

  /** Each edge as a chain of nodes one rank apart; the nodes made for that get new numbers.
   * @type {(pairs: [number, number][], rank: number[], count: number) =>
   *   {chains: Map<number, number[]>, rank: number[]}} */
  const chained = (pairs, rank, count) => {
    const chains = new Map(), all = [...rank]
    for (const [a, b] of pairs) {
      const chain = [a]
      for (let at = rank[a] + 1; at < rank[b]; at++) {
        chain.push(all.length)
        all.push(at)
      }
      chains.set(a * count + b, [...chain, b])
    }
    return { chains, rank: all }
  }

  /** The nodes of each rank, top to bottom.
   * @type {(rank: number[], after: number[][], before: number[][]) => number[][]} */
  const ordered = (rank, after, before) => {
    const count = rank.reduce((most, at) => Math.max(most, at), -1) + 1
    /** @type {number[][]} */
    const rows = Array.from({ length: count }, () => [])
    rank.forEach((at, node) => rows[at].push(node))
    const place = new Array(rank.length), key = new Array(rank.length)
    for (const row of rows) row.forEach((node, at) => { place[node] = at })
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      const fixed = sweep % 2 ? after : before
      for (const row of sweep % 2 ? [...rows].reverse() : rows) {
        for (const node of row) key[node] = mean(fixed[node].map(n => place[n]), place[node])
        row.sort((a, b) => key[a] - key[b])
        row.forEach((node, at) => { place[node] = at })
      }
    }
    return rows
  }

  /** The height of each node's middle; the topmost edge of all is 0.
   * @type {(rows: number[][], after: number[][], before: number[][], heights: number[],
   *   sizes: Sizes) => number[]} */
  const middles = (rows, after, before, heights, sizes) => {
    /** @type {number[]} */
    const middle = new Array(heights.length)
    /** @type {(row: number[], wanted: number[]) => void} */
    const put = (row, wanted) => {
      const found = spread(wanted, row, heights, sizes)
      row.forEach((node, at) => { middle[node] = found[at] })
    }
    for (const row of rows) put(row, row.map(() => 0))
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      for (const row of sweep % 2 ? [...rows].reverse() : rows) {
        put(row, row.map(node => mean([...before[node], ...after[node]].map(n => middle[n]), middle[node])))
      }
    }
    const top = middle.reduce((least, y, node) => Math.min(least, y - heights[node] / 2), Infinity)
    return middle.map(y => rounded(y - top))
  }

  /** @type {(values: number[], otherwise: number) => number} */
  const mean = (values, otherwise) =>
    values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : otherwise

  /** The positions nearest to the wanted ones that preserve order and gaps: isotonic regression.
   * @type {(wanted: number[], row: number[], heights: number[], sizes: Sizes) => number[]} */
  const spread = (wanted, row, heights, sizes) => {
    const offsets = [0]
    for (let at = 1; at < row.length; at++) {
      offsets.push(offsets[at - 1] + (heights[row[at - 1]] + heights[row[at]]) / 2 + sizes.between)
    }
    /** @type {[number, number][]} */
    const pools = []
    wanted.forEach((want, at) => {
      let total = want - offsets[at], count = 1
      while (pools.length && pools[pools.length - 1][0] / pools[pools.length - 1][1] > total / count) {
        const [more, members] = /** @type {[number, number]} */ (pools.pop())
        total += more
        count += members
      }
      pools.push([total, count])
    })
    const starts = pools.flatMap(([total, count]) => new Array(count).fill(total / count))
    return starts.map((start, at) => start + offsets[at])
  }

  /** To one decimal, as Python rounds: a tie goes to the even digit.
   * @param {number} value */
  const rounded = value => {
    const tens = value * 10, low = Math.floor(tens)
    const isTie = Number.isInteger(value * 4) && tens - low === .5
    return isTie ? (low % 2 ? low + 1 : low) / 10 : Number(value.toFixed(1))
  }

  graft.explore.layout = layout
}
