// An assistant turn's marks and content.

// The first match that belongs to this very turn: in it, or, where the layout
// puts a turn's controls beside it, after it and before the next one.
function inTurn(turn, select, test) {
  const found = findIn(turn.els, select, test);
  if (found || !select || !layout.turn.controls_beside) return found;
  const group = groupRoot(turn);
  if (!group) return null;
  for (const el of group.querySelectorAll(select)) {
    if (ownerOf(group, el) === turn.el && test(el)) return el;
  }
  return null;
}

function groupRoot(turn) {
  for (const name of layout.turn.group_attributes) {
    const holder = turn.el.closest(`[${name}]`);
    if (holder) return holder;
  }
  return turn.el.parentElement;
}

// The last turn element of the group that holds `el` or stands before it.
function ownerOf(group, el) {
  let owner = null;
  for (const unit of turnsIn(group)) {
    const order = unit.compareDocumentPosition(el);
    if (order & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)) owner = unit;
  }
  return owner;
}

const inBody = (el) => marks.body && el.closest(marks.body) !== null;
const inAside = (el) => marks.aside && el.closest(marks.aside) !== null;

// The roots of the answer: those of the turn's last message, thoughts, recaps
// and interrupted prose left out.
function bodiesOf(turn) {
  const all = [];
  for (const el of turn.els) {
    if (el.matches(marks.body)) all.push(el);
    else all.push(...el.querySelectorAll(marks.body));
  }
  const answers = all.filter(
    (el) => !inAside(el) && !el.parentElement.closest(marks.body) && visible(el));
  if (answers.length < 2) return answers;
  // Where a turn is one message to the layout, its messages stand apart.
  const messageOf = (el) => {
    const message = el.closest(marks.message);
    return message && !turn.els.includes(message) ? message : el.parentElement;
  };
  const last = messageOf(answers[answers.length - 1]);
  return answers.filter((el) => messageOf(el) === last);
}

// The answer's text as a fingerprint's input: asides left out, the rest as is.
function bodyText(bodies) {
  const out = bodies.map((body) => {
    if (!marks.aside || !body.querySelector(marks.aside)) return body.textContent;
    return textWithout(body, marks.aside);
  });
  return out.join("\n");
}

// What stands below `root` and is not the answer, by selector.
const markIn = (turn, select) =>
  inTurn(turn, select, (el) => visible(el) && !(inBody(el) && !inAside(el))) !== null;

// Streaming marks may stand on the answer itself, or anywhere in the turn.
const streamingIn = (turn) => inTurn(turn, marks.streaming, visible) !== null;

// An error card, found by `find(select, test)`.
function errorBy(find) {
  const card = find(marks.error, (el) => shown(el) && !inBody(el));
  const retry = find("button", (el) => shown(el) && !inBody(el) && says("retry", labelOf(el)));
  if (!card && !retry) return null;
  const holder = card || retry.parentElement;
  const text = seenText(holder, BOUNDS.card_len);
  const mark = card ? (card.getAttribute("role") === "alert" ? "role=alert" : "error card") : "retry control";
  if (says("capacity", text)) return { kind: "capacity", mark };
  if (says("delivery", text)) return { kind: "delivery", mark };
  // A bare alert without a control to retry says nothing of the reply.
  if (!retry && !(card && card.querySelector("button"))) {
    return card.getAttribute("role") === "alert" ? null : { kind: "failed", mark };
  }
  return { kind: "failed", mark };
}

const errorIn = (turn) => errorBy((select, test) => inTurn(turn, select, test));

const copyControl = (turn) =>
  (marks.copy && inTurn(turn, marks.copy, visible)) || copyByLabel(turn);

// By its label, and only within the action bar: never a code block's copy.
function copyByLabel(turn) {
  const bar = barOf(turn);
  if (!bar) return null;
  const root = bar.tagName === "BUTTON" ? bar.parentElement : bar;
  return findIn([root], "button", (el) => visible(el) && !inBody(el) && says("copy", labelOf(el)));
}

function barOf(turn) {
  return inTurn(turn, marks.bar, (el) => {
    if (!visible(el) || inBody(el)) return false;
    return el.tagName === "BUTTON" || findIn([el], "button", visible) !== null;
  });
}

// Content is built again only when the answer changed.
const builtBlocks = new WeakMap();
function builtOf(turn, bodies, print) {
  const known = builtBlocks.get(turn.el);
  if (known && known.print === print) return known.blocks;
  let blocks = null;
  try {
    blocks = blocksOf(bodies);
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
  }
  builtBlocks.set(turn.el, { print, blocks });
  return blocks;
}

// The turn's marks, and its content if asked for: always, or under its bar.
function replyState(turn, { busy, isLast, content }) {
  const bodies = bodiesOf(turn);
  const text = bodyText(bodies);
  const print = printOf(text);
  const bar = barOf(turn) !== null;
  const streaming = streamingIn(turn);
  const thinking =
    markIn(turn, marks.thinking) || (busy && isLast && !bar && markIn(turn, marks.thinking_while_busy));
  const stoppedLabel =
    inTurn(turn, "button, summary", (el) => visible(el) && !inBody(el) && says("stopped", labelOf(el))) !== null;
  const state = {
    chars: charsOf(text),
    print,
    bar,
    copy: bar && copyControl(turn) !== null,
    streaming,
    thinking,
    interrupted: (stoppedLabel || markIn(turn, marks.interrupted)) && bodies.length === 0,
    truncated: isLast && continueOffered(turn),
    choices: Math.max(1, choicesIn(turn)),
    error: errorIn(turn),
  };
  const blocks = content === true || (content && bar) ? builtOf(turn, bodies, print) : null;
  if (blocks) state.blocks = blocks;
  return state;
}

function choicesIn(turn) {
  const offers = (el) =>
    visible(el) && !inBody(el) && (el.matches(marks.choice) || says("choice", labelOf(el)));
  return turn.els.reduce(
    (sum, el) => sum + [...el.querySelectorAll(`${marks.choice}, button`)].filter(offers).length, 0);
}

function continueOffered(turn) {
  const offers = (el) => visible(el) && !inBody(el) && (el.matches(marks.continue) || says("continue", labelOf(el)));
  const select = `${marks.continue}, button`;
  return inTurn(turn, select, offers) !== null || findIn(composerRoots(), select, offers) !== null;
}

// Below the last turn: an error card that stands in no turn is a failed reply.
function errorBelow(turn) {
  if (!container) return null;
  let row = turn.el;
  while (row && row.parentElement !== container) row = row.parentElement;
  const below = [];
  for (let next = row && row.nextElementSibling; next && below.length < 20; next = next.nextElementSibling) {
    if (turnsIn(next).length === 0) below.push(next);
  }
  return below.length ? errorBy((select, test) => findIn(below, select, test)) : null;
}
