//! A name that one process of this machine holds, and that says who it is.
//!
//! It is an abstract socket **(ours)**. The system gives a name to one process alone and
//! takes it back when that process, and whatever it was handed on to, has ended, however
//! it ended; no file can stay behind, go stale or be cleaned away under its holder. It is
//! the same name for every user and every state folder of the machine, and reaches as far
//! as its loopback does.
//!
//! The name is what counts. What its holder says of itself is for people.

use std::{
    fs,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use nix::{
    fcntl::{FcntlArg, FdFlag, fcntl},
    sys::socket::{
        AddressFamily, Shutdown, SockFlag, SockType, UnixAddr, connect, getsockopt, shutdown,
        socket, sockopt::PeerCredentials,
    },
};

/// Most of what a holder says that is read, in bytes.
const SAID_LEN_MAX: u64 = 4 << 10;

/// How long a holder has to say who it is; a stopped one says nothing.
const SAY: Duration = Duration::from_secs(1);

/// Between two tries for a name whose holder is just going.
const TRY_GAP: Duration = Duration::from_millis(20);

const TRIES_MAX: u32 = 4;

/// Every name of the machine and its socket.
const NAMES: &str = "/proc/net/unix";

/// A name that is held; dropping it lets it go, where it was not handed on.
#[derive(Debug)]
pub struct Name {
    listener: Arc<UnixListener>,
    teller: Option<JoinHandle<()>>,
}

/// What is known of whoever holds a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// The process that took it, as the system says; none where it cannot be seen.
    pub pid: Option<u32>,
    /// What it says of itself; empty where it says nothing.
    pub said: Vec<u8>,
}

/// The outcome of asking for a name.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Ours(Name),
    /// Somebody else has it.
    Held(By),
}

impl Name {
    /// Takes a name, and says `said` to whoever asks for it while it is held.
    ///
    /// # Errors
    /// The system's.
    pub fn take(name: &str, said: Vec<u8>) -> io::Result<Taken> {
        let address = SocketAddr::from_abstract_name(name)?;
        for nth in 1.. {
            match UnixListener::bind_addr(&address) {
                Ok(listener) => return Self::answering(listener, said).map(Taken::Ours),
                Err(error) if error.kind() != io::ErrorKind::AddrInUse => return Err(error),
                Err(_) => {}
            }
            match ask(name) {
                Ok(by) => return Ok(Taken::Held(by)),
                // Its holder ended between the two, or handed it on and ended.
                Err(_) if nth < TRIES_MAX => thread::sleep(TRY_GAP),
                Err(_) => break,
            }
        }
        let (pid, said) = (None, Vec::new());
        Ok(Taken::Held(By { pid, said }))
    }

    /// From now on every process that this one starts holds the name as well. It cannot
    /// be connected from and leads nowhere: whoever inherits it can only answer for it.
    ///
    /// # Errors
    /// The system's.
    pub fn share_with_children(&self) -> io::Result<()> {
        fcntl(self.listener.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
        Ok(())
    }

    fn answering(listener: UnixListener, said: Vec<u8>) -> io::Result<Self> {
        let listener = Arc::new(listener);
        let ear = Arc::clone(&listener);
        let teller = thread::Builder::new()
            .name("name".to_owned())
            .spawn(move || tell(&ear, &said))?;
        Ok(Self {
            listener,
            teller: Some(teller),
        })
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        // Its thread wakes up by this, so that the name is free when it is left.
        let _ = shutdown(self.listener.as_raw_fd(), Shutdown::Both);
        if let Some(teller) = self.teller.take() {
            let _ = teller.join();
        }
    }
}

/// Says who holds the name to whoever asks, until it is let go.
fn tell(listener: &UnixListener, said: &[u8]) {
    loop {
        match listener.accept() {
            Ok((mut asker, _)) => {
                let _ = asker.set_write_timeout(Some(SAY));
                let _ = asker.write_all(said);
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            // No more files, say: whoever asks next still learns the process.
            Err(_) => thread::sleep(SAY),
        }
    }
}

/// Who holds a name: the system says the process, the holder the rest. An error where
/// nobody answers for it.
///
/// Never waits for a place in the queue of a holder that stands still: connecting does
/// not block, and where the queue is full somebody holds the name all the same.
fn ask(name: &str) -> io::Result<By> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd: OwnedFd = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    match connect(fd.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes())?) {
        Ok(()) => {}
        Err(nix::Error::EAGAIN) => {
            let (pid, said) = (None, Vec::new());
            return Ok(By { pid, said });
        }
        Err(error) => return Err(error.into()),
    }
    let mut stream = UnixStream::from(fd);
    stream.set_nonblocking(false)?;
    // 0 is a process that this one cannot see.
    let pid = getsockopt(&stream, PeerCredentials)
        .ok()
        .and_then(|peer| u32::try_from(peer.pid()).ok())
        .filter(|pid| *pid > 0);
    stream.set_read_timeout(Some(SAY))?;
    let mut said = Vec::new();
    let _ = Read::by_ref(&mut stream)
        .take(SAID_LEN_MAX)
        .read_to_end(&mut said);
    Ok(By { pid, said })
}

/// Who holds a name now; none where nobody does. Takes nothing.
///
/// # Errors
/// The machine's names cannot be read.
pub fn look(name: &str) -> io::Result<Option<By>> {
    if sockets(name)?.is_empty() {
        return Ok(None);
    }
    // One that nobody answers for any more was handed on, and is held all the same.
    Ok(Some(ask(name).unwrap_or_else(|_| By {
        pid: None,
        said: Vec::new(),
    })))
}

/// The name's sockets as the links of a process's `fd` folder show them.
///
/// # Errors
/// The machine's names cannot be read.
pub fn links(name: &str) -> io::Result<Vec<String>> {
    let link = |inode| format!("socket:[{inode}]");
    Ok(sockets(name)?.iter().map(link).collect())
}

/// Whether any of these links stands in that `fd` folder: all that hold a name have one.
pub fn is_any_in(links: &[String], fds: &Path) -> bool {
    fs::read_dir(fds).is_ok_and(|fds| {
        fds.flatten().any(|fd| {
            fs::read_link(fd.path())
                .is_ok_and(|link| links.iter().any(|it| link.as_os_str() == it.as_str()))
        })
    })
}

/// The sockets of that name: the one that holds it, and accepted ones that carry it, too.
fn sockets(name: &str) -> io::Result<Vec<String>> {
    // Other processes name theirs as they like, and not in UTF-8.
    let all = fs::read(NAMES)?;
    let all = String::from_utf8_lossy(&all);
    Ok(all
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(6);
            let inode = fields.next()?;
            (fields.next()?.strip_prefix('@')? == name).then(|| inode.to_owned())
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name of this test alone: names are the whole machine's.
    fn fresh() -> String {
        format!("pi-bridge/test/{}", crate::ids::sid())
    }

    fn held(name: &str) -> By {
        match Name::take(name, Vec::new()).unwrap() {
            Taken::Held(by) => by,
            Taken::Ours(_) => panic!("it is held"),
        }
    }

    fn ours(name: &str, said: &str) -> Name {
        match Name::take(name, said.into()).unwrap() {
            Taken::Ours(name) => name,
            Taken::Held(by) => panic!("{by:?}"),
        }
    }

    #[test]
    fn a_name_is_held_once_and_free_when_let_go() {
        let name = fresh();
        assert_eq!(look(&name).unwrap(), None);
        let first = ours(&name, "it is me");
        let by = By {
            pid: Some(std::process::id()),
            said: b"it is me".to_vec(),
        };
        assert_eq!(held(&name), by);
        assert_eq!(look(&name).unwrap(), Some(by));
        let links = links(&name).unwrap();
        assert!(is_any_in(&links, Path::new("/proc/self/fd")));
        drop(first);
        assert_eq!(look(&name).unwrap(), None);
        assert!(!is_any_in(&links, Path::new("/proc/self/fd")));
        drop(ours(&name, ""));
    }

    #[test]
    fn a_holder_that_stands_still_is_asked_any_number_of_times() {
        let name = fresh();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        // Its queue is full at some time, and nobody takes anything out of it.
        let mut queued = Vec::new();
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let full = (0..10_000).any(|_| {
            let fd = socket(AddressFamily::Unix, SockType::Stream, flags, None).unwrap();
            let address = UnixAddr::new_abstract(name.as_bytes()).unwrap();
            let refused = connect(fd.as_raw_fd(), &address) == Err(nix::Error::EAGAIN);
            queued.push(fd);
            refused
        });
        assert!(full, "the queue of a listener has an end");
        let (pid, said) = (None, Vec::new());
        assert_eq!(held(&name), By { pid, said });
        drop(listener);
    }
}
