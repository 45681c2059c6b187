use std::collections::BTreeSet;

use super::*;

#[test]
fn the_table_stands_in_the_order_of_the_codes() {
    for (at, about) in TABLE.iter().enumerate() {
        assert_eq!(about.code as usize, at, "{}", about.name);
        assert_eq!(about.code.about(), about);
    }
    assert_eq!(Code::ALL.len(), 32);
}

#[test]
fn the_wire_documents_ten_come_first_in_its_order() {
    let wire: Vec<_> = Code::ALL.into_iter().filter(|c| c.is_on_wire()).collect();
    let names: Vec<_> = wire.iter().map(|code| code.name()).collect();
    assert_eq!(
        names,
        [
            "E_BLOCKS",
            "E_HEADER",
            "E_FRAME",
            "E_REQUIRED",
            "E_DECISION",
            "E_PARSE",
            "E_VERSION",
            "E_CONTRACT",
            "E_CAPTURE",
            "E_SOURCE_UNCERTAIN",
        ]
    );
    let domains: Vec<_> = wire.iter().map(|code| code.domain()).collect();
    assert!(domains[..6].iter().all(|d| *d == Domain::Remote));
    assert_eq!(
        domains[6..],
        [
            Domain::Version,
            Domain::Version,
            Domain::Local,
            Domain::Local
        ]
    );
}

#[test]
fn names_are_unlike_and_every_sentence_is_one() {
    let names: BTreeSet<_> = TABLE.iter().map(|about| about.name).collect();
    assert_eq!(names.len(), TABLE.len());
    for about in &TABLE {
        for sentence in [about.what, about.remedy] {
            let body = sentence.strip_suffix('.').unwrap_or_default();
            assert!(!body.is_empty() && !body.contains(". "), "{sentence:?}");
        }
    }
}

#[test]
fn a_code_is_found_by_each_of_its_names() {
    for code in Code::ALL {
        assert_eq!(code.name().parse(), Ok(code));
        assert_eq!(code.name().to_lowercase().parse(), Ok(code));
        assert_eq!(code.kebab().parse(), Ok(code));
        let json = serde_json::to_string(&code).unwrap();
        assert_eq!(json, format!("\"{}\"", code.name()));
        assert_eq!(serde_json::from_str::<Code>(&json).unwrap(), code);
    }
    assert_eq!(Code::SourceUncertain.kebab(), "source-uncertain");
    for bad in ["", "E_", "E_NOTHING", "blocks "] {
        assert_eq!(bad.parse::<Code>(), Err(NotACode), "{bad:?}");
    }
    assert!(serde_json::from_str::<Code>("\"blocks\"").is_err());
}

//= spec P7 type=test
#[test]
fn local_comes_before_version_before_remote() {
    let local = Fault::bare(Code::Capture);
    let version = Fault::bare(Code::Contract);
    let remote = Fault::bare(Code::Blocks);
    let nobody = Fault::bare(Code::Dialog);
    let act = |faults: &[&Fault]| {
        let faults: Vec<_> = faults.iter().map(|fault| (*fault).clone()).collect();
        action_of(&faults)
    };
    assert_eq!(act(&[&remote]), Some(Action::Repair));
    assert_eq!(act(&[&remote, &version]), Some(Action::Resync));
    assert_eq!(act(&[&version, &remote]), Some(Action::Resync));
    assert_eq!(act(&[&remote, &version, &local]), Some(Action::Recover));
    assert_eq!(act(&[&local, &remote]), Some(Action::Recover));
    assert_eq!(act(&[&nobody, &remote]), Some(Action::Repair));
    assert_eq!(act(&[&nobody]), None);
    assert_eq!(act(&[]), None);
}

#[test]
fn the_table_as_a_person_reads_it() {
    use std::fmt::Write as _;
    let mut out = String::new();
    for about in &TABLE {
        let row = about.row.map_or("-".to_owned(), |row| row.to_string());
        let exit = about.outcome.exit(crate::outcome::Signal::Interrupt);
        let (name, domain) = (about.name, about.domain.to_string());
        writeln!(
            out,
            "{name:<18} {domain:<7} {row:<3} {exit:>2}  {}\n{:35}{}",
            about.what, "", about.remedy
        )
        .unwrap();
    }
    crate::testing::snapshot!("codes", &out);
}
