//! HELLO: opens a conversation, declares contract and capabilities, carries no
//! task.

use super::{
    Objective, Offer, Word, hs,
    lines::{self, Lines},
};
use crate::{
    id::Tag,
    wire::{self, CapTag, ContractTag, HEADER_HELLO, PLAN_CONTRACT},
};

/// What keeps the remote from answering the objective: it must not read the
/// handshake as a question. Part of the wire's text.
const NOTE: &str = "\
本轮是握手轮，不是任务轮。请只输出下面 ACK-TEMPLATE 那个代码块并填好字段，
不要产出方案，不要回答 OBJECTIVE 里的目标。真正的任务在紧接着的下一条消息里。";

//= spec W7
//= spec W8
/// The text of HELLO. It has no place for the request.
pub fn build(offer: &Offer) -> String {
    let Offer {
        terms,
        qid,
        capabilities,
        denials,
        objective,
    } = offer;
    format!(
        "{HEADER_HELLO}\n{head}\nQID: {qid}\nREQ: {features}\n\n\
         ACTION: handshake-only\nNOTE:\n{NOTE}\n\n\
         CAPS:\n{caps}\n\nDENY:\n{deny}\n\n\
         ACK-TEMPLATE:\n{template}\n\n\
         OBJECTIVE:\n{objective}\n\n\
         CONTRACT:\n{PLAN_CONTRACT}",
        head = lines::terms_text(terms),
        features = lines::list(&terms.features),
        caps = lines::list(capabilities),
        deny = lines::list(denials),
        template = hs::build(terms),
    )
}

/// Reads the head lines of HELLO: terms and request.
pub(super) fn head(lines: &mut Lines<'_>) -> Option<(super::Terms, Tag)> {
    lines.expect(HEADER_HELLO)?;
    let mut terms = lines.terms()?;
    let qid = Tag::parse(lines.value("QID")?).ok()?;
    terms.features = lines::parse_list(lines.value("REQ")?)?;
    Some((terms, qid))
}

//= spec W7
/// Reads a whole HELLO of this build. Anything that [`build`] would not have
/// written, in canonical form, is none, and so are tags that its own text does
/// not have.
pub fn parse(text: &str) -> Option<Offer> {
    let mut lines = Lines::of(text);
    let (terms, qid) = head(&mut lines)?;
    let capabilities = list_below("CAPS:", &mut lines)?;
    let denials = list_below("DENY:", &mut lines)?;
    lines.find(|line| *line == "OBJECTIVE:")?;
    let objective = lines.next()?;
    let offer = Offer {
        terms,
        qid,
        capabilities,
        denials,
        objective: Objective::parse(objective).ok()?,
    };
    let same_text = wire::canonical(&build(&offer)) == wire::canonical(text);
    let same_cap = CapTag::of(&offer.capabilities, &offer.denials) == offer.terms.cap;
    let same_cv = ContractTag::current() == offer.terms.cv;
    (same_text && same_cap && same_cv).then_some(offer)
}

/// The list below a label; an empty one has no line of its own in canonical
/// form, and the next label ends with a colon, which no name has.
fn list_below(label: &str, lines: &mut Lines<'_>) -> Option<Vec<Word>> {
    lines.find(|line| *line == label)?;
    let next = lines.clone().next()?;
    lines::parse_list(if next.ends_with(':') { "" } else { next })
}
