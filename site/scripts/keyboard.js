// What the mouse alone reaches, by keyboard too: tables that scroll sideways, and the menu of a narrow
// page, for which the theme has a label.
// @ts-check
(() => {
  "use strict"
  const SCROLLED = ".graft-table, .md-typeset__scrollwrap, .md-typeset pre > code, .md-typeset td > table"
  const reach = () => {
    for (const one of document.querySelectorAll(SCROLLED)) {
      if (one.scrollWidth > one.clientWidth) one.setAttribute("tabindex", "0")
      else one.removeAttribute("tabindex")
    }
  }
  reach()
  addEventListener("resize", reach)
  document.addEventListener("toggle", reach, true)

  const toggle = /** @type {HTMLInputElement | null} */ (document.getElementById("__drawer"))
  const label = /** @type {HTMLElement | null} */ (
    document.querySelector('.md-header label[for="__drawer"]')
  )
  if (!toggle || !label) return

  const show = () => label.setAttribute("aria-expanded", String(toggle.checked))
  label.tabIndex = 0
  label.setAttribute("role", "button")
  label.setAttribute("aria-label", "Menu")
  show()
  toggle.addEventListener("change", show)
  label.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return
    event.preventDefault()
    event.stopPropagation() // the theme clicks too, on Enter alone
    label.click()
  })
  addEventListener("keydown", event => {
    if (event.key !== "Escape" || !toggle.checked) return
    toggle.click()
    label.focus()
  })
})()
