// @ts-check
// Optional extras: every page is complete without this script.

// Relative times, with the exact one on hover; computed here because the page is static.
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const steps = [
  ["year", 31536000], ["month", 2592000],
  ["day", 86400], ["hour", 3600], ["minute", 60],
]
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" })

function showRelativeTimes() {
  for (const element of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll("time[datetime]"))) {
    const seconds = (Date.parse(element.dateTime) - Date.now()) / 1000
    // Of old runs, next to each other, many would be `last month`.
    if (seconds < -604800 && element.closest(".graft-runs")) continue
    const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1]
    element.title ||= element.textContent ?? ""
    element.textContent = Math.abs(seconds) < 60 ? "just now" : relative.format(Math.round(seconds / size), unit)
  }
}

// Scroll a picture that is wider than the page to its centre box.
function centrePictures() {
  for (const picture of document.querySelectorAll(".graft-picture")) {
    const centre = picture.querySelector(".graft-box--centre")
    if (!centre) continue
    const box = centre.getBoundingClientRect(), frame = picture.getBoundingClientRect()
    picture.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2
  }
}

// The columns further on than those that a column feeds: a link to the explorer, which shows them.
function linkFurtherColumns() {
  const start = /** @type {HTMLAnchorElement | null} */ (document.querySelector(".graft-actions a[href*='explore/index.html#']"))
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(".graft-columns a[data-steps]"))) {
    const column = link.closest("tr")?.id.replace(/^column-/, "")
    if (!start || !column) continue
    link.href = start.href.replace(/&up=.*/, "") + `&up=0&down=${link.dataset.steps}&columns=${encodeURIComponent(column)}`
  }
}

// Headings and columns link to themselves, so that their addresses can be copied.
function linkOwnPlaces() {
  for (const heading of document.querySelectorAll(".md-typeset h2[id]")) {
    heading.insertAdjacentHTML("beforeend", '<a class="headerlink" title="Link">&para;</a>')
    heading.lastElementChild?.setAttribute("href", `#${heading.id}`)
  }
  for (const row of document.querySelectorAll(".graft-columns tr[id]")) {
    const name = row.firstElementChild?.firstChild
    if (!name) continue
    const link = document.createElement("a")
    link.href = `#${row.id}`
    name.replaceWith(link)
    link.append(name)
  }
}

// The full name at the top of a page can be copied; the theme's script does it.
function addCopyButtons() {
  for (const name of document.querySelectorAll(".graft-identity > code")) {
    const button = document.createElement("button")
    button.className = "graft-copy"
    button.type = "button"
    button.title = "Copy"
    button.ariaLabel = "Copy the full name"
    button.dataset.clipboardText = name.textContent ?? ""
    name.after(button)
  }
}

addCopyButtons()
linkOwnPlaces()
linkFurtherColumns()
showRelativeTimes()
setInterval(showRelativeTimes, 60000)
centrePictures()
