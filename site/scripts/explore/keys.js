// @ts-check
"use strict"
// The keyboard on the drawing.
{
  const { explore } = graft
  /** @type {Record<string, [number, number]>} */
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

  /** The nearest box in a direction; what lies aside counts as further away.
   * @type {(scene: Scene, from: string, direction: [number, number]) => string} */
  const beside = (scene, from, [right, down]) => {
    const here = scene.places.get(from)
    let best = "", distance = Infinity
    for (const id of scene.view.boxes.keys()) {
      const there = scene.places.get(id)
      if (!there || !here || id === from) continue
      const x = there.x + there.width / 2 - here.x - here.width / 2, y = there.y - here.y
      const ahead = x * right + y * down, aside = Math.abs(x * down) + Math.abs(y * right)
      // A step to the side leaves the column; a step up or down stays in it.
      if (ahead < 1 || down && aside > here.width) continue
      const apart = ahead + 2 * aside
      if (apart < distance) [best, distance] = [id, apart]
    }
    return best
  }

  explore.keys = (frame, actions, current) => {
    frame.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const target = /** @type {Element} */ (event.target).closest("[data-act]")
      const id = target?.getAttribute("data-id") ?? ""
      const shown = current()?.view.boxes.get(id)
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
      /** @type {Record<string, () => void>} */
      const keys = {
        "f": actions.fit, "t": actions.tidy, "+": () => actions.zoom(1.3), "=": () => actions.zoom(1.3), "-": () => actions.zoom(1 / 1.3),
      }
      if (target && shown) {
        const press = () => target.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: event.shiftKey }))
        Object.assign(keys, { "Enter": press, " ": press })
        if (shown.box) {
          Object.assign(keys, {
            u: () => actions.open(id, 0), d: () => actions.open(id, 1), c: () => actions.unfold(id),
            s: () => actions.start(id), p: () => actions.path(id), h: () => actions.hide(id),
            ...shown.box.views.length && { v: () => actions.views(id) },
          })
        }
      }
      const arrow = ARROWS[key], scene = current()
      if (arrow && scene) keys[key] = () => {
        const next = id ? beside(scene, id, arrow) : [...scene.view.boxes.keys()][0]
        if (next) actions.focus(next)
      }
      if (!keys[key]) return
      event.preventDefault()
      // The theme has single keys of its own.
      event.stopPropagation()
      keys[key]()
    })
  }
}
