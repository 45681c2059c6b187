//! Documents made by chance, from a seed: Markdown as a model may write it, with
//! a count of each construct.
#![allow(dead_code, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

/// How often each construct was written.
pub type Counts = BTreeMap<&'static str, u32>;

/// Writes documents; the same seed writes the same ones.
pub struct Writer {
    state: u64,
    pub counts: Counts,
}

const WORDS: &[&str] = &[
    "plan",
    "the",
    "reply",
    "中文",
    "Grüße",
    "“quoted”",
    "a_b",
    "x*y",
    "3.",
    "1)",
    "-",
    "+",
    "#",
    "&amp;",
    "&",
    "$5",
    "e.g.",
    "C:\\\\dir",
    "🎉",
    "it's",
    "100%",
    "~10~",
    "a|b",
    "[x]",
    "(y)",
    "!",
    "https://e.org",
    "=",
    ">",
    "line\u{a0}kept",
    "\\*literal\\*",
    "don`t",
];
const CODE: &[&str] = &[
    "let x = 1;",
    "",
    "    indented",
    "if a < b && c > d {",
    "\ttab",
    "# not a heading",
    "- not a list",
    "a | b | c",
    "```not a fence",
    "trailing  ",
    "中文 // 注释",
    "*stars* _lines_",
    "<br> & &amp;",
    "\\(x\\) $$",
];
const TEX: &[&str] = &[
    "x^2",
    "a_{1}",
    "\\frac{a}{b}",
    "\\sum_{i=0}^{n} i",
    "E = mc^2",
    "\\sqrt{2} \\le 3",
    "f(x) = y",
    "\\alpha + \\beta",
];

impl Writer {
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed | 1,
            counts: Counts::new(),
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 16).unwrap_or(0) % below
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.draw(from.len())]
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// One document.
    pub fn document(&mut self) -> String {
        let blocks = 1 + self.draw(7);
        self.blocks(blocks, 0)
    }

    fn blocks(&mut self, many: usize, depth: usize) -> String {
        let blocks: Vec<String> = (0..many).map(|_| self.block(depth)).collect();
        blocks.join("\n\n")
    }

    fn block(&mut self, depth: usize) -> String {
        let kinds = if depth < 3 { 11 } else { 7 };
        match self.draw(kinds) {
            0 => {
                self.count("heading");
                let level = 1 + self.draw(6);
                format!("{} {}", "#".repeat(level), self.line(false))
            }
            1 => self.code(),
            2 => {
                self.count("rule");
                "---".to_owned()
            }
            3 => {
                self.count("display math");
                let tex = self.pick(TEX);
                match self.draw(3) {
                    0 => format!("\\[\n{tex}\n\\]"),
                    1 => format!("\\[ {tex} \\]"),
                    _ => format!("$${tex}$$"),
                }
            }
            4 if depth == 0 => {
                self.count("unknown block");
                let words = self.words(3);
                format!("unknown: {words}")
            }
            7 => self.list(depth),
            8 => {
                self.count("quote");
                let many = 1 + self.draw(3);
                let inner = self.blocks(many, depth + 1);
                prefixed(&inner, "> ", ">")
            }
            9 if depth == 0 => self.table(),
            _ => self.paragraph(),
        }
    }

    fn paragraph(&mut self) -> String {
        self.count("paragraph");
        let lines = 1 + self.draw(3);
        let mut out = String::from("So ");
        for at in 0..lines {
            if at > 0 {
                match self.draw(4) {
                    0 => {
                        self.count("hard break by backslash");
                        out.push_str("\\\n");
                    }
                    1 => {
                        self.count("hard break by blanks");
                        out.push_str("  \n");
                    }
                    _ => {
                        self.count("soft break");
                        out.push('\n');
                    }
                }
                out.push_str("then ");
            }
            let math = lines > 1 && self.draw(6) == 0;
            out.push_str(&self.line(true));
            if math {
                self.count("display math in a paragraph");
                let tex = self.pick(TEX);
                out.push_str(&format!(" \\[ {tex} \\] end"));
            }
        }
        out
    }

    fn words(&mut self, max: usize) -> String {
        let many = 1 + self.draw(max);
        let words: Vec<_> = (0..many).map(|_| self.pick(WORDS)).collect();
        format!("w {} v", words.join(" "))
    }

    /// Running text on one line.
    fn line(&mut self, links: bool) -> String {
        let pieces = 1 + self.draw(4);
        let pieces: Vec<String> = (0..pieces).map(|_| self.inline(0, links)).collect();
        pieces.join(" ")
    }

    fn inline(&mut self, depth: usize, links: bool) -> String {
        let kinds = if depth < 2 { 9 } else { 5 };
        match self.draw(kinds) {
            0 => {
                self.count("inline code");
                match self.draw(4) {
                    0 => "`` a`b ``".to_owned(),
                    1 => "`x  y`".to_owned(),
                    2 => "`*no* <br>`".to_owned(),
                    _ => "`code`".to_owned(),
                }
            }
            1 => {
                self.count("inline math");
                format!("\\({}\\)", self.pick(TEX))
            }
            5 => {
                self.count("emphasis");
                let mark = ["*", "_"][self.draw(2)];
                format!("{mark}{}{mark}", self.plain(depth))
            }
            6 => {
                self.count("strong");
                format!("**{}**", self.plain(depth))
            }
            7 => {
                self.count("struck out");
                format!("~~{}~~", self.plain(depth))
            }
            8 if links => {
                self.count("link");
                let shown = self.plain(2);
                match self.draw(3) {
                    0 => format!("[{shown}](https://e.org/a?b=c&d=%20e)"),
                    1 => format!("[{shown}](<https://e.org/a b> \"a title\")"),
                    _ => "<https://e.org/auto>".to_owned(),
                }
            }
            _ => self.words(3),
        }
    }

    /// What stands between the marks of a span: a word at either end.
    fn plain(&mut self, depth: usize) -> String {
        if depth < 1 && self.draw(3) == 0 {
            self.count("span in a span");
            let inner = self.inline(depth + 1, false);
            return format!("be {inner} en");
        }
        ["be so en", "中 文", "one", "a & b", "x: y"][self.draw(5)].to_owned()
    }

    fn code(&mut self) -> String {
        let lines = self.draw(6);
        let lines: Vec<_> = (0..lines).map(|_| self.pick(CODE)).collect();
        let lang = ["", "rust", "python", "c++", "text"][self.draw(5)];
        self.count(if lang.is_empty() {
            "code block without language"
        } else {
            "code block with language"
        });
        let fence = ["````", "~~~~"][self.draw(2)];
        let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
        format!("{fence}{lang}\n{body}{fence}")
    }

    fn list(&mut self, depth: usize) -> String {
        let items = 1 + self.draw(4);
        let ordered = self.draw(2) == 0;
        let loose = self.draw(3) == 0;
        self.count(match (depth, ordered) {
            (0, true) => "numbers",
            (0, false) => "bullets",
            (_, _) => "nested list",
        });
        let first = [1, 1, 3, 42][self.draw(4)];
        let mut out = Vec::new();
        for at in 0..items {
            let marker = if ordered {
                format!("{}. ", first + at)
            } else {
                "- ".to_owned()
            };
            let mut inner = format!("item {}", self.line(true));
            if self.draw(3) == 0 {
                let nested = self.block(depth + 1);
                inner.push_str("\n\n");
                inner.push_str(&nested);
            }
            let indent = " ".repeat(marker.len());
            let text = prefixed(&inner, &indent, "");
            out.push(format!("{marker}{}", text.trim_start()));
        }
        out.join(if loose { "\n\n" } else { "\n" })
    }

    fn table(&mut self) -> String {
        self.count("table");
        let columns = 1 + self.draw(4);
        let rows = 1 + self.draw(3);
        let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let marks = ["---", ":--", ":-:", "--:"];
        let head = (0..columns).map(|at| format!("head {at}")).collect();
        let rule = (0..columns).map(|_| self.pick(&marks).to_owned()).collect();
        let mut lines = vec![row(head), row(rule)];
        for _ in 0..rows {
            let cells = (0..columns).map(|_| self.cell()).collect();
            lines.push(row(cells));
        }
        lines.join("\n")
    }

    fn cell(&mut self) -> String {
        match self.draw(6) {
            0 => {
                self.count("break in a cell");
                "one<br>two<br/>three".to_owned()
            }
            1 => String::new(),
            2 => {
                self.count("escaped bar in a cell");
                "a\\|b".to_owned()
            }
            3 => {
                self.count("span in a cell");
                "**be** `code` [to](https://e.org)".to_owned()
            }
            4 => {
                self.count("math in a cell");
                format!("\\({}\\)", self.pick(TEX))
            }
            _ => "words & more".to_owned(),
        }
    }
}

fn prefixed(text: &str, prefix: &str, blank: &str) -> String {
    let lines = text.lines().map(|line| {
        if line.is_empty() {
            blank.to_owned()
        } else {
            format!("{prefix}{line}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
