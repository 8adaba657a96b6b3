//! The guide says what is: its commands and options exist, its links lead somewhere, and the files it names are there.

use std::{collections::BTreeSet, fs, path::Path};

use clap::{Command, CommandFactory, Parser};

use crate::{
    cli::{Cli, help},
    guide::{PAGES, Page},
};

const README: &str = include_str!("../../../README.md");

fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().map(|page| (page.topic, page.text)).chain([("README.md", README)])
}

/// Lines in blocks fenced as one of these, without the prompt.
fn code_lines(text: &'static str, fences: &[&str]) -> Vec<&'static str> {
    let (mut open, mut lines) = (None, Vec::new());
    for line in text.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(_), Some(_)) => open = None,
            (Some(info), None) => open = Some(info.split(' ').next().unwrap_or("")),
            (None, Some("console")) if fences.contains(&"console") => lines.extend(line.strip_prefix("$ ")),
            (None, Some(info)) if info != "console" && fences.contains(&info) => lines.push(line),
            (None, _) => (),
        }
    }
    lines
}

/// Code within sentences: what stands between single backticks, outside of blocks.
fn code_in_sentences(text: &str) -> Vec<String> {
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    let joined = outside.join("\n").replace('\n', " ");
    joined.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The words of each `bailiwick` in a line of shell: quotes are taken off; what a shell would do with the rest does not matter.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut quote = None;
    for letter in line.chars().chain([';']) {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            // `status|history` in a sentence is one word.
            ('|', None) if word.is_some() => word.get_or_insert_default().push(letter),
            (' ' | '|' | '&' | ';' | '(' | ')' | '<' | '>' | '\n', None) => {
                words.extend(word.take());
                if letter != ' ' {
                    commands.push(std::mem::take(&mut words));
                }
            }
            (_, None) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    commands.push(words);
    commands.retain_mut(|words: &mut Vec<String>| {
        let begin = words.iter().position(|word| word == "bailiwick");
        begin.map(|begin| words.drain(..begin)).is_some()
    });
    commands
}

/// What is wrong with a command of which only subcommands and options count: values may stand for others.
fn unknown_in(root: &Command, words: &[String]) -> Option<String> {
    let mut command = root;
    let mut is_value = false;
    for word in &words[1..] {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if let Some(option) = word.strip_prefix("--").filter(|option| !option.is_empty()) {
            let (long, value) = option.split_once('=').map_or((option, None), |(long, value)| (long, Some(value)));
            let is_it = |arg: &&clap::Arg| {
                arg.get_long() == Some(long) || arg.get_all_aliases().unwrap_or_default().contains(&long)
            };
            let found = command.get_arguments().chain(root.get_arguments()).find(is_it);
            if found.is_none() && !matches!(long, "help" | "version") {
                return Some(format!("`{}` has no option --{long}", command.get_name()));
            }
            is_value = value.is_none() && found.is_some_and(|arg| arg.get_action().takes_values());
        } else if command.has_subcommands() && !word.starts_with('-') {
            // `rollout status|history` names several.
            let unknown = word.split('|').find(|name| command.find_subcommand(name).is_none());
            match unknown {
                Some(name) => return Some(format!("`{}` has no command {name}", command.get_name())),
                None if word.contains('|') => return None,
                None => command = command.find_subcommand(word)?,
            }
        }
    }
    None
}

#[test]
fn every_command_in_a_block_of_the_guide_is_one_that_can_be_given() {
    let mut count = 0;
    for (page, text) in texts() {
        for line in code_lines(text, &["sh", "console"]) {
            for words in commands(line) {
                count += 1;
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{page}: {line}\n{error}");
                }
            }
        }
    }
    assert!(count > 100, "only {count} commands were found");
}

#[test]
fn every_command_in_a_sentence_of_the_guide_exists() {
    let root = Cli::command();
    for (page, text) in texts() {
        for words in code_in_sentences(text).iter().flat_map(|code| commands(code)).filter(|words| words.len() > 1) {
            assert_eq!(unknown_in(&root, &words), None, "{page}: {}", words.join(" "));
        }
    }
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let root = Cli::command();
    let unknown = |line: &str| commands(line).iter().find_map(|words| unknown_in(&root, words));
    assert_eq!(unknown("bailiwick aply x"), Some("`bailiwick` has no command aply".to_owned()));
    assert_eq!(unknown("true && bailiwick journal chek"), Some("`journal` has no command chek".to_owned()));
    assert_eq!(unknown("bailiwick get machines --labels x"), Some("`get` has no option --labels".to_owned()));
    assert_eq!(unknown("bailiwick rollout status|histry x"), Some("`rollout` has no command histry".to_owned()));
    assert_eq!(unknown("bailiwick --data-dir x get machines -o wide"), None);
    let words = commands("kill $(bailiwick describe 'a b' | sed x) # bailiwick no");
    assert_eq!(words, [["bailiwick", "describe", "a b"]]);
}

/// Whether a file is there, and has the test that is named with it: `src/text.rs`, `src/text.rs::name`.
fn is_there(root: &Path, path: &str) -> bool {
    match path.split_once("::") {
        None => root.join(path).exists(),
        Some((file, test)) => {
            fs::read_to_string(root.join(file)).is_ok_and(|text| text.contains(&format!("fn {test}(")))
        }
    }
}

#[test]
fn every_promise_names_what_holds_it() {
    let (_, page) = texts().find(|(page, _)| *page == "promises").expect("the page of promises");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 15, "{rows:?}");
    for row in rows {
        assert!(row.matches("rs`").count() + row.matches("::").count() > 0, "no test is named: {row}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = "src/cli/tests/guide.rs::every_promise_names_what_holds_it";
    assert!(is_there(root, own) && !is_there(root, &own.replace("names", "name")));
}

#[test]
fn every_file_that_the_guide_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rooms = ["src/", "actors/", "journal/", "tests/", "examples/", "benches/", ".ci/"];
    let mut count = 0;
    for (page, text) in texts() {
        let named = code_in_sentences(text);
        let paths = named
            .iter()
            .flat_map(|code| code.split(' '))
            .filter(|word| rooms.iter().any(|room| word.starts_with(room)));
        for path in paths {
            count += 1;
            assert!(is_there(root, path), "{page} names {path}");
        }
    }
    assert!(count > 80, "only {count} files were found");
}

#[test]
fn every_file_of_the_guide_is_a_page_and_every_link_leads_to_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide");
    let files = fs::read_dir(&folder).expect("the guide").map(|file| file.expect("a file").file_name());
    let files: BTreeSet<String> = files.map(|file| file.to_string_lossy().into_owned()).collect();
    let pages: BTreeSet<String> = PAGES.iter().map(|page| format!("{}.md", page.topic)).collect();
    let others: Vec<&String> = files.difference(&pages).collect();
    assert_eq!(others, ["links.md", "mod.rs"]);
    let links = fs::read_to_string(folder.join("links.md")).expect("links");
    for page in PAGES {
        let module = format!("[{}]: crate::guide::{}", page.topic, page.topic.replace('-', "_"));
        assert!(links.lines().any(|line| line == module), "links.md lacks {module}");
        assert!(README.contains(&format!("(src/guide/{}.md)", page.topic)), "README leads to no {}", page.topic);
        let used = PAGES.iter().filter(|other| page.text.contains(&format!("[{}]", other.topic)));
        for other in used {
            let definition = format!("[{0}]: {0}.md", other.topic);
            assert!(page.text.lines().any(|line| line == definition), "{}.md lacks {definition}", page.topic);
        }
    }
}

#[test]
fn readme_is_one_page() {
    assert!(README.lines().count() <= 100, "{} lines", README.lines().count());
}

#[test]
fn help_knows_topics_commands_and_what_was_meant() {
    let help = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        help::shown(&words).map_err(|error| (error.message, error.next_step))
    };
    assert!(PAGES.iter().all(|page| help("topics").expect("a list").contains(page.topic)));
    let storage = help("storage").expect("a page");
    assert!(
        storage.starts_with("# Storage\n") && storage.contains("Options of the command: `bailiwick storage --help`")
    );
    assert!(!help("concepts").expect("a page").contains("Options of the command"));
    assert!(help("journal check").expect("a command").contains("bailiwick journal check"));
    assert!(help("apply").expect("a command").contains("--prune"));
    let (message, next) = help("storge").expect_err("no such page");
    assert_eq!(message, "there is no topic or command \"storge\"");
    assert!(next.starts_with("did you mean storage?"), "{next}");
    assert!(help("journal chek").expect_err("no such command").1.starts_with("did you mean check?"));
    assert!(help("xyzzy").expect_err("no such page").1.contains("help topics"));
}

#[test]
fn a_page_for_a_terminal_has_no_links() {
    for page in PAGES {
        let shown = page.for_terminal();
        assert!(!PAGES.iter().any(|other| shown.contains(&format!("[{}]", other.topic))), "{}", page.topic);
        assert!(!shown.lines().any(|line| line.starts_with('[')), "{}", page.topic);
    }
    let policies = Page::of("policies").expect("there is such a page").for_terminal();
    assert!(policies.contains("`bailiwick help machines`"));
    assert!(Page::of("nothing").is_none());
}

#[test]
fn completion_knows_the_topics() {
    let mut script = Vec::new();
    clap_complete::generate(clap_complete::Shell::Bash, &mut Cli::command(), "bailiwick", &mut script);
    let script = String::from_utf8(script).expect("a text");
    assert!(script.contains("replica-sets") && script.contains("journal-format"));
}
