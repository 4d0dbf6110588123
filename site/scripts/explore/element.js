// @ts-check
"use strict"
// Elements of HTML and SVG. Names from logs get in as text only.
{
  const { explore } = graft

  explore.svg = (name, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
    element.append(...children)
    return element
  }

  // Attributes that are functions listen to events: `onclick`.
  explore.html = (name, attributes = {}, ...children) => {
    const element = document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(key.slice(2), value)
      else if (typeof value === "boolean") element.toggleAttribute(key, value)
      else element.setAttribute(key, String(value))
    }
    element.append(...children)
    return element
  }

  const context = document.createElement("canvas").getContext("2d")
  /** @type {Map<string, string>} */
  const cut = new Map()

  // The text, or as much of its beginning and end as there is room for: `very_long_na…_suffix`.
  explore.shortened = (text, room, font) => {
    const key = `${font} ${room} ${text}`
    let found = cut.get(key)
    if (found === undefined) cut.set(key, found = shorten(text, room, font))
    return found
  }

  /** @type {(text: string, room: number, font: string) => string} */
  const shorten = (text, room, font) => {
    if (!context) return text
    context.font = font
    /** @type {(text: string) => boolean} */
    const fits = text => context.measureText(text).width <= room
    if (fits(text)) return text
    const chars = [...text]
    /** @type {(count: number) => string} */
    const ends = count => {
      const tail = count >> 1
      return `${chars.slice(0, count - tail).join("")}…${tail ? chars.slice(-tail).join("") : ""}`
    }
    let low = 1, high = chars.length
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (fits(ends(middle))) low = middle
      else high = middle - 1
    }
    return ends(low)
  }
}
