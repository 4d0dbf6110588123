// @ts-check
// Readings of the charts of past runs: of the bar that is pointed at, or walked to with the arrow
// keys, which screen readers say. Without this script, a chart has its caption, and a table below.
;(() => {
  "use strict"
  /** @typedef {{middle: number, text: string}} Bar */
  const SVG = "http://www.w3.org/2000/svg", DAY = 86400000

  /** @param {number} value @param {string} noun */
  const count = (value, noun) => `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`

  /** The bars of runs, which have titles. @param {SVGSVGElement} chart @returns {Bar[]} */
  const runs = chart => [...chart.querySelectorAll("path")].flatMap(bar => {
    const title = bar.querySelector("title")
    if (!title) return []
    title.remove() // the browser would show it beside the reading
    const { x, width } = bar.getBBox()
    return [{ middle: x + width / 2, text: title.textContent ?? "" }]
  })

  /** The bars of days. @param {SVGSVGElement} chart @returns {Bar[]} */
  const days = chart => {
    const { begin = "", days = "", noun = "", step = "" } = chart.dataset
    return days.split(",").flatMap((numbers, at) => {
      if (!numbers) return []
      const [all, failed] = numbers.split("/").map(Number)
      const date = new Date(Date.parse(begin) + at * DAY).toISOString().slice(0, 10)
      return [{ middle: (at + .4) * Number(step), text: `${date}, ${count(all, noun)}${failed ? `, ${failed.toLocaleString("en")} failed` : ""}` }]
    })
  }

  /** @param {SVGSVGElement} chart */
  const prepare = chart => {
    const bars = chart.dataset.days ? days(chart) : runs(chart)
    if (!bars.length) return
    const reading = document.createElement("output"), cursor = document.createElementNS(SVG, "path")
    reading.className = "graft-bars__reading"
    cursor.setAttribute("class", "graft-bars__cursor")
    chart.append(cursor)
    chart.after(reading)
    let now = bars.length - 1
    const show = (/** @type {number} */ at) => {
      now = Math.min(Math.max(at, 0), bars.length - 1)
      reading.textContent = bars[now].text
      cursor.setAttribute("d", `M${bars[now].middle} 0v40`)
      chart.setAttribute("aria-valuenow", String(now + 1))
      chart.setAttribute("aria-valuetext", bars[now].text)
    }
    const hide = () => {
      reading.textContent = ""
      cursor.removeAttribute("d")
    }
    chart.setAttribute("role", "slider")
    chart.setAttribute("tabindex", "0")
    chart.setAttribute("aria-valuemin", "1")
    chart.setAttribute("aria-valuemax", String(bars.length))
    chart.setAttribute("aria-valuenow", String(bars.length))
    chart.setAttribute("aria-valuetext", bars[now].text)
    chart.addEventListener("pointermove", event => {
      const matrix = chart.getScreenCTM()
      if (!matrix) return
      const x = (event.clientX - matrix.e) / matrix.a
      show(bars.reduce((best, bar, at) => Math.abs(bar.middle - x) < Math.abs(bars[best].middle - x) ? at : best, 0))
    })
    chart.addEventListener("pointerleave", hide)
    chart.addEventListener("focus", () => show(now))
    chart.addEventListener("blur", hide)
    chart.addEventListener("keydown", event => {
      /** @type {Record<string, number>} */
      const keys = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: bars.length - 1 }
      if (!(event.key in keys)) return
      event.preventDefault()
      show(keys[event.key])
    })
  }

  for (const chart of /** @type {NodeListOf<SVGSVGElement>} */ (document.querySelectorAll(".graft-bars svg"))) prepare(chart)
})()
