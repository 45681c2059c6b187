//! Reading and writing of head lines.

use super::{Terms, Word};
use crate::{
    id::Sid,
    wire::{self, CapTag, ContractTag},
};

/// The lines of a text that say something, trimmed at their ends.
#[derive(Clone)]
pub(super) struct Lines<'a>(std::str::Split<'a, char>);

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(text.split('\n'))
    }

    /// The value of the next line, which must be a `name:` line.
    pub(super) fn value(&mut self, name: &str) -> Option<&'a str> {
        value(self.next()?, name)
    }

    /// Goes over the next line, which must be this one.
    pub(super) fn expect(&mut self, line: &str) -> Option<()> {
        (self.next()? == line).then_some(())
    }

    /// The four lines that HELLO, RESUME and the acknowledgement share.
    pub(super) fn terms(&mut self) -> Option<Terms> {
        Some(Terms {
            sid: Sid::parse(self.value("S")?).ok()?,
            hv: wire::decimal(self.value("HV")?)?,
            cv: ContractTag::parse_line(self.value("CV")?)?,
            cap: self.value("CAP")?.parse::<CapTag>().ok()?,
            features: Vec::new(),
        })
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;
    fn next(&mut self) -> Option<&'a str> {
        self.0
            .by_ref()
            .map(str::trim_end)
            .find(|line| !line.is_empty())
    }
}

/// What stands after `name:`, without blanks around it.
pub(super) fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(name)?.strip_prefix(':')?;
    Some(rest.trim_matches(' '))
}

/// The four lines that HELLO, RESUME and the acknowledgement share.
pub(super) fn terms_text(terms: &Terms) -> String {
    let Terms {
        sid, hv, cv, cap, ..
    } = terms;
    format!("S: {sid}\nHV: {hv}\nCV: {}\nCAP: {cap}", cv.line())
}

pub(super) fn list(words: &[Word]) -> String {
    let words: Vec<_> = words.iter().map(Word::as_str).collect();
    words.join(",")
}

/// Reads what [`list`] writes; blanks around a name are fine.
pub(super) fn parse_list(text: &str) -> Option<Vec<Word>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let words = text.split(',').map(|word| Word::parse(word.trim()).ok());
    words.collect()
}
