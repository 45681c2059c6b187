use super::*;

fn frame() -> Frame {
    Frame {
        sid: Sid::parse("9f83a7c1d42e650b").unwrap(),
        round: Round(2),
        prev: None,
        qid: Tag::parse("e1db9b58").unwrap(),
    }
}

//= spec W5 type=test
#[test]
fn a_first_round_has_no_previous_plan() {
    let text = "FRAME: s=9f83a7c1d42e650b r=2 p=- q=e1db9b58";
    assert_eq!(frame().to_string(), text);
    assert_eq!(Frame::parse(text), Ok(frame()));
}

//= spec W6 type=test
#[test]
fn runs_of_spaces_and_any_order_are_read() {
    for line in [
        "FRAME:   s=9f83a7c1d42e650b  r=2   p=- q=e1db9b58   ",
        "FRAME: q=e1db9b58 p=- r=2 s=9f83a7c1d42e650b",
        "FRAME:s=9f83a7c1d42e650b r=2 p=- q=e1db9b58",
        "FRAME: s=9f83a7c1d42e650b r=2 p=- q=e1db9b58\r",
    ] {
        assert_eq!(Frame::parse(line), Ok(frame()), "{line:?}");
        assert_eq!(frame().check(line), Ok(()), "{line:?}");
    }
}

//= spec W6 type=test
#[test]
fn each_key_stands_there_once_and_nothing_else() {
    for (line, fields) in [
        ("FRAME: s=9f83a7c1d42e650b r=2 p=-", vec!["q"]),
        (
            "FRAME: s=9f83a7c1d42e650b r=2 p=- q=e1db9b58 q=e1db9b58",
            vec!["q"],
        ),
        (
            "FRAME: r=2 s=9f83a7c1d42e650b r=2 p=- q=e1db9b58 r=2",
            vec!["r"],
        ),
        ("FRAME: s=9f83a7c1d42e650b r=0 p=- q=e1db9b58", vec!["r"]),
        ("FRAME: s=9f83a7c1d42e650b r=02 p=- q=e1db9b58", vec!["r"]),
        ("FRAME: s=9f83a7c1d42e650b r=+2 p=- q=e1db9b58", vec!["r"]),
        (
            "FRAME: s=9f83a7c1d42e650b r=4294967296 p=- q=e1db9b58",
            vec!["r"],
        ),
        ("FRAME: s=9f83a7c1d42e650b r=2 p= q=e1db9b58", vec!["p"]),
        (
            "FRAME: S=9f83a7c1d42e650b r=2 p=- q=e1db9b58",
            vec!["s", "other"],
        ),
        (
            "FRAME: s=9f83a7c1d42e650b,r=2 p=- q=e1db9b58",
            vec!["s", "r"],
        ),
        (
            "FRAME: s=9f83a7c1d42e650b r=2 p=- q=e1db9b58 !",
            vec!["other"],
        ),
        (
            "FRAME: s=9f83a7c1d42e650b\tr=2 p=- q=e1db9b58",
            vec!["s", "r"],
        ),
        (
            "frame: s=9f83a7c1d42e650b r=2 p=- q=e1db9b58",
            vec!["s", "r", "p", "q"],
        ),
        ("", vec!["s", "r", "p", "q"]),
    ] {
        assert_eq!(
            Frame::parse(line),
            Err(BadFrame {
                fields: fields.clone()
            }),
            "{line:?}"
        );
        assert_eq!(frame().check(line), Err(BadFrame { fields }), "{line:?}");
    }
    let most = "FRAME: s=9f83a7c1d42e650b r=4294967295 p=- q=e1db9b58";
    assert_eq!(Frame::parse(most).unwrap().round, Round(u32::MAX));
}

//= spec W11 type=test
#[test]
fn a_checkpoint_says_what_comes_next() {
    let key = Tag::parse("a1b2c3d4").unwrap();
    let at = Checkpoint::At {
        round: Round(3),
        key: key.clone(),
    };
    assert_eq!(at.to_string(), "3:a1b2c3d4");
    assert_eq!((at.next_round(), at.prev()), (Round(4), Some(key)));
    let start = Checkpoint::default();
    assert_eq!(start.to_string(), "0:-");
    assert_eq!((start.next_round(), start.prev()), (Round(1), None));
    let json = serde_json::to_string(&at).unwrap();
    assert_eq!(json, "\"3:a1b2c3d4\"");
    assert_eq!(serde_json::from_str::<Checkpoint>(&json).unwrap(), at);
}
