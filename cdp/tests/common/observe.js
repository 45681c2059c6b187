// The tiny page's observer: the shape of the real one, and nothing more.
(() => {
  if (globalThis.brb) return;
  let seq = 0;
  const one = (select) => document.querySelector(select);
  const composer = () => one("#composer");
  const turns = () => [...document.querySelectorAll("[data-turn]")];
  const place = () => {
    const found = /^\/c\/(.+)$/.exec(location.pathname);
    return found ? { conversation: found[1] } : "fresh";
  };
  const draftText = () => {
    const lines = [...composer().children].map((p) => p.textContent);
    return lines.join("\n");
  };
  const sendControl = () => one("#send");
  const idle = () => composer() !== null && one("#stop") === null;
  const canonical = (text) => text.split("\n").map((l) => l.trimEnd()).join("\n").trim();
  const control = (el) => (el ? (el.disabled ? "disabled" : "enabled") : "absent");
  const turn = (el) => ({
    key: { settled: el.id },
    role: el.dataset.turn,
    text: el.dataset.turn === "user" ? el.textContent : "",
    reply: el.dataset.turn === "user" ? null : { chars: el.textContent.length, print: el.textContent.slice(-20) },
  });
  const look = () => ({
    seq: (seq += 1),
    page_ms: Math.round(performance.now()),
    address: location.href,
    place: place(),
    layout: composer() ? "tiny" : null,
    missing: [],
    hydrated: true,
    blockers: [],
    composer: {
      present: composer() !== null,
      draft: composer() ? { chars: draftText().length, head: draftText().slice(0, 100) } : { chars: 0, head: "" },
      send: control(sendControl()),
      stop: one("#stop") !== null,
      attachments: 0,
    },
    turns_shown: turns().length,
    tail: turns().slice(-3).map(turn),
  });
  globalThis.brb = {
    look: () => JSON.stringify(look()),
    read: async () =>
      JSON.stringify({ page_ms: 0, place: place(), turns: turns().map(turn), whole: true, idle: idle() }),
    page: {
      layout: () => (composer() ? { name: "tiny" } : null),
      missing: () => [],
      attachments: () => 0,
      blockers: () => [],
      canonical,
      composer,
      draftText,
      sendControl,
      stopVisible: () => one("#stop") !== null,
      idle,
      place,
      turns,
      anchorState(anchor, text) {
        const all = turns();
        let at = -1;
        if (anchor !== "empty") {
          at = all.findLastIndex((el) => el.id === anchor.after);
          if (at < 0) return { anchor_moved: { last: all.at(-1)?.id ?? null } };
        }
        const next = all[at + 1];
        if (!next) return "last";
        const ours = next.dataset.turn === "user" && canonical(next.textContent) === canonical(text);
        return ours ? { already_there: { turn: next.id } } : { anchor_moved: { last: all.at(-1).id } };
      },
      replyControl: (id) => one(`#${id} .copy`),
    },
  };
  let queued = false;
  new MutationObserver(() => {
    if (queued) return;
    queued = true;
    setTimeout(() => {
      queued = false;
      brbSay(JSON.stringify({ look: look() }));
    }, 10);
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})();
