//! HS: the acknowledgement, as the template of HELLO shows it and as the remote
//! gives it back.

use super::{Terms, Word, lines};
use crate::{
    id::Sid,
    wire::{self, ContractTag, HEADER_HS},
};

/// The lines of an acknowledgement, in the order of the template.
pub(crate) const NAMES: [&str; 6] = ["TYPE", "S", "HV", "CV", "CAP", "FEAT"];

/// How many lines that fit nowhere are named.
const STRAY_MAX: usize = 8;

//= spec W7
/// The text of the acknowledgement, without the code block around it.
pub fn build(terms: &Terms) -> String {
    format!(
        "{HEADER_HS}\nTYPE: ack\n{}\nFEAT: {}",
        lines::terms_text(terms),
        lines::list(&terms.features),
    )
}

//= spec W7
/// Reads an acknowledgement out of the text inside its code block: every line
/// once, in any order, and none besides. Whether it may establish a session is
/// for [`crate::establish`] to say.
pub fn parse(block: &str) -> Option<Terms> {
    let given = Given::read(block);
    let [kind, sid, hv, cv, cap, feat] = given.values;
    let whole = given.header == HEADER_HS
        && kind? == "ack"
        && given.twice.is_empty()
        && given.stray.is_empty();
    let terms = Terms {
        sid: Sid::parse(sid?).ok()?,
        hv: wire::decimal(hv?)?,
        cv: ContractTag::parse_line(cv?)?,
        cap: cap?.parse().ok()?,
        // The gate asks for the required ones and lets any others be.
        features: feat?
            .split(',')
            .filter_map(|word| Word::parse(word.trim()).ok())
            .collect(),
    };
    whole.then_some(terms)
}

/// The lines of an acknowledgement as they stand there.
#[derive(Default)]
pub(crate) struct Given<'a> {
    /// The first line that says something.
    pub(crate) header: &'a str,
    /// The first value of each name, in the order of [`NAMES`].
    pub(crate) values: [Option<&'a str>; NAMES.len()],
    /// The names that stand there more than once.
    pub(crate) twice: Vec<&'static str>,
    /// The lines that have none of the names. Such a line could take back what
    /// the others grant, so it is refused **(ours)**.
    pub(crate) stray: Vec<String>,
}

impl<'a> Given<'a> {
    pub(crate) fn read(block: &'a str) -> Self {
        let mut given = Self::default();
        let lines = block.split('\n').map(str::trim_end).enumerate();
        let mut lines = lines.filter(|(_, line)| !line.is_empty());
        if let Some((_, header)) = lines.next() {
            given.header = header;
        }
        for (at, line) in lines {
            let named = line.split_once(':').and_then(|(name, value)| {
                let at = NAMES.iter().position(|known| *known == name)?;
                Some((at, value))
            });
            match named {
                Some((at, value)) if given.values[at].is_none() => {
                    given.values[at] = Some(value.trim());
                }
                Some((at, _)) if !given.twice.contains(&NAMES[at]) => given.twice.push(NAMES[at]),
                Some(_) => {}
                None if given.stray.len() < STRAY_MAX => {
                    given.stray.push(format!("line {}", at + 1));
                }
                None => {}
            }
        }
        given
    }
}
