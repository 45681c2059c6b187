// Catches what the page would have written to the clipboard.
//
// Runs in the page's own world, on demand, and is taken out right after. While
// it stands nothing reaches the system clipboard: neither the asynchronous
// interface nor the old `copy` command.
(() => {
  "use strict";
  if (globalThis.brbCopy) return;

  let caught = null;
  let undo = [];
  let timer = null;

  const replace = (owner, name, make) => {
    if (!owner) return;
    const had = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, { configurable: true, writable: true, value: make(owner[name]) });
    undo.push(() => {
      if (had) Object.defineProperty(owner, name, had);
      else delete owner[name];
    });
  };

  const keep = (text) => {
    if (caught === null) caught = String(text);
  };

  const write = () =>
    async function write(items) {
      for (const item of items) {
        if (item.types.includes("text/plain")) {
          keep(await (await item.getType("text/plain")).text());
          return;
        }
      }
    };

  const writeText = () =>
    async function writeText(text) {
      keep(text);
    };

  const selected = () => {
    const active = document.activeElement;
    if (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) {
      return active.value.slice(active.selectionStart ?? 0, active.selectionEnd ?? undefined);
    }
    return String(getSelection());
  };

  const execCommand = (original) =>
    function execCommand(name, ...rest) {
      if (/^(copy|cut)$/i.test(name)) {
        keep(selected());
        return true;
      }
      return original.call(this, name, ...rest);
    };

  const remove = () => {
    for (const step of undo.reverse()) step();
    undo = [];
    clearTimeout(timer);
    delete globalThis.brbCopy;
    return "done";
  };

  globalThis.brbCopy = {
    install(hold_ms) {
      if (undo.length > 0) return "done";
      // Both where the interface is defined and where a page may have put its own.
      const clipboard = navigator.clipboard;
      if (clipboard) {
        replace(Object.getPrototypeOf(clipboard), "write", write);
        replace(Object.getPrototypeOf(clipboard), "writeText", writeText);
        if (Object.hasOwn(clipboard, "write")) replace(clipboard, "write", write);
        if (Object.hasOwn(clipboard, "writeText")) replace(clipboard, "writeText", writeText);
      }
      replace(Document.prototype, "execCommand", execCommand);
      timer = setTimeout(remove, hold_ms);
      return "done";
    },
    take() {
      return caught;
    },
    remove,
  };
})();
