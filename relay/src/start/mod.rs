//! A session is opened, or gone on with: folder, lock, journal, first record, driver, agent.
//!
//! Everything that a person can still mend is found here, before a browser is
//! touched and before anything is typed.

mod again;

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

pub use again::Taken;

use protocol::{
    fault::Code,
    id::Sid,
    limits::Limits,
    message::{Objective, Offer},
    outcome::Signal,
    page::TargetId,
    record::{Journal, JournalError, Opened, Owner, Record, SCHEMA_VERSION, State},
    session::{BrowserBy, Start, TabBy},
    text::Private,
    time::SpanMs,
    wire,
};
use tokio::sync::mpsc;

use crate::{
    agent::{self, AgentError, Carrier},
    claims::{LockClaims, ProfileUse, conversation_of},
    clock::{self, Clock},
    journal::{
        OpenError, SqliteJournal,
        locks::{Holder, Lock, LockError},
    },
    run::{Asked, Hand, Parts, code_of},
    sabotage::Break,
};

/// Everything a new session is opened with, resolved and checked.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The session's id, drawn by the caller.
    pub sid: Sid,
    /// The person's request.
    pub request: String,
    /// The label that HELLO carries.
    pub objective: Objective,
    /// Where the chat is: the site, or a conversation's own address.
    pub chat: String,
    /// Which browser.
    pub endpoint: cdp::Endpoint,
    /// This very tab, where a person named one.
    pub tab: Option<TargetId>,
    /// The rules for the agent.
    pub agent: agent::Settings,
    /// The limits, not yet scaled.
    pub limits: Limits,
    /// What divides every span; 1 in earnest.
    pub time_scale: u32,
    /// The state folder, which is there.
    pub state_dir: PathBuf,
    /// Leave a launched browser open at the end.
    pub keep_browser: bool,
    /// A file whose appearance ends the run.
    pub stop_file: Option<PathBuf>,
    /// Whether a person can be asked.
    pub terminal: bool,
    /// What the run was told besides, kept so that it can be gone on with; none
    /// for one that nobody goes on with.
    pub options: Option<String>,
    /// The guard that the demo takes away on purpose.
    pub sabotage: Option<Break>,
    /// The record after which the demo sends itself a SIGINT.
    pub interrupt_at: Option<u64>,
}

/// Why no session was opened. Nothing was typed and nothing runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartError {
    /// The stable code.
    pub code: Code,
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl StartError {
    fn new(code: Code, what: impl fmt::Display, remedy: impl Into<String>) -> Self {
        Self {
            code,
            what: what.to_string(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.what)
    }
}

impl std::error::Error for StartError {}

impl From<AgentError> for StartError {
    fn from(error: AgentError) -> Self {
        let code = error.code().parse().unwrap_or(Code::Agent);
        let remedy = error.remedy();
        Self::new(code, error, remedy)
    }
}

impl From<OpenError> for StartError {
    fn from(error: OpenError) -> Self {
        let remedy = error.remedy();
        Self::new(Code::Journal, error, remedy)
    }
}

impl From<LockError> for StartError {
    fn from(error: LockError) -> Self {
        let code = match &error {
            LockError::Held { .. } => Code::Locked,
            LockError::Failed { .. } => Code::Journal,
        };
        Self::new(code, error, code.about().remedy)
    }
}

/// What is given back besides the parts: it must live as long as the run.
pub struct Held {
    /// The session's lock.
    //= spec L1
    pub lock: Lock,
    /// The session's own folder.
    pub folder: PathBuf,
}

/// The file in a session's folder that keeps the options of its run.
pub const OPTIONS: &str = "options.json";

/// Opens a new session.
///
/// # Errors
/// [`StartError`]; nothing was typed, and no browser was touched.
pub fn begin(
    setup: Setup,
    approver: Asked,
    signals: mpsc::Receiver<Signal>,
) -> Result<(Parts, Held), StartError> {
    if let Some(why) = setup.limits.contradiction() {
        return Err(StartError::new(
            Code::Config,
            why,
            "change one of the two limits",
        ));
    }
    let carrier = Carrier::preflight(setup.agent.clone(), setup.terminal)?;
    carrier.check_fresh()?;
    let holder = Holder::this(setup.sid.clone(), clock::wall());
    let folder = setup.state_dir.join(setup.sid.as_str());
    let mut journal = SqliteJournal::create(&folder)?;
    let lock = Lock::session(&folder, &holder)?;
    if let Some(options) = &setup.options {
        keep_options(&folder, options).map_err(|error| {
            let what = format!("keeping the options of the run failed: {error}");
            StartError::new(Code::Journal, what, Code::Journal.about().remedy)
        })?;
    }
    let owner = journal.claim().map_err(not_stored)?;
    let record = Record::Opened(Box::new(opened(&setup, &carrier)));
    let mut state = State::default();
    store(&mut journal, owner, 0, &record, &mut state)?;
    let claims = LockClaims::new(conversation_of(&setup.chat), holder);
    let hold = Hold {
        journal,
        owner,
        state,
        claims,
        clock: Clock::start(),
    };
    let parts = hold.parts(setup, carrier, approver, signals);
    Ok((parts, Held { lock, folder }))
}

fn not_stored(error: JournalError) -> StartError {
    let code = code_of(&error);
    StartError::new(code, &error, code.about().remedy)
}

fn store(
    journal: &mut SqliteJournal,
    owner: Owner,
    run_ms: SpanMs,
    record: &Record,
    state: &mut State,
) -> Result<(), StartError> {
    let entry = journal
        .append(owner, state.seq, clock::wall(), run_ms, record)
        .map_err(not_stored)?;
    state
        .apply(&entry)
        .map_err(|error| StartError::new(Code::Journal, error, ""))
}

fn keep_options(folder: &Path, options: &str) -> io::Result<()> {
    agent::record::write_durably(&folder.join(OPTIONS), options.as_bytes())
}

/// The options kept in a session's folder, where there are any.
#[must_use]
pub fn kept_options(folder: &Path) -> Option<String> {
    std::fs::read_to_string(folder.join(OPTIONS)).ok()
}

/// A journal that is held, and what it folds to.
struct Hold {
    journal: SqliteJournal,
    owner: Owner,
    state: State,
    claims: LockClaims,
    clock: Clock,
}

impl Hold {
    fn parts(
        self,
        setup: Setup,
        carrier: Carrier,
        approver: Asked,
        signals: mpsc::Receiver<Signal>,
    ) -> Parts {
        let limits = setup.limits.scaled(setup.time_scale);
        let (commands, observations) = if ends_at_once(&self.state) {
            // Nothing is to be seen any more: no browser is touched.
            let (commands, observations, _) = cdp::port();
            (commands, observations)
        } else {
            cdp::spawn(driver(&setup, &limits, &self.state))
        };
        let (hand, agent) = Hand::new(carrier, approver);
        let start = start_of(&setup);
        Parts {
            journal: Box::new(self.journal),
            owner: self.owner,
            state: self.state,
            start,
            limits,
            commands,
            observations,
            hand,
            agent,
            signals,
            stop_file: setup.stop_file,
            claims: Box::new(self.claims),
            keep_browser: setup.keep_browser,
            profile: ProfileUse::of(&setup.endpoint),
            clock: self.clock,
            time_scale: setup.time_scale,
            sabotage: setup.sabotage,
            interrupt_at: setup.interrupt_at,
        }
    }
}

/// Closes the browser of our own profile that an earlier process left running, where no
/// other relay uses it.
pub async fn close_left(endpoint: &cdp::Endpoint) {
    if let cdp::Endpoint::Launch(launch) = endpoint
        && launch.profile.is_dir()
        && ProfileUse::of(endpoint).is_alone()
    {
        cdp::close_left(launch, &cdp::Limits::default()).await;
    }
}

/// Whether a run over this state is over before it looks at the page.
pub(crate) fn ends_at_once(state: &State) -> bool {
    state.is_closed() || state.standing_stop().is_some()
}

/// What the machine may do about a browser or a tab that is gone: a tab that a
/// person named or had open is theirs.
fn start_of(setup: &Setup) -> Start {
    let person = setup.tab.is_some() || conversation_of(&setup.chat).is_some();
    Start {
        browser: match setup.endpoint {
            cdp::Endpoint::Launch(_) => BrowserBy::Relay,
            cdp::Endpoint::Http(_) | cdp::Endpoint::Ws(_) | cdp::Endpoint::Profile(_) => {
                BrowserBy::Person
            }
        },
        tab: if person { TabBy::Person } else { TabBy::Relay },
        ..Start::default()
    }
}

fn opened(setup: &Setup, carrier: &Carrier) -> Opened {
    let qid = wire::tag(&setup.request);
    Opened {
        schema: SCHEMA_VERSION,
        offer: Offer::standard(setup.sid.clone(), qid, setup.objective.clone()),
        request: Private::from(setup.request.as_str()),
        chat: setup.chat.clone(),
        workspace: carrier.settings().cwd.display().to_string(),
        agent: carrier.found().in_force.clone(),
        limits: setup.limits.clone(),
    }
}

/// What the driver is told: which browser, which tab, and the scripts it runs
/// without knowing them.
pub fn driver(setup: &Setup, limits: &Limits, state: &State) -> cdp::Config {
    let mut scripts = crate::scripts::of_session(&setup.sid);
    if let Some(sabotage) = setup.sabotage {
        sabotage.scripts(&mut scripts);
    }
    let page = Page {
        endpoint: setup.endpoint.clone(),
        tab: setup.tab.clone(),
        chat: setup.chat.clone(),
        keep_browser: setup.keep_browser,
    };
    config(&page, limits, state, scripts)
}

/// Which browser and tab.
#[derive(Debug, Clone)]
pub struct Page {
    /// Which browser.
    pub endpoint: cdp::Endpoint,
    /// This very tab, where a person named one.
    pub tab: Option<TargetId>,
    /// Where the chat is.
    pub chat: String,
    /// Leave a launched browser open at the end.
    pub keep_browser: bool,
}

/// What the driver is told by who only looks at a session's page.
pub fn looker(page: &Page, limits: &Limits, state: &State) -> cdp::Config {
    let mut config = config(page, limits, state, crate::scripts::scripts());
    config.tab.close_opened = true;
    config
}

fn config(page: &Page, limits: &Limits, state: &State, scripts: cdp::Scripts) -> cdp::Config {
    cdp::Config {
        endpoint: page.endpoint.clone(),
        tab: cdp::TabWish {
            id: page.tab.clone(),
            conversation: conversation_address(&page.chat, state),
            opened: state.target.clone(),
            open_at: Some(page.chat.clone()),
            close_opened: false,
        },
        scripts,
        stream_paths: crate::scripts::stream_paths(),
        limits: driver_limits(limits),
        last_epoch: state.epoch,
        keep_browser: page.keep_browser,
    }
}

/// The driver's limits, out of the run's.
fn driver_limits(limits: &Limits) -> cdp::Limits {
    let max = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    cdp::Limits {
        call_ms: limits.call_ms,
        heartbeat_ms: limits.heartbeat_ms,
        heartbeat_misses: u32::try_from(limits.heartbeat_misses).unwrap_or(u32::MAX),
        renderer_ms: limits.renderer_ms,
        compose_ms: limits.compose_ms,
        submit_ms: limits.submit_ms,
        attach_ms: limits.attach_ms,
        observation_bytes_max: max(limits.observation_bytes_max),
        ..cdp::Limits::default()
    }
}

/// Where the conversation is: at the address given, or where the session's own
/// one is shown; none while it has none.
fn conversation_address(chat: &str, state: &State) -> Option<String> {
    let asked = conversation_of(chat);
    match &state.conversation {
        None => asked.map(|_| chat.to_owned()),
        Some(known) if asked.as_ref() == Some(known) => Some(chat.to_owned()),
        Some(known) => capture::layout::conversation_address(chat, &known.0),
    }
}
