// A survey for people: every mark of every layout, and the served layout's test
// of itself. Nothing is decided from it.

const COUNT_MAX = 10_000;

function countOf(select) {
  if (!select) return { found: 0, shown: 0 };
  const found = [...document.querySelectorAll(select)].slice(0, COUNT_MAX);
  return { found: found.length, shown: found.filter(visible).length };
}

// Controls that have a second way of being found.
const byLabel = {
  send: () => sendControl(),
  stop: () => stopControl(),
  copy: () => {
    const reply = allTurns().findLast((turn) => turn.role === "assistant");
    return reply ? copyControl(reply) : null;
  },
};

function marksSeen() {
  return DATA.layouts.flatMap((candidate) =>
    candidate.marks.map((mark) => {
      const seen = { layout: candidate.name, mark: mark.name, ...countOf(mark.select) };
      const other = candidate === layout && seen.shown === 0 && byLabel[mark.name];
      return other && other() ? { ...seen, by_label: true } : seen;
    }));
}

function selfTests() {
  if (!layout) return [];
  const turns = allTurns();
  const user = turns.findLast((turn) => turn.role === "user");
  const reply = turns.findLast((turn) => turn.role === "assistant");
  const finished = reply && !stopVisible() && !errorIn(reply) ? reply : null;
  const test = (name, applies, check) => {
    const wrong = applies ? check() : null;
    return { name, state: !applies ? "idle" : wrong ? "failed" : "passed", found: head(wrong || "", 200) };
  };
  const composers = [...document.querySelectorAll(marks.composer)].filter((el) => visible(el) && !beside(el));
  const elements = container ? turnsIn(container).filter((el) => visible(el) && !beside(el)) : [];
  const many = (count, what) => `${count} ${what}`;
  return [
    test("address is of a known form", true, () => (place() === "elsewhere" ? location.pathname : "")),
    test("one composer", true, () => (composers.length === 1 ? "" : many(composers.length, "are visible"))),
    test("one layout", true, () => {
      const others = DATA.layouts.filter((one) => one !== layout && countOf(marksOf(one).composer).shown > 0);
      return others.map((one) => `the composer of ${one.name} stands there, too`).join("; ");
    }),
    test("every turn tells its side", elements.length > 0, () => {
      const mute = elements.filter((el) => !roleOf(el)).length;
      return mute ? many(mute, "do not") : "";
    }),
    test("every turn has the server's id", turns.length > 0, () => {
      const made = turns.filter((turn) => turn.key === "provisional").length;
      return made ? many(made, "have none") : "";
    }),
    test("our side has a text", Boolean(user), () => (userText(user).text.trim() ? "" : "the newest has none")),
    test("the newest reply has a body", Boolean(finished), () => (bodiesOf(finished).length ? "" : "none")),
    test("the newest reply has its action bar", Boolean(finished), () => (barOf(finished) ? "" : "none")),
    test("the newest reply has its own copy", Boolean(finished), () => (copyControl(finished) ? "" : "none")),
  ];
}

function survey() {
  probe();
  return JSON.stringify({ layout: layout ? layout.name : null, marks: marksSeen(), tests: selfTests() });
}
