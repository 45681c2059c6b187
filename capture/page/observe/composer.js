// The composer: its text and its controls.

// The visible composer that belongs to the main thread.
let knownComposer = null;
function composer() {
  if (!layout) return null;
  if (knownComposer && knownComposer.matches(marks.composer) && visible(knownComposer)) {
    return knownComposer;
  }
  knownComposer = firstVisible(marks.composer);
  return knownComposer;
}

// Where the composer's controls stand: its form, or what stands for it.
function composerRoots() {
  const editor = composer();
  if (!editor) return [];
  const form = (marks.form && editor.closest(marks.form)) || editor.closest("form");
  return [form || editor.parentElement];
}

const isTrailing = (el) =>
  el.tagName === "BR" &&
  (el.matches(DATA.content.trailing_break) || el.parentElement.childNodes.length === 1);

// One paragraph's text: a `<br>` is a line break, save the one that only
// keeps an empty paragraph open.
function lineOf(node) {
  if (node.nodeType === 3) return node.data;
  if (node.nodeType !== 1) return "";
  if (node.tagName === "BR") return isTrailing(node) ? "" : "\n";
  let out = "";
  for (const child of node.childNodes) out += lineOf(child);
  return out;
}

// The exact text of the composer: one line a paragraph.
function draftText() {
  const editor = composer();
  if (!editor) return "";
  if (typeof editor.value === "string") return editor.value;
  const lines = [];
  let open = false;
  for (const child of editor.childNodes) {
    const block = child.nodeType === 1 && child.tagName !== "BR" && child.tagName !== "SPAN";
    if (block) {
      lines.push(lineOf(child));
      open = false;
    } else if (open) lines[lines.length - 1] += lineOf(child);
    else {
      lines.push(lineOf(child));
      open = true;
    }
  }
  return lines.join("\n");
}

let knownDraft = null;
function draft() {
  if (knownDraft === null) {
    const text = draftText();
    knownDraft = { chars: charsOf(text), head: head(text, BOUNDS.draft_head_len) };
  }
  return knownDraft;
}

// The send control of this composer, and no other.
function sendControl() {
  const roots = composerRoots();
  const usable = (el) => visible(el) && !isStop(el);
  return (
    findIn(roots, marks.send, usable) ||
    findIn(roots, "button", (el) => usable(el) && says("send", labelOf(el)))
  );
}

const isStop = (el) =>
  (marks.stop && el.matches(marks.stop)) || (el.tagName === "BUTTON" && says("stop", labelOf(el)));

function stopControl() {
  const roots = composerRoots();
  const stands = (el) => visible(el) && !(el.type === "submit" && says("send", labelOf(el)));
  const found =
    findIn(roots, marks.stop, stands) ||
    findIn(roots, "button", (el) => stands(el) && says("stop", labelOf(el)));
  if (found || roots.length > 0) return found;
  // No composer is shown: whatever stop control is visible counts.
  return marks.stop ? firstVisible(marks.stop) : null;
}

const stopVisible = () => stopControl() !== null;

function controlState(el) {
  if (!el) return "absent";
  const off = el.disabled || el.getAttribute("aria-disabled") === "true";
  return off ? "disabled" : "enabled";
}

function composerState() {
  const editor = composer();
  if (!editor) {
    return {
      present: false,
      draft: { chars: 0, head: "" },
      send: "absent",
      stop: stopVisible(),
      attachments: 0,
    };
  }
  const tiles = composerRoots().flatMap((root) =>
    marks.attachment ? [...root.querySelectorAll(marks.attachment)] : []);
  return {
    present: true,
    draft: draft(),
    send: controlState(sendControl()),
    stop: stopVisible(),
    attachments: tiles.filter(visible).length,
  };
}
