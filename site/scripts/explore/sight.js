// @ts-check
"use strict"
// What of a scene is where, and whether it is in sight.
{
  const { explore } = graft
  const HEADER = 42

  // The rectangle around boxes, by default all of them, with the columns that they unfold.
  explore.bounds = (scene, open, ids = [...scene.view.boxes.keys()]) => {
    const places = ids.flatMap(id => scene.places.get(id) ?? [])
    return [
      Math.min(...places.map(one => one.x)), Math.min(...places.map(one => one.y)),
      Math.max(...places.map(one => one.x + one.width)),
      Math.max(...ids.map(id => (scene.places.get(id)?.y ?? 0) + HEADER + (open.get(id) ?? 0))),
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
