//! What stands below the FRAME of a ROUND.

use serde::{Deserialize, Serialize};

use crate::{frame::Checkpoint, id::Qid, text::Private, wire};

/// Above the user's request.
pub const HEADING_REQUEST: &str = "## 用户请求";
/// Above the receipt of the last plan, or above what is known of it.
pub const HEADING_RECEIPT: &str = "## 上轮执行回执";

/// That the ROUND follows a RESUME and brings no new result.
const RESUMED: &str = "连接曾经中断，本轮由 RESUME 接续；下面只列出 pi 能确认的事。";
/// No plan has settled yet.
const NONE_SETTLED: &str = "还没有任何方案被确认执行完毕。";
/// What came after the checkpoint did not run.
const DID_NOT_RUN: &str = "检查点之后的方案没有执行，已经作废，不会重放。";
/// What came after the checkpoint may have run: the next plan must look first.
const MAY_HAVE_RUN: &str = "\
检查点之后的方案可能执行过，可能没有执行，也可能只执行了一部分，pi 无法确认；这些方案已经作废，不会重放。
请在下一份方案里先检查现状（文件内容、git 状态等），确认之后再安排改动。";
/// Above the receipt of the checkpoint's plan.
const LAST_RECEIPT: &str = "检查点那一轮的执行回执：";

//= spec W9
/// The body of a ROUND.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// A request in full: of ROUND 1, or a follow-up that reopens the session
    /// (W14).
    Request(Private),
    /// The finished receipt of the last plan.
    Receipt(Private),
    /// A ROUND after a RESUME.
    Resumed {
        /// The request, in a ROUND sent while no plan has settled under it.
        request: Option<Private>,
        /// What is known.
        known: Known,
    },
}

/// What is known of earlier plans after a RESUME.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The last confirmed checkpoint.
    pub checkpoint: Checkpoint,
    /// The receipt of its plan, where the journal still has it.
    pub receipt: Option<Private>,
    /// What became of plans after it.
    pub later: Later,
}

/// What became of plans after the checkpoint. All of them are void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Later {
    /// There is none.
    Nothing,
    /// There is one, and it is known not to have run.
    DidNotRun,
    /// There is one, and nobody can tell whether it ran.
    MayHaveRun,
}

impl Body {
    //= spec W8
    //= spec W9
    //= spec W14
    /// The text that a ROUND carries below its FRAME.
    pub fn text(&self) -> String {
        match self {
            Self::Request(request) => request_text(request),
            Self::Receipt(receipt) => format!("{HEADING_RECEIPT}\n{}", receipt.as_str()),
            Self::Resumed { request, known } => {
                let known = known.text();
                match request {
                    Some(request) => format!("{}\n\n{known}", request_text(request)),
                    None => known,
                }
            }
        }
    }
}

fn request_text(request: &Private) -> String {
    format!("{HEADING_REQUEST}\n{}", request.as_str())
}

impl Known {
    fn text(&self) -> String {
        let mut out = format!("{HEADING_RECEIPT}\n{RESUMED}\n");
        match &self.checkpoint {
            Checkpoint::Start => out.push_str(NONE_SETTLED),
            Checkpoint::At { round, key } => {
                out.push_str(&format!("已确认的检查点：第 {round} 轮，方案 {key}。"));
            }
        }
        match self.later {
            Later::Nothing => {}
            Later::DidNotRun => out.extend(["\n", DID_NOT_RUN]),
            Later::MayHaveRun => out.extend(["\n", MAY_HAVE_RUN]),
        }
        if let Some(receipt) = &self.receipt {
            out.extend(["\n\n", LAST_RECEIPT, "\n", receipt.as_str()]);
        }
        out
    }
}

//= spec W9
/// The request that a ROUND's body carries, proven by its tag.
///
/// The request is content and may hold our headings, so it is not searched:
/// either the body is the request alone, or the last receipt heading in it is
/// ours, because nothing that we write below that heading has one at column 0
/// (W10). Whichever of the two has the tag `qid` is the request.
pub fn request_in<'a>(body: &'a str, qid: &Qid) -> Option<&'a str> {
    let request = body
        .trim_start()
        .strip_prefix(HEADING_REQUEST)?
        .strip_prefix('\n')?;
    let cut = request.rfind(&format!("\n{HEADING_RECEIPT}\n"));
    let candidates = [Some(request), cut.map(|at| &request[..at])];
    let whole = candidates.into_iter().flatten().map(str::trim);
    whole
        .into_iter()
        .find(|candidate| wire::tag(candidate) == *qid)
}
