// The search of the site is a worker, and browsers start none for a page of a disk: there it works in a frame of the page.
// The theme asks for such a script by this name; without this one it would fetch one from the network.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.loaded = new Promise(done => this.frame.addEventListener("load", done, { once: true }));
      this.frame.srcdoc = `<body><script>
        postMessage = data => frameElement.answer(data);
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done, fail) => {
          const script = Object.assign(document.createElement("script"), { src: url, onload: done, onerror: fail });
          document.body.append(script);
        })), Promise.resolve());
      </` + `script><script src="${new URL(url, document.baseURI).href}"></` + `script></body>`;
      this.frame.answer = data => this.dispatchEvent(new MessageEvent("message", { data }));
      document.body.append(this.frame);
    }

    postMessage(data) {
      this.loaded.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
