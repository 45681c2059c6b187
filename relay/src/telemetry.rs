//! The log: where it goes and what never gets into it.
//!
//! No text of a prompt or a reply stands above `debug` (our own texts are
//! wrapped in a type that hides them), and the libraries under the driver that
//! write whole messages are dropped at any level, whatever a filter says.

use std::{
    fmt,
    fs::File,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tracing::{Metadata, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, filter::filter_fn, fmt::writer::BoxMakeWriter, layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// Most that one log takes, in bytes; then it says so once and stays silent.
const LOG_LEN_MAX: u64 = 32 << 20;

/// Where the log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    /// To stderr.
    Stderr,
    /// To a file, added at its end; made for its owner alone.
    File(PathBuf),
}

/// The log cannot be written.
#[derive(Debug)]
pub struct NoLog {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl fmt::Display for NoLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "opening the log {} failed: {}",
            self.path.display(),
            self.source
        )
    }
}

impl std::error::Error for NoLog {}

/// Begins to log for the rest of the process's life.
///
/// # Errors
/// [`NoLog`] when the file cannot be opened.
pub fn start(level: LevelFilter, sink: &Sink) -> Result<(), NoLog> {
    let writer = match sink {
        Sink::Stderr => BoxMakeWriter::new(io::stderr),
        Sink::File(path) => {
            let file = open(path).map_err(|source| NoLog {
                path: path.clone(),
                source,
            })?;
            let file = Arc::new(Mutex::new(file));
            BoxMakeWriter::new(move || Shared(Arc::clone(&file)))
        }
    };
    // A second start in one process is a test's; the first one holds.
    let _ = tracing_subscriber::registry()
        .with(layer(level, writer))
        .try_init();
    Ok(())
}

fn layer<S>(level: LevelFilter, writer: BoxMakeWriter) -> impl Layer<S>
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
{
    tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(writer)
        .with_filter(filter_fn(move |meta| is_logged(meta, level)))
}

fn is_logged(meta: &Metadata<'_>, level: LevelFilter) -> bool {
    *meta.level() <= level && !is_noisy(meta.target())
}

fn is_noisy(target: &str) -> bool {
    let root = target.split("::").next().unwrap_or(target);
    cdp::NOISY_TARGETS.contains(&root)
}

fn open(path: &Path) -> io::Result<Bounded<File>> {
    if let Some(folder) = path.parent() {
        crate::journal::make_folder(folder)?;
    }
    let file = File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    let len = file.metadata()?.len();
    Ok(Bounded { to: file, len })
}

/// A writer that takes so much and no more.
struct Bounded<W> {
    to: W,
    len: u64,
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.len >= LOG_LEN_MAX {
            return Ok(bytes.len());
        }
        self.len += bytes.len() as u64;
        self.to.write_all(bytes)?;
        if self.len >= LOG_LEN_MAX {
            self.to
                .write_all(b"the log is full; nothing more is written\n")?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

struct Shared(Arc<Mutex<Bounded<File>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A thread that panicked in between left whole lines behind.
        let mut file = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Heard(Arc<Mutex<Vec<u8>>>);

    impl Write for Heard {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn heard(level: LevelFilter, say: impl FnOnce()) -> String {
        let heard = Heard::default();
        let writer = heard.clone();
        let writer = BoxMakeWriter::new(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer(level, writer));
        tracing::subscriber::with_default(subscriber, say);
        let bytes = heard.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn libraries_that_write_whole_messages_are_dropped_at_any_level() {
        let said = heard(LevelFilter::TRACE, || {
            tracing::error!(target: "chromiumoxide", "secret-1");
            tracing::warn!(target: "chromiumoxide::conn", "secret-2");
            tracing::trace!(target: "async_tungstenite::tokio", "secret-3");
            tracing::error!(target: "tungstenite::protocol", "secret-4");
            tracing::trace!(target: "relay::run", "ours");
            tracing::trace!(target: "tungstenites", "a neighbour");
        });
        assert!(!said.contains("secret"), "{said}");
        assert!(
            said.contains("ours") && said.contains("a neighbour"),
            "{said}"
        );
    }

    #[test]
    fn what_is_below_the_level_is_not_logged() {
        let said = heard(LevelFilter::INFO, || {
            tracing::debug!("below");
            tracing::info!("at");
        });
        assert!(said.contains("at") && !said.contains("below"), "{said}");
    }

    #[test]
    fn a_full_log_says_so_once_and_grows_no_more() {
        let mut log = Bounded {
            to: Vec::new(),
            len: LOG_LEN_MAX - 3,
        };
        for _ in 0..3 {
            log.write_all(b"line\n").unwrap();
        }
        let text = String::from_utf8(log.to).unwrap();
        assert_eq!(text, "line\nthe log is full; nothing more is written\n");
    }

    #[test]
    fn a_log_that_cannot_be_opened_is_named() {
        let path = PathBuf::from("/sys/pi-bridge-test/x.log");
        let error = start(LevelFilter::INFO, &Sink::File(path.clone())).unwrap_err();
        assert_eq!(error.path, path);
    }
}
