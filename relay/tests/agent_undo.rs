//! Keeping, showing and putting back the work folder, with real git and real plans.

mod agent_support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_support::{Place, git, hear};
use relay::agent::{AgentError, Carrier, Ended, Order, Outcome, UndoRule, undo};

/// What a person sees of a folder: every path but `.git`, with bytes, links and the run bit.
fn picture(root: &Path) -> BTreeMap<PathBuf, String> {
    fn walk(root: &Path, at: &Path, into: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(at)
            .expect("a folder")
            .map(|e| e.expect("an entry").path())
        {
            let name = entry.strip_prefix(root).expect("inside").to_owned();
            let meta = fs::symlink_metadata(&entry).expect("is there");
            if name.as_os_str() == ".git" {
                continue;
            }
            if meta.is_symlink() {
                into.insert(
                    name,
                    format!("-> {}", fs::read_link(&entry).expect("a link").display()),
                );
            } else if meta.is_dir() {
                walk(root, &entry, into);
            } else {
                let exec = meta.permissions().mode() & 0o100 != 0;
                into.insert(
                    name,
                    format!("{exec} {:?}", fs::read(&entry).expect("a file")),
                );
            }
        }
    }
    let mut into = BTreeMap::new();
    walk(root, root, &mut into);
    into
}

/// A repository with one commit, and in the folder more than was committed.
fn lived_in() -> Place {
    let mut place = Place::bare();
    place.settings.undo = UndoRule::Keep;
    place.settings.dirty = true;
    let work = place.work().to_owned();
    git(&work, &["init", "-q"]);
    fs::create_dir_all(work.join("dir/deep")).expect("folders");
    for (name, text) in [
        ("tracked", "one\r\ntwo\n"),
        ("script", "#!/bin/sh\n"),
        ("gone", "committed, then deleted\n"),
        ("dir/deep/file", "deep\n"),
        ("dir/other", "other\n"),
        (".gitignore", "ignored\n"),
        (".gitattributes", "* text=auto eol=crlf\n*.x filter=evil\n"),
    ] {
        fs::write(work.join(name), text).expect("writes");
    }
    symlink("tracked", work.join("link")).expect("links");
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-q", "-m", "first"]);
    fs::write(work.join("tracked"), "changed, not committed\r\nmixed\n").expect("writes");
    fs::remove_file(work.join("gone")).expect("removes");
    fs::write(work.join("untracked"), b"bytes \xff\0\r\n").expect("writes");
    fs::write(work.join("odd\nname \"q\" é"), "odd\n").expect("writes");
    fs::write(
        work.join(std::ffi::OsStr::from_bytes(b"no-text-\xff")),
        "odd too\n",
    )
    .expect("writes");
    fs::write(work.join("ignored"), "not kept\n").expect("writes");
    fs::set_permissions(work.join("script"), fs::Permissions::from_mode(0o755)).expect("mode");
    git(&work, &["add", "untracked"]);
    place
}

/// Everything of git that keeping must not touch.
fn git_picture(work: &Path) -> Vec<String> {
    [
        &["rev-parse", "HEAD"][..],
        &["symbolic-ref", "HEAD"],
        &["branch", "-a"],
        &["stash", "list"],
        &["diff", "--cached", "--name-status"],
        &["status", "--porcelain"],
    ]
    .map(|args| git(work, args))
    .to_vec()
}

const WRECK: &[&str] = &[
    "echo new > tracked; rm untracked script dir/other; rm link; ln -s /etc/passwd link",
    "rm -r dir/deep; echo 'a file now' > dir/deep; mkdir -p made/by && echo x > made/by/plan",
    "printf 'was not there' > gone; chmod +x tracked; rm odd*; echo more >> ignored",
];

#[tokio::test]
async fn an_undo_puts_back_every_byte_link_and_mode_and_takes_away_what_came() {
    let place = lived_in();
    let (before, git_before) = (picture(place.work()), git_picture(place.work()));
    let mut running = place.start(&place.order(WRECK)).await;
    let Outcome::Settled(record) = running.outcome().await else {
        panic!("settles")
    };
    assert_eq!(
        record.ended,
        Ended::Settled { ok: true },
        "{}",
        record.receipt
    );
    let wrecked = picture(place.work());
    assert_ne!(wrecked, before);

    let undone =
        undo::undo(&place.settings.state_dir, place.work(), &place.sid, 1).expect("undoes");
    let mut after = picture(place.work());
    // Ignored files are not kept, and said so.
    after.insert("ignored".into(), before[Path::new("ignored")].clone());
    assert_eq!(after, before);
    assert!(
        undone.removed.contains(&PathBuf::from("made/by/plan")),
        "{undone:?}"
    );
    assert!(
        !place.work().join("made").exists(),
        "empty folders go with their files"
    );
    assert_eq!(git_picture(place.work()), git_before);

    // The undo can itself be undone: what it took away is kept.
    let kept = git(
        place.work(),
        &["show", &format!("{}:made/by/plan", undone.kept)],
    );
    assert_eq!(kept, "x");
}

#[tokio::test]
async fn keeping_touches_neither_head_nor_index_nor_branches_nor_stash() {
    let place = lived_in();
    let (before, git_before) = (picture(place.work()), git_picture(place.work()));
    let index = fs::read(place.work().join(".git/index")).expect("an index");
    let order = place.order(&[]);
    let name = undo::keep(place.work(), &order, Duration::from_secs(60)).expect("keeps");
    assert_eq!(name, format!("refs/pi-bridge/{}/1", place.sid));
    assert_eq!(
        (picture(place.work()), git_picture(place.work())),
        (before, git_before)
    );
    assert_eq!(
        fs::read(place.work().join(".git/index")).expect("an index"),
        index
    );
    assert_eq!(undo::rounds(place.work(), &place.sid).expect("lists"), [1]);
    // A plan that comes under the same number again does not cost the earlier state.
    let first = git(place.work(), &["rev-parse", &name]);
    fs::write(place.work().join("tracked"), "later\n").expect("writes");
    undo::keep(place.work(), &order, Duration::from_secs(60)).expect("keeps");
    assert_eq!(
        git(place.work(), &["rev-parse", &format!("{name}.2")]),
        first
    );
    assert_ne!(git(place.work(), &["rev-parse", &name]), first);
}

#[tokio::test]
async fn a_diff_shows_what_the_plan_did_untracked_files_included() {
    let place = lived_in();
    place
        .settle(&["echo new > fresh; echo edited > untracked; rm dir/other"])
        .await;
    let patch = undo::diff(place.work(), &place.sid, 1).expect("a diff");
    let patch = String::from_utf8_lossy(&patch);
    for part in ["b/fresh", "a/untracked", "deleted file mode 100644\n"] {
        assert!(patch.contains(part), "{part} in {patch}");
    }
    // What the person had changed before is not the plan's doing.
    assert!(
        !patch.contains("a/tracked") && !patch.contains("a/gone"),
        "{patch}"
    );
    let absent = undo::diff(place.work(), &place.sid, 2);
    assert!(matches!(absent, Err(AgentError::Git { .. })), "{absent:?}");
}

#[tokio::test]
async fn an_undo_never_writes_through_a_link_that_the_plan_left() {
    let place = lived_in();
    let outside = place.root().join("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("other"), "the person's\n").expect("writes");
    let before = picture(place.work());
    let plan = format!(
        "rm -r dir && ln -s {} dir && echo dir >> .gitignore",
        outside.display()
    );
    place.settle(&[&plan]).await;
    undo::undo(&place.settings.state_dir, place.work(), &place.sid, 1).expect("undoes");
    assert_eq!(picture(place.work()), before);
    assert_eq!(
        fs::read_to_string(outside.join("other")).expect("reads"),
        "the person's\n"
    );
    assert!(!outside.join("deep").exists());
}

#[tokio::test]
async fn nothing_that_a_repository_configures_is_run_by_keeping_or_undoing() {
    let place = lived_in();
    let (work, trap) = (place.work(), place.root().join("trap"));
    let run = format!("touch {}; cat", trap.display());
    fs::write(work.join("file.x"), "x\n").expect("writes");
    fs::create_dir_all(work.join(".git/hooks")).expect("hooks");
    for hook in [
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
        "post-checkout",
    ] {
        let at = work.join(".git/hooks").join(hook);
        fs::write(&at, format!("#!/bin/sh\n{run}\n")).expect("writes");
        fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).expect("mode");
    }
    let more = work.join(".git/more");
    fs::write(
        &more,
        format!("[filter \"evil\"]\n\tclean = {run}\n\tsmudge = {run}\n\trequired\n"),
    )
    .expect("writes");
    for (key, value) in [
        ("include.path", more.to_str().expect("UTF-8")),
        ("core.fsmonitor", &run),
        ("filter.evil.process", &run),
        ("diff.external", &run),
        ("diff.evil.textconv", &run),
        ("core.pager", &run),
        ("core.hooksPath", ".git/hooks"),
        ("core.worktree", "/"),
    ] {
        git(work, &["config", key, value]);
    }
    fs::write(
        work.join(".git/info/attributes"),
        "* filter=evil diff=evil\n",
    )
    .expect("writes");
    undo::check(work, true).expect("opens");
    assert!(matches!(
        undo::check(work, false),
        Err(AgentError::Dirty { .. })
    ));
    let before = picture(work);
    place.settle(&["echo y > file.x; echo z > other.x"]).await;
    undo::diff(work, &place.sid, 1).expect("a diff");
    undo::undo(&place.settings.state_dir, work, &place.sid, 1).expect("undoes");
    assert_eq!(picture(work), before);
    assert!(!trap.exists(), "something was run");
    git(work, &["config", "--unset", "core.worktree"]);
    // It may well fail: it is the traps' doing that counts.
    let ordinary = std::process::Command::new("git")
        .current_dir(work)
        .arg("status")
        .output();
    ordinary.expect("git starts");
    assert!(trap.exists(), "the traps themselves work");
}

#[tokio::test]
async fn an_undo_is_refused_while_a_plan_is_at_work() {
    let place = lived_in();
    let (ready, go) = (place.fifo("ready"), place.fifo("go"));
    let mut running = place
        .start(&place.order(&["echo up > ready; read x < go"]))
        .await;
    hear(&ready).await;
    let refused = undo::undo(&place.settings.state_dir, place.work(), &place.sid, 1);
    assert!(
        matches!(&refused, Err(AgentError::Locked(h)) if h.pid == running.pgid),
        "{refused:?}"
    );
    fs::write(go, "\n").expect("lets it end");
    running.outcome().await;
    undo::undo(&place.settings.state_dir, place.work(), &place.sid, 1).expect("now it may");
}

#[test]
fn a_dirty_folder_needs_to_be_accepted_and_a_clean_one_does_not() {
    let mut place = lived_in();
    place.settings.dirty = false;
    let carrier = place.carrier();
    let Err(AgentError::Dirty { paths, .. }) = carrier.check_fresh() else {
        panic!("it is dirty")
    };
    // Changed, mode, deleted, added, and two odd names; not the ignored one.
    assert_eq!(paths, 6);
    git(place.work(), &["add", "-A"]);
    git(place.work(), &["commit", "-q", "-m", "second"]);
    carrier.check_fresh().expect("clean now");
}

#[test]
fn a_folder_without_git_is_refused_unless_undo_is_given_up() {
    let mut place = Place::bare();
    place.settings.undo = UndoRule::Keep;
    let refused = Carrier::preflight(place.settings.clone(), false);
    assert!(
        matches!(refused, Err(AgentError::NoRepository(_))),
        "{refused:?}"
    );
    place.settings.undo = UndoRule::Off;
    assert!(Carrier::preflight(place.settings.clone(), false).is_ok());
}

#[tokio::test]
async fn work_trees_and_submodules_are_kept_and_a_git_that_names_another_is_not() {
    let place = lived_in();
    let main = place.work().to_owned();
    git(&main, &["add", "-A"]);
    git(&main, &["commit", "-q", "-m", "second"]);
    let (tree, outer) = (place.root().join("tree"), place.root().join("outer"));
    git(
        &main,
        &["worktree", "add", "-q", tree.to_str().expect("UTF-8")],
    );
    fs::create_dir(&outer).expect("a folder");
    git(&outer, &["init", "-q"]);
    let source = main.to_str().expect("UTF-8");
    git(
        &outer,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            source,
            "sub",
        ],
    );
    let order = place.order(&[]);
    for (n, cwd) in [&tree, &outer.join("sub"), &outer].into_iter().enumerate() {
        let order = Order {
            round: n as u32 + 1,
            ..order.clone()
        };
        undo::keep(cwd, &order, Duration::from_secs(60)).expect("keeps");
        fs::write(cwd.join("made"), "by a plan\n").expect("writes");
        undo::undo(&place.settings.state_dir, cwd, &place.sid, order.round).expect("undoes");
        assert!(!cwd.join("made").exists());
    }
    let forged = place.root().join("forged");
    fs::create_dir(&forged).expect("a folder");
    for named in [
        main.join(".git"),
        main.join(".git/worktrees/tree"),
        outer.join(".git/modules/sub"),
    ] {
        assert!(named.exists());
        fs::write(
            forged.join(".git"),
            format!("gitdir: {}\n", named.display()),
        )
        .expect("writes");
        let refused = undo::check(&forged, true);
        assert!(
            matches!(refused, Err(AgentError::NoRepository(_))),
            "{named:?}"
        );
    }
}

#[tokio::test]
async fn a_folder_inside_a_repository_is_kept_by_itself() {
    let mut place = lived_in();
    let top = place.work().to_owned();
    place.settings.cwd = top.join("dir");
    let (inside, outside) = (
        picture(place.work()),
        fs::read(top.join("tracked")).expect("reads"),
    );
    place
        .settle(&["rm -r deep; echo x > new; echo above > ../tracked"])
        .await;
    let undone =
        undo::undo(&place.settings.state_dir, place.work(), &place.sid, 1).expect("undoes");
    assert_eq!(picture(place.work()), inside);
    assert_eq!(undone.removed, [PathBuf::from("new")]);
    assert_ne!(
        fs::read(top.join("tracked")).expect("reads"),
        outside,
        "only what was kept comes back"
    );
}

#[test]
fn a_repository_before_its_first_commit_can_be_kept() {
    let mut place = Place::bare();
    place.settings.undo = UndoRule::Keep;
    git(place.work(), &["init", "-q"]);
    fs::write(place.work().join("f"), "text\n").expect("writes");
    let order = place.order(&[]);
    undo::keep(place.work(), &order, Duration::from_secs(60)).expect("keeps");
    fs::remove_file(place.work().join("f")).expect("removes");
    undo::undo(&place.settings.state_dir, place.work(), &place.sid, 1).expect("undoes");
    assert_eq!(
        fs::read_to_string(place.work().join("f")).expect("is back"),
        "text\n"
    );
}
