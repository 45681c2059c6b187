//! The constants of pi-bridge/1, its canonical form and its tags.
//!
//! Nothing else in the workspace spells these values: whoever needs one takes
//! it from here.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    id::{Digest, Tag},
    line::{lines, trim_end},
};

/// The framing in force, as one literal for `concat!`.
macro_rules! wire_id {
    () => {
        "pi-bridge/1"
    };
}

//= spec W1
/// The framing in force; raised when messages stop being parseable at all.
pub const WIRE_ID: &str = wire_id!();
/// The version of the negotiation (`HV`).
pub const HANDSHAKE_VERSION: u32 = 1;
/// The version of the plan contract (the number in `CV`).
pub const PLAN_CONTRACT_VERSION: u32 = 2;
/// What the remote must acknowledge in `FEAT`.
pub const REQUIRED_FEATURES: [&str; 4] = ["frame", "resume", "repair", "need_info"];
/// What pi can do, unless a caller says otherwise.
pub const DEFAULT_CAPABILITIES: [&str; 5] = [
    "file.read",
    "file.write",
    "shell.local",
    "test.repo",
    "git.local",
];
/// What pi refuses, unless a caller says otherwise.
pub const DEFAULT_DENIALS: [&str; 5] = ["net", "gui", "account", "remote.config", "remote.api"];
/// How many REPAIRs one round may have.
pub const MAX_REPAIRS: u32 = 2;

//= spec W8
/// The `OBJECTIVE` of a caller that gave none: "see round 1".
pub const DEFAULT_OBJECTIVE: &str = "见第 1 轮";

/// First line of HELLO.
pub const HEADER_HELLO: &str = concat!("# HELLO ", wire_id!());
/// First line of the acknowledgement.
pub const HEADER_HS: &str = concat!("# HS ", wire_id!());
/// First line of ROUND.
pub const HEADER_ROUND: &str = concat!("# ROUND ", wire_id!());
/// First line of RESUME.
pub const HEADER_RESUME: &str = concat!("# RESUME ", wire_id!());
/// First line of REPAIR.
pub const HEADER_REPAIR: &str = concat!("# REPAIR ", wire_id!());
/// First line of RESYNC.
pub const HEADER_RESYNC: &str = concat!("# RESYNC ", wire_id!());
/// First line of a plan.
pub const HEADER_PLAN: &str = concat!("# PLAN ", wire_id!());

//= spec W3
/// The plan contract as HELLO declares it, to the byte.
///
/// The last line holds the literal characters `${PROTOCOL_ID}`: the program
/// this protocol comes from forgot to substitute them, and they are part of
/// the hash `p2.478d1ef2` that both sides name. Correcting the slip would
/// change the contract, so it is kept.
pub const PLAN_CONTRACT: &str = concat!(
    "# PLAN ",
    wire_id!(),
    "
FRAME: s=<sid> r=<round> p=<prev-plan-key> q=<qid>
DECISION: continue | done | blocked | need_info
TASK: <短标识，如 fix-selector-drift>

## GOAL
一句话说明本轮要达成的目标。

## STEPS
1. 步骤一（可执行、单一职责）
2. 步骤二

## FILES
- <相对路径> :: <要做什么改动>

## COMMANDS
- <要执行的命令，没有就写 无>

## RISKS
- <风险或不确定点，没有就写 无>

## VERIFY
- <如何验证本轮成功了>

## NOTES
<可选补充>

## 代码块规则
- 整个回复只允许有 1 个代码块，就是承载上面这份方案的那一个。
- 方案里要给出代码、命令或配置时，写在这个块内部（缩进或行内反引号），不要另开代码块。
- 不要把一份方案拆成多个代码块：复制按钮一次只能取到其中一块，pi 会拿到残缺的方案。
- 块内首行必须是 # PLAN ${PROTOCOL_ID}，第二行必须是 FRAME 行，供 pi 做轮次关联。"
);

//= spec W2
/// The canonical form, taken before any hash and any comparison of tags.
///
/// CRLF becomes LF, white space at the end of each line goes, several blank
/// lines in a row become one, the whole is trimmed. A line ends at LF only.
/// Taking it twice changes nothing; the cost is linear.
pub fn canonical(text: &str) -> String {
    canonical_or_same(text).into_owned()
}

/// The canonical form, borrowed where the text has it but for blanks around it.
fn canonical_or_same(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    // Nothing is copied up to the first line that has to change.
    let mut out: Option<String> = None;
    let mut blank_before = false;
    for line in lines(text) {
        // A CR before the LF is white space at the end of the line.
        let kept = trim_end(line.text);
        let second_blank = kept.is_empty() && blank_before;
        if out.is_none() && (second_blank || kept.len() < line.text.len()) {
            let mut copy = String::with_capacity(text.len());
            copy.push_str(&text[..line.start]);
            out = Some(copy);
        }
        blank_before = kept.is_empty();
        if let (Some(out), false) = (&mut out, second_blank) {
            out.push_str(kept);
            // The text is trimmed: its last line is not blank and ends it.
            if line.next < text.len() {
                out.push('\n');
            }
        }
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

//= spec W3
/// The tag of a text: of its canonical form.
pub fn tag(text: &str) -> Tag {
    tag_of_canonical(&canonical_or_same(text))
}

/// The tag of a text that is in canonical form already.
fn tag_of_canonical(canonical: &str) -> Tag {
    let digest = Digest::of(canonical);
    let head = digest.as_str().get(..8);
    Tag::parse(head.expect("a digest has 64 digits")).expect("eight hexadecimal digits are a tag")
}

//= spec W3
/// `CV`: the number of the plan contract and the tag of its text. Shown as
/// `p2.478d1ef2`; a CV line shows the number before it once more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContractTag {
    /// The version of the contract.
    pub number: u32,
    /// The tag of its whole text, the rules for code blocks included.
    pub tag: Tag,
}

impl ContractTag {
    /// The contract this build speaks.
    pub fn current() -> Self {
        Self {
            number: PLAN_CONTRACT_VERSION,
            tag: tag(PLAN_CONTRACT),
        }
    }

    /// As a CV line shows it: `2 p2.478d1ef2`.
    pub fn line(&self) -> String {
        format!("{} {self}", self.number)
    }

    /// Reads what [`Self::line`] writes; the two numbers must be the same.
    pub fn parse_line(text: &str) -> Option<Self> {
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let (number, shown, rest) = (words.next()?, words.next()?, words.next());
        let parsed: Self = shown.parse().ok()?;
        (rest.is_none() && decimal(number)? == parsed.number).then_some(parsed)
    }
}

impl fmt::Display for ContractTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}.{}", self.number, self.tag)
    }
}

/// A text that is not a contract tag or not a capability tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotATag;

impl fmt::Display for NotATag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a tag: wants p<number>.<8 digits> or c1.<8 digits>")
    }
}

impl std::error::Error for NotATag {}

impl FromStr for ContractTag {
    type Err = NotATag;
    fn from_str(text: &str) -> Result<Self, NotATag> {
        let (number, tag) = text
            .strip_prefix('p')
            .and_then(|rest| rest.split_once('.'))
            .ok_or(NotATag)?;
        Ok(Self {
            number: decimal(number).ok_or(NotATag)?,
            tag: Tag::parse(tag).map_err(|_| NotATag)?,
        })
    }
}

impl TryFrom<String> for ContractTag {
    type Error = NotATag;
    fn try_from(text: String) -> Result<Self, NotATag> {
        text.parse()
    }
}

impl From<ContractTag> for String {
    fn from(tag: ContractTag) -> Self {
        tag.to_string()
    }
}

//= spec W3
/// `CAP`: the tag of capabilities and denials, whatever their order. Shown as
/// `c1.5fc20bbe`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CapTag(Tag);

impl CapTag {
    /// The tag of these capabilities and these denials.
    pub fn of(capabilities: &[impl AsRef<str>], denials: &[impl AsRef<str>]) -> Self {
        let (capabilities, denials) = (sorted_lines(capabilities), sorted_lines(denials));
        Self(tag(&format!("{capabilities}\n--\n{denials}")))
    }
}

fn sorted_lines(names: &[impl AsRef<str>]) -> String {
    let mut names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    names.sort_unstable();
    names.join("\n")
}

impl fmt::Display for CapTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c1.{}", self.0)
    }
}

impl FromStr for CapTag {
    type Err = NotATag;
    fn from_str(text: &str) -> Result<Self, NotATag> {
        let tag = text.strip_prefix("c1.").ok_or(NotATag)?;
        Tag::parse(tag).map(Self).map_err(|_| NotATag)
    }
}

impl TryFrom<String> for CapTag {
    type Error = NotATag;
    fn try_from(text: String) -> Result<Self, NotATag> {
        text.parse()
    }
}

impl From<CapTag> for String {
    fn from(tag: CapTag) -> Self {
        tag.to_string()
    }
}

/// A plain decimal number as our own builders write it: no sign, no zero in
/// front, within `u32`.
pub(crate) fn decimal(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|b| b.is_ascii_digit())
        && !text.is_empty()
        && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}
