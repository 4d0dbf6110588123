// @ts-check
"use strict"
// What pointers do to the boxes of the drawing.
{
  const { explore } = graft

  explore.events = (frame, actions, current) => {
    frame.addEventListener("click", event => {
      const target = /** @type {Element} */ (event.target).closest("[data-act]")
      if (!target) return actions.select("")
      const id = target.getAttribute("data-id") ?? "", act = target.getAttribute("data-act")
      if (act === "up" || act === "down") actions.open(id, act === "down" ? 1 : 0)
      else if (act === "unfold") actions.unfold(id)
      else if (act === "column") actions.column(id, target.getAttribute("data-column") ?? "")
      else if (event.shiftKey && current().selected && current().selected !== id) actions.join(id)
      else actions.select(id)
    })
    frame.addEventListener("dblclick", event => {
      const shown = current().scene?.view.boxes.get(/** @type {Element} */ (event.target).closest("[data-act]")?.getAttribute("data-id") ?? "")
      if (shown?.box) actions.start(shown.id)
      else if (shown?.of) actions.select(shown.of)
      else if (shown) actions.enter(shown.id)
    })
    for (const name of ["pointerover", "focusin"]) {
      frame.addEventListener(name, event => {
        if (/** @type {PointerEvent} */ (event).pointerType === "touch" || frame.classList.contains("graft-moving")) return
        const row = /** @type {Element} */ (event.target).closest("[data-column]")
        actions.light(row ? { id: row.getAttribute("data-id") ?? "", slug: row.getAttribute("data-column") ?? "" } : null)
      })
    }
    frame.addEventListener("pointerleave", () => actions.light(null))
  }
}
