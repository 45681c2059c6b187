//! What `capture` knows of the page, as `cdp` takes it: the two crates do not know each
//! other, and this is where the one's scripts and paths become the other's.

use protocol::id::Sid;

use crate::ids;

/// The scripts that run in the page, for the relay of a session: in the world that an earlier
/// relay of it may have left there.
#[must_use]
pub fn of_session(sid: &Sid) -> cdp::Scripts {
    in_world(format!("brb-{sid}"))
}

/// The scripts that run in the page, for who looks at it beside whoever else does.
#[must_use]
pub fn scripts() -> cdp::Scripts {
    in_world(format!("brb-look-{}", ids::sid()))
}

fn in_world(world: String) -> cdp::Scripts {
    let found = capture::scripts();
    cdp::Scripts {
        world,
        observe: found.observe,
        compose: found.compose,
        submit_guard: found.submit_guard,
        copyhook: found.copyhook,
    }
}

/// The paths of the page's own requests that carry replies.
#[must_use]
pub fn stream_paths() -> Vec<String> {
    let paths = capture::STREAM_PATHS.iter();
    paths.map(ToString::to_string).collect()
}
