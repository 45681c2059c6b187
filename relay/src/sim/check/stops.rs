//! What a stop and an end have to say.

use protocol::{fault::Code, outcome::Outcome, record::Stop, recovery::RowId, send::SendState};

use super::{Checks, Violation, broken};

impl Checks {
    pub(super) fn stops(&mut self, stop: &Stop) -> Result<(), Violation> {
        if let Some(row) = stop.row {
            *self.rows.entry(row.to_string()).or_default() += 1;
        }
        if stop.why.trim().is_empty() {
            return broken("report", "a stop says nothing");
        }
        if stop.row == Some(RowId::R15) && !self.disk_failed {
            return broken("R15", stop.why.clone());
        }
        if stop.row == Some(RowId::R0) && !may_be_r0(stop) {
            return broken("R0", format!("{:?}: {}", stop.code, stop.why));
        }
        Ok(())
    }

    /// A process ended in good order: its exit says what is true.
    pub(in crate::sim) fn ended(&self, stop: &Stop) -> Result<(), Violation> {
        let unknown = self.fold.in_flight().map(|row| row.state()) == Some(SendState::Unknown);
        if unknown
            && stop.outcome != Outcome::Unknown
            && stop.outcome != Outcome::Defect
            && !self.disk_failed
        {
            return broken("exit", format!("{} while a send is unknown", stop.outcome));
        }
        if stop.outcome == Outcome::Done && self.fold.terminal.is_none() {
            return broken("exit", "done, and the remote did not say so");
        }
        if stop.outcome == Outcome::Defect && !self.disk_failed {
            return broken("R15", stop.why.clone());
        }
        if let Some(before) = &self.stands
            && (stop.outcome != before.outcome || !stop.standing)
        {
            return broken(
                "RP7",
                format!("{} stood, and {} came of it", before.outcome, stop.outcome),
            );
        }
        Ok(())
    }
}

/// The reasons for which nothing in the table may fit.
fn may_be_r0(stop: &Stop) -> bool {
    match stop.code {
        Some(
            Code::Conversation
            | Code::TabGone
            | Code::Renderer
            | Code::Dialog
            | Code::PageFailed
            | Code::Truncated
            | Code::Capacity
            | Code::Draft
            | Code::Establish,
        ) => true,
        Some(
            Code::Blocks
            | Code::Header
            | Code::Frame
            | Code::Required
            | Code::Decision
            | Code::Parse
            | Code::Version
            | Code::Contract
            | Code::Capture
            | Code::SourceUncertain
            | Code::Interference
            | Code::Compose
            | Code::Submit
            | Code::Layout
            | Code::Blocker
            | Code::NoBrowser
            | Code::NoTab
            | Code::Journal
            | Code::Locked
            | Code::Sandbox
            | Code::Agent
            | Code::Config
            | Code::Usage,
        )
        | None => false,
    }
}
