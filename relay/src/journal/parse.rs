//! Records out of their texts, on the side while the chain is checked: reading a
//! long journal is mostly this, and the next text need not wait for it.

use std::{
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use protocol::{
    record::{Entry, Seq},
    time::{SpanMs, WallMs},
};

/// Rows handed over at once.
const BATCH: usize = 256;

/// Batches that wait for a parser.
const WAITING_MAX: usize = 8;

/// Parsers at work on a long journal.
const PARSERS: usize = 2;

/// A row whose place in the chain was checked, its text not yet taken apart.
pub(super) struct Row {
    pub seq: Seq,
    pub at: WallMs,
    pub run_ms: SpanMs,
    pub body: String,
}

/// The first row whose text is no record, and what is wrong with it.
pub(super) struct NoRecord {
    pub seq: Seq,
    pub why: String,
}

fn parse(row: &Row) -> Result<Entry, NoRecord> {
    // The parser's own words may quote the text; its place does not.
    let record = serde_json::from_str(&row.body).map_err(|error| NoRecord {
        seq: row.seq,
        why: format!("no record from column {} on", error.column()),
    })?;
    Ok(Entry {
        seq: row.seq,
        at: row.at,
        run_ms: row.run_ms,
        record,
    })
}

fn parse_all(rows: &[Row]) -> Result<Vec<Entry>, NoRecord> {
    rows.iter().map(parse).collect()
}

/// Takes the rows that `next` gives, in order, until it gives none, and parses
/// them. A short journal is parsed where it is read.
pub(super) fn parsed(mut next: impl FnMut() -> Option<Row>) -> Result<Vec<Entry>, NoRecord> {
    let mut batch = || -> Vec<Row> { std::iter::from_fn(&mut next).take(BATCH).collect() };
    let first = batch();
    if first.len() < BATCH {
        return parse_all(&first);
    }
    let batches = thread::scope(|scope| {
        let mut parsers: Vec<(SyncSender<Vec<Row>>, _)> = Vec::new();
        for _ in 0..PARSERS {
            let (give, take) = sync_channel::<Vec<Row>>(WAITING_MAX);
            let work = move || -> Vec<_> { take.iter().map(|rows| parse_all(&rows)).collect() };
            parsers.push((give, scope.spawn(work)));
        }
        let mut rows = first;
        for nth in 0.. {
            if rows.is_empty() || parsers[nth % PARSERS].0.send(rows).is_err() {
                break;
            }
            rows = batch();
        }
        // The parsers end when nothing can come any more.
        let done = parsers.into_iter().map(|(give, parser)| {
            drop(give);
            parser
        });
        let done: Vec<_> = done.collect();
        let mut done: Vec<_> = done
            .into_iter()
            .map(|parser| match parser.join() {
                Ok(batches) => batches.into_iter(),
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect();
        // Dealt out in turn, so taken back in turn.
        let mut batches = Vec::new();
        for nth in 0.. {
            match done[nth % PARSERS].next() {
                Some(batch) => batches.push(batch),
                None => break,
            }
        }
        batches
    });
    let mut entries = Vec::new();
    for batch in batches {
        entries.extend(batch?);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: u64, bad: &[u64]) -> impl FnMut() -> Option<Row> {
        let bad = bad.to_vec();
        let mut at = 0;
        move || {
            at += 1;
            let body = if bad.contains(&at) {
                "{\"kind\":\"nothing known\"}".to_owned()
            } else {
                format!("{{\"kind\":\"resumed\",\"version\":\"{at}\"}}")
            };
            (at <= count).then_some(Row {
                seq: Seq(at),
                at: WallMs(at),
                run_ms: at,
                body,
            })
        }
    }

    #[test]
    fn rows_come_back_in_their_order_however_many_there_are() {
        let batch = BATCH as u64;
        for count in [0, 1, batch - 1, batch, batch + 1, 2 * batch, 7 * batch + 3] {
            let entries = parsed(rows(count, &[])).ok().unwrap();
            assert_eq!(entries.len() as u64, count);
            for (nth, entry) in (1..).zip(&entries) {
                assert_eq!(entry.seq, Seq(nth), "of {count}");
            }
        }
    }

    #[test]
    fn the_first_row_that_is_no_record_is_named() {
        let batch = BATCH as u64;
        for bad in [&[3][..], &[batch], &[batch + 1, 2], &[5 * batch, 2 * batch]] {
            let error = parsed(rows(6 * batch, bad)).err().unwrap();
            assert_eq!(Some(&error.seq.0), bad.iter().min(), "{}", error.why);
        }
    }
}
