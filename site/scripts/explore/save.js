// @ts-check
"use strict"
// The picture as a file: SVG that needs no style sheet, or PNG made from it.
{
  const { explore } = graft
  const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor"]
  const LEFT_OUT = ".graft-step, .graft-unfold, .graft-unfold__target, title"
  const MARGIN = 16, MOST_PIXELS = 8000

  explore.picture = canvas => {
    const box = canvas.getBBox()
    const clone = /** @type {SVGSVGElement} */ (canvas.cloneNode(true))
    const from = canvas.querySelectorAll("*"), to = clone.querySelectorAll("*")
    from.forEach((element, at) => {
      const style = getComputedStyle(element)
      to[at].setAttribute("style", STYLES.flatMap(name => {
        const value = style.getPropertyValue(name)
        return value && value !== "normal" && value !== "none" || name === "fill" ? [`${name}:${value}`] : []
      }).join(";"))
    })
    for (const one of clone.querySelectorAll(LEFT_OUT)) one.remove()
    for (const one of clone.querySelectorAll("*")) {
      for (const name of [...one.getAttributeNames()]) {
        if (/^(data-|aria-|tabindex$|role$|class$)/.test(name)) one.removeAttribute(name)
      }
    }
    for (const one of [...clone.attributes]) clone.removeAttribute(one.name)
    const width = Math.ceil(box.width + 2 * MARGIN), height = Math.ceil(box.height + 2 * MARGIN)
    clone.setAttribute("xmlns", "http://www.w3.org/2000/svg")
    clone.setAttribute("viewBox", `${box.x - MARGIN} ${box.y - MARGIN} ${width} ${height}`)
    clone.setAttribute("width", String(width))
    clone.setAttribute("height", String(height))
    clone.prepend(explore.svg("rect", {
      x: box.x - MARGIN, y: box.y - MARGIN, width, height, fill: getComputedStyle(document.body).backgroundColor,
    }))
    return { text: new XMLSerializer().serializeToString(clone), width, height }
  }

  /** @type {(blob: Blob, name: string) => void} */
  const download = (blob, name) => {
    const link = /** @type {HTMLAnchorElement} */ (explore.html("a", { href: URL.createObjectURL(blob), download: name }))
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10000)
  }

  explore.save = async (canvas, kind, name) => {
    const { text, width, height } = explore.picture(canvas)
    if (kind === "svg") return download(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`)
    const image = new Image()
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
    await image.decode()
    const scale = Math.min(2, MOST_PIXELS / width, MOST_PIXELS / height)
    const bitmap = document.createElement("canvas")
    bitmap.width = Math.ceil(width * scale)
    bitmap.height = Math.ceil(height * scale)
    bitmap.getContext("2d")?.drawImage(image, 0, 0, bitmap.width, bitmap.height)
    const blob = await new Promise(resolve => bitmap.toBlob(resolve, "image/png"))
    if (!blob) throw new Error("the picture is too large for PNG")
    return download(blob, `${name}.png`)
  }
}
