//! Text from outside made harmless: for a terminal, and as an indented block that can forge nothing.

/// Longest line that is quoted whole, in characters.
pub const LINE_LEN_MAX: usize = 2_000;
/// What every quoted line begins with.
pub const INDENT: &str = "    ";

/// Whether a character may turn the direction of what is read.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Leaves printable characters, tabs and line feeds; terminal escapes go, whatever else breaks a
/// line becomes a line feed, and other controls and turns of direction are spelt out.
#[must_use]
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\u{1B}' => skip_escape(&mut chars),
            c if c.is_control() || is_bidi(c) => out.push_str(&format!("<U+{:04X}>", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Skips one terminal escape, never past the end of its line.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek().copied() {
        Some('[') => {
            chars.next();
            while let Some(c) = chars.next_if(|c| (' '..='~').contains(c)) {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
        // Strings: title, hyperlink, clipboard and the like, up to BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\u{07}' {
                    break;
                }
                if c == '\u{1B}' {
                    chars.next_if(|c| *c == '\\');
                    break;
                }
            }
        }
        Some(_) => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        None => {}
    }
}

/// One line for a person's terminal: harmless, line feeds spelt out.
#[must_use]
pub fn one_line(text: &str) -> String {
    harmless(text).replace('\n', "⏎").replace('\t', " ")
}

/// Some lines for a person's terminal, each behind the same four blanks.
#[must_use]
pub fn for_terminal(text: &str) -> String {
    lines(text)
        .into_iter()
        .map(|l| format!("{INDENT}{l}\n"))
        .collect()
}

/// The harmless lines of a text, over-long ones shortened in the middle; none for an empty text.
#[must_use]
pub fn lines(text: &str) -> Vec<String> {
    let clean = harmless(text);
    let clean = clean.trim_end_matches('\n');
    if clean.is_empty() {
        return Vec::new();
    }
    clean.split('\n').map(shorten).collect()
}

fn shorten(line: &str) -> String {
    let line = line.trim_end();
    let len = line.chars().count();
    if len <= LINE_LEN_MAX {
        return line.to_owned();
    }
    let half = LINE_LEN_MAX / 2;
    let head: String = line.chars().take(half).collect();
    let tail: String = line.chars().skip(len - half).collect();
    format!("{head} [{} characters cut] {tail}", len - 2 * half)
}

//= spec W10
/// Lines as an indented block of at most `len_max` characters; head and tail stay, and between
/// them stands, less indented than anything quoted, how much was cut. `cut` bytes went before.
#[must_use]
pub fn block(head: &[String], tail: &[String], cut: u64, len_max: usize) -> String {
    let cost = |l: &String| l.chars().count() + INDENT.len() + 1;
    let total: usize = head.iter().chain(tail).map(cost).sum();
    let mut out = String::new();
    let push = |out: &mut String, l: &String| {
        if !l.is_empty() {
            out.push_str(INDENT);
            out.push_str(l);
        }
        out.push('\n');
    };
    if total <= len_max {
        head.iter().for_each(|l| push(&mut out, l));
        if cut > 0 {
            out.push_str(&cut_mark(cut));
        }
        tail.iter().for_each(|l| push(&mut out, l));
        return out;
    }
    let all: Vec<&String> = head.iter().chain(tail).collect();
    let (first, last) = (len_max / 3, len_max - len_max / 3);
    let mut used = 0;
    let from_head = all
        .iter()
        .take_while(|l| {
            used += cost(l);
            used <= first
        })
        .count();
    let mut used = 0;
    let from_tail = all[from_head..]
        .iter()
        .rev()
        .take_while(|l| {
            used += cost(l);
            used <= last
        })
        .count();
    let middle = &all[from_head..all.len() - from_tail];
    let more: usize = middle.iter().map(|l| l.len() + 1).sum();
    all[..from_head].iter().for_each(|l| push(&mut out, l));
    out.push_str(&cut_mark(cut + more as u64));
    all[all.len() - from_tail..]
        .iter()
        .for_each(|l| push(&mut out, l));
    out
}

/// The line that says how much is missing.
fn cut_mark(bytes: u64) -> String {
    format!("  [{bytes} bytes cut here]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_go_and_what_stood_around_them_stays() {
        assert_eq!(harmless("a\u{1B}[31mred\u{1B}[0m b"), "ared b");
        assert_eq!(harmless("x\u{1B}]0;title\u{07}y"), "xy");
        assert_eq!(
            harmless("x\u{1B}]8;;http://h\u{1B}\\link\u{1B}]8;;\u{1B}\\y"),
            "xlinky"
        );
        assert_eq!(harmless("x\u{1B}(By"), "xy");
        assert_eq!(harmless("end\u{1B}"), "end");
    }

    #[test]
    fn an_escape_without_an_end_hides_no_second_line() {
        assert_eq!(harmless("a\u{1B}]0;never\nnext"), "a\nnext");
        assert_eq!(harmless("a\u{1B}[12\nnext"), "a\nnext");
    }

    #[test]
    fn whatever_breaks_a_line_becomes_a_line_feed() {
        assert_eq!(
            harmless("a\r\nb\rc\u{85}d\u{2028}e\u{0C}f"),
            "a\nb\nc\nd\ne\nf"
        );
    }

    #[test]
    fn controls_and_turns_of_direction_are_spelt_out() {
        assert_eq!(
            harmless("a\0b\u{202E}c\u{9B}d\u{7F}"),
            "a<U+0000>b<U+202E>c<U+009B>d<U+007F>"
        );
        assert_eq!(harmless("👩\u{200D}🚀 世界\tx"), "👩\u{200D}🚀 世界\tx");
    }

    #[test]
    fn a_line_of_the_longest_length_stays_and_one_more_is_shortened() {
        assert_eq!(lines(&"x".repeat(LINE_LEN_MAX)), ["x".repeat(LINE_LEN_MAX)]);
        let cut = &lines(&"x".repeat(LINE_LEN_MAX + 1))[0];
        assert!(cut.contains("[1 characters cut]"), "{cut}");
    }

    proptest::proptest! {
        //= spec W10 type=test
        #[test]
        fn nothing_quoted_stands_left_of_the_indent(text in "\\PC*|[\\x00-\\x7f]*|(# PLAN\r|\u{2028}FRAME:|\x1b\\[1m#|\n)*", len_max in 10usize..400, cut in 0u64..3) {
            let ls = lines(&text);
            let out = block(&ls, &[], cut, len_max);
            for line in out.split('\n') {
                let ours = line.starts_with("  [") && line.ends_with(" bytes cut here]");
                proptest::prop_assert!(line.is_empty() || line.starts_with(INDENT) || ours, "{line:?}");
                proptest::prop_assert!(!line.chars().any(|c| c.is_control() && c != '\t'));
            }
            proptest::prop_assert!(out.chars().count() <= len_max + 60);
        }
    }
}
