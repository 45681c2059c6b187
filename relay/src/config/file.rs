//! One configuration file: read, bounded, each key and value with the line it stands in.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    ConfigError, FILE_BYTES_MAX,
    keys::{self, Key, Kind, LIMITS},
};

/// Names farther apart than this are not taken for a slip of the pen.
const LIKENESS_MIN: f64 = 0.7;

/// What a file sets: the key, the value as a flag is given it, the line counted from 1.
pub(super) type Set = (&'static Key, String, usize);

/// Reads a file; nothing where there is none.
pub(super) fn read(path: &Path, home: Option<&Path>) -> Result<Option<Vec<Set>>, ConfigError> {
    let Some(text) = text_of(path)? else {
        return Ok(None);
    };
    let file = File {
        path,
        home,
        text: &text,
    };
    let table = DeTable::parse(&text).map_err(|error| {
        let line = file.line(error.span().map_or(0, |span| span.start));
        let what = format!("this is not TOML: {}", error.message());
        file.error(line, what, "Write it as `name = value`, a line each.")
    })?;
    let mut set = Vec::new();
    for (name, value) in table.get_ref() {
        match (name.get_ref().as_ref(), value.get_ref()) {
            (LIMITS, DeValue::Table(limits)) => {
                for (name, value) in limits {
                    set.push(file.setting(name.get_ref(), name.span().start, value, true)?);
                }
            }
            (name_text, _) => {
                set.push(file.setting(name_text, name.span().start, value, false)?);
            }
        }
    }
    Ok(Some(set))
}

fn text_of(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed = |what: String| ConfigError {
        place: path.display().to_string(),
        what,
        remedy: "Mend the file or take it away.".to_owned(),
    };
    let io = |error: io::Error| failed(format!("reading it failed: {error}"));
    // Asked before it is opened: a pipe would wait for somebody to write into it.
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(failed("it is not a file".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(io)?;
    let mut bounded = file.take(FILE_BYTES_MAX + 1);
    bounded.read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(failed(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
    Ok(Some(text))
}

struct File<'a> {
    path: &'a Path,
    home: Option<&'a Path>,
    text: &'a str,
}

impl File<'_> {
    fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    fn error(&self, line: usize, what: String, remedy: &str) -> ConfigError {
        ConfigError {
            place: format!("{}:{line}", self.path.display()),
            what,
            remedy: remedy.to_owned(),
        }
    }

    fn setting(
        &self,
        name: &str,
        at: usize,
        value: &Spanned<DeValue<'_>>,
        is_limit: bool,
    ) -> Result<Set, ConfigError> {
        let line = self.line(at);
        let key = keys::find(name, is_limit).ok_or_else(|| {
            let remedy = nearest(name).map_or_else(
                || "See `brb config show` for every key.".to_owned(),
                |near| format!("Perhaps {near} is meant; `brb config show` has every key."),
            );
            let named = if is_limit {
                format!("{LIMITS}.{name}")
            } else {
                name.to_owned()
            };
            self.error(line, format!("there is no key {named:?}"), &remedy)
        })?;
        let wrong = |what| self.error(line, what, "`brb config show` tells what holds now.");
        let said = said(key, value.get_ref()).map_err(wrong)?;
        let value = key.check(&said).map_err(wrong)?;
        Ok((key, self.anchored(key.kind, value), line))
    }

    /// A path that means the same in any folder.
    fn anchored(&self, kind: Kind, value: String) -> String {
        let is_path = match kind {
            Kind::Path => true,
            Kind::Program => value.contains('/'),
            Kind::Endpoint => !value.contains("://"),
            Kind::Text | Kind::Switch | Kind::Choice(_) | Kind::Number { .. } => false,
        };
        if !is_path {
            return value;
        }
        let path = match (value.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_) | None, _) => PathBuf::from(&value),
        };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        folder.join(path).display().to_string()
    }
}

/// The value as text, where it is of the type that the key takes.
fn said(key: &Key, value: &DeValue<'_>) -> Result<String, String> {
    let wants = match key.kind {
        Kind::Switch => "true or false",
        Kind::Number { .. } => "a number",
        Kind::Text | Kind::Path | Kind::Program | Kind::Endpoint | Kind::Choice(_) => {
            "text in quotation marks"
        }
    };
    match (key.kind, value) {
        (Kind::Switch, DeValue::Boolean(on)) => Ok(on.to_string()),
        (Kind::Number { .. }, DeValue::Integer(number)) if number.radix() == 10 => {
            Ok(number.as_str().to_owned())
        }
        (
            Kind::Text | Kind::Path | Kind::Program | Kind::Endpoint | Kind::Choice(_),
            DeValue::String(text),
        ) => Ok(text.to_string()),
        (
            Kind::Switch
            | Kind::Number { .. }
            | Kind::Text
            | Kind::Path
            | Kind::Program
            | Kind::Endpoint
            | Kind::Choice(_),
            _,
        ) => Err(format!("{} wants {wants}", key.path())),
    }
}

/// The key that was likely meant, wherever it belongs.
fn nearest(name: &str) -> Option<String> {
    let name = name.replace('-', "_");
    let likeness = |key: &&Key| strsim::jaro_winkler(&name, key.name);
    let best = keys::all()
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) >= LIKENESS_MIN).then(|| best.path())
}
