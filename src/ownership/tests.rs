use std::{
    fs::Permissions,
    os::unix::{
        fs::{PermissionsExt, chown, symlink},
        net::UnixListener,
    },
};

use super::*;

/// Everything in a data directory that is looked at, and whether it is a secret.
const PLACES: [(&str, bool); 13] = [
    ("", false),
    ("node.key", true),
    ("providers.yaml", false),
    ("node.sock", false),
    ("journal", false),
    ("journal/log/segment", false),
    ("journal/sled/db", false),
    ("enrolment", false),
    ("enrolment/token", true),
    ("exec/lab", false),
    ("exec/lab/command.json", false),
    ("local", false),
    ("local/machines/web", false),
];

/// A data directory as a node leaves it.
fn data_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["journal/log", "journal/sled", "enrolment", "exec/lab", "local/machines/web"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    for (place, _) in PLACES {
        let path = dir.path().join(place);
        if place == "node.sock" {
            UnixListener::bind(&path).unwrap();
        } else if !path.exists() {
            fs::write(&path, "x").unwrap();
        }
        set_mode(&path, if path.is_dir() { 0o700 } else { 0o600 });
    }
    for folder in ["journal/log", "journal/sled", "exec", "local/machines"] {
        set_mode(&dir.path().join(folder), 0o755);
    }
    dir
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_others_may_write_is_refused_whatever_it_is() {
    for (place, is_secret) in PLACES {
        let dir = data_dir();
        let path = dir.path().join(place);
        let own = fs::symlink_metadata(&path).unwrap().mode() & 0o700;
        for others in [0o000, 0o044, 0o055, 0o020, 0o002, 0o022, 0o060, 0o077, 0o1022, 0o2000] {
            set_mode(&path, own | others);
            let verdict = check(dir.path());
            let expected = match others {
                others if others & 0o022 != 0 && place != "node.sock" => Some("other users may write to it"),
                others if is_secret && others & 0o077 != 0 => Some("other users may read it"),
                _ => None,
            };
            let told = verdict.as_ref().err().map(ToString::to_string);
            assert_eq!(told.is_some(), expected.is_some(), "{place:?} {others:o}: {told:?}");
            if let (Err(found), Some(expected)) = (verdict, expected) {
                assert_eq!(found.path, path, "{place:?} {others:o}");
                assert!(found.to_string().contains(expected) && !found.next().is_empty(), "{found}");
            }
        }
    }
}

#[test]
fn what_belongs_to_another_user_is_refused_whatever_its_mode() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for (place, _) in PLACES {
        for mode in [0o400, 0o600, 0o700, 0o755] {
            let dir = data_dir();
            let path = dir.path().join(place);
            set_mode(&path, mode);
            chown(&path, Some(65_534), None).unwrap();
            let found = check(dir.path()).unwrap_err();
            assert_eq!((&found.path, &found.why), (&path, &Why::Owner { owner: 65_534, us: 0 }), "{place:?} {mode:o}");
            assert!(found.next().contains("run the command as user 65534"));
        }
    }
}

#[test]
fn no_link_is_followed() {
    for (place, _) in PLACES.into_iter().filter(|(place, _)| !place.is_empty()) {
        let (dir, elsewhere) = (data_dir(), data_dir());
        let path = dir.path().join(place);
        match path.is_dir() {
            true => fs::remove_dir_all(&path).unwrap(),
            false => fs::remove_file(&path).unwrap(),
        }
        symlink(elsewhere.path().join(place), &path).unwrap();
        let found = check(dir.path()).unwrap_err();
        assert_eq!((found.path, found.why), (path, Why::Link), "{place}");
    }
    let (dir, scratch) = (data_dir(), tempfile::tempdir().unwrap());
    symlink(dir.path(), scratch.path().join("link")).unwrap();
    assert_eq!(check(&scratch.path().join("link")).unwrap_err().why, Why::Link);
}

#[test]
fn who_could_put_another_directory_in_its_place_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let above = scratch.path().join("above");
    fs::create_dir_all(above.join("data")).unwrap();
    set_mode(&above.join("data"), 0o700);
    for (mode, is_safe) in [(0o755, true), (0o700, true), (0o777, false), (0o775, false), (0o1777, true)] {
        set_mode(&above, mode);
        assert_eq!(check(&above.join("data")).is_ok(), is_safe, "{mode:o}");
    }
}

#[test]
fn what_is_not_there_is_fine_and_what_is_something_else_is_not() {
    let scratch = tempfile::tempdir().unwrap();
    check(&scratch.path().join("missing")).unwrap();
    fs::write(scratch.path().join("file"), "").unwrap();
    let found = check(&scratch.path().join("file")).unwrap_err();
    assert_eq!(found.why, Why::Kind { expected: "directory" });
}
