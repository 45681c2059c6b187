//! The establish gate: nothing of a task is sent before it holds.
//!
//! A half-established session is worse than none: plans would be executed under
//! a contract that the other side never agreed to.

use crate::{
    fault::{Code, Fault},
    fence,
    message::{
        Terms, Word,
        hs::{Given, NAMES},
    },
    reply::EndWitness,
    wire::{self, CapTag, ContractTag, HEADER_HS, HEADER_PLAN},
};

//= spec H1
//= spec H2
//= spec H3
//= spec W11
/// Whether `reply` acknowledges `terms`: the answer to HELLO, to RESYNC and to
/// RESUME alike.
///
/// # Errors
/// Everything that failed, in the table's order. Never a plan's way around the
/// gate: a PLAN in place of the acknowledgement is `E_HEADER` naming `PLAN`.
/// What follows from a failure is H3's business, not the faults' domain: there
/// is no FRAME that a REPAIR could name.
pub fn gate(reply: &str, terms: &Terms, end: EndWitness) -> Result<(), Vec<Fault>> {
    let scan = fence::scan(reply);
    if scan.is_open() && !end.is_from_server() {
        return Err(vec![Fault::bare(Code::Capture)]);
    }
    let mut faults = Vec::new();
    if scan.sole().is_none() {
        faults.push(Fault::bare(Code::Blocks));
    }
    // Of several blocks, the first that looks like an acknowledgement is told
    // what else is wrong with it; of none, nothing more can be said.
    let looks_right =
        |text: &str| text.trim_start().lines().next().map(str::trim_end) == Some(HEADER_HS);
    let shown = match scan.blocks.as_slice() {
        [only] => Some(only),
        several => several.iter().find(|block| looks_right(&block.content)),
    };
    if let Some(block) = shown {
        Given::read(&block.content).check(terms, &mut faults);
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

impl Given<'_> {
    /// Adds everything that keeps it from acknowledging `terms`.
    fn check(&self, terms: &Terms, faults: &mut Vec<Fault>) {
        let [kind, s, hv, cv, cap, feat] = self.values;
        let mut add = |code, fields: Vec<&str>| {
            if !fields.is_empty() {
                faults.push(Fault::of(code, fields));
            }
        };
        match self.header {
            HEADER_HS => {}
            HEADER_PLAN => add(Code::Header, vec!["PLAN"]),
            _ => add(Code::Header, vec!["HS"]),
        }
        let differs = |value: Option<&str>, same: bool| value.is_some() && !same;
        if differs(s, s == Some(terms.sid.as_str())) {
            add(Code::Frame, vec!["S"]);
        }
        let absent = NAMES.iter().zip(self.values).filter(|(_, v)| v.is_none());
        let mut required: Vec<_> = absent.map(|(name, _)| *name).collect();
        if differs(kind, kind == Some("ack")) {
            required.push("TYPE");
        }
        let given: Vec<_> = feat.unwrap_or_default().split(',').map(str::trim).collect();
        if feat.is_some() {
            let missing = |word: &&Word| !given.contains(&word.as_str());
            required.extend(terms.features.iter().filter(missing).map(Word::as_str));
        }
        add(Code::Required, required);
        let mut parse = self.twice.clone();
        parse.extend(self.stray.iter().map(String::as_str));
        add(Code::Parse, parse);
        if differs(hv, hv.and_then(wire::decimal) == Some(terms.hv)) {
            add(Code::Version, vec!["HV"]);
        }
        let mut contract = Vec::new();
        let same_cv = cv.and_then(ContractTag::parse_line).as_ref() == Some(&terms.cv);
        if differs(cv, same_cv) {
            contract.push("CV");
        }
        let same_cap = cap.and_then(|v| v.parse::<CapTag>().ok()).as_ref() == Some(&terms.cap);
        if differs(cap, same_cap) {
            contract.push("CAP");
        }
        add(Code::Contract, contract);
    }
}

#[cfg(test)]
mod tests;
