//! The files of a journal: made for their owner alone, and looked at before
//! SQLite may touch them, because SQLite makes what it does not find.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::{
    chain::{HEAD_LEN, Head},
    error::OpenError,
};

/// The journal's file name within its session's folder.
pub const JOURNAL: &str = "journal.sqlite3";

/// The head's file name: the place and digest of the last record.
pub const HEAD: &str = "journal.head";

/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

pub(super) fn failed<'a>(
    path: &'a Path,
    doing: &'static str,
) -> impl Fn(io::Error) -> OpenError + 'a {
    move |source| OpenError::Io {
        path: path.to_owned(),
        doing,
        source,
    }
}

/// Makes a folder, and those above it, for its owner alone.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes a session's folder, which must not be there, and its empty files.
///
/// The head comes first: where a journal is, its head is.
pub(super) fn make(folder: &Path, head: &Head) -> Result<File, OpenError> {
    if let Some(above) = folder.parent() {
        make_folder(above).map_err(failed(above, "making the folder"))?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(OpenError::Exists {
                folder: folder.to_owned(),
            });
        }
        Err(error) => return Err(failed(folder, "making the folder")(error)),
    }
    let path = folder.join(HEAD);
    let file = make_file(&path).map_err(failed(&path, "making"))?;
    write_head(&file, head)
        .and_then(|()| file.sync_all())
        .map_err(failed(&path, "writing"))?;
    let path = folder.join(JOURNAL);
    make_file(&path).map_err(failed(&path, "making"))?;
    Ok(file)
}

/// Makes the folder's entries durable, and its own entry in the folder above.
pub(super) fn sync_folder(folder: &Path) -> Result<(), OpenError> {
    for folder in [Some(folder), folder.parent()].into_iter().flatten() {
        File::open(folder)
            .and_then(|file| file.sync_all())
            .map_err(failed(folder, "syncing"))?;
    }
    Ok(())
}

fn make_file(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// What must hold of the files before SQLite opens them.
pub(super) fn look(folder: &Path) -> Result<PathBuf, OpenError> {
    match fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => {
            return Err(failed(folder, "opening the folder")(
                io::ErrorKind::NotADirectory.into(),
            ));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(OpenError::NoSession {
                folder: folder.to_owned(),
            });
        }
        Err(error) => return Err(failed(folder, "opening the folder")(error)),
    }
    let path = folder.join(JOURNAL);
    let mut start = [0; 16];
    match File::open(&path).and_then(|file| read_start(file, &mut start)) {
        Ok(0) => Err(OpenError::Unfinished { path }),
        Ok(_) if &start == MAGIC => Ok(path),
        Ok(_) => Err(OpenError::Corrupt {
            path,
            seq: None,
            why: "it does not begin as a journal does".to_owned(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(OpenError::Gone { path }),
        Err(error) => Err(failed(&path, "opening")(error)),
    }
}

fn read_start(file: File, start: &mut [u8; 16]) -> io::Result<usize> {
    let mut bytes = Vec::with_capacity(start.len());
    file.take(start.len() as u64).read_to_end(&mut bytes)?;
    start[..bytes.len()].copy_from_slice(&bytes);
    Ok(bytes.len())
}

/// How SQLite is told to read a journal that lies where nothing can be written, and that
/// was closed in order: it would make a log beside it to read any other. None where the
/// usual way is the right one, also where a log is left, which only that way reads.
pub(super) fn fixed(folder: &Path, path: &Path) -> Option<String> {
    let writable = nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK).is_ok();
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_logged = fs::metadata(log).is_ok_and(|log| log.len() > 0);
    if writable || is_logged {
        return None;
    }
    use std::{fmt::Write as _, os::unix::ffi::OsStrExt as _};
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte));
            }
            other => {
                // Writing to a String cannot fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    Some(uri)
}

/// The head file as it stands; none inside where it is torn.
pub(super) fn read_head(folder: &Path) -> Result<Option<Head>, OpenError> {
    let path = folder.join(HEAD);
    let mut bytes = Vec::with_capacity(HEAD_LEN + 1);
    match File::open(&path).and_then(|file| file.take(HEAD_LEN as u64 + 1).read_to_end(&mut bytes))
    {
        Ok(_) => Ok(Head::parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(OpenError::Gone { path }),
        Err(error) => Err(failed(&path, "reading")(error)),
    }
}

pub(super) fn open_head(folder: &Path) -> Result<File, OpenError> {
    let path = folder.join(HEAD);
    File::options()
        .read(true)
        .write(true)
        .open(&path)
        .map_err(failed(&path, "opening"))
}

pub(super) fn write_head(file: &File, head: &Head) -> io::Result<()> {
    file.write_all_at(head.line().as_bytes(), 0)
}
