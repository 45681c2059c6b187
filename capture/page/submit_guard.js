// The guard of the one click.
//
// Armed, it lets a single trusted click through to exactly the control that
// was identified while arming, reports what was hit, and stops anything else.
// Runs in the isolated world after compose.js. Its listeners stand from the
// document's beginning, so that they come before the page's own; disarmed they
// do nothing at all.
(() => {
  "use strict";
  if (globalThis.brbGuard) return;

  const say = (answer) => JSON.stringify(answer);
  const POINTER = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "auxclick"];
  // What else could send: keys, a form's own submit, touch.
  const OTHER = ["keydown", "keypress", "touchstart", "touchend", "submit"];

  let armed = null;
  let last = "silent";

  const describe = (target) => {
    if (!(target instanceof Element)) return "document";
    const id = target.id ? "#" + target.id : "";
    const test = target.getAttribute("data-testid");
    return (target.localName + id + (test ? "[data-testid=" + test + "]" : "")).slice(0, 100);
  };

  const stop = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  const onPointer = (event) => {
    if (!armed) return;
    const target = event.composedPath()[0];
    const hits = target instanceof Node && armed.control.contains(target);
    const good = event.isTrusted && hits && !armed.passed && armed.control.isConnected && armed.holds();
    if (!good) {
      stop(event);
      // The release that belongs to a click already let through is no matter.
      if (!armed.passed && armed.hit === null) armed.hit = hits ? "the control, no longer as armed" : describe(target);
      return;
    }
    if (event.type === "click") armed.passed = true;
    else armed.touched = true;
  };

  const onOther = (event) => {
    if (!armed) return;
    // Our own click makes the form submit.
    if (event.type === "submit" && armed.passed) return;
    armed.disturbed = true;
    stop(event);
  };

  for (const type of POINTER) addEventListener(type, onPointer, { capture: true, passive: false });
  for (const type of OTHER) addEventListener(type, onOther, { capture: true, passive: false });

  const disarm = () => {
    if (armed) {
      last = verdict();
      clearTimeout(armed.timer);
    }
    armed = null;
    return "done";
  };

  // spec S4. A click that reached the control is `passed`. It is `stopped` only
  // where no part of it reached the control and nothing else was going on: the
  // page cannot have sent. Anything between the two is `silent`.
  const verdict = () => {
    if (!armed) return last;
    if (armed.passed) return "passed";
    if (armed.hit !== null && !armed.touched && !armed.disturbed && armed.untouched()) {
      return { stopped: { hit: armed.hit } };
    }
    return "silent";
  };

  const set = (control, hold_ms, holds, untouched) => {
    const box = control.getBoundingClientRect();
    const x = box.left + box.width / 2;
    const y = box.top + box.height / 2;
    if (box.width === 0 || box.height === 0) return { covered: { by: "it has no size" } };
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return { covered: { by: "outside the viewport" } };
    const there = document.elementFromPoint(x, y);
    if (!there || !control.contains(there)) return { covered: { by: describe(there) } };
    disarm();
    last = "silent";
    armed = {
      control,
      holds,
      untouched,
      passed: false,
      touched: false,
      disturbed: false,
      hit: null,
      // A driver that has died must not leave a page that cannot be clicked.
      timer: setTimeout(disarm, hold_ms),
    };
    return { x, y };
  };

  const answer = (point) => say("x" in Object(point) ? { armed: point } : { refused: point });

  globalThis.brbGuard = {
    arm(argument) {
      const { standing, plain } = brbCompose;
      const wanted = plain(argument.text);
      const no = standing(argument);
      if (no !== null) return say({ refused: no });
      const page = brb.page;
      const got = page.draftText();
      if (got !== wanted) {
        let line = 1;
        for (let at = 0; at < wanted.length && wanted[at] === got[at]; at += 1) if (wanted[at] === "\n") line += 1;
        return say({ refused: { read_back: { wanted: [...wanted].length, got: [...got].length, line } } });
      }
      if (page.attachments() > 0) return say({ refused: "became_attachment" });
      const control = page.sendControl();
      if (!control || control.disabled || control.getAttribute("aria-disabled") === "true") {
        return say({ refused: "no_send" });
      }
      const holds = () => page.sendControl() === control && page.draftText() === wanted;
      const untouched = () =>
        page.draftText() === wanted && page.idle() && page.anchorState(argument.anchor, argument.text) === "last";
      return answer(set(control, argument.hold_ms, holds, untouched));
    },

    armCopy({ turn, conversation, hold_ms }) {
      const page = brb.page;
      const place = page.place();
      if (conversation != null && (typeof place !== "object" || place.conversation !== conversation)) {
        return say({ refused: { other_place: { address: location.origin + location.pathname } } });
      }
      const control = page.replyControl(turn);
      if (!control) return say({ refused: "no_copy" });
      // A reply's end may have been scrolled away; the reply itself stays put.
      control.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
      const holds = () => page.replyControl(turn) === control;
      return answer(set(control, hold_ms, holds, () => true));
    },

    report() {
      return say(verdict());
    },

    disarm,
  };
})();
