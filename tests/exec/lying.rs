//! Answers that do not fit the question, and everything that a good provider may say.

use bailiwick::actors::{
    ports::{AttachVolume, CreateVolume, DetachVolume, Listing, Lookup, MachineProvider, Progress, VolumeProvider},
    vocab::{FaultCode, InstanceId, SizeMib, Uid},
};

use crate::support::{Ground, create, effect, fault, made, name, start, until_served, wish, within};

/// A provider whose answer to the second request is this.
fn answering(ground: &Ground, answer: &str) -> bailiwick::providers::exec::ExecProvider {
    ground.greeting(&format!("read request; echo '{answer}'; cat"))
}

#[tokio::test]
async fn every_code_comes_through() {
    for code in FaultCode::ALL {
        for answer in [
            format!(r#"{{"id":2,"fault":{{"code":"{code}","text":"because"}}}}"#),
            format!(r#"{{"id":2,"ok":[{{"fault":{{"code":"{code}","text":"because"}}}}]}}"#),
        ] {
            let ground = Ground::new();
            fault(create(&answering(&ground, &answer), 1).await, code, "because");
        }
    }
}

#[tokio::test]
async fn lies_leave_open_what_has_happened_and_the_process_goes_on() {
    let machine = |field: &str, value: &str| {
        let mut told =
            serde_json::json!({"effect": effect(1), "instance": "i-1", "machine": "web", "status": "running"});
        told[field] = serde_json::from_str(value).unwrap();
        format!(r#"{{"id":2,"ok":[{{"ok":{told}}}]}}"#)
    };
    for (answer, words) in [
        (r#"{"id":2,"ok":[]}"#.to_owned(), "0 answers to 1 questions"),
        (r#"{"id":2,"ok":[{"ok":null},{"ok":null}]}"#.into(), "2 answers to 1 questions"),
        (r#"{"id":2,"ok":{"complete":true}}"#.into(), "not a list of results"),
        (r#"{"id":2,"ok":[null]}"#.into(), "neither `ok` nor `fault`"),
        (r#"{"id":2,"ok":[{"ok":null}]}"#.into(), "is malformed"),
        (r#"{"id":2,"ok":[{"fault":{"code":"everything-is-fine"}}]}"#.into(), "without a valid code"),
        (r#"{"id":2,"fault":{"code":"SECRET"}}"#.into(), "without a valid code"),
        (machine("effect", &format!("\"{}\"", effect(2))), "another effect id"),
        (machine("machine", "\"db\""), "another machine"),
        (machine("instance", "\"\""), "provider's id"),
        (machine("instance", &format!("\"{}\"", "i".repeat(300))), "provider's id"),
        (machine("status", "\"SECRET\""), "expected"),
    ] {
        let ground = Ground::new();
        let again = made(3, 2);
        let provider = ground.greeting(&format!("read request; echo '{answer}'; read request; {again}; cat"));
        let first = create(&provider, 1).await;
        assert!(!first.as_ref().unwrap_err().text.contains("SECRET"), "{first:?}");
        fault(first, FaultCode::Unknown, words);
        let pid = provider.pid();
        assert_eq!(create(&provider, 2).await.unwrap().instance.0, "i-2", "{answer}");
        assert_eq!(provider.pid(), pid, "it is the same process");
    }
}

#[tokio::test]
async fn a_fault_is_made_harmless() {
    let ground = Ground::new();
    let text = format!(r"\u001b[31m\n\u202e{}", "x".repeat(5_000));
    let provider = answering(&ground, &format!(r#"{{"id":2,"fault":{{"code":"internal","text":"{text}"}}}}"#));
    let told = create(&provider, 1).await.unwrap_err();
    assert!(told.text.len() <= 1024 && !told.text.chars().any(char::is_control), "{told}");
}

#[tokio::test]
async fn secrets_that_it_was_given_are_blotted_out() {
    let ground = Ground::new();
    // A variable that every test has, and that is no secret of anybody's.
    let value = std::env::var("PATH").unwrap();
    let script = r#"read first; echo 'HELLO'; read request;
        echo "{\"id\":2,\"fault\":{\"code\":\"internal\",\"text\":\"bad token $PATH!\"}}"; cat"#;
    let mut config = ground.shell_config(script);
    config.env = vec!["PATH".into()];
    let told = create(&start(config), 1).await.unwrap_err();
    assert_eq!(told.text, "bad token ***!");
    assert!(!told.text.contains(&value));
}

#[tokio::test]
async fn it_gets_little_of_our_environment() {
    let ground = Ground::new();
    let provider = ground.shell("env > DIR/env.new; mv DIR/env.new DIR/env; read first; echo 'HELLO'; cat");
    within(provider.capabilities()).await.unwrap();
    let env = std::fs::read_to_string(ground.path().join("env")).unwrap();
    let known = ["PATH=", "HOME=", "LANG=", "TMPDIR=", "PWD=", "SHLVL=", "_=", "OLDPWD="];
    let foreign: Vec<_> = env.lines().filter(|line| !known.iter().any(|name| line.starts_with(name))).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

fn item(n: u128, more: &str) -> String {
    format!(r#"{{"effect":"{}","instance":"i-{n}","machine":"web","status":"running"{more}}}"#, effect(n))
}

async fn listed(ground: &Ground, answer: &str) -> Listing<bailiwick::actors::ports::MachineInstance> {
    within(answering(ground, answer).list()).await.unwrap()
}

#[tokio::test]
async fn a_list_says_whether_it_is_complete_and_as_of_when() {
    let ground = Ground::new();
    let asked = bailiwick::actors::ports::Clock::now(&bailiwick::clock::SystemClock::new());
    let answer = format!(r#"{{"id":2,"ok":{{"complete":false,"age_ms":60000,"items":[{}]}}}}"#, item(1, ""));
    let listing = listed(&ground, &answer).await;
    assert_eq!((listing.complete, listing.items.len()), (false, 1));
    // It was made a minute before it was answered, and not before that.
    assert!(listing.as_of.since(asked) == 0 && asked.since(listing.as_of) <= 60_000, "{}", listing.as_of);
}

#[tokio::test]
async fn a_list_comes_in_pages() {
    let ground = Ground::new();
    let (one, two) = (item(1, ""), item(2, ""));
    let provider = ground.greeting(&format!(
        r#"read a; echo '{{"id":2,"ok":{{"complete":true,"age_ms":0,"items":[{one}],"next":"1"}}}}';
           read b; echo "$b" > DIR/second; echo '{{"id":3,"ok":{{"complete":true,"age_ms":9,"items":[{two}]}}}}'; cat"#
    ));
    let listing = within(provider.list()).await.unwrap();
    assert_eq!((listing.complete, listing.items.len()), (true, 2));
    let second = std::fs::read_to_string(ground.path().join("second")).unwrap();
    assert_eq!(second.trim(), r#"{"id":3,"op":"list-machines","after":"1"}"#);
}

#[tokio::test]
async fn a_list_that_goes_in_circles_ends() {
    let ground = Ground::new();
    let page = r#"\"ok\":{\"complete\":true,\"age_ms\":0,\"items\":[],\"next\":\"1\"}"#;
    let provider = ground.greeting(&format!(r#"n=2; while read a; do echo "{{\"id\":$n,{page}}}"; n=$((n+1)); done"#));
    assert_eq!(within(provider.list()).await.unwrap_err().code, FaultCode::Internal);
}

#[tokio::test]
async fn nothing_is_concluded_from_a_list_with_nonsense_in_it() {
    for nonsense in ["null", "{}", &item(1, r#","machine":"Not A Name""#), &item(1, ""), r#""i-1""#] {
        let ground = Ground::new();
        let answer = format!(r#"{{"id":2,"ok":{{"complete":true,"age_ms":0,"items":[{},{nonsense}]}}}}"#, item(1, ""));
        let listing = listed(&ground, &answer).await;
        assert_eq!((listing.complete, listing.items.len()), (false, 1), "{nonsense}");
    }
}

#[tokio::test]
async fn a_list_without_a_word_about_completeness_is_none() {
    for answer in [
        r#"{"id":2,"ok":{"items":[],"age_ms":0}}"#,
        r#"{"id":2,"ok":{"items":[],"complete":true}}"#,
        r#"{"id":2,"ok":[]}"#,
    ] {
        let ground = Ground::new();
        let told = within(answering(&ground, answer).list()).await.unwrap_err();
        assert_eq!(told.code, FaultCode::Unknown, "{told}");
    }
}

#[tokio::test]
async fn volumes_that_are_too_small_are_not_taken() {
    let ground = Ground::new();
    let told = format!(r#"{{"id":2,"ok":[{{"ok":{{"effect":"{}","volume_id":"v","size_mib":9}}}}]}}"#, effect(1));
    let provider = answering(&ground, &told);
    let wish = CreateVolume {
        id: effect(1),
        volume: name("data"),
        uid: Uid(uuid::Uuid::nil()),
        size: SizeMib(10),
        pool: None,
        tags: Default::default(),
    };
    let answer = within(provider.create_volumes(vec![wish])).await.unwrap().remove(0);
    assert_eq!(answer.unwrap_err().code, FaultCode::OutOfRange);
}

#[tokio::test]
async fn attachments_for_writing_are_not_taken_for_reading() {
    let ground = Ground::new();
    let provider = answering(&ground, r#"{"id":2,"ok":[{"ok":{"path":"/x","read_only":false}}]}"#);
    let wish = AttachVolume {
        id: effect(1),
        machine: name("web"),
        machine_effect: effect(2),
        instance: InstanceId("i".into()),
        volume: name("data"),
        volume_effect: effect(3),
        volume_id: InstanceId("v".into()),
        read_only: true,
    };
    let answer = within(provider.attach_volumes(vec![wish])).await.unwrap().remove(0);
    assert_eq!(answer.unwrap_err().code, FaultCode::Unknown);
}

#[tokio::test]
async fn what_it_does_not_offer_is_not_asked_for() {
    let ground = Ground::new();
    let provider =
        ground.shell(r#"read first; echo '{"id":1,"ok":{"version":1}}'; read request; touch DIR/asked; cat"#);
    fault(create(&provider, 1).await, FaultCode::Unimplemented, "does not offer create-machines");
    let wish = DetachVolume {
        id: effect(1),
        machine: name("web"),
        machine_effect: effect(2),
        volume: name("data"),
        volume_effect: effect(3),
    };
    assert_eq!(within(provider.detach_volumes(vec![wish])).await.unwrap_err().code, FaultCode::Unimplemented);
    assert!(!ground.exists("asked"));
}

#[tokio::test]
async fn progress_is_told_while_a_call_is_under_way() {
    let ground = Ground::new();
    let note = |percent: u32| {
        format!(
            r#"echo '{{"progress":{{"id":2,"effect":"{}","text":"booting\u001b","percent":{percent}}}}}'"#,
            effect(1)
        )
    };
    let (other, good) = (effect(7), made(2, 1));
    let provider = ground.greeting(&format!(
        r#"read request; {}; {}; echo '{{"progress":{{"id":2,"effect":"{other}","text":"not yours"}}}}';
           while [ ! -e DIR/go ]; do sleep 0.01; done; {good}; cat"#,
        note(10),
        note(40)
    ));
    let create = async { create(&provider, 1).await };
    let watch = async {
        let text = "booting\\u{1b}".to_owned();
        let wanted = Progress { id: effect(1), text, percent: Some(40) };
        while MachineProvider::progress(&provider, effect(1)).as_ref() != Some(&wanted) {
            tokio::task::yield_now().await;
        }
        assert_eq!(MachineProvider::progress(&provider, other), None);
        std::fs::write(ground.path().join("go"), "").unwrap();
    };
    let (made, ()) = within(async { tokio::join!(create, watch) }).await;
    made.unwrap();
    assert_eq!(MachineProvider::progress(&provider, effect(1)), None, "it is over with its call");
}

#[tokio::test]
async fn it_is_told_what_is_not_wanted_any_more() {
    let ground = Ground::new();
    let provider = ground.greeting(
        r#"read request; touch DIR/asked; read word; echo "$word" > DIR/word;
           echo '{"id":2,"fault":{"code":"canceled","text":"as you wish"}}'; cat"#,
    );
    let call = async { create(&provider, 1).await };
    let cancel = async {
        while !ground.exists("asked") {
            tokio::task::yield_now().await;
        }
        MachineProvider::cancel(&provider, effect(9));
        MachineProvider::cancel(&provider, effect(1));
    };
    let (answer, ()) = within(async { tokio::join!(call, cancel) }).await;
    fault(answer, FaultCode::Canceled, "as you wish");
    let word = std::fs::read_to_string(ground.path().join("word")).unwrap();
    assert_eq!(word.trim(), format!(r#"{{"cancel":{{"effect":"{}"}}}}"#, effect(1)));
}

#[tokio::test]
async fn what_does_not_fit_a_line_is_split_or_refused() {
    let ground = Ground::new();
    let script = r#"read first; echo 'HELLO'; n=2
        while read request; do echo "$request" | wc -c >> DIR/lengths
        echo "{\"id\":$n,\"fault\":{\"code\":\"internal\",\"text\":\"no\"}}"; n=$((n+1)); done"#;
    let mut config = ground.shell_config(script);
    config.limits.line_bytes_max = 4_096;
    let provider = start(config);
    let mut wishes: Vec<_> = (0..40).map(wish).collect();
    std::sync::Arc::make_mut(&mut wishes[7].spec).labels.insert("long".into(), "x".repeat(5_000));
    let answers = within(provider.create(wishes)).await.unwrap();
    let codes: Vec<_> = answers.into_iter().map(|answer| answer.unwrap_err().code).collect();
    assert_eq!(codes.iter().filter(|code| **code == FaultCode::Internal).count(), 39);
    assert_eq!(codes[7], FaultCode::OutOfRange);
    let lengths = std::fs::read_to_string(ground.path().join("lengths")).unwrap();
    let lengths: Vec<usize> = lengths.lines().map(|line| line.trim().parse().unwrap()).collect();
    assert!(lengths.len() > 1 && lengths.iter().all(|length| *length <= 4_096), "{lengths:?}");
}

#[tokio::test]
async fn an_answer_to_nobody_is_no_harm() {
    let ground = Ground::new();
    let (late, good) = (made(2, 1), made(3, 2));
    let provider = ground.greeting(&format!(
        "read request; touch DIR/asked; while [ ! -e DIR/go ]; do sleep 0.01; done; {late}; read request; {good}; cat"
    ));
    {
        let call = create(&provider, 1);
        let asked = async {
            while !ground.exists("asked") {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! { biased; answer = call => panic!("{answer:?}"), () = asked => () }
    }
    // Nobody waits for it any more, and nobody can tell how it came out until it has.
    assert_eq!(crate::support::lookup(&provider, 1).await, Ok(Lookup::Unknown));
    let pid = provider.pid();
    std::fs::write(ground.path().join("go"), "").unwrap();
    assert_eq!(until_served(&provider, 2).await.instance.0, "i-2");
    assert_eq!(provider.pid(), pid);
}
