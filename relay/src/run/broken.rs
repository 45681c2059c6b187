//! What breaks of our own: it stops the run with its error, and nothing of it is taken
//! for a fault of the network.

use std::any::Any;

use protocol::{outcome::Outcome, record::Stop, recovery::RowId, session::Input};

use super::Relay;

/// What a panic said.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the relay broke: {}", text.unwrap_or("without a word"))
}

impl Relay<'_> {
    /// The machine is told once, so that the stop is stored; where that breaks, too,
    /// the run ends as it stands.
    //= spec R15
    pub(super) fn broke(&mut self, why: String) {
        if self.broken.is_none() {
            self.broken = Some(why);
            return;
        }
        self.ended = Some(Stop {
            outcome: self.core.session().worst(Outcome::Defect),
            code: None,
            row: Some(RowId::R15),
            why,
            standing: false,
            interrupted: false,
            facts: None,
        });
    }

    /// Tells the machine what broke, if it was not told yet.
    pub(super) fn tell_broken(&mut self) {
        if let Some(why) = self.broken.as_mut().filter(|why| !why.is_empty()) {
            let why = std::mem::take(why);
            self.input(Input::Defect(why));
        }
    }

    /// The driver goes on until it is told to close: its end is a defect of ours.
    //= spec R15
    pub(super) fn driver_ended(&mut self) {
        if self.driver_gone {
            return;
        }
        self.driver_gone = true;
        let why = "the part that drives the browser ended by itself".to_owned();
        self.input(Input::Defect(why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_in_its_own_words() {
        let told = |panic: Box<dyn Any + Send>| words(panic.as_ref());
        assert_eq!(told(Box::new("no")), "the relay broke: no");
        assert_eq!(told(Box::new("no".to_owned())), "the relay broke: no");
        assert_eq!(told(Box::new(7)), "the relay broke: without a word");
    }
}
