//! Processes that break off, hang, flood or say garbage: the call ends with a fault that says what is known, another
//! process is started, and the provider goes on.

use bailiwick::actors::{
    ports::{Lookup, MachineProvider},
    vocab::FaultCode,
};

use crate::support::{Ground, create, effect, eventually, fault, lookup, made, start, until_served, wish, within};

/// Breaks in this way at the first request of its first life; then serves.
fn once(ground: &Ground, breaks: &str) -> bailiwick::providers::exec::ExecProvider {
    let good = made(2, 1);
    ground.greeting(&format!("read request; if [ ! -e DIR/broken ]; then touch DIR/broken; {breaks}; fi; {good}; cat"))
}

/// What is under way is unknown, whatever the process did, and the next one serves.
async fn breaks(script: &str, words: &str) {
    let ground = Ground::new();
    let provider = once(&ground, script);
    fault(create(&provider, 1).await, FaultCode::Aborted, words);
    assert_eq!(until_served(&provider, 1).await.instance.0, "i-1");
}

#[tokio::test]
async fn one_that_dies_in_the_middle_of_a_call() {
    breaks("exit 3", "exit status: 3").await;
}

#[tokio::test]
async fn one_that_is_killed_in_the_middle_of_a_call() {
    breaks("kill -9 $$", "signal: 9").await;
}

#[tokio::test]
async fn one_that_dies_in_the_middle_of_an_answer() {
    breaks(r#"printf '{"id":2,"ok":[{"ok":'; exit 0"#, "ended").await;
}

#[tokio::test]
async fn one_that_says_garbage() {
    breaks("echo Hello, I am a provider; cat", "not a JSON object").await;
    breaks("echo; cat", "not a JSON object").await;
    breaks("echo '[1,2,3]'; cat", "not a JSON object").await;
    breaks("printf '\\377\\376\\n'; cat", "not a JSON object").await;
    breaks("echo '{}'; cat", "neither an answer nor progress").await;
    breaks(r#"echo '{"id":2}'; cat"#, "neither an answer nor progress").await;
    breaks(r#"echo '{"id":2,"ok":[],"fault":{"code":"internal"}}'; cat"#, "neither an answer nor progress").await;
    breaks(r#"echo '{"id":"2","ok":[]}'; cat"#, "neither an answer nor progress").await;
    breaks(r#"echo '{"id":2,"fault":"none"}'; cat"#, "neither an answer nor progress").await;
}

#[tokio::test]
async fn one_that_nests_without_end() {
    breaks("head -c 200000 /dev/zero | tr '\\0' '['; echo; cat", "not a JSON object").await;
}

#[tokio::test]
async fn one_whose_line_never_ends() {
    breaks("yes | tr -d '\\n'; cat", "more than 1048576 bytes").await;
}

#[tokio::test]
async fn one_that_answers_what_was_never_asked() {
    breaks(r#"echo '{"id":99,"ok":[]}'; cat"#, "call 99, which was never made").await;
}

#[tokio::test]
async fn one_that_closes_its_output() {
    breaks("exec >&-; sleep 600", "ended").await;
}

#[tokio::test]
async fn one_that_answers_twice_is_found_out() {
    let ground = Ground::new();
    let (first, again) = (made(2, 1), made(2, 1));
    let provider = ground.greeting(&format!("read request; {first}; read request; {again}; cat"));
    create(&provider, 1).await.unwrap();
    fault(create(&provider, 2).await, FaultCode::Aborted, "answered call 2 twice");
}

#[tokio::test]
async fn one_that_floods() {
    let line = format!(r#"{{"progress":{{"id":2,"effect":"{}","text":"on and on"}}}}"#, effect(1));
    breaks(&format!("yes '{line}'"), "more than 1000 lines in a second").await;
}

#[tokio::test]
async fn one_that_hangs() {
    let ground = Ground::new();
    let good = made(2, 1);
    let script = format!(
        "read first; echo 'HELLO'; read request; if [ ! -e DIR/hung ]; then touch DIR/hung; sleep 600; fi; {good}; cat"
    );
    let mut config = ground.shell_config(&script);
    config.limits.silence = std::time::Duration::from_millis(300);
    let provider = start(config);
    fault(create(&provider, 1).await, FaultCode::Aborted, "wrote nothing for 300ms");
    until_served(&provider, 1).await;
}

#[tokio::test]
async fn one_that_forgets_a_call_and_answers_others() {
    let ground = Ground::new();
    let progress = format!(r#"echo '{{"progress":{{"id":2,"effect":"{}","text":"soon"}}}}'"#, effect(1));
    let mut config =
        ground.shell_config(&format!("read first; echo 'HELLO'; read request; while {progress}; do sleep 0.02; done"));
    config.limits.silence = std::time::Duration::from_millis(300);
    config.limits.call_time = std::time::Duration::from_millis(900);
    let provider = start(config);
    fault(create(&provider, 1).await, FaultCode::Aborted, "not answered a call for 900ms");
}

#[tokio::test]
async fn one_that_reads_nothing() {
    let ground = Ground::new();
    let mut config = ground.shell_config("read first; echo 'HELLO'; sleep 600");
    config.limits.silence = std::time::Duration::from_millis(500);
    let provider = start(config);
    // More than a pipe holds.
    let wishes = (0..2_000).map(wish).collect();
    let answers = within(provider.create(wishes)).await.unwrap();
    assert_eq!(answers.len(), 2_000);
    assert!(answers.iter().all(|answer| answer.as_ref().is_err_and(|fault| fault.code == FaultCode::Aborted)));
}

#[tokio::test]
async fn one_that_cannot_be_started() {
    let ground = Ground::new();
    let provider = start(ground.config(&["./no-such-program"]));
    fault(create(&provider, 1).await, FaultCode::Unavailable, "cannot be started");
    assert_eq!(lookup(&provider, 1).await.unwrap_err().code, FaultCode::Unknown, "nobody can tell");
    assert_eq!(within(provider.list()).await.unwrap_err().code, FaultCode::Unavailable);
    assert!(within(provider.capabilities()).await.is_err());
}

#[tokio::test]
async fn one_that_does_not_greet() {
    for (script, words) in [
        ("exit 0", "exit status: 0"),
        ("read first; echo 'who is there?'; cat", "not a JSON object"),
        (r#"read first; echo '{"id":1,"ok":{"version":2}}'; cat"#, "version 2, this node speaks 1"),
        (r#"read first; echo '{"id":1,"ok":"hello"}'; cat"#, "unknown format"),
        (r#"read first; echo '{"id":1,"fault":{"code":"unimplemented","text":"too old"}}'; cat"#, "too old"),
        (r#"read first; echo '{"id":2,"ok":[]}'; cat"#, "never made"),
    ] {
        let ground = Ground::new();
        let provider = ground.shell(script);
        fault(create(&provider, 1).await, FaultCode::Unavailable, words);
    }
    let ground = Ground::new();
    let mut config = ground.shell_config("sleep 600");
    config.limits.hello_time = std::time::Duration::from_millis(200);
    fault(create(&start(config), 1).await, FaultCode::Unavailable, "did not answer the first line in time");
}

#[tokio::test]
async fn calls_that_wait_behind_a_broken_one_have_not_happened() {
    let ground = Ground::new();
    let provider = ground.greeting("read request; touch DIR/asked; while [ ! -e DIR/go ]; do sleep 0.01; done; exit 1");
    let first = async { create(&provider, 1).await };
    let second = async {
        // The first one is under way; this one is about the same machine, and is not even sent.
        while !ground.exists("asked") {
            tokio::task::yield_now().await;
        }
        let call = provider.delete(vec![effect(1)]);
        let go = async { std::fs::write(ground.path().join("go"), "").unwrap() };
        let (answer, ()) = tokio::join!(biased; within(call), go);
        answer.map(|mut answers| answers.remove(0)).and_then(|answer| answer)
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.unwrap_err().code, FaultCode::Aborted);
    assert_eq!(second.unwrap_err().code, FaultCode::Unavailable);
}

#[tokio::test]
async fn nobody_can_tell_what_is_under_way() {
    let ground = Ground::new();
    let good = made(2, 1);
    let provider = ground
        .greeting(&format!("read request; touch DIR/asked; while [ ! -e DIR/go ]; do sleep 0.01; done; {good}; cat"));
    let create = async { create(&provider, 1).await };
    let look = async {
        while !ground.exists("asked") {
            tokio::task::yield_now().await;
        }
        let found = lookup(&provider, 1).await;
        std::fs::write(ground.path().join("go"), "").unwrap();
        found
    };
    let (made, found) = tokio::join!(create, look);
    assert_eq!(found, Ok(Lookup::Unknown));
    assert_eq!(made.unwrap().instance.0, "i-1");
}

#[tokio::test]
async fn the_pause_between_two_lives_grows() {
    let ground = Ground::new();
    let mut config = ground.shell_config("echo >> DIR/lives; exit 1");
    config.limits.pause_first = std::time::Duration::from_millis(20);
    config.limits.pause_max = std::time::Duration::from_secs(600);
    let provider = start(config);
    let lives = || std::fs::read_to_string(ground.path().join("lives")).map_or(0, |text| text.lines().count());
    eventually("it was started again and again", || lives() >= 4);
    fault(create(&provider, 1).await, FaultCode::Unavailable, "exit status: 1");
}
