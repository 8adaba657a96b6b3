use std::fs;

use clap::Parser;

use super::*;
use crate::{
    cli::{
        Cli, InEnvironment,
        contexts::tests::{TOKEN, context, user},
        run,
        tests::global,
    },
    client::lab::{Ca, Server},
};

/// A home where `lab` and `shop` are known, the second as the current one.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut contexts = Contexts::read(&user(home.path(), &[])).unwrap();
    let ca = Ca::new("lab");
    contexts.put("lab".into(), context(&ca, "https://lab"));
    contexts.put("shop".into(), context(&ca, "https://shop"));
    contexts.write().unwrap();
    home
}

/// Where a command goes: a URL with its context, or a directory.
fn chosen(environment: &Environment, global: &Global, needs: Needs) -> Result<String, CliError> {
    let Global { data_dir, remote, .. } = choose_in(environment, global, needs)?;
    let shown = format!("{:?}", remote.as_ref());
    assert!(!shown.contains("secret"), "{shown}");
    let place = |known: &str| shown.contains(&format!("host: \"{known}\"")).then(|| known.to_owned());
    Ok(match data_dir {
        Some(dir) => dir.display().to_string(),
        None => place("lab").or_else(|| place("shop")).or_else(|| place("free")).unwrap_or("here".into()),
    })
}

/// What `--data-dir`, `--node`, `BAILIWICK_DATA_DIR` and `BAILIWICK_NODE` say.
fn said(dir: Option<&str>, node: Option<&str>, dir_variable: Option<&str>, node_variable: Option<&str>) -> Global {
    Global {
        data_dir: dir.or(dir_variable).map(Into::into),
        node: node.or(node_variable).map(Into::into),
        in_environment: InEnvironment { data_dir: dir.is_none(), node: node.is_none() },
        ..global()
    }
}

#[test]
fn the_line_comes_before_the_environment_and_that_before_the_current_context() {
    let home = home();
    let user = user(home.path(), &[]);
    let go = |global: Global, needs| chosen(&user, &global, needs).map_err(|error| error.message);
    for (global, place) in [
        (said(None, None, None, None), "shop"),
        (said(Some("/d"), None, None, None), "/d"),
        (said(None, None, Some("/d"), None), "/d"),
        (said(None, Some("lab"), None, None), "lab"),
        (said(None, Some("https://lab:8443"), None, None), "lab"),
        (said(None, None, None, Some("lab")), "lab"),
        (said(None, Some("lab"), Some("/d"), None), "lab"),
        (said(Some("/d"), None, None, Some("lab")), "/d"),
        (said(None, None, None, Some("")), "shop"),
    ] {
        assert_eq!(go(global.clone(), Needs::Node).as_deref(), Ok(place), "{global:?}");
    }
    let two = go(said(Some("/d"), Some("lab"), None, None), Needs::Node).unwrap_err();
    assert_eq!(two, "--node and --data-dir name two nodes");
    let two = go(said(None, None, Some("/d"), Some("lab")), Needs::Node).unwrap_err();
    assert_eq!(two, "BAILIWICK_NODE and BAILIWICK_DATA_DIR name two nodes");
}

#[test]
fn what_needs_files_stays_here_and_says_so_to_whoever_names_a_node() {
    let home = home();
    let user = user(home.path(), &[]);
    for words in [
        &["serve"][..],
        &["up"],
        &["backup", "x"],
        &["journal", "import", "x"],
        &["journal", "salvage", "x", "--into", "y"],
        &["audit", "replay", "x"],
        &["chaos", "crash-sweep", "x"],
        &["provider", "check", "x"],
        &["simulate", "x"],
        &["context", "list"],
        &["logout"],
    ] {
        // given
        let command = Cli::try_parse_from(["bailiwick"].iter().chain(words)).unwrap().command;
        let needs = needs(&command);
        // when
        let by_itself = chosen(&user, &said(None, None, None, None), needs);
        let by_variable = chosen(&user, &said(None, None, None, Some("lab")), needs);
        let named = chosen(&user, &said(None, Some("lab"), None, None), needs).unwrap_err();
        // then
        assert_eq!((by_itself.unwrap(), by_variable.unwrap()), ("here".into(), "here".into()), "{words:?}");
        assert_eq!(named.exit, Exit::Usage);
        let is_about_files = matches!(needs, Needs::Files(_));
        assert_eq!(named.message.contains("runs on the node's own machine"), is_about_files, "{named:?}");
    }
    for words in [
        &["audit", "replay"][..],
        &["chaos", "crash-sweep"],
        &["jobs"],
        &["journal", "export"],
        &["journal", "check"],
        &["clock", "show"],
        &["down"],
    ] {
        let command = Cli::try_parse_from(["bailiwick"].iter().chain(words)).unwrap().command;
        assert_eq!(needs(&command), Needs::Node, "{words:?}");
    }
}

#[test]
fn a_url_that_is_no_context_needs_a_ca_and_a_token_in_files() {
    // given
    let home = home();
    let (ca, token) = (home.path().join("ca.pem"), home.path().join("token"));
    fs::write(&ca, Ca::new("free").pem()).unwrap();
    fs::write(&token, TOKEN).unwrap();
    let ca = (CA_FILE, ca.display().to_string());
    let token = (TOKEN_FILE, token.display().to_string());
    let go = |further: &[(&'static str, String)], node: &str| {
        let told = choose_in(&user(home.path(), further), &said(None, Some(node), None, None), Needs::Node);
        told.map(|global| format!("{:?}", global.remote)).map_err(|error| error.code.into_owned())
    };
    // when
    let both = go(&[ca.clone(), token.clone()], "https://free:1").unwrap();
    // then
    assert!(both.contains("free") && !both.contains("secret"), "{both}");
    assert_eq!(go(std::slice::from_ref(&ca), "https://free:1").unwrap_err(), "usage");
    assert_eq!(go(&[], "https://free:1").unwrap_err(), "no-context");
    assert_eq!(go(&[], "http://free:1").unwrap_err(), "usage");
    assert_eq!(go(&[], "free").unwrap_err(), "no-context");
    assert_eq!(go(&[(CA_FILE, token.1.clone()), token], "https://free:1").unwrap_err(), "usage");
}

/// Runs a command against a node elsewhere.
fn at(server: &Server, ca: &Ca, words: &[&str]) -> Result<Exit, CliError> {
    let cli = Cli::try_parse_from(["bailiwick", "-o", "json"].iter().chain(words)).unwrap();
    let remote = context(ca, &server.url().to_string()).remote("lab");
    // As after `choose`: what was found stands where it was looked for.
    let global = Global { data_dir: Some("/nowhere".into()), remote: Some(Client::remote(remote)), ..cli.global };
    run(&global, cli.command)
}

#[test]
fn no_command_falls_back_to_a_journal_or_speaks_of_a_data_directory_here() {
    // given: a server that nobody here trusts, and one that does not know who asks
    const UNKNOWN: &str = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n\
                           {\"code\":\"expired-token\",\"message\":\"it has ended\"}";
    let (ca, other) = (Ca::new("lab"), Ca::new("other"));
    let server = Server::start(ca.issue("localhost", 2099), UNKNOWN);
    for words in [
        &["status"][..],
        &["get", "machines"],
        &["delete", "machine/web"],
        &["down"],
        &["wait"],
        &["journal", "check"],
        &["journal", "export"],
        &["audit", "replay"],
        &["clock", "show"],
    ] {
        // when
        let untrusted = at(&server, &other, words).unwrap_err();
        let unknown = at(&server, &ca, words).unwrap_err();
        // then
        assert_eq!(untrusted.code, "untrusted-node", "{words:?}");
        assert!(untrusted.next_step.contains("compare the fingerprint"), "{untrusted:?}");
        assert_eq!((&*unknown.code, &*unknown.message), ("expired-token", "it has ended"), "{words:?}");
        assert!(unknown.next_step.contains("`bailiwick login URL`"), "{unknown:?}");
    }
    assert_eq!(server.asked().len(), 9);
}

#[test]
fn a_node_that_cannot_be_reached_is_named_with_its_context() {
    // given: a port that no program takes by itself
    let remote = context(&Ca::new("lab"), "https://127.0.0.1:1").remote("lab");
    let global = Global { remote: Some(Client::remote(remote)), ..said(Some("/nowhere"), None, None, None) };
    // when
    let error = run(&global, Cli::try_parse_from(["bailiwick", "status"]).unwrap().command).unwrap_err();
    // then
    assert_eq!((error.exit, &*error.code), (Exit::NotRunning, "unreachable"));
    assert!(error.next_step.contains("https://127.0.0.1:1 (context lab)"), "{error:?}");
    assert!(!format!("{error:?}").contains("data"), "{error:?}");
}
