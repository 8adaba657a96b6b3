//! Every option is a setting, and a file says what a command line would.

use super::*;

fn read(text: &str) -> Result<Settings, CliError> {
    Settings::of(Path::new("c.toml"), text)
}

#[track_caller]
fn causes(text: &str) -> Vec<String> {
    let error = read(text).expect_err("it makes no sense");
    assert_eq!((&*error.code, error.exit), ("bad-config", Exit::Config));
    error.causes
}

/// A value that an option takes.
fn example(option: &clap::Arg) -> String {
    let value = match option.get_id().as_str() {
        "providers" => "[\"lab=lab --fast\"]",
        "tls_name" => "[\"a.example\", \"b.example\"]",
        "workload_user" => "\"990:990\"",
        "listen" => "\"127.0.0.1:8443\"",
        "log_keep" => "\"checkpoint\"",
        "log_format" => "\"json\"",
        "event_sink" => "[\"ops=http://127.0.0.1:9000/in#kind=machine\"]",
        "new_node_key" => "true",
        _ => "\"x\"",
    };
    format!("{} = {value}\n", option.get_long().expect("an option"))
}

fn line(args: &[&str]) -> Vec<OsString> {
    args.iter().map(OsString::from).collect()
}

#[test]
fn every_option_of_serve_is_a_setting() {
    let mut command = Cli::command();
    command.build();
    let serve = command.find_subcommand("serve").expect("a command");
    let all: Vec<&str> = serve.get_arguments().map(|arg| arg.get_id().as_str()).collect();
    let options = options();
    let text: String = options.iter().map(example).collect();
    let settings = read(&text).expect("all valid");
    let is_set = |id: &&str| settings.line(id).is_some() || NO_SETTINGS.contains(id);
    let forgotten: Vec<&&str> = all.iter().filter(|id| !is_set(id)).collect();
    assert_eq!(forgotten, [&""; 0]);
    // All of them together are a line that `serve` takes.
    let line = line(&["bailiwick", "serve"]).into_iter().chain(settings.arguments(|_| false));
    without_environment().try_get_matches_from(line).expect("a line");
}

#[test]
fn what_is_said_already_is_not_taken_from_the_file() {
    let settings = read("listen = \"127.0.0.1:1\"\ntls-name = [\"a\", \"b\"]\nnew-node-key = false\n").expect("valid");
    assert_eq!(settings.arguments(|_| false), line(&["--listen=127.0.0.1:1", "--tls-name=a", "--tls-name=b"]));
    assert_eq!(settings.arguments(|id| id == "listen"), line(&["--tls-name=a", "--tls-name=b"]));
    assert_eq!((settings.line("tls_name"), settings.count()), (Some(2), 3));
}

#[test]
fn what_makes_no_sense_is_told_with_its_line() {
    assert_eq!(
        causes("# a node\nlistn = \"x\"\n\nlog-keep = 7\n[tls]\na = 1\n"),
        ["line 2: there is no setting \"listn\"; did you mean listen?", "line 5: there is no setting \"tls\""]
    );
    assert_eq!(causes("listen = \"127.0.0.1:1\"\nlisten = \"127.0.0.1:2\"\n").len(), 1);
    assert!(causes("listen = ")[0].starts_with("line 1: "));
    assert_eq!(causes("new-node-key = \"yes\""), ["line 1: new-node-key is true or false"]);
    assert_eq!(causes("listen = [\"127.0.0.1:1\"]"), ["line 1: listen has one value, not a list of them"]);
    assert_eq!(causes("log-archive = {a = 1}"), ["line 1: log-archive is a text, in quotation marks"]);
}

#[test]
fn a_value_is_read_by_the_parser_of_its_option() {
    let listen = causes("\nlisten = \"somewhere\"");
    assert!(listen[0].starts_with("line 2: invalid value 'somewhere' for '--listen <ADDRESS:PORT>'"), "{listen:?}");
    let keep = causes("log-keep = \"some\"");
    assert!(keep[0].ends_with("; one of all, checkpoint"), "{keep:?}");
    assert_eq!(causes("tls-name = [\"a b\"]").len(), 1);
    assert_eq!(causes("provider = [\"nothing\"]").len(), 1);
    // That needs another option, which the command line may bring.
    assert!(read("tls-name = [\"a\"]").is_ok());
}

#[test]
fn a_line_of_another_command_stays_as_it_is() {
    for args in [&["bailiwick", "status"][..], &["bailiwick", "nonsense"], &["bailiwick", "--help"], &["bailiwick"]] {
        let (same, file) = with_file(line(args)).expect("nothing is read");
        assert_eq!((same, file.is_none()), (line(args), true));
    }
}

#[test]
fn the_command_line_comes_before_the_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join(FILE);
    fs::write(&file, "listen = \"127.0.0.1:1\"\ntls-name = [\"a\"]\nlog-level = \"info\"\n").expect("written");
    let data_dir = dir.path().to_str().expect("text");
    let serve = ["bailiwick", "--data-dir", data_dir, "--log-level=off", "serve", "--tls-name", "b"];
    // Alone that line lacks what it needs; with the file it is complete.
    assert!(Cli::command().try_get_matches_from(serve).is_err());
    let (merged, settings) = with_file(line(&serve)).expect("merged");
    assert_eq!(settings.expect("a file").path, file);
    let matches = Cli::command().try_get_matches_from(&merged).expect("a line");
    let (_, matches) = matches.subcommand().expect("a command");
    let names: Vec<&String> = matches.get_many("tls_name").expect("names").collect();
    assert_eq!(names, ["b"]);
    assert_eq!(matches.get_one::<String>("log_level").map(String::as_str), Some("off"));
    assert!(matches.value_source("listen").is_some());
}

#[test]
fn what_the_package_and_the_image_start_is_valid() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/package");
    let file = Settings::read(&package.join("config.toml")).expect("valid");
    assert_eq!(file.line("socket_dir"), Some(6));
    let text = fs::read_to_string(package.join("config.toml")).expect("readable");
    let commented: String =
        text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| format!("{line}\n")).collect();
    let offered: String =
        commented.lines().filter(|line| line.contains(" = ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(read(&offered).expect("valid as well").count(), 3);
    let unit = fs::read_to_string(package.join("bailiwick.service")).expect("readable");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("what it starts");
    Cli::command().try_get_matches_from(start.split(' ')).expect("a line");
    let image = fs::read_to_string(package.join("Containerfile")).expect("readable");
    let words = |name: &str| -> Vec<String> {
        let words = image.lines().find_map(|line| line.strip_prefix(name)).expect("what it starts");
        serde_json::from_str(words).expect("a list")
    };
    Cli::command().try_get_matches_from([words("ENTRYPOINT"), words("CMD")].concat()).expect("a line");
}
