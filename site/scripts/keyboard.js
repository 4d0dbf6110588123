// The menu of a narrow page, by keyboard: the theme has a label for it, which the mouse alone opens.
// @ts-check
(() => {
  "use strict"
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
    label.click()
  })
  addEventListener("keydown", event => {
    if (event.key !== "Escape" || !toggle.checked) return
    toggle.click()
    label.focus()
  })
})()
