//! What the protocol costs in tokens (o200k), and what it saves.
//!
//! Two questions, answered from the real builders: how much a ROUND adds to the
//! receipt that it carries, and how much eight rounds save against a relay that
//! says everything again in each of them. The bounds are asserted; a broken one
//! ends the run non-zero. Nothing is random: the ids come from a digest.
//!
//! `scripts/bench` runs it.
#![allow(clippy::print_stdout, reason = "a bench reports on stdout")]

use std::process::ExitCode;

use protocol::{
    frame::Frame,
    id::{Digest, Round, Sid, Tag},
    message::{Body, Objective, Offer, hello, round},
};
use tiktoken_rs::{CoreBPE, o200k_base_singleton};

/// Tokens that a ROUND may add to its receipt: in the middle, and at worst.
const OVERHEAD_MEDIAN_MAX: usize = 46;
const OVERHEAD_MAX: usize = 54;
/// How many random ids are tried.
const IDS: u32 = 1_000;

/// Rounds of the session that is compared.
const ROUNDS: u32 = 8;
/// The saving that the protocol's first measurement reports, in percent.
const SAVING_REPORTED: f64 = 59.0;
/// Tokens of a receipt, and of a request, that are tried.
const RECEIPTS: [usize; 9] = [0, 25, 50, 100, 200, 300, 500, 750, 1_000];
const REQUESTS: [usize; 3] = [50, 200, 1_000];
/// Where the search for the crossing ends, in tokens of a receipt.
const CROSSING_MAX: usize = 2_000;

fn main() -> ExitCode {
    let tokens = Tokens(o200k_base_singleton());
    let within = overhead(&tokens);
    saving(&tokens);
    if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Counts as the model's own tokenizer does.
struct Tokens(&'static CoreBPE);

impl Tokens {
    fn of(&self, text: &str) -> usize {
        self.0.encode_ordinary(text).len()
    }

    /// A text of just so many tokens, as a test run prints them.
    fn text(&self, len: usize) -> String {
        let line = |n: usize| format!("test parser::case_{n} ... ok, {} assertions\n", n % 7 + 1);
        let long: String = (0..len).map(line).collect();
        let mut ranks = self.0.encode_ordinary(&long);
        ranks.truncate(len);
        let text = self.0.decode(&ranks).expect("tokens of ASCII are ASCII");
        assert_eq!(self.of(&text), len, "the cut changed the tokens");
        text
    }
}

// --- what a ROUND adds -----------------------------------------------------------

fn overhead(tokens: &Tokens) -> bool {
    let receipt = "npm test 全绿";
    let body = Body::Receipt(receipt.into());
    // Rounds 2 to 50, the default limit.
    let whole = |n| tokens.of(&round_of(n, 2 + n % 49, &body));
    let mut added: Vec<usize> = (0..IDS).map(|n| whole(n) - tokens.of(receipt)).collect();
    added.sort_unstable();
    let (median, most) = (added[added.len() / 2], added[added.len() - 1]);
    println!("a ROUND adds to its receipt, over {IDS} random ids, in tokens:");
    println!("  least {}, median {median}, most {most}", added[0]);
    let within = median <= OVERHEAD_MEDIAN_MAX && most <= OVERHEAD_MAX;
    let word = if within { "within" } else { "OVER" };
    println!("  {word} the bounds: median {OVERHEAD_MEDIAN_MAX}, most {OVERHEAD_MAX}");
    within
}

// --- what eight rounds save ------------------------------------------------------

/// The saving by receipt and request, and where it falls below what is reported.
fn saving(tokens: &Tokens) {
    println!("\nsaving over {ROUNDS} rounds against HELLO and request in each, in percent:");
    print!("  tokens of a receipt ");
    for receipt in RECEIPTS {
        print!("{receipt:>7}");
    }
    println!();
    for request in REQUESTS {
        print!("  request of {request:>5}    ");
        for receipt in RECEIPTS {
            print!("{:>7.1}", saved(tokens, request, receipt));
        }
        println!();
    }
    for request in REQUESTS {
        let meets = |receipt| saved(tokens, request, receipt) >= SAVING_REPORTED;
        let most = last_that(meets, CROSSING_MAX);
        match most {
            Some(CROSSING_MAX) => println!("  request of {request:>5}: always {SAVING_REPORTED} %"),
            Some(receipt) => println!(
                "  request of {request:>5}: {SAVING_REPORTED} % or more up to receipts of {receipt} tokens"
            ),
            None => println!("  request of {request:>5}: never {SAVING_REPORTED} %"),
        }
    }
}

/// The saving in percent where each round's receipt has so many tokens.
///
/// What pi types is counted; the plans that come back are the same either way.
/// The relay compared with types HELLO, the request and (from the second round)
/// the receipt each time, and no FRAME.
#[allow(clippy::cast_precision_loss, reason = "some thousand tokens")]
fn saved(tokens: &Tokens, request: usize, receipt: usize) -> f64 {
    let hello = hello::build(&Offer::standard(sid(0), tag(0, 24), Objective::default()));
    let request = Body::Request(tokens.text(request).into());
    let receipt = Body::Receipt(tokens.text(receipt).into());

    let mut ours = tokens.of(&hello) + tokens.of(&round_of(0, 1, &request));
    let mut theirs = tokens.of(&format!("{hello}\n\n{}", request.text()));
    let again = format!("{hello}\n\n{}\n\n{}", request.text(), receipt.text());
    for r in 2..=ROUNDS {
        ours += tokens.of(&round_of(r, r, &receipt));
        theirs += tokens.of(&again);
    }
    100.0 * (1.0 - ours as f64 / theirs as f64)
}

/// The largest number up to `max` for which `meets` holds, given that it holds
/// below a place and nowhere above it.
fn last_that(meets: impl Fn(usize) -> bool, max: usize) -> Option<usize> {
    if !meets(0) {
        return None;
    }
    let (mut holds, mut fails) = (0, max + 1);
    while holds + 1 < fails {
        let middle = holds.midpoint(fails);
        if meets(middle) {
            holds = middle;
        } else {
            fails = middle;
        }
    }
    Some(holds)
}

// --- messages --------------------------------------------------------------------

/// A ROUND under the nth ids; a session's `s` and `q` differ from one n to the next.
fn round_of(n: u32, r: u32, body: &Body) -> String {
    let frame = Frame {
        sid: sid(n),
        round: Round(r),
        prev: (r > 1).then(|| tag(n, 16)),
        qid: tag(n, 24),
    };
    round::build(&frame, &body.text())
}

fn digits(n: u32) -> Digest {
    Digest::of(&format!("id {n}"))
}

fn sid(n: u32) -> Sid {
    Sid::parse(&digits(n).as_str()[..16]).expect("sixteen digits of a digest")
}

fn tag(n: u32, from: usize) -> Tag {
    Tag::parse(&digits(n).as_str()[from..from + 8]).expect("eight digits of a digest")
}
