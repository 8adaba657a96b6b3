//! One shell, as somebody has it in the repository's root after a build, with a data directory of its own.

use std::{
    fs,
    io::Write,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use bailiwick_actors::testing::free_port;

use super::{super::support::pause, alike::alike, blocks::Step};

/// No command takes nearly as long.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Between what commands print: their exit codes. Nothing prints such a character.
const MARK: char = '\u{1e}';

/// Where the reader's data directory is.
const READERS_DATA: &str = "/home/you/.local/share/bailiwick";

/// What a command printed, on both outputs, and how it ended.
#[derive(Clone, Debug)]
pub struct Printed {
    pub printed: String,
    pub code: i32,
}

#[derive(Debug)]
pub struct Session {
    shell: Child,
    /// The file that everything prints into.
    output: PathBuf,
    /// What was read of it.
    read: usize,
    /// Texts that stand for others on the pages.
    spelled: Vec<(String, String)>,
    _place: tempfile::TempDir,
}

/// Ports instead of those that the examples name: a test takes none that somebody else may have.
#[derive(Debug)]
pub struct Ports(Vec<(String, String)>);

impl Ports {
    pub fn free() -> Self {
        let named = ["23791", "23792", "23793", "23801", "23802", "23803", "8443"];
        Self(named.map(|port| (port.to_owned(), free_port().to_string())).into())
    }
}

impl Session {
    /// A shell beside a copy of the examples and the program as it was built.
    pub fn begin(data: &Path, ports: &Ports) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let (root, output) = (place.path().join("bailiwick"), place.path().join("output"));
        fs::create_dir_all(root.join("target/debug")).expect("a directory");
        symlink(env!("CARGO_BIN_EXE_bailiwick"), root.join("target/debug/bailiwick")).expect("a link");
        copy_examples(&root.join("examples"), ports);
        let printed = fs::File::create(&output).expect("a file");
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc"]).current_dir(&root).env_clear().envs(environment(data, place.path()));
        let errors = printed.try_clone().expect("a file");
        let shell = command.stdin(Stdio::piped()).stdout(printed).stderr(errors).spawn().expect("a shell");
        let mut spelled: Vec<_> = ports.0.iter().map(|(named, free)| (free.clone(), named.clone())).collect();
        spelled.push((data.to_str().expect("text").to_owned(), READERS_DATA.to_owned()));
        Self { shell, output, read: 0, spelled, _place: place }
    }

    /// Gives the shell a line, and waits until it has ended; for one that goes on beside it, until it printed what it shall.
    pub fn run(&mut self, page: &str, step: &Step) -> Printed {
        let ours = |command: String, (ours, readers): &(String, String)| command.replace(readers, ours);
        let command = self.spelled.iter().fold(step.command.clone(), ours);
        let input = self.shell.stdin.as_mut().expect("it is open");
        write!(input, "{command}\nprintf '{MARK}%s{MARK}' \"$?\"\n").expect("the shell reads");
        let until = Instant::now() + TIME_MAX;
        let stays = step.command.trim_end().ends_with('&');
        loop {
            let all = fs::read(&self.output).expect("the output");
            let new = self.spelled(&String::from_utf8_lossy(&all[self.read..]));
            let is_over = Instant::now() >= until;
            if let [before, code, after] = new.split(MARK).collect::<Vec<_>>()[..] {
                let printed = format!("{before}{after}");
                if !stays || alike(&step.printed, &printed) || is_over {
                    self.read = all.len();
                    return Printed { printed, code: code.parse().expect("an exit code") };
                }
            }
            assert!(!is_over, "{page}:{}: $ {}\ndoes not end; it printed\n{new}", step.line, step.command);
            pause();
        }
    }

    /// The end of all input.
    pub fn end(mut self) {
        drop(self.shell.stdin.take());
        let status = self.shell.wait().expect("our child");
        assert!(status.success(), "the shell ends with {status}");
    }

    fn spelled(&self, text: &str) -> String {
        self.spelled.iter().fold(text.to_owned(), |text, (ours, readers)| text.replace(ours, readers))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Whatever else runs here is ended with the data directory.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// Nothing of the home or the settings of whoever runs the tests.
fn environment(data: &Path, temporary: &Path) -> Vec<(&'static str, std::ffi::OsString)> {
    let path = std::env::var_os("PATH").expect("a path");
    vec![
        ("PATH", path),
        ("BAILIWICK_DATA_DIR", data.into()),
        ("TMPDIR", temporary.into()),
        ("XDG_CONFIG_HOME", temporary.into()),
        ("LANG", "C.UTF-8".into()),
    ]
}

fn copy_examples(to: &Path, ports: &Ports) {
    copy_from(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), to, ports);
}

fn copy_from(folder: &Path, to: &Path, ports: &Ports) {
    fs::create_dir(to).expect("a directory");
    for entry in fs::read_dir(folder).expect("the examples") {
        let from = entry.expect("an example").path();
        if from.is_dir() {
            copy_from(&from, &to.join(from.file_name().expect("a name")), ports);
            continue;
        }
        let text = fs::read_to_string(&from).expect("a text");
        let text = ports.0.iter().fold(text, |text, (named, free)| text.replace(named, free));
        fs::write(to.join(from.file_name().expect("a name")), text).expect("written");
    }
}
