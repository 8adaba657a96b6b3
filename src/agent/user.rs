//! The user that workloads run as, where that is not the node's own.

use std::{
    fmt, io,
    process::{Command, Stdio},
    str::FromStr,
};

/// A user and a group of this machine, neither of them root's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadUser {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// Why nobody is meant by a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUser {
    #[error("expected a user's name, UID or UID:GID")]
    Form,
    #[error("there is no user {0} on this machine")]
    Unknown(String),
    #[error("users cannot be looked up ({0}): give UID:GID")]
    NotLookedUp(io::ErrorKind),
    #[error("root is not a user that workloads could be kept apart with")]
    Root,
}

impl WorkloadUser {
    /// The numbers of the user and the group.
    pub(crate) fn ids(self) -> (u32, u32) {
        (self.uid, self.gid)
    }
}

impl fmt::Display for WorkloadUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.uid, self.gid)
    }
}

/// `990:990`, or whoever the system knows under a name or a number.
impl FromStr for WorkloadUser {
    type Err = InvalidUser;

    fn from_str(text: &str) -> Result<Self, InvalidUser> {
        let (uid, gid) = match text.split_once(':') {
            Some((uid, gid)) => (number(uid)?, number(gid)?),
            None => known(text)?,
        };
        if uid == 0 || gid == 0 { Err(InvalidUser::Root) } else { Ok(Self { uid, gid }) }
    }
}

fn number(text: &str) -> Result<u32, InvalidUser> {
    // The last one means "nobody in particular" to the kernel.
    text.parse().ok().filter(|number| *number != u32::MAX).ok_or(InvalidUser::Form)
}

/// What the system's own directory of users says, whatever it is kept in.
fn known(text: &str) -> Result<(u32, u32), InvalidUser> {
    if text.is_empty() || text.starts_with('-') || text.contains(char::is_whitespace) {
        return Err(InvalidUser::Form);
    }
    let asked = Command::new("getent").args(["passwd", text]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let answer = asked.map_err(|error| InvalidUser::NotLookedUp(error.kind()))?.stdout;
    let line = String::from_utf8_lossy(&answer).into_owned();
    let mut fields = line.trim_end().split(':').skip(2);
    match (fields.next().map(number), fields.next().map(number)) {
        (Some(Ok(uid)), Some(Ok(gid))) => Ok((uid, gid)),
        _ => Err(InvalidUser::Unknown(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_or_numbered_and_is_never_root() {
        let read = |text: &str| text.parse::<WorkloadUser>();
        assert_eq!(read("990:991").unwrap().to_string(), "990:991");
        for text in ["", "990:", ":990", "-1", "a b", "990:4294967295", "1:2:3"] {
            assert_eq!(read(text), Err(InvalidUser::Form), "{text}");
        }
        for text in ["root", "0", "0:990", "990:0"] {
            assert_eq!(read(text), Err(InvalidUser::Root), "{text}");
        }
        assert_eq!(read("nobody-is-called-so"), Err(InvalidUser::Unknown("nobody-is-called-so".into())));
    }
}
