//! The system calls that stay closed beside Landlock, which knows files and TCP alone.
//!
//! Measured: under Landlock alone UDP, raw and abstract sockets pass. So no socket can be made
//! at all, but for connected pairs of streams; and the other roads to one are closed as well.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::{Refusal, Sockets};

/// The same calls under x32's numbers, which a list of numbers alone would let through.
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;

/// Closed whatever the sockets: other processes' memory, mounts, namespaces, modules, keys, and
/// the rings that make sockets without the call for it.
const CLOSED: &[i64] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
];

/// Closed where no socket is left; a pair that is no stream could still be sent elsewhere.
const CLOSED_SOCKETS: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
];

fn is(arg: u8, op: SeccompCmpOp, value: i32) -> Result<SeccompCondition, Refusal> {
    SeccompCondition::new(
        arg,
        SeccompCmpArgLen::Dword,
        op,
        u64::from(value.unsigned_abs()),
    )
    .map_err(Refusal::of)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, Refusal> {
    SeccompRule::new(conditions).map_err(Refusal::of)
}

/// The calls to refuse; an empty list of rules refuses always.
fn rules(sockets: Sockets) -> Result<BTreeMap<i64, Vec<SeccompRule>>, Refusal> {
    let mut closed: BTreeMap<i64, Vec<SeccompRule>> =
        CLOSED.iter().map(|nr| (*nr, Vec::new())).collect();
    match sockets {
        Sockets::Nothing => closed.extend(CLOSED_SOCKETS.iter().map(|nr| (*nr, Vec::new()))),
        Sockets::Inet => {
            let others = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]
                .into_iter()
                .map(|family| is(0, SeccompCmpOp::Ne, family))
                .collect::<Result<_, _>>()?;
            closed.insert(libc::SYS_socket, vec![rule(others)?]);
        }
    }
    let kind = SeccompCmpOp::MaskedEq(0xF);
    let datagram = is(1, kind, libc::SOCK_DGRAM)?;
    closed.insert(libc::SYS_socketpair, vec![rule(vec![datagram])?]);
    // Pushing characters into a terminal's input.
    closed.insert(
        libc::SYS_ioctl,
        vec![rule(vec![is(1, SeccompCmpOp::Eq, 0x5412)?])?],
    );
    #[cfg(target_arch = "x86_64")]
    {
        let x32: Vec<_> = closed
            .iter()
            .map(|(nr, rules)| (nr | X32_BIT, rules.clone()))
            .collect();
        closed.extend(x32);
    }
    Ok(closed)
}

/// Closes them for the calling thread and all it becomes.
pub(super) fn apply(sockets: Sockets) -> Result<(), Refusal> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(Refusal::of)?;
    let refuse = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let filter = SeccompFilter::new(rules(sockets)?, SeccompAction::Allow, refuse, arch)
        .map_err(Refusal::of)?;
    let program: BpfProgram = filter
        .try_into()
        .map_err(Refusal::of::<seccompiler::BackendError>)?;
    nix::sys::prctl::set_no_new_privs().map_err(Refusal::of)?;
    seccompiler::apply_filter(&program).map_err(Refusal::of)
}
