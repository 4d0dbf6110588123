// @ts-check
"use strict"
// The graph, in shards that load as needed: scripts that call `graft.explore.take`, since browsers
// load no other data from file://. See `catalog/explorer/shards.py` for their form.
{
  globalThis.graft ??= /** @type {Graft} */ ({})
  graft.explore ??= /** @type {Explore} */ ({})

  /** @type {Map<string, (content: any) => void>} */
  const waiting = new Map()

  graft.explore.take = (name, content) => {
    waiting.get(name)?.(content)
    waiting.delete(name)
  }

  /** @param {string} folder the address of the data, with a slash at its end
   * @returns {Data} */
  const data = folder => {
    /** @type {Map<string, Promise<any>>} */
    const loading = new Map()
    /** @type {Map<string, Map<string, any[]>>} */
    const shards = new Map()
    /** @type {Map<string, Box>} */
    const known = new Map()
    /** @type {Map<string, Columns>} */
    const columnsKnown = new Map()

    /** @param {string} name
     * @returns {Promise<any>} */
    const load = name => {
      let found = loading.get(name)
      if (!found) {
        found = new Promise((resolve, reject) => {
          const script = document.createElement("script")
          waiting.set(name, content => {
            if (name === "start") graft.explore.days = content.days ?? null
            resolve(content)
          })
          script.onerror = () => reject(new Error(`${name} cannot be loaded`))
          script.onload = () => script.remove()
          script.src = `${folder}${name}.js`
          document.head.append(script)
        })
        // A page that was offline for a moment may try again.
        found.catch(() => loading.delete(name))
        loading.set(name, found)
      }
      return found
    }

    /** @type {(kind: string) => Promise<[string, string][]>} */
    const directory = async kind => kind === "boxes" ? (await load("start")).boxes : load("columns")

    /** The last shard that begins at or before an id.
     * @type {(entries: [string, string][], id: string) => number} */
    const at = (entries, id) => {
      let low = 0, high = entries.length - 1
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if (entries[middle][0] <= id) low = middle
        else high = middle - 1
      }
      return low
    }

    /** The records of a shard by id.
     * @type {(kind: string, name: string) => Promise<Map<string, any[]>>} */
    const shard = async (kind, name) => {
      const key = `${kind}/${name}`
      const rows = await load(key)
      let found = shards.get(key)
      if (!found) shards.set(key, found = new Map(rows.map((/** @type {any[]} */ row) => [row[0], row])))
      return found
    }

    /** A record with all of its items: `[id, pieces, head, items]`.
     * @type {(kind: string, id: string) => Promise<any[] | undefined>} */
    const record = async (kind, id) => {
      const entries = await directory(kind)
      if (!entries.length) return undefined
      const row = (await shard(kind, entries[at(entries, id)][1])).get(id)
      if (!row || !row[1]) return row
      const more = Array.from({ length: row[1] }, (_, piece) => `${id} ${String(piece + 1).padStart(4, "0")}`)
      const parts = await Promise.all(more.map(async one =>
        (await shard(kind, entries[at(entries, one)][1])).get(one)?.[1] ?? []))
      return [row[0], 0, row[2], [...row[3], ...parts.flat()]]
    }

    /** @param {any[]} row
     * @returns {Box} */
    const parsed = ([id, , [name, place, platform, sort, shape, wanted, owner, tags, flags, ...rest], links]) => ({
      id, name, place, platform, sort, shape, wanted, owner, tags, flags,
      since: typeof rest[0] === "number" ? rest[0] : 0, until: typeof rest[1] === "number" ? rest[1] : 0,
      views: rest.find(Array.isArray) ?? [],
      links: links.map((/** @type {any[]} */ [side, to, linkFlags, ...more]) => {
        const [first = 0, last = 0] = more.filter(one => typeof one === "number")
        return { side, to, flags: linkFlags, since: first, until: last, tasks: more.filter(one => typeof one === "string") }
      }),
    })

    /** @param {string} id */
    const box = async id => {
      let found = known.get(id)
      if (found) return found
      const row = await record("boxes", id)
      if (row) known.set(id, found = known.get(id) ?? parsed(row))
      return found
    }

    /** @param {string} id
     * @returns {Promise<Columns>} */
    const columns = async id => {
      let found = columnsKnown.get(id)
      if (found) return found
      found = { names: [], sources: [] }
      /** @type {any[]} */
      const items = id.startsWith("@") ? [] : (await record("columns", id))?.[3] ?? []
      for (const item of items) {
        if (typeof item === "string") found.names.push({ name: item, slug: item.toLowerCase() })
        else if (typeof item[0] === "string") found.names.push({ name: item[0], slug: item[1] })
        else {
          const [, source, task, ...numbers] = item
          for (let n = 0; n < numbers.length; n += 3) {
            const own = numbers[n] < 0 ? "" : found.names[numbers[n]].slug
            found.sources.push({ source, task, own, from: numbers[n + 1] === 0 ? own : numbers[n + 1], kind: numbers[n + 2] })
          }
        }
      }
      columnsKnown.set(id, found)
      return found
    }

    return {
      box,
      columns,
      loadedColumns: id => columnsKnown.get(id),
      boxes: async ids => {
        const found = await Promise.all([...new Set(ids)].map(box))
        return new Map(found.flatMap(one => one ? [[one.id, one]] : []))
      },
      inside: async prefix => {
        const entries = await directory("boxes")
        const first = at(entries, prefix), last = at(entries, `${prefix}\x7f`)
        const parts = await Promise.all(entries.slice(first, last + 1).map(([, name]) => shard("boxes", name)))
        const ids = parts.flatMap(part => [...part.keys()]).filter(id =>
          id.startsWith(prefix) && !id.startsWith("@") && !id.includes(" "))
        return (await Promise.all(ids.map(box))).flatMap(one => one ?? [])
      },
      opening: async () => {
        const { boxes, folders, links } = (await load("start")).opening
        return {
          boxes,
          links,
          folders: folders.map((/** @type {any[]} */ [id, name, note, datasets, x, y, width]) =>
            ({ id, name, note, datasets, x, y, width })),
        }
      },
    }
  }

  graft.explore.data = data
}
