//! What a taken row permits while it is carried out; all else is refused.

use super::{Action, RowId};
use crate::{record::Record, send::SendKind};

/// Something that cannot be undone, as the record that comes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deed {
    /// A message is going to be typed.
    Message(SendKind),
    /// The click is next.
    Click,
    /// A plan is started.
    Execute,
}

impl Deed {
    /// Every deed.
    pub const ALL: [Self; 7] = [
        Self::Message(SendKind::Hello),
        Self::Message(SendKind::Round),
        Self::Message(SendKind::Repair),
        Self::Message(SendKind::Resume),
        Self::Message(SendKind::Resync),
        Self::Click,
        Self::Execute,
    ];

    /// The deed that this record permits, if it permits one.
    pub fn of(record: &Record) -> Option<Self> {
        match record {
            Record::Intent(intent) => Some(Self::Message(intent.message)),
            Record::Dispatching { .. } => Some(Self::Click),
            Record::Started { .. } => Some(Self::Execute),
            Record::Opened(_)
            | Record::Resumed { .. }
            | Record::Attached { .. }
            | Record::Read { .. }
            | Record::Bound { .. }
            | Record::Outcome { .. }
            | Record::Judged { .. }
            | Record::NotStarted { .. }
            | Record::Settled { .. }
            | Record::InDoubt { .. }
            | Record::Decided { .. }
            | Record::Stopped(_)
            | Record::Lifted { .. }
            | Record::Attested { .. }
            | Record::Abandoned { .. } => None,
        }
    }
}

//= spec R1
//= spec R2
//= spec R3
//= spec R4
//= spec R7
//= spec R8
//= spec R9
/// Whether this row, taken with this action, lets the deed happen before the next
/// question is asked: the action says what it is for, the row what never is.
pub fn permits(row: RowId, action: Action, deed: Deed) -> bool {
    let for_it = match action {
        Action::Throw
        | Action::Stop
        | Action::GiveUp
        | Action::Hold
        | Action::Discover
        | Action::Reattach
        | Action::Read
        | Action::ReadAgain
        | Action::WaitIdle => false,
        Action::Execute => deed == Deed::Execute,
        Action::SendAgain => deed == Deed::Click,
        Action::SendOwed => deed != Deed::Execute && deed != Deed::Message(SendKind::Resync),
        Action::Resume => matches!(deed, Deed::Message(SendKind::Resume) | Deed::Click),
        Action::Resync => matches!(deed, Deed::Message(SendKind::Resync) | Deed::Click),
    };
    let never = match row {
        RowId::R4 => deed == Deed::Message(SendKind::Resync),
        RowId::R7 => matches!(
            deed,
            Deed::Execute | Deed::Message(SendKind::Round | SendKind::Repair)
        ),
        RowId::R8 | RowId::R9 => deed == Deed::Execute,
        RowId::R0
        | RowId::R1
        | RowId::R2
        | RowId::R3
        | RowId::R5
        | RowId::R6
        | RowId::R10
        | RowId::R11
        | RowId::R12
        | RowId::R13
        | RowId::R14
        | RowId::R15 => false,
    };
    for_it && !never
}
