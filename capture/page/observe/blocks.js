// The content of a reply as a typed tree: what `capture` turns into Markdown.

const HEADINGS = { H1: 1, H2: 2, H3: 3, H4: 4, H5: 5, H6: 6 };
const THROUGH = new Set(["DIV", "SECTION", "ARTICLE", "SPAN", "FONT", "MAIN", "HGROUP"]);
const BLOCK_TAGS = new Set([
  ...Object.keys(HEADINGS), "P", "UL", "OL", "BLOCKQUOTE", "PRE", "TABLE", "HR", "DETAILS", "DL",
  "FIGURE", "FORM", "FIELDSET", "IFRAME", "VIDEO", "AUDIO",
]);
const BLOCK_LIST = [...BLOCK_TAGS].join(",").toLowerCase();
const CONTENT = DATA.content;

class TooMuch extends Error {}

// Builds the tree of one or more roots; throws `TooMuch` over its bounds.
function blocksOf(roots) {
  let left = BOUNDS.pieces_max;
  const piece = (value) => {
    left -= 1;
    if (left < 0) throw new TooMuch();
    return value;
  };
  const skip = (el) =>
    el.matches(CONTENT.never_text) ||
    (marks.aside && el.matches(marks.aside)) ||
    (marks.ornament && el.matches(marks.ornament)) ||
    (el.matches(HIDDEN) && !el.matches(CONTENT.math));
  const tagOf = (el) => head(el.tagName.toLowerCase(), 60);

  function mathSource(el) {
    const own = el.getAttribute(CONTENT.math_attribute);
    if (own) return own;
    const note = el.querySelector(CONTENT.math_note);
    return note ? note.textContent : el.textContent;
  }

  function inline(node, depth, out) {
    if (node.nodeType === 3) {
      if (node.data) out.push(piece({ t: "text", v: node.data }));
      return;
    }
    if (node.nodeType !== 1) return;
    const el = node;
    if (el.tagName === "INPUT" && el.type === "checkbox") {
      out.push(piece({ t: "text", v: el.checked ? "[x] " : "[ ] " }));
      return;
    }
    if (skip(el)) return;
    if (el.matches(CONTENT.math) || el.matches(CONTENT.display_math)) {
      const math = { t: "math", source: mathSource(el) };
      if (el.matches(CONTENT.display_math)) math.display = true;
      out.push(piece(math));
      return;
    }
    if (depth > BOUNDS.depth_max) {
      out.push(piece({ t: "unknown", tag: tagOf(el), text: el.textContent }));
      return;
    }
    const inside = () => {
      const c = [];
      for (const child of el.childNodes) inline(child, depth + 1, c);
      return c;
    };
    switch (el.tagName) {
      case "BR": out.push(piece({ t: "break" })); return;
      case "CODE": case "TT": out.push(piece({ t: "code", v: el.textContent })); return;
      case "EM": case "I": out.push(piece({ t: "emph", c: inside() })); return;
      case "STRONG": case "B": out.push(piece({ t: "strong", c: inside() })); return;
      case "DEL": case "S": case "STRIKE": out.push(piece({ t: "strike", c: inside() })); return;
      case "A": {
        const link = { t: "link", href: el.getAttribute("href") || "", c: inside() };
        if (el.getAttribute("title")) link.title = el.getAttribute("title");
        out.push(piece(link));
        return;
      }
      case "IMG":
        out.push(piece({ t: "image", src: el.getAttribute("src") || "", alt: el.getAttribute("alt") || "" }));
        return;
      default:
        if (THROUGH.has(el.tagName) || el.tagName === "P" || el.tagName === "LABEL") {
          for (const child of el.childNodes) inline(child, depth + 1, out);
        } else out.push(piece({ t: "unknown", tag: tagOf(el), text: el.textContent }));
    }
  }

  const isBlank = (one) => one.t === "text" && !one.v.trim();

  // A run of inline content is a paragraph; a formula that stands alone in it on
  // a line of its own is a block.
  function paragraphOf(run, out) {
    const told = run.filter((one) => !isBlank(one));
    if (told.length === 0) return;
    const alone = told.length === 1 && told[0].t === "math" && told[0].display;
    out.push(piece(alone ? { t: "math", source: told[0].source } : { t: "paragraph", c: run }));
  }

  // Children of a container: runs of inline content become paragraphs.
  function flow(parent, depth, out) {
    let run = [];
    const close = () => {
      paragraphOf(run, out);
      run = [];
    };
    for (const child of parent.childNodes) {
      if (child.nodeType === 1 && isBlock(child)) {
        close();
        block(child, depth, out);
      } else inline(child, depth, run);
    }
    close();
  }

  function isBlock(el) {
    if (el.tagName === "INPUT") return false;
    if (skip(el)) return true;
    if (BLOCK_TAGS.has(el.tagName)) return true;
    if (el.matches(CONTENT.display_math)) return el.tagName !== "SPAN";
    if (el.matches(CONTENT.math)) return false;
    if (el.tagName === "SPAN") return el.querySelector(BLOCK_LIST) !== null;
    return THROUGH.has(el.tagName);
  }

  function block(el, depth, out) {
    if (skip(el)) return;
    if (depth > BOUNDS.depth_max) {
      out.push(piece({ t: "unknown", tag: tagOf(el), text: el.textContent }));
      return;
    }
    if (el.matches(CONTENT.display_math)) {
      out.push(piece({ t: "math", source: mathSource(el) }));
      return;
    }
    const level = HEADINGS[el.tagName];
    if (level) {
      const c = [];
      for (const child of el.childNodes) inline(child, depth + 1, c);
      out.push(piece({ t: "heading", level, c }));
      return;
    }
    switch (el.tagName) {
      case "P": {
        const run = [];
        for (const child of el.childNodes) inline(child, depth + 1, run);
        paragraphOf(run, out);
        return;
      }
      case "UL": case "OL": out.push(list(el, depth)); return;
      case "BLOCKQUOTE": {
        const c = [];
        flow(el, depth + 1, c);
        out.push(piece({ t: "quote", c }));
        return;
      }
      case "PRE": out.push(code(el)); return;
      case "HR": out.push(piece({ t: "rule" })); return;
      case "TABLE": out.push(table(el, depth)); return;
      default:
        if (THROUGH.has(el.tagName)) flow(el, depth + 1, out);
        else out.push(piece({ t: "unknown", tag: tagOf(el), text: el.textContent }));
    }
  }

  function list(el, depth) {
    const items = [];
    let tight = true;
    for (const child of el.children) {
      if (child.tagName !== "LI") continue;
      const c = [];
      flow(child, depth + 1, c);
      if ([...child.children].some((one) => one.tagName === "P")) tight = false;
      items.push(c);
    }
    const value = { t: "list", items, tight };
    if (el.tagName === "OL") value.start = Math.max(0, Number.parseInt(el.getAttribute("start") ?? "1", 10) || 0);
    return piece(value);
  }

  function table(el, depth) {
    const rows = [];
    const align = [];
    for (const tr of el.querySelectorAll("tr")) {
      if (tr.closest("table") !== el) continue;
      const cells = [];
      for (const cell of tr.children) {
        if (cell.tagName !== "TD" && cell.tagName !== "TH") continue;
        if (rows.length === 0) align.push(alignOf(cell));
        const c = [];
        for (const child of cell.childNodes) inline(child, depth + 1, c);
        cells.push(c);
      }
      rows.push(cells);
    }
    return piece({ t: "table", align, rows });
  }

  function alignOf(cell) {
    const stated = cell.getAttribute("align") || (/text-align:\s*(\w+)/.exec(cell.getAttribute("style") || "") || [])[1];
    return ["left", "center", "right"].includes(stated) ? stated : "none";
  }

  const out = [];
  for (const root of roots) flow(root, 0, out);
  return out;
}

// A code block in either structure: an editor with line breaks, or `pre code`.
function code(pre) {
  const editor = pre.querySelector(CONTENT.editor);
  const plain = pre.querySelector("code");
  const value = { t: "code", text: "", partial: false };
  if (editor) {
    value.text = editorText(editor);
    // An editor may keep a part of its lines out of the document, and does not
    // always say so.
    value.partial = true;
  } else if (plain) {
    value.text = plain.textContent.replace(/\n$/, "");
  } else {
    value.text = textWithout(pre, `${CONTENT.never_text}, ${marks.ornament || "header"}`).replace(/\n$/, "");
  }
  const lang = languageOf(pre, plain, editor);
  if (lang) value.lang = head(lang, 60);
  return value;
}

// The text below `root`, without what matches `select`.
function textWithout(root, select) {
  let out = "";
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (child.nodeType === 3) out += child.data;
      else if (child.nodeType === 1 && !child.matches(select)) walk(child);
    }
  };
  walk(root);
  return out;
}

function editorText(content) {
  const lines = [...content.children].filter((el) => el.matches(CONTENT.editor_line));
  if (lines.length > 0) return lines.map((line) => line.textContent).join("\n");
  let out = "";
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (child.nodeType === 3) out += child.data;
      else if (child.nodeType === 1) {
        if (child.tagName === "BR") out += "\n";
        else walk(child);
      }
    }
  };
  walk(content);
  return out;
}

function languageOf(pre, plain, editor) {
  for (const el of [plain, editor, pre]) {
    if (!el) continue;
    const stated = el.getAttribute("data-language") || el.getAttribute("data-lang");
    if (stated) return stated;
    const named = /(?:^|\s)language-([^\s]+)/.exec(el.className);
    if (named) return named[1];
  }
  const bar = marks.ornament ? pre.querySelector(marks.ornament) : null;
  if (!bar) return null;
  const first = document.createTreeWalker(bar, NodeFilter.SHOW_TEXT, {
    acceptNode: (node) =>
      node.data.trim() && !node.parentElement.closest("button") ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP,
  }).nextNode();
  return first && !says("no_language", first.data) ? first.data.trim().toLowerCase() : null;
}
