// @ts-check
"use strict"
// Moving and zooming: one transform on one group. Drag, wheel, two fingers.
{
  const { explore } = graft
  const SMALLEST = .08, LARGEST = 2.5, NEAR = 1, MARGIN = 32, CLICK = 5
  // Pixels of the controls at the top.
  const BAR = 48

  explore.camera = (svg, layer) => {
    let waiting = false
    const still = matchMedia("(prefers-reduced-motion: reduce)")

    const show = () => {
      waiting = false
      layer.setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.scale})`)
      svg.classList.toggle("graft-far", camera.scale < .45)
      svg.style.setProperty("--graft-shift-x", `${camera.x}px`)
      svg.style.setProperty("--graft-shift-y", `${camera.y}px`)
    }

    /** The part of the drawing that no control lies on. */
    const free = () => {
      const { width, height } = svg.getBoundingClientRect()
      const panel = svg.parentElement?.querySelector(".graft-panel")?.getBoundingClientRect()
      if (!panel?.width) return { width, height: height - BAR }
      return panel.width < width ? { width: width - panel.width, height: height - BAR } : { width, height: height - BAR - panel.height }
    }

    /** @type {Camera} */
    const camera = {
      x: 0,
      y: 0,
      scale: 1,
      moveTo(x, y, scale) {
        Object.assign(camera, { x, y, scale: Math.min(Math.max(scale, SMALLEST), LARGEST) })
        if (!waiting) requestAnimationFrame(show)
        waiting = true
      },
      zoom(factor, at) {
        const { x, y } = at ?? { x: free().width / 2, y: BAR + free().height / 2 }
        const scale = Math.min(Math.max(camera.scale * factor, SMALLEST), LARGEST), by = scale / camera.scale
        camera.moveTo(x - (x - camera.x) * by, y - (y - camera.y) * by, scale)
      },
      fit(left, top, right, bottom) {
        const { width, height } = free()
        const scale = Math.max(SMALLEST, Math.min(NEAR, (width - 2 * MARGIN) / (right - left || 1), (height - 2 * MARGIN) / (bottom - top || 1)))
        camera.moveTo((width - (left + right) * scale) / 2, BAR + (height - (top + bottom) * scale) / 2, scale)
      },
      reveal(left, top, right, bottom) {
        const { width, height } = free()
        const { scale } = camera
        /** @type {(from: number, low: number, high: number, begin: number, room: number) => number} */
        const along = (from, low, high, begin, room) => {
          const first = begin + MARGIN - low * scale
          if (from < first) return first
          return high * scale + from > begin + room - MARGIN ? Math.max(begin + room - MARGIN - high * scale, first) : from
        }
        const x = along(camera.x, left, right, 0, width), y = along(camera.y, top, bottom, BAR, height)
        if (x === camera.x && y === camera.y) return
        if (!still.matches) {
          layer.classList.add("graft-gliding")
          setTimeout(() => layer.classList.remove("graft-gliding"), 250)
        }
        camera.moveTo(x, y, scale)
      },
    }

    /** @type {Map<number, Point>} */
    const fingers = new Map()
    let travelled = 0

    svg.addEventListener("wheel", event => {
      event.preventDefault()
      const frame = svg.getBoundingClientRect()
      const lines = event.deltaMode === 1 ? 20 : 1
      if (event.shiftKey) camera.moveTo(camera.x - (event.deltaX || event.deltaY) * lines, camera.y, camera.scale)
      else {
        const speed = event.ctrlKey ? .01 : .0015
        camera.zoom(Math.exp(-event.deltaY * lines * speed), { x: event.clientX - frame.left, y: event.clientY - frame.top })
      }
    }, { passive: false })

    svg.addEventListener("pointerdown", event => {
      if (event.button > 1) return
      if (!fingers.size) travelled = 0
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    })

    svg.addEventListener("pointermove", event => {
      const before = fingers.get(event.pointerId)
      if (!before) return
      const now = { x: event.clientX, y: event.clientY }
      travelled += Math.hypot(now.x - before.x, now.y - before.y)
      // A click that trembles is a click.
      if (travelled < CLICK) return
      if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId)
      svg.classList.add("graft-moving")
      const frame = svg.getBoundingClientRect()
      if (fingers.size === 1) camera.moveTo(camera.x + now.x - before.x, camera.y + now.y - before.y, camera.scale)
      else {
        const other = /** @type {Point} */ ([...fingers].find(([id]) => id !== event.pointerId)?.[1])
        const wide = Math.hypot(now.x - other.x, now.y - other.y), narrow = Math.hypot(before.x - other.x, before.y - other.y)
        const middle = { x: (now.x + other.x) / 2 - frame.left, y: (now.y + other.y) / 2 - frame.top }
        camera.moveTo(camera.x + (now.x - before.x) / 2, camera.y + (now.y - before.y) / 2, camera.scale)
        if (narrow > 0) camera.zoom(wide / narrow, middle)
      }
      fingers.set(event.pointerId, now)
    })

    for (const name of ["pointerup", "pointercancel"]) {
      svg.addEventListener(name, event => {
        fingers.delete(/** @type {PointerEvent} */ (event).pointerId)
        if (!fingers.size) svg.classList.remove("graft-moving")
      })
    }

    // The end of a drag is no click.
    svg.addEventListener("click", event => {
      if (travelled >= CLICK) event.stopPropagation()
      travelled = 0
    }, { capture: true })

    return camera
  }
}
