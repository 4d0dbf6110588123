// @ts-check
"use strict"
// What of a scene is where, and whether it is in sight.
{
  const { explore } = graft
  const HEADER = 42

  // The rectangle around boxes, by default all of them, with the columns that they unfold.
  explore.bounds = (scene, open, ids = [...scene.view.boxes.keys()]) => {
    const boxes = ids.flatMap(id => {
      const place = scene.places.get(id)
      if (!place) return []
      const { x, width } = place, y = place.y + explore.shift(scene, open, x, place.y, x + width)
      return [{ left: x, top: y, right: x + width, bottom: y + HEADER + (open.get(id) ?? 0) }]
    })
    return [
      Math.min(...boxes.map(one => one.left)), Math.min(...boxes.map(one => one.top)),
      Math.max(...boxes.map(one => one.right)), Math.max(...boxes.map(one => one.bottom)),
    ]
  }

  explore.anyInSight = (scene, camera, frame, ids) => {
    const { width, height } = frame.getBoundingClientRect(), { x, y, scale } = camera
    return ids.some(id => {
      const place = scene.places.get(id)
      if (!place) return false
      const middle = (place.x + place.width / 2) * scale + x, top = place.y * scale + y
      return middle > 0 && middle < width && top > 0 && top < height
    })
  }
}
