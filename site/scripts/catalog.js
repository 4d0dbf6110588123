// Small comforts. Every page is complete without them.

// Times as people say them; the exact one on hover. Computed here so that a static page never lies.
const steps = [
  ["year", 31536000], ["month", 2592000], ["week", 604800],
  ["day", 86400], ["hour", 3600], ["minute", 60],
]
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

function tellTimes() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const seconds = (Date.parse(element.dateTime) - Date.now()) / 1000
    const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1]
    element.title ||= element.textContent
    element.textContent = Math.abs(seconds) < 60 ? "just now" : relative.format(Math.round(seconds / size), unit)
  }
}

// A picture wider than the page starts where its subject is.
function centrePictures() {
  for (const picture of document.querySelectorAll(".graft-picture")) {
    const centre = picture.querySelector(".graft-box--centre")
    if (!centre) continue
    const box = centre.getBoundingClientRect(), frame = picture.getBoundingClientRect()
    picture.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2
  }
}

// Ctrl-K or Cmd-K searches, as everywhere.
addEventListener("keydown", event => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    const toggle = document.getElementById("__search")
    if (!toggle.checked) toggle.click()
    document.querySelector(".md-search__input").focus()
  }
})

tellTimes()
setInterval(tellTimes, 60000)
centrePictures()
