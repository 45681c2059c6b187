// Looks, readings and the push of what changed.

let seq = 0;
let chromeStale = true;
let knownBlockers = [];

const now = () => Math.max(0, Math.round(performance.now()));

function tailOf(turns, always) {
  const busy = stopVisible();
  const user = turns.map((turn) => turn.role).lastIndexOf("user");
  const tail = turns.map((turn, at) => {
    const isLast = at === turns.length - 1;
    if (turn.role === "user") {
      const said = userText(turn);
      const long = !always && at < user && said.text.length > BOUNDS.cut_text_len;
      return { key: turn.key, role: "user", ...(long ? { text: head(said.text, BOUNDS.cut_text_len), clamped: true } : said) };
    }
    return { key: turn.key, role: "assistant", reply: replyState(turn, { busy, isLast, content: always || (at > user && "bar") }) };
  });
  const last = turns[turns.length - 1];
  // A card on our own turn is a failed reply as well: nothing else stands there.
  const error = last ? (last.role === "user" && errorIn(last)) || errorBelow(last) : null;
  if (error && last.role === "user") {
    const reply = { chars: 0, print: "none", error };
    tail.push({ key: "provisional", role: "assistant", reply });
  } else if (error && !tail[tail.length - 1].reply.error) tail[tail.length - 1].reply.error = error;
  return tail;
}

// When the whole page was searched last, and what that cost.
let searchedAt = -1e9;
let searchCost = 0;

// One look. `full` reads again what a push after a change reads only where it
// changed, and searches the whole page again, save where that was just done: a
// long thread is not gone through for each look.
function lookNow(full) {
  const began = performance.now();
  const search = full && began - searchedAt >= searchCost * BOUNDS.search_share;
  if (search || !layout || !composer()) probe();
  if (full) knownDraft = null;
  if (search) {
    findThread();
    searchedAt = began;
    searchCost = performance.now() - began;
  }
  const turns = newestTurns();
  if (full || chromeStale) {
    chromeStale = false;
    missing = drift(turns);
    saidConversation = renderedConversation();
    knownBlockers = blockers();
  }
  const where = place();
  return {
    address: head(location.href, 2000),
    place: where,
    layout: layout ? layout.name : null,
    missing,
    hydrated: hydrated(where, turns),
    blockers: knownBlockers,
    composer: composerState(),
    turns_shown: countTurns(),
    tail: tailOf(turns, false),
  };
}

// Bytes as UTF-8.
function bytesOf(text) {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Either half of a pair stands for two of its four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

const fits = (json) =>
  json.length * 3 <= BOUNDS.report_bytes_max || bytesOf(json) <= BOUNDS.report_bytes_max;

// As JSON within the bound: over it the texts of user turns are cut, oldest
// first and the newest last, and then the content is left out.
function written(look) {
  let json = JSON.stringify(look);
  for (const turn of look.tail) {
    if (fits(json)) return json;
    if (turn.role !== "user" || turn.text.length <= BOUNDS.cut_text_len) continue;
    turn.text = head(turn.text, BOUNDS.cut_text_len);
    turn.clamped = true;
    json = JSON.stringify(look);
  }
  if (fits(json)) return json;
  for (const turn of look.tail) if (turn.reply) delete turn.reply.blocks;
  return JSON.stringify(look);
}

function stamped(json) {
  seq += 1;
  return `{"seq":${seq},"page_ms":${now()},${json.slice(1)}`;
}

let lastJson = "";
let lastPush = -1e9;
let lastCost = 0;
let timer = 0;

function push() {
  clearTimeout(timer);
  timer = 0;
  try {
    pushNow();
  } catch (error) {
    failed(error);
  }
}

function pushNow() {
  const began = performance.now();
  const json = written(lookNow(false));
  lastPush = performance.now();
  lastCost = lastPush - began;
  if (json === lastJson) return;
  lastJson = json;
  if (typeof globalThis.brbSay === "function") globalThis.brbSay(`{"look":${stamped(json)}}`);
}

// A change of text waits for its turn; a change of a mark goes at once.
function pushSoon(gap) {
  const wait = lastPush + gap - performance.now();
  if (wait <= 0) {
    push();
    return;
  }
  if (timer) {
    if (gap >= BOUNDS.gap_ms) return;
    clearTimeout(timer);
  }
  timer = setTimeout(push, wait);
}

const textGap = () => Math.max(BOUNDS.gap_ms, lastCost * 10, lastJson.length / 2048);

const holdsTurn = (node) =>
  node.nodeType === 1 && marks.turn && (node.matches(marks.turn) || node.querySelector(marks.turn) !== null);

// Sorts what changed: text of an answer, a mark in the thread, or the rest of
// the page.
function sort(records) {
  let textOnly = true;
  const editor = knownComposer;
  for (const record of records) {
    const el = record.target.nodeType === 1 ? record.target : record.target.parentElement;
    if (!el) {
      textOnly = false;
      chromeStale = true;
      continue;
    }
    const body = marks.body ? el.closest(marks.body) : null;
    if (body) {
      const turn = body.closest(marks.turn);
      if (turn) builtBlocks.delete(turn);
      if (record.type !== "attributes") continue;
    }
    textOnly = false;
    if (editor && editor.contains(el)) {
      knownDraft = null;
      chromeStale = chromeStale || record.type === "attributes";
    } else if (container && container.contains(el)) {
      const turn = marks.turn ? el.closest(marks.turn) : null;
      if (turn) userTexts.delete(turn);
      if (record.type === "childList") countStale = true;
    } else {
      chromeStale = true;
      if (record.type === "childList" && [...record.addedNodes].some(holdsTurn)) container = null;
    }
  }
  return textOnly;
}

function changed(records) {
  try {
    pushSoon(sort(records) ? textGap() : Math.max(BOUNDS.gap_mark_ms, lastCost * 2));
  } catch (error) {
    failed(error);
  }
}

// Our own defect becomes an observation that does not parse, never silence.
function failed(error) {
  const detail = head(`${error && error.message}`, 300);
  if (typeof globalThis.brbSay === "function") {
    globalThis.brbSay(JSON.stringify({ look: { defect: detail } }));
  }
}

// Whether what must be last is last, or our own text already follows it.
function anchorState(anchor, text) {
  const turns = allTurns();
  const id = (turn) => (turn && turn.key !== "provisional" ? turn.key.settled : null);
  let at = -1;
  if (anchor !== "empty") {
    at = turns.findLastIndex((turn) => turn.ids.includes(anchor.after));
    if (at < 0) return { anchor_moved: { last: id(turns[turns.length - 1]) } };
  }
  const next = turns[at + 1];
  if (!next) return "last";
  const ours = next.role === "user" && canonical(userText(next).text) === canonical(text);
  if (ours) return { already_there: { turn: id(next) } };
  return { anchor_moved: { last: id(turns[turns.length - 1]) } };
}

// Nothing shows that older turns are left out of the document.
function wholeThread(where, turns) {
  if (where === "fresh" && turns.length === 0) return composer() !== null;
  if (turns.length === 0 || !hydrated(where, turns)) return false;
  if (turns.some((turn) => turn.key === "provisional")) return false;
  if (marks.virtual && container && container.querySelector(marks.virtual)) return false;
  return startsThread(turns);
}

// The first turn there is the thread's first, as far as the layout tells.
function startsThread(turns) {
  const rules = layout.turn.first_turn;
  const first = turns[0].els[0];
  if (turns[0].role !== "user") return false;
  return rules.length === 0 || rules.some(([name, value]) => first.getAttribute(name) === value);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Scroll events come with frames, which a tab in the background has once a
// second, or never: a frame, or the bound.
const frame = () => Promise.race([
  new Promise((resolve) => requestAnimationFrame(resolve)),
  pause(BOUNDS.scroll_frame_ms),
]);

function scrollerOf(el) {
  for (let box = el; box; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return null;
}

// A thread that does not say where it begins is scrolled to its top until no
// older turn comes up, and back. False where that took longer than it may.
async function mountOlder() {
  allTurns();
  const box = container ? scrollerOf(container) : null;
  if (!box) return true;
  const fromEnd = box.scrollHeight - box.scrollTop;
  const until = performance.now() + BOUNDS.scroll_ms_max;
  let same = false;
  while (!same && performance.now() < until) {
    const had = container && container.querySelectorAll(marks.turn).length;
    if (box.scrollTop === 0) {
      // Only a movement tells the page that its top is reached.
      box.scrollTop = BOUNDS.scroll_nudge_px;
      await frame();
    }
    box.scrollTop = 0;
    await frame();
    await pause(BOUNDS.scroll_pause_ms);
    allTurns();
    same = had === (container && container.querySelectorAll(marks.turn).length);
  }
  box.scrollTop = box.scrollHeight - fromEnd;
  return same;
}

async function read() {
  let turns = allTurns();
  let reached = true;
  const where = place();
  if (turns.length > 0 && !(startsThread(turns) && layout.turn.first_turn.length > 0)) {
    reached = await mountOlder();
    turns = allTurns();
  }
  const tail = tailOf(turns, true);
  let whole = reached && wholeThread(where, turns);
  let size = 0;
  for (let at = tail.length - 1; at >= 0; at -= 1) {
    size += JSON.stringify(tail[at]).length;
    if (size <= BOUNDS.reading_len_max) continue;
    whole = false;
    if (tail[at].reply) delete tail[at].reply.blocks;
  }
  const reading = { page_ms: now(), place: where, turns: tail, whole, idle: idle() };
  return JSON.stringify(reading);
}

const idle = () => composer() !== null && !stopVisible();

// A stale thread is looked for again before another script asks.
const fresh = (ask) => (...args) => {
  probe();
  return ask(...args);
};

globalThis.brb = {
  look: () => stamped((lastJson = written(lookNow(true)))),
  read,
  survey,
  // A turn's elements as text, for a recording; null where it is not there or too long.
  html: (id) => {
    const turn = allTurns().findLast((one) => one.ids.includes(id));
    const html = turn ? turn.els.map((el) => el.outerHTML).join("\n") : null;
    return html !== null && fits(html) ? html : null;
  },
  page: {
    layout: fresh(() => layout),
    missing: () => drift(newestTurns()),
    composer: fresh(composer),
    draftText: fresh(draftText),
    sendControl: fresh(sendControl),
    stopVisible: fresh(stopVisible),
    idle: fresh(idle),
    place,
    canonical,
    turns: () => allTurns().map((turn) => ({
      key: turn.key,
      role: turn.role,
      el: turn.el,
      text: turn.role === "user" ? userText(turn).text : "",
    })),
    anchorState,
    replyControl: (id) => {
      const turn = allTurns().findLast((one) => one.role === "assistant" && one.ids.includes(id));
      return turn ? copyControl(turn) : null;
    },
    blockers: fresh(blockers),
    newest: () => newestTurns().map((turn) => tailOf([turn], false)),
    blocksOf: fresh((el) => blocksOf([el])),
    attachments: fresh(() => composerState().attachments),
  },
};

new MutationObserver(changed).observe(document, {
  subtree: true,
  childList: true,
  characterData: true,
  attributes: true,
  attributeFilter: [
    "class", "hidden", "inert", "style", "disabled", "aria-hidden", "aria-disabled", "aria-busy", "aria-label", "role",
    "data-testid", "data-state", "data-is-streaming", "data-streaming-response-status", "data-interrupted", "data-turn",
    "contenteditable", "open", "d",
    ...DATA.layouts.flatMap((one) => [
      ...one.turn.id_attributes, ...one.turn.group_attributes, ...one.turn.key_attributes, ...one.turn.thread_attributes,
    ]),
  ],
});

// The address may change while nothing in the document does.
if (globalThis.navigation) {
  globalThis.navigation.addEventListener("currententrychange", () => changed([]));
}
if (document.documentElement) changed([]);
