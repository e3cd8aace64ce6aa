/**
 * Search in pages that were opened from a folder. Browsers start no worker there, so the search runs in a hidden
 * frame with the two functions of a worker that it uses. On a server nothing changes.
 */
if (location.protocol === "file:") {
  globalThis.Worker = class extends EventTarget {
    #inside;
    #ready;

    constructor(url) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true, title: "search" });
      document.body.append(frame);
      this.#inside = frame.contentWindow;
      this.#inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.#inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.#load(each)));
      this.#ready = this.#load(url);
    }

    #load(url) {
      return new Promise((done, failed) => {
        const script = this.#inside.document.createElement("script");
        Object.assign(script, { src: url, onload: done, onerror: () => failed(new Error(`cannot load ${url}`)) });
        this.#inside.document.body.append(script);
      });
    }

    async postMessage(data) {
      await this.#ready;
      this.#inside.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.#inside.frameElement.remove();
    }
  };
}
