//! REPAIR: the reply broke the form; the same round is asked for again.

use super::lines::Lines;
use crate::{
    fault::{Code, Domain, Fault},
    frame::Frame,
    wire::HEADER_REPAIR,
};

/// The line that says what REPAIR wants.
const ACTION: &str = "resend-same-round";

/// What REPAIR says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The round that is asked for again.
    pub frame: Frame,
    /// What was wrong, in the table's order, each once.
    pub errors: Vec<Code>,
}

impl Repair {
    //= spec P6
    //= spec P7
    /// The REPAIR that these faults justify: their remote codes, each once, in
    /// the table's order. None where one of them is of another domain, for then
    /// the fault is not the other side's to mend, or where there is none.
    pub fn of(frame: Frame, faults: &[Fault]) -> Option<Self> {
        let mut errors: Vec<_> = faults.iter().map(|fault| fault.code).collect();
        errors.sort_unstable();
        errors.dedup();
        let remote = errors.iter().all(|code| code.domain() == Domain::Remote);
        (remote && !errors.is_empty()).then_some(Self { frame, errors })
    }

    //= spec W7
    /// The text of REPAIR.
    pub fn build(&self) -> String {
        let errors: Vec<_> = self.errors.iter().map(|code| code.name()).collect();
        format!(
            "{HEADER_REPAIR}\n{}\nERR: {}\nACTION: {ACTION}",
            self.frame,
            errors.join(",")
        )
    }
}

//= spec W7
/// Reads the head lines of REPAIR; it has no others. Only codes that may stand
/// on the wire are read.
pub fn parse(text: &str) -> Option<Repair> {
    let mut lines = Lines::of(text);
    lines.expect(HEADER_REPAIR)?;
    let frame = Frame::parse(lines.next()?).ok()?;
    let errors = lines.value("ERR")?.split(',').map(|name| {
        let code = name.trim().parse::<Code>().ok()?;
        (code.is_on_wire() && code.name() == name.trim()).then_some(code)
    });
    let errors = errors.collect::<Option<Vec<_>>>()?;
    (lines.value("ACTION")? == ACTION).then_some(Repair { frame, errors })
}
