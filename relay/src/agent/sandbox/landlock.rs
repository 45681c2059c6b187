//! Landlock for files where there are no namespaces; seccomp stands beside it for sockets.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use serde::{Deserialize, Serialize};

use super::{ETC, ETC_NET, Enter, Refusal, SYSTEM, Shape, Sockets, text};

/// Before this one, files outside could be truncated.
const ABI_LEAST: ABI = ABI::V3;
/// From this one on, processes outside cannot be sent signals.
const ABI_SIGNALS: u32 = 6;

/// The files a job may see.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Files {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

/// What is shown to the jobs of one execution.
pub(super) fn files(shape: &Shape) -> Files {
    let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
    let mut read = [
        paths(SYSTEM),
        paths(ETC),
        paths(&["/proc", "/dev/urandom", "/dev/random"]),
    ]
    .concat();
    if shape.net {
        read.extend(paths(ETC_NET));
    }
    read.extend(shape.visible.iter().chain(&shape.git).cloned());
    let mut write = paths(&["/dev/null", "/dev/zero", "/dev/full"]);
    write.extend([shape.scratch.join("tmp"), shape.scratch.join("home")]);
    if shape.read_only {
        &mut read
    } else {
        &mut write
    }
    .push(shape.cwd.clone());
    Files { read, write }
}

/// What Landlock cannot do, for the receipt.
pub(super) fn not_enforced(shape: &Shape, abi: u32) -> String {
    let mut list = Vec::new();
    if !shape.read_only {
        list.push(".git is writable");
    }
    list.push("names, sizes and command lines outside can be seen, modes and times there changed");
    list.push("/tmp is only private by TMPDIR");
    if abi < ABI_SIGNALS {
        list.push("processes outside can be sent signals");
    }
    list.join("; ")
}

/// Puts the calling thread, and all it becomes, inside; returns the kernel's ABI.
///
/// Landlock does not ask about what capabilities open: measured, root could read the environment
/// of every process by CAP_PERFMON. They all go, and without new privileges none comes back.
pub(super) fn restrict(files: &Files, no_net: bool) -> Result<u32, Refusal> {
    let said = Refusal::of::<RulesetError>;
    let must: BitFlags<AccessFs> = AccessFs::from_all(ABI_LEAST);
    let all: BitFlags<AccessFs> = AccessFs::from_all(ABI::V9);
    let made =
        AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::ResolveUnix;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(must)
        .map_err(said)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .map_err(said)?
        .scope(Scope::from_all(ABI::V6))
        .map_err(said)?;
    if no_net {
        rules = rules
            .handle_access(AccessNet::from_all(ABI::V4))
            .map_err(said)?;
    }
    let read: BitFlags<AccessFs> = AccessFs::from_read(ABI_LEAST);
    let status = rules
        .create()
        .map_err(said)?
        .add_rules(path_beneath_rules(&files.read, read))
        .map_err(said)?
        .add_rules(path_beneath_rules(&files.write, all & !made))
        .map_err(said)?
        .restrict_self()
        .map_err(said)?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(Refusal::of("landlock is not enforced"));
    }
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).map_err(Refusal::of)?;
    Ok(ABI::from(status.landlock) as u32)
}

/// The ABI where a program can be run inside, else why not.
pub(super) fn probe(exe: &Path) -> Result<u32, Refusal> {
    let read = SYSTEM.iter().chain(ETC).map(PathBuf::from).collect();
    let enter = Enter {
        files: Some(Files {
            read,
            write: vec![PathBuf::from("/dev/null")],
        }),
        sockets: Sockets::Nothing,
        probe: true,
    };
    let enter = serde_json::to_string(&enter).map_err(Refusal::of)?;
    let output = Command::new(exe)
        .env_clear()
        .args([super::super::SANDBOX, &enter, "/bin/sh", "-c", ":"])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Refusal::of(format!("{}: {e}", text(exe))))?;
    let abi = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    if let Some(abi) = abi.filter(|_| output.status.success()) {
        return Ok(abi);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Refusal::of(
        said.lines()
            .next()
            .unwrap_or("the probe failed without a reason"),
    ))
}
