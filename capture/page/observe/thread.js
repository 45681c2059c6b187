// The layout that the page shows, and the turns of its visible main thread.
//
// The cost of a look must not grow with the conversation: the thread's
// container is found once by a full search and then walked from its end. The
// full search is made again when the container is gone or hidden, when a turn
// comes up outside it, and for each look that the driver asks for.

let layout = null;
let marks = {};
let missing = [];
let container = null;
let count = 0;
let countStale = true;

const marksOf = (candidate) =>
  Object.fromEntries(candidate.marks.map((mark) => [mark.name, mark.select]));

const beside = (el) => marks.beside && el.closest(marks.beside);
const firstVisible = (select) =>
  [...document.querySelectorAll(select)].find((el) => visible(el) && !beside(el)) || null;

// The layout with the most of its marks in the page; the composer counts most.
function probe() {
  let best = null;
  let bestScore = 0;
  for (const candidate of DATA.layouts) {
    const of = marksOf(candidate);
    const score =
      (document.querySelector(of.composer) ? 2 : 0) + (document.querySelector(of.turn) ? 1 : 0);
    if (score > bestScore) {
      best = candidate;
      bestScore = score;
    }
  }
  if (best !== layout) container = null;
  layout = best;
  marks = best ? marksOf(best) : {};
}

// Attributes are looked for on the element, then inside it.
function attributeIn(el, names) {
  for (const name of names) {
    const own = el.getAttribute(name);
    if (own) return own;
    const inner = el.querySelector(`[${name}]`);
    if (inner) return inner.getAttribute(name);
  }
  return null;
}

// Attributes are looked for on the element, then around it.
function attributeAround(el, names) {
  for (const name of names) {
    const holder = el.closest(`[${name}]`);
    if (holder) return holder.getAttribute(name);
  }
  return null;
}

function roleOf(el) {
  for (const name of layout.turn.role_attributes) {
    const value = el.getAttribute(name);
    const role = value ? value.slice(value.lastIndexOf(":") + 1) : null;
    if (role === "user" || role === "assistant") return role;
  }
  for (const name of layout.turn.role_attributes) {
    const inner = el.querySelector(`[${name}$="user"], [${name}$="assistant"]`);
    if (inner) return inner.getAttribute(name).endsWith("user") ? "user" : "assistant";
  }
  return null;
}

// All message ids that stand on the turn, in order, the page's own ones left out.
function idsOf(els, role) {
  const ids = [];
  const add = (value) => {
    for (const id of (value || "").split(/\s+/)) if (id && !ids.includes(id)) ids.push(id);
  };
  for (const el of els) {
    const key = attributeIn(el, layout.turn.key_attributes);
    if (key && patterns.provisional.test(key)) return [];
    for (const name of layout.turn.id_attributes) {
      add(el.getAttribute(name));
      for (const inner of el.querySelectorAll(`[${name}]`)) {
        const by = inner.getAttribute("data-message-author-role");
        if (!by || by === role) add(inner.getAttribute(name));
      }
    }
  }
  return ids;
}

function isMadeUp(turn) {
  const key = attributeIn(turn.el, layout.turn.key_attributes);
  return key === null || patterns.provisional.test(key);
}

function groupOf(el) {
  const around = attributeAround(el, layout.turn.group_attributes);
  return around || el.getAttribute(layout.turn.group_attributes[0]);
}

// Turn elements in one row of the thread: outermost ones only.
function turnsIn(row) {
  if (row.matches(marks.turn)) return [row];
  const found = [...row.querySelectorAll(marks.turn)];
  return found.filter((el) => !el.parentElement.closest(marks.turn));
}

// Parts of one reply become one turn: neighbours of one role and one group.
function joined(els) {
  const turns = [];
  for (const el of els) {
    if (!visible(el) || beside(el)) continue;
    const role = roleOf(el);
    if (!role) continue;
    const group = groupOf(el);
    const last = turns[turns.length - 1];
    if (last && last.role === role && group && last.group === group) last.els.push(el);
    else turns.push({ role, group, els: [el] });
  }
  for (const turn of turns) {
    turn.el = turn.els[turn.els.length - 1];
    turn.ids = idsOf(turn.els, turn.role);
    const id = turn.ids[turn.ids.length - 1];
    turn.key = id && isSettled(id) ? { settled: id } : "provisional";
  }
  return turns;
}

function commonAncestor(a, b) {
  let el = a.parentElement;
  while (el && !el.contains(b)) el = el.parentElement;
  return el;
}

// The full search: once, then only when the thread may have moved.
function findThread() {
  container = null;
  count = 0;
  if (!layout) return;
  const all = [...document.querySelectorAll(marks.turn)];
  let last = all.length - 1;
  while (last >= 0 && !(visible(all[last]) && !beside(all[last]))) last -= 1;
  if (last < 0) return;
  let first = 0;
  while (first < last && !(visible(all[first]) && !beside(all[first]))) first += 1;
  container = commonAncestor(all[first], all[last]);
  countStale = true;
}

const threadStands = () => container && container.isConnected && visible(container);

function countTurns() {
  if (!countStale) return count;
  countStale = false;
  count = container ? container.querySelectorAll(marks.turn).length : 0;
  return count;
}

// The newest turns, oldest first: back to the last user turn but one, and at
// least to the turn before the last one, so that a user turn that is not ours
// is seen to follow ours. Rows without a turn are passed over, up to a bound.
function newestTurns() {
  if (!layout) return [];
  if (!threadStands()) findThread();
  if (!container) return [];
  let rows = [];
  let turns = [];
  let passed = 0;
  for (let row = container.lastElementChild; row && passed < 400; row = row.previousElementSibling) {
    passed += 1;
    const found = turnsIn(row);
    if (found.length === 0) continue;
    rows = [...found, ...rows];
    turns = joined(rows);
    const { last, other } = newestUsers(turns);
    if ((last > 1 && other >= 0) || turns.length > BOUNDS.tail_max) break;
  }
  const { last, other } = newestUsers(turns);
  const from = last > 1 ? Math.min(last - 1, other < 0 ? last : other) : 0;
  return turns.slice(Math.max(from, turns.length - BOUNDS.tail_max));
}

// Where the last user turn stands, and the one before it.
function newestUsers(turns) {
  const last = turns.findLastIndex((turn) => turn.role === "user");
  return { last, other: turns.findLastIndex((turn, at) => at < last && turn.role === "user") };
}

// Every turn of the visible main thread.
function allTurns() {
  probe();
  findThread();
  return container ? joined(turnsIn(container)) : [];
}

// Which conversation the rendered thread says it is; null where it does not say.
function renderedConversation() {
  for (const name of layout ? layout.turn.thread_attributes : []) {
    const holder = firstVisible(`[${name}]`);
    if (holder && holder.getAttribute(name)) return holder.getAttribute(name);
  }
  return null;
}

let saidConversation = null;

// The thread of this address is rendered: turns stand there, or it has none.
function hydrated(where, turns) {
  if (!layout) return false;
  if (where === "fresh") return composer() !== null;
  if (where === "elsewhere") return false;
  if (turns.length === 0) return false;
  const said = saidConversation;
  return !said || !where.conversation || said === where.conversation || patterns.transient.test(said);
}

// Needed marks that are not there, judged only by what stands in the page.
function drift(turns) {
  if (!layout) return [];
  const lacking = [];
  // A turn under a name that the page made up may still lack its marks.
  const user = turns.findLast((turn) => turn.role === "user" && !isMadeUp(turn));
  const reply = turns.findLast((turn) => turn.role === "assistant");
  for (const mark of layout.marks) {
    if (mark.need === "at_once") {
      const there = mark.name === "composer" ? composer() : firstVisible(mark.select);
      if (!there) lacking.push(mark.name);
    } else if (mark.need === "with_turn") {
      if (user && !findIn(user.els, mark.select, () => true)) lacking.push(mark.name);
    } else if (mark.need === "with_reply" && mark.name === "body") {
      const done = reply && inTurn(reply, marks.bar, visible);
      if (done && !findIn(reply.els, mark.select, () => true)) lacking.push(mark.name);
    }
  }
  return lacking;
}

// The text of a user turn exactly as shown, labels for screen readers left out.
const userTexts = new WeakMap();
function userText(turn) {
  const known = userTexts.get(turn.el);
  if (known) return known;
  const holders = turn.els.flatMap((el) => {
    const inner = [...el.querySelectorAll(marks.user_text)];
    const found = el.matches(marks.user_text) ? [el, ...inner] : inner;
    return found.filter((one) => !found.some((other) => other !== one && other.contains(one)));
  });
  const whole = holders.map(shownText).join("\n");
  const text = head(whole, BOUNDS.user_text_len_max);
  const more = findIn(turn.els, `${marks.user_more}, button`, (el) =>
    visible(el) && (says("more", labelOf(el)) || el.matches(marks.user_more)));
  const value = { text, clamped: text.length < whole.length || more !== null };
  userTexts.set(turn.el, value);
  return value;
}

const BLOCKS = new Set(["P", "DIV", "LI", "PRE", "UL", "OL", "BLOCKQUOTE", "H1", "H2", "H3", "H4", "H5", "H6"]);

// Text with line breaks: `<br>` and the edges of blocks are line breaks.
function shownText(root) {
  let out = "";
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (child.nodeType === 3) out += child.data;
      else if (child.nodeType === 1) {
        if (child.tagName === "BR") out += "\n";
        else if (child.tagName === "BUTTON" || child.matches(DATA.content.unseen)) continue;
        else {
          const block = BLOCKS.has(child.tagName);
          if (block && out && !out.endsWith("\n")) out += "\n";
          walk(child);
          if (block && child.nextSibling && !out.endsWith("\n")) out += "\n";
        }
      }
    }
  };
  walk(root);
  return out;
}
