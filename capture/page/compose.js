// Puts a text into the composer and reads it back.
//
// Runs in the isolated world after observe.js and finds everything through
// `brb.page`, which knows the layout. Sets the focus in our composer and
// nowhere else. Every answer is JSON in the words of `protocol::page::Answer`.
(() => {
  "use strict";
  if (globalThis.brbCompose) return;

  // How long the page may take to settle after its editor changed.
  const SETTLE_MS = 60;
  // Tries at emptying the editor.
  const EMPTY_TRIES = 3;

  const say = (answer) => JSON.stringify(answer);
  const refuse = (refusal) => say({ refused: refusal });
  const count = (text) => {
    let n = 0;
    for (const _ of text) n += 1;
    return n;
  };
  const plain = (text) => text.replace(/\r\n/g, "\n");
  const settle = (ms) => new Promise((done) => setTimeout(done, ms));

  // spec S7: empty, or a prefix of a text of ours in canonical form.
  const isOurs = (draft, ours) => {
    const { canonical } = brb.page;
    const head = canonical(draft);
    return ours.some((text) => canonical(text).startsWith(head));
  };

  const address = () => location.origin + location.pathname;

  // spec S8: same conversation, idle, anchor last. Null when all hold.
  const standing = ({ text, anchor, conversation }) => {
    const page = brb.page;
    if (!page.layout()) return { layout: { missing: ["layout"] } };
    const place = page.place();
    const other =
      place === "elsewhere" ||
      (conversation != null && (typeof place !== "object" || place.conversation !== conversation));
    if (other) return { other_place: { address: address() } };
    if (page.blockers().length > 0) return "blocked";
    if (!page.composer()) return "no_composer";
    if (!page.idle()) return "busy";
    const state = page.anchorState(anchor, text);
    if (state !== "last") return state;
    // Last, since a page in mid-change may lack a mark for a moment.
    const missing = page.missing();
    return missing.length > 0 ? { layout: { missing } } : null;
  };

  const paragraph = (line, first) => {
    const escaped = line.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
    return (first ? '<p data-pm-slice="1 1 []">' : "<p>") + escaped + "</p>";
  };

  const pasteInto = (editor, text) => {
    const html = text
      .split("\n")
      .map((line, n) => paragraph(line, n === 0))
      .join("");
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/html", html);
    editor.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }),
    );
  };

  const focus = (editor) => {
    if (document.activeElement !== editor) editor.focus({ preventScroll: true });
  };

  // Empties the editor, provided that it still holds exactly `seen`.
  const empty = async (seen) => {
    for (let n = 0; n < EMPTY_TRIES; n += 1) {
      const editor = brb.page.composer();
      const now = brb.page.draftText();
      if (!editor) return false;
      if (now === "") return true;
      if (now !== seen) return false;
      focus(editor);
      const range = document.createRange();
      range.selectNodeContents(editor);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      // The editor learns of a selection by an event that comes later.
      await settle(SETTLE_MS);
      if (brb.page.draftText() !== seen) return false;
      document.execCommand("delete");
      await settle(SETTLE_MS);
    }
    return brb.page.draftText() === "";
  };

  const compare = (wanted, got) => {
    if (wanted === got) return null;
    const a = wanted.split("\n");
    const b = got.split("\n");
    let line = 0;
    while (line < a.length && line < b.length && a[line] === b[line]) line += 1;
    return { read_back: { wanted: count(wanted), got: count(got), line: line + 1 } };
  };

  // Whether a draft of ours was cleared before the present text.
  let cleared = false;
  // What stood in the editor right after we typed, where that was not our text.
  let garbled = null;

  // The checks before typing; leaves an empty, focused editor. Null when so.
  const makeReady = async (argument) => {
    const no = standing(argument);
    if (no !== null) return no;
    if (brb.page.attachments() > 0) return { foreign_draft: { chars: count(brb.page.draftText()) } };
    const there = brb.page.draftText();
    const ours = [...argument.ours, argument.text];
    cleared = false;
    if (there !== "") {
      if (there !== garbled && !isOurs(there, ours)) return { foreign_draft: { chars: count(there) } };
      if (!(await empty(there))) return { foreign_draft: { chars: count(brb.page.draftText()) } };
      cleared = true;
      const now = standing(argument);
      if (now !== null) return now;
    }
    garbled = null;
    focus(brb.page.composer());
    return null;
  };

  // Input that only a hand makes, since we began to type: our own paste is none, for
  // it comes from a script. Text that the driver inserts is, so it is not listened for
  // there.
  let hands = 0;
  const seeHand = (event) => {
    if (event.isTrusted) hands += 1;
  };
  const listenForHands = (on) => {
    const heard = hands;
    hands = 0;
    for (const kind of ["beforeinput", "keydown"]) {
      removeEventListener(kind, seeHand, true);
      if (on) addEventListener(kind, seeHand, true);
    }
    return heard;
  };

  // Waits until the page has done what it does after its editor changed, then
  // compares. On a difference what we typed is taken out again.
  const judge = async (text, how) => {
    const wanted = plain(text);
    await settle(SETTLE_MS);
    const byHand = listenForHands(false) > 0;
    if (brb.page.attachments() > 0) return refuse("became_attachment");
    if (!brb.page.composer()) return refuse("no_composer");
    const got = brb.page.draftText();
    const different = compare(wanted, got);
    // A person who typed meanwhile made it a draft of theirs (spec S7).
    if (different !== null && byHand) return refuse({ foreign_draft: { chars: count(got) } });
    if (different !== null) {
      garbled = got;
      await empty(got);
      return refuse(different);
    }
    return say({ composed: { chars: count(got), how, cleared } });
  };

  globalThis.brbCompose = {
    standing,
    plain,

    async paste(argument) {
      const no = await makeReady(argument);
      if (no !== null) return refuse(no);
      listenForHands(true);
      pasteInto(brb.page.composer(), plain(argument.text));
      return judge(argument.text, "paste");
    },

    async prepareInsert(argument) {
      const no = await makeReady(argument);
      return no === null ? say("done") : refuse(no);
    },

    async readBack({ text }) {
      return judge(text, "insert");
    },

    async clear({ ours }) {
      if (!brb.page.composer()) return refuse("no_composer");
      const there = brb.page.draftText();
      if (there === "") return say("done");
      const known = there === garbled || isOurs(there, ours);
      if (!known || brb.page.attachments() > 0) return refuse({ foreign_draft: { chars: count(there) } });
      if (await empty(there)) return say("done");
      return refuse({ foreign_draft: { chars: count(brb.page.draftText()) } });
    },
  };
})();
