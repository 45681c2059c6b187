// What stops the relay as long as it stands: visible marks of the whole page,
// never a word in a reply, a side bar or a text for screen readers alone.

const WIDE = DATA.page_wide;

// Marks of the whole page, searched for outside the thread.
function outside(select) {
  const found = [];
  if (!threadStands()) return [...document.querySelectorAll(select)];
  for (let el = container; el && el.parentElement; el = el.parentElement) {
    if (el !== container && el.matches(select)) found.push(el);
    for (const other of el.parentElement.children) {
      if (other === el) continue;
      if (other.matches(select)) found.push(other);
      found.push(...other.querySelectorAll(select));
    }
  }
  return found;
}

function challenge() {
  if (composer() || threadStands()) return null;
  if (document.title && says("challenge_title", document.title)) return "title";
  const form = outside(WIDE.challenge).find(visible);
  if (form) return `#${form.id}`;
  const frame = outside(WIDE.challenge_frame).find((el) => shown(el) && el.getBoundingClientRect().height > 40);
  return frame ? "challenge frame" : null;
}

function loggedOut() {
  if (patterns.login.test(location.pathname)) return "address";
  if (outside(WIDE.account).some(visible)) return null;
  const control = outside(WIDE.control).find((el) =>
    (/login/i.test(el.getAttribute("data-testid") || "") || says("login", labelOf(el))) &&
    !el.closest(WIDE.history) && shown(el));
  return control ? "log-in control" : null;
}

function dialogSays(set) {
  const dialog = outside(WIDE.dialog).find((el) => shown(el) && says(set, seenText(el, BOUNDS.card_len)));
  return dialog ? "dialog" : null;
}

function blockers() {
  const found = [];
  const add = (kind, mark) => {
    if (mark) found.push({ kind, mark });
  };
  add("challenge", challenge());
  add("logged_out", loggedOut());
  add("rate_limit", dialogSays("rate"));
  add("account", dialogSays("account"));
  return found;
}
