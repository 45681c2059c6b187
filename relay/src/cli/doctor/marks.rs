//! Each mark by which a layout is known: whether the page has it, and how old
//! the knowledge of it is.

use std::fmt::Write as _;

use capture::layout::{Confidence, LAYOUTS, Mark, Need};
use protocol::{
    page::{MarkSeen, Survey, TestState},
    time::WallMs,
};
use serde::Serialize;

use super::Check;
use protocol::fault::Code;

/// Knowledge older than this many days is worth another look.
const OLD_DAYS: i64 = 180;
const DAY_MS: i64 = 86_400_000;

/// What is known of one mark, and whether it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Known {
    layout: &'static str,
    /// The layout is the one that the page shows.
    served: bool,
    mark: &'static str,
    need: Need,
    found: u32,
    shown: u32,
    by_label: bool,
    seen: &'static str,
    age_days: Option<i64>,
    source: &'static str,
    confidence: Confidence,
}

/// Each mark of each layout, in their own order; none where no page was seen.
pub(super) fn known(survey: Option<&Survey>, now: WallMs) -> Vec<Known> {
    let Some(survey) = survey else {
        return Vec::new();
    };
    let layouts = LAYOUTS.iter();
    layouts
        .flat_map(|layout| layout.marks.iter().map(move |mark| (layout.name, mark)))
        .map(|(layout, mark)| {
            let served = survey.layout.as_deref() == Some(layout);
            of(layout, served, mark, seen(survey, layout, mark), now)
        })
        .collect()
}

fn seen<'a>(survey: &'a Survey, layout: &str, mark: &Mark) -> Option<&'a MarkSeen> {
    let name = mark.name.as_str();
    let mut marks = survey.marks.iter();
    marks.find(|one| one.layout == layout && one.mark == name)
}

fn of(
    layout: &'static str,
    served: bool,
    mark: &'static Mark,
    seen: Option<&MarkSeen>,
    now: WallMs,
) -> Known {
    Known {
        layout,
        served,
        mark: mark.name.as_str(),
        need: mark.need,
        found: seen.map_or(0, |seen| seen.found),
        shown: seen.map_or(0, |seen| seen.shown),
        by_label: seen.is_some_and(|seen| seen.by_label),
        seen: mark.seen,
        age_days: age_days(mark.seen, now),
        source: mark.source,
        confidence: mark.confidence,
    }
}

/// Full days from a date to now; none for what is no date, or in the future.
fn age_days(date: &str, now: WallMs) -> Option<i64> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let from = jiff::tz::Offset::UTC
        .to_timestamp(date.at(0, 0, 0, 0))
        .ok()?;
    let now = i64::try_from(now.0).ok()?;
    let days = (now - from.as_millisecond()).div_euclid(DAY_MS);
    (days >= 0).then_some(days)
}

/// The served layout's test of itself as one check for each question that was
/// not answered as it should be, or one for all.
pub(super) fn self_tests(survey: Option<&Survey>) -> Vec<Check> {
    let Some(survey) = survey.filter(|survey| survey.layout.is_some()) else {
        return Vec::new();
    };
    let count = |state| {
        survey
            .tests
            .iter()
            .filter(|test| test.state == state)
            .count()
    };
    let failed: Vec<_> = survey
        .tests
        .iter()
        .filter(|test| test.state == TestState::Failed)
        .map(|test| {
            let found = format!("{}: {}", test.name, test.found);
            Check::fail("self-test", found, Code::Layout.about().remedy)
        })
        .collect();
    if !failed.is_empty() {
        return failed;
    }
    let idle = match count(TestState::Idle) {
        0 => String::new(),
        idle => format!(", {idle} have nothing to be asked of here"),
    };
    let found = format!(
        "{} of {} passed{idle}",
        count(TestState::Passed),
        survey.tests.len()
    );
    vec![Check::ok("self-test", found)]
}

/// The marks as a table.
pub(super) fn text(known: &[Known]) -> String {
    let mut text = String::new();
    let mut layout = "";
    for one in known {
        if layout != one.layout {
            layout = one.layout;
            let served = if one.served { ", served here" } else { "" };
            let _ = writeln!(text, "\nmarks of {layout}{served}");
        }
        let age = match one.age_days {
            Some(days) if days > OLD_DAYS => format!("{days} days ago, old"),
            Some(days) => format!("{days} days ago"),
            None => "in days to come".to_owned(),
        };
        let confidence = match one.confidence {
            Confidence::High => "high",
            Confidence::Medium => "medium",
            Confidence::Low => "low",
        };
        let _ = writeln!(
            text,
            "  {:<20} {:<16} known {} ({age}; {confidence}; {})",
            one.mark,
            found(one),
            one.seen,
            one.source
        );
    }
    text
}

fn found(one: &Known) -> String {
    if one.shown > 0 {
        return format!("there ({})", one.shown);
    }
    if one.by_label {
        return "there, by label".to_owned();
    }
    if one.found > 0 {
        return "hidden".to_owned();
    }
    if !one.served {
        return "not here".to_owned();
    }
    match one.need {
        Need::AtOnce => "MISSING".to_owned(),
        Need::WithTurn | Need::WithReply => "not yet".to_owned(),
        Need::Never => "not now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::page::SelfTest;

    fn survey() -> Survey {
        Survey {
            layout: Some("keyed".into()),
            marks: vec![
                MarkSeen {
                    layout: "keyed".into(),
                    mark: "composer".into(),
                    found: 2,
                    shown: 1,
                    by_label: false,
                },
                MarkSeen {
                    layout: "keyed".into(),
                    mark: "copy".into(),
                    found: 0,
                    shown: 0,
                    by_label: true,
                },
            ],
            tests: vec![],
        }
    }

    fn noon(date: &str) -> WallMs {
        let date: jiff::civil::Date = date.parse().unwrap();
        let at = jiff::tz::Offset::UTC.to_timestamp(date.at(12, 0, 0, 0));
        WallMs(at.unwrap().as_millisecond().try_into().unwrap())
    }

    #[test]
    fn every_mark_of_every_layout_is_told_with_its_age() {
        let known = known(Some(&survey()), noon("2026-09-29"));
        let all: usize = LAYOUTS.iter().map(|layout| layout.marks.len()).sum();
        assert_eq!(known.len(), all);
        let text = text(&known);
        for wanted in [
            "composer             there (1)        known 2026-09-26 (3 days ago; high; fixture)",
            "copy                 there, by label  known 2026-10-15 (in days to come;",
            "choice               not now          known 2025-06-01 (485 days ago, old; low;",
            "marks of keyed, served here",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        assert!(super::known(None, noon("2026-09-29")).is_empty());
    }

    #[test]
    fn a_self_test_that_fails_is_named_with_what_was_found() {
        let mut survey = survey();
        let test = |name: &str, state, found: &str| SelfTest {
            name: name.into(),
            state,
            found: found.into(),
        };
        survey.tests = vec![
            test("one composer", TestState::Passed, ""),
            test("one layout", TestState::Idle, ""),
        ];
        let found = &self_tests(Some(&survey))[0].found;
        assert_eq!(found, "1 of 2 passed, 1 have nothing to be asked of here");
        survey.tests[0] = test("one composer", TestState::Failed, "2 are visible");
        let checks = self_tests(Some(&survey));
        assert_eq!(checks[0].found, "one composer: 2 are visible");
        assert_eq!(checks[0].state, super::super::State::Fail);
    }
}
