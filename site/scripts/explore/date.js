// @ts-check
"use strict"
// The day whose graph is shown: what was there at its end, and the control that chooses it.
{
  const { explore } = graft
  const { html } = explore
  const DAY = 86_400_000
  const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })
  const WORDS = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })

  explore.days = null

  explore.dayOf = ({ date }) =>
    date && explore.days ? Math.round((Date.parse(date) - Date.parse(explore.days[0])) / DAY) : -1

  explore.dateOf = day =>
    new Date(Date.parse(explore.days?.[0] ?? "") + day * DAY).toISOString().slice(0, 10)

  explore.dateInWords = date => WORDS.format(Date.parse(date))

  // `gone` are the flags of what is gone now; of a temporary table no day is known.
  explore.hasEnded = (one, gone, state) => {
    if (!state.date || !explore.days || !one.until) return Boolean(one.flags & gone)
    return one.until <= explore.dayOf(state) + 1
  }

  explore.isThere = (one, gone, state) => {
    if (state.date && explore.days && one.since > explore.dayOf(state)) return false
    return state.deleted || !explore.hasEnded(one, gone, state)
  }

  explore.dateControl = actions => {
    const slider = /** @type {HTMLInputElement} */ (html("input", {
      type: "range", min: 0, id: "graft-day", "aria-label": "Day",
    }))
    const field = /** @type {HTMLInputElement} */ (html("input", { type: "date", id: "graft-date" }))
    const now = html("button", { type: "button", class: "graft-link", onclick: () => actions.change({ date: "" }) }, "Now")
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let soon

    /** The last stop of the slider, behind the last day, is now.
     * @type {() => string} */
    const chosen = () => slider.value === slider.max ? "" : explore.dateOf(Number(slider.value))
    const label = () => {
      const date = chosen()
      slider.setAttribute("aria-valuetext", date ? explore.dateInWords(date) : "now")
    }
    slider.addEventListener("input", () => {
      label()
      field.value = chosen()
      // Browsers refuse too many addresses at once.
      clearTimeout(soon)
      soon = setTimeout(() => actions.change({ date: chosen() }), 120)
    })
    field.addEventListener("change", () => actions.change({ date: field.value }))
    return {
      menu: [
        html("label", { class: "graft-field", for: "graft-date" }, "As of the end of", field),
        slider, now,
      ],
      show({ date }) {
        const { days } = explore
        if (!days) return ""
        clearTimeout(soon)
        const last = Math.round((Date.parse(days[1]) - Date.parse(days[0])) / DAY)
        slider.max = String(last + 1)
        ;[field.min, field.max] = days
        if (field.value !== date) field.value = date
        slider.value = String(date ? Math.min(Math.max(explore.dayOf({ .../** @type {State} */ ({}), date }), 0), last) : last + 1)
        label()
        return date ? SHORT.format(Date.parse(date)) : "Date"
      },
    }
  }
}
