// Data, labels, visibility and places. Everything here only reads.

const BOUNDS = DATA.bounds;

const labelSets = {};
for (const set of DATA.labels) {
  labelSets[set.name] = { within: set.within, words: set.by.flatMap(([, words]) => words) };
}

const squeeze = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

// Whether a text is (or, for some sets, holds) one of the labels of that name.
function says(set, text) {
  const { within, words } = labelSets[set];
  const said = squeeze(text);
  return words.some((word) => (within ? said.includes(word) : said === word));
}

// What a control is called, by its label or its own short text.
function labelOf(el) {
  const label = el.getAttribute("aria-label");
  if (label) return label;
  const text = el.textContent;
  return text.length <= 200 ? text : "";
}

// Unicode scalar values, as the core counts characters.
function charsOf(text) {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(at + 1);
      if (next >= 0xdc00 && next < 0xe000) pairs += 1;
    }
  }
  return text.length - pairs;
}

// A cheap fingerprint: two 32-bit hashes and the length.
function printOf(text) {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 15);
  }
  return `${(a >>> 0).toString(16)}-${(b >>> 0).toString(16)}-${text.length.toString(16)}`;
}

// Cut at `max` UTF-16 units without splitting a pair.
function head(text, max) {
  if (text.length <= max) return text;
  const unit = text.charCodeAt(max - 1);
  return text.slice(0, unit >= 0xd800 && unit < 0xdc00 ? max - 1 : max);
}

const HIDDEN = '[hidden], [inert], [aria-hidden="true"]:not([data-aria-hidden])';

// Rendered and meant to be seen. An overlay marks the rest of the page as
// hidden for screen readers (`data-aria-hidden`); that hides nothing.
function visible(el) {
  if (!el || !el.isConnected || el.closest(HIDDEN)) return false;
  let box = el;
  while (box && !box.checkVisibility({ visibilityProperty: true })) {
    if (getComputedStyle(box).display !== "contents") return false;
    box = box.parentElement;
  }
  return box !== null;
}

// Visible to eyes as well: not for screen readers alone.
function shown(el) {
  if (!visible(el) || el.closest(DATA.content.unseen)) return false;
  const box = el.getBoundingClientRect();
  return box.width > 2 && box.height > 2;
}

// What eyes read of an element, up to `max` units: nothing for screen readers
// alone, nothing hidden, and no content of a reply or a field.
function seenText(el, max) {
  let out = "";
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (out.length >= max) return;
      if (child.nodeType === 3) out += child.data;
      else if (child.nodeType === 1 && visible(child) && !child.matches(UNREAD) && !inBody(child)) {
        out += " ";
        walk(child);
      }
    }
  };
  walk(el);
  return head(out, max);
}
const UNREAD = `${DATA.content.unseen}, textarea, input, blockquote, pre, script, style`;

// The first match within `roots` (themselves included) that passes `test`.
function findIn(roots, select, test) {
  if (!select) return null;
  for (const root of roots) {
    if (root.matches && root.matches(select) && test(root)) return root;
    for (const el of root.querySelectorAll(select)) if (test(el)) return el;
  }
  return null;
}

const patterns = {};
for (const [name, value] of Object.entries(DATA.addresses)) {
  patterns[name] = Array.isArray(value) ? value.map((p) => new RegExp(p)) : new RegExp(value, "i");
}

// Which place of the site the address is, in the core's words.
function place() {
  const path = location.pathname;
  for (const pattern of patterns.conversation) {
    const found = pattern.exec(path);
    if (!found) continue;
    const id = found[1];
    if (patterns.transient.test(id)) return { transient: head(id, 200) };
    return patterns.conversation_id.test(id) ? { conversation: id } : "elsewhere";
  }
  return patterns.fresh.some((pattern) => pattern.test(path)) ? "fresh" : "elsewhere";
}

const isSettled = (id) => patterns.settled.test(id) && !patterns.provisional.test(id);

// White space as the core's language sees it (Unicode `White_Space`).
const SPACE = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const SPACE_AT_END = new RegExp(`${SPACE}$`);
const SPACE_AT_START = new RegExp(`^${SPACE}`);

// The canonical form (W2): for comparing our own text, never for a tag.
function canonical(text) {
  return text
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => line.replace(SPACE_AT_END, ""))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .replace(SPACE_AT_START, "")
    .replace(SPACE_AT_END, "");
}
