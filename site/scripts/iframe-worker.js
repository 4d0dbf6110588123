// Search runs in a worker, which browsers refuse to pages opened with file://.
// For those, a hidden frame takes the worker's place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.append(frame)
      const inner = frame.contentWindow
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = frame.contentDocument.createElement("script")
      script.src = url
      script.onload = () => {
        this.inner = inner
        this.waiting.splice(0).forEach(data => this.postMessage(data))
      }
      frame.contentDocument.body.append(script)
    }
    postMessage(data) {
      if (!this.inner) this.waiting.push(data)
      else this.inner.dispatchEvent(new MessageEvent("message", { data }))
    }
    terminate() {}
  }
}
