// @ts-check
"use strict"
// Moving and zooming by drag, wheel or two fingers: one transform of a layer that the browser has
// drawn already. After a change of scale it is drawn again, so that text is sharp.
{
  const { explore } = graft
  const SMALLEST = .04, LARGEST = 2.5, NEAR = 1, CLICK = 5
  // Names of 12 pixels can be read at 11.
  const READABLE = 11 / 12
  // Milliseconds after which a change of scale is over.
  const SETTLED = 180
  // Pixels from dot to dot of the ground.
  const DOTS = 20
  // Pixels of the controls at the top.
  const BAR = 48

  explore.camera = (frame, layer) => {
    let waiting = false
    const dots = explore.html("div", { class: "graft-dots" })
    frame.prepend(dots)
    const still = matchMedia("(prefers-reduced-motion: reduce)")

    let drawnAt = 1, timer = 0

    const sharpen = () => {
      drawnAt = camera.scale
      layer.style.willChange = "auto"
      requestAnimationFrame(() => requestAnimationFrame(() => { layer.style.willChange = "" }))
    }

    const show = () => {
      waiting = false
      layer.style.transform = `translate(${camera.x}px, ${camera.y}px) scale(${camera.scale})`
      clearTimeout(timer)
      if (camera.scale !== drawnAt) timer = setTimeout(sharpen, SETTLED)
      frame.classList.toggle("graft-far", camera.scale < .45)
      dots.style.transform = `translate(${camera.x % DOTS}px, ${camera.y % DOTS}px)`
    }

    /** The part of the drawing that no control lies on. */
    const free = () => {
      const { left, top, width, height } = frame.getBoundingClientRect(), margin = Math.min(32, width / 32)
      const panel = frame.parentElement?.querySelector(".graft-panel")?.getBoundingClientRect()
      if (!panel?.width) return { width, height: height - BAR, margin }
      return panel.width < .8 * width ? { width: panel.left - left, height: height - BAR, margin } : { width, height: panel.top - top - BAR, margin }
    }

    /** The scale at which a rectangle just fits.
     * @type {(rectangle: Rectangle) => number} */
    const fitting = ([left, top, right, bottom]) => {
      const { width, height, margin } = free()
      return Math.min(NEAR, (width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (bottom - top || 1))
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
      fits: rectangle => fitting(rectangle) >= READABLE,
      fit(rectangle) {
        const [left, top, right, bottom] = rectangle, { width, height } = free(), scale = Math.max(SMALLEST, fitting(rectangle))
        camera.moveTo((width - (left + right) * scale) / 2, BAR + (height - (top + bottom) * scale) / 2, scale)
      },
      read(rectangle, about) {
        const { width, height, margin } = free(), scale = Math.max(READABLE, fitting(rectangle))
        /** @type {(low: number, high: number, middle: number, begin: number, room: number) => number} */
        const along = (low, high, middle, begin, room) => {
          const least = begin + room - margin - high * scale, most = begin + margin - low * scale
          return least >= most ? (least + most) / 2 : Math.min(Math.max(begin + room / 2 - middle * scale, least), most)
        }
        const [left, top, right, bottom] = rectangle
        camera.moveTo(
          along(left, right, (about[0] + about[2]) / 2, 0, width), along(top, bottom, (about[1] + about[3]) / 2, BAR, height), scale)
      },
      reveal([left, top, right, bottom]) {
        const { width, height, margin } = free()
        const { scale } = camera
        /** @type {(from: number, low: number, high: number, begin: number, room: number) => number} */
        const along = (from, low, high, begin, room) => {
          const first = begin + margin - low * scale
          if (from < first) return first
          return high * scale + from > begin + room - margin ? Math.max(begin + room - margin - high * scale, first) : from
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

    frame.addEventListener("wheel", event => {
      event.preventDefault()
      const { left, top } = frame.getBoundingClientRect()
      const lines = event.deltaMode === 1 ? 20 : 1
      if (event.shiftKey) camera.moveTo(camera.x - (event.deltaX || event.deltaY) * lines, camera.y, camera.scale)
      else {
        const speed = event.ctrlKey ? .01 : .0015
        camera.zoom(Math.exp(-event.deltaY * lines * speed), { x: event.clientX - left, y: event.clientY - top })
      }
    }, { passive: false })

    frame.addEventListener("pointerdown", event => {
      if (event.button > 1) return
      if (!fingers.size) travelled = 0
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    })

    frame.addEventListener("pointermove", event => {
      const before = fingers.get(event.pointerId)
      if (!before) return
      const now = { x: event.clientX, y: event.clientY }
      travelled += Math.hypot(now.x - before.x, now.y - before.y)
      // A click that trembles is a click.
      if (travelled < CLICK) return
      if (!frame.hasPointerCapture(event.pointerId)) frame.setPointerCapture(event.pointerId)
      frame.classList.add("graft-moving")
      const { left, top } = frame.getBoundingClientRect()
      if (fingers.size === 1) camera.moveTo(camera.x + now.x - before.x, camera.y + now.y - before.y, camera.scale)
      else {
        const other = /** @type {Point} */ ([...fingers].find(([id]) => id !== event.pointerId)?.[1])
        const wide = Math.hypot(now.x - other.x, now.y - other.y), narrow = Math.hypot(before.x - other.x, before.y - other.y)
        const middle = { x: (now.x + other.x) / 2 - left, y: (now.y + other.y) / 2 - top }
        camera.moveTo(camera.x + (now.x - before.x) / 2, camera.y + (now.y - before.y) / 2, camera.scale)
        if (narrow > 0) camera.zoom(wide / narrow, middle)
      }
      fingers.set(event.pointerId, now)
    })

    for (const name of ["pointerup", "pointercancel"]) {
      frame.addEventListener(name, event => {
        fingers.delete(/** @type {PointerEvent} */ (event).pointerId)
        if (!fingers.size) frame.classList.remove("graft-moving")
      })
    }

    // The end of a drag is no click.
    frame.addEventListener("click", event => {
      if (travelled >= CLICK) event.stopPropagation()
      travelled = 0
    }, { capture: true })

    return camera
  }
}
