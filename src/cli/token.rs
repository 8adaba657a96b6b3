//! A token that somebody gives: in a file, on standard input, or typed where nobody can read it.

use std::{
    fs::File,
    io::{self, IsTerminal, Read, Write},
    path::Path,
    thread,
};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::oneshot;

use super::{
    exit::{CliError, Exit},
    session,
    up::Signals,
};
use crate::client::{TOKEN_BYTES_MAX, Token};

/// The token in this file, where `-` is standard input; without one, from standard input.
pub(super) fn given(file: Option<&Path>) -> Result<Token, CliError> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(file) => in_file(file),
        None if file.is_none() && io::stdin().is_terminal() => token(&typed()?),
        None => token(&read(io::stdin().lock()).map_err(unreadable("standard input"))?),
    }
}

/// The token in this file.
pub(super) fn in_file(file: &Path) -> Result<Token, CliError> {
    let text = File::open(file).and_then(read).map_err(unreadable(&file.display().to_string()))?;
    token(&text)
}

/// As much as a token and the end of its line can have.
fn read(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(TOKEN_BYTES_MAX as u64 + 2).read_to_string(&mut text)?;
    Ok(text)
}

fn unreadable(place: &str) -> impl FnOnce(io::Error) -> CliError {
    let message = format!("cannot read the token from {place}");
    move |error| CliError::new(Exit::NoInput, "unreadable", message).because(&error)
}

fn token(text: &str) -> Result<Token, CliError> {
    let next = "give the token with --token-file FILE, or on standard input";
    match text.trim() {
        "" => Err(CliError::usage("no token was given").next(next)),
        text => text.parse().map_err(|error| CliError::usage("that is not a token").because(&error).next(next)),
    }
}

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden {
    before: Termios,
}

impl Hidden {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self { before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that has gone has nothing to show.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.before).ok();
    }
}

/// A line from the terminal. Whoever gives up with Ctrl-C gets a terminal back that shows what is typed.
fn typed() -> Result<String, CliError> {
    session::block_on(async {
        let mut signals = Signals::new()?;
        let _hidden = Hidden::begin().map_err(unreadable("the terminal"))?;
        drop(write!(io::stderr(), "Token: "));
        let (tell, told) = oneshot::channel();
        // No task of the runtime: nobody can end a read, and nobody has to wait for this thread.
        thread::spawn(move || {
            let mut line = String::new();
            tell.send(io::stdin().read_line(&mut line).map(|_| line)).ok();
        });
        let line = tokio::select! {
            biased;
            () = signals.any() => Ok(String::new()),
            line = told => line.unwrap_or_else(|_| Ok(String::new())),
        };
        drop(writeln!(io::stderr()));
        line.map_err(unreadable("the terminal"))
    })?
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_token_is_the_one_word_in_its_file() {
        // given
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let long = "x".repeat(TOKEN_BYTES_MAX);
        for (text, is_token) in [
            ("t1.secret\n", true),
            ("t1.secret\r\n", true),
            (long.as_str(), true),
            (&format!("{long}y\n"), false),
            ("two words\n", false),
            ("", false),
            ("\n", false),
        ] {
            fs::write(&file, text).unwrap();
            // when
            let read = given(Some(&file));
            // then
            assert_eq!(read.is_ok(), is_token, "{text:?}");
            if let Err(error) = read {
                assert_eq!(error.exit, Exit::Usage);
                assert!(!format!("{error:?}").contains("two words"), "{error:?}");
            }
        }
        assert_eq!(given(Some(&dir.path().join("none"))).unwrap_err().exit, Exit::NoInput);
    }
}
