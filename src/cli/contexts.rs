//! `contexts.yaml`: the nodes elsewhere that this user has logged in to, with what proves them and what proves the user.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    exit::{CliError, Exit},
    failures::cannot,
};
use crate::{
    agent::files,
    client::{Authority, NodeUrl, Remote, Token},
    manifest::nearest,
    ownership::{self, Unsafe, Why},
    providers::access::Environment,
};

const FILE: &str = "contexts.yaml";

/// No host has a longer name.
const NAME_BYTES_MAX: usize = 253;

/// A node elsewhere, as it is known under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Context {
    pub node: NodeUrl,
    pub ca: Authority,
    pub token: Token,
}

/// What the file says.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    #[serde(default)]
    contexts: BTreeMap<String, Context>,
}

/// All contexts of a user, and where they are kept.
#[derive(Debug)]
pub(super) struct Contexts {
    /// None without a home directory: there is nothing then, and nothing can be kept.
    path: Option<PathBuf>,
    said: Said,
}

/// The name of a context, as people write it.
pub(super) fn name(text: &str) -> Result<String, String> {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    let is_name = (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_sign) && !text.starts_with('-');
    if is_name { Ok(text.to_owned()) } else { Err("a name has letters, digits and any of `-._:`".to_owned()) }
}

impl Context {
    /// The way to its node.
    pub(super) fn remote(&self, name: &str) -> Remote {
        let Self { node, ca, token } = self.clone();
        Remote { url: node, context: Some(name.to_owned()), ca, token }
    }
}

impl Contexts {
    /// What this user's file says; nothing if there is none.
    ///
    /// # Errors
    /// If others could have read or written it, or if it does not say what contexts are.
    pub(super) fn read(environment: &Environment) -> Result<Self, CliError> {
        // A relative path is none: so says the specification of these directories.
        let directory = |name: &str| environment.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config")));
        let Some(path) = config.map(|config| config.join("bailiwick").join(FILE)) else {
            return Ok(Self { path: None, said: Said::default() });
        };
        ownership::check_secret(&path).map_err(|error| not_safe(&path, &error))?;
        let unreadable = |error| {
            CliError::new(Exit::Config, "bad-contexts", format!("cannot read {}", path.display())).because(&error)
        };
        let said = match files::read(&path).map_err(unreadable)? {
            Some(content) => parse(&path, &content)?,
            None => Said::default(),
        };
        Ok(Self { path: Some(path), said })
    }

    /// Puts the file in place of the one that was read.
    pub(super) fn write(&self) -> Result<(), CliError> {
        let Some(path) = &self.path else {
            return Err(CliError::usage("there is no home directory to keep contexts in")
                .next("set HOME or XDG_CONFIG_HOME to a directory of your own"));
        };
        let text = serde_saphyr::to_string(&self.said)
            .map_err(|error| CliError::new(Exit::Error, "internal", "cannot write contexts as YAML").because(&error))?;
        let directory = path.parent().unwrap_or(path);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.and_then(|()| files::replace(path, text.as_bytes())).map_err(cannot("write", path))?;
        // Told now, not by whichever command comes next.
        ownership::check_secret(path).map_err(|error| not_safe(path, &error))
    }

    pub(super) fn all(&self) -> &BTreeMap<String, Context> {
        &self.said.contexts
    }

    pub(super) fn current(&self) -> Option<&str> {
        self.said.current.as_deref()
    }

    /// The context of this name.
    pub(super) fn named(&self, name: &str) -> Result<&Context, CliError> {
        self.said.contexts.get(name).ok_or_else(|| {
            let error = CliError::new(Exit::NotFound, "no-context", format!("there is no context {name:?}"));
            let names = self.said.contexts.keys().map(String::as_str);
            match nearest(name, names) {
                Some(near) => error.next(format!("did you mean {near}? `bailiwick context list` shows all")),
                None => error.next("see `bailiwick context list`, or log in with `bailiwick login URL`"),
            }
        })
    }

    /// The context that leads to this node, with its name.
    pub(super) fn leading_to(&self, url: &NodeUrl) -> Option<(&str, &Context)> {
        let found = self.said.contexts.iter().find(|(_, context)| context.node == *url);
        found.map(|(name, context)| (name.as_str(), context))
    }

    /// Keeps a context, and makes it the current one.
    pub(super) fn put(&mut self, name: String, context: Context) {
        self.said.current = Some(name.clone());
        self.said.contexts.insert(name, context);
    }

    /// Makes this context the current one, or none.
    pub(super) fn choose(&mut self, name: Option<&str>) -> Result<(), CliError> {
        if let Some(name) = name {
            self.named(name)?;
        }
        self.said.current = name.map(str::to_owned);
        Ok(())
    }

    /// Forgets a context. If it was the current one, there is none.
    pub(super) fn remove(&mut self, name: &str) -> Result<Context, CliError> {
        let context = self.named(name)?.clone();
        self.said.contexts.remove(name);
        self.said.current.take_if(|current| current == name);
        Ok(context)
    }
}

fn parse(path: &Path, content: &[u8]) -> Result<Said, CliError> {
    let bad = |why: String| {
        let next = "correct it, or remove it and log in again: `bailiwick login URL`";
        CliError::new(Exit::Config, "bad-contexts", format!("{} cannot be used: {why}", path.display())).next(next)
    };
    let text = str::from_utf8(content).map_err(|error| bad(error.to_string()))?;
    let said: Said = serde_saphyr::from_str(text).map_err(|error| {
        // What the parser says may quote what stands there, and that may be a token.
        let place = error.location().map(|at| format!("line {} column {}", at.line(), at.column()));
        bad(format!("{} is not as it should be", place.unwrap_or_else(|| "something in it".to_owned())))
    })?;
    if let Some(wrong) = said.contexts.keys().find(|key| name(key).is_err()) {
        return Err(bad(format!("{wrong:?} cannot be the name of a context")));
    }
    match &said.current {
        Some(current) if !said.contexts.contains_key(current) => {
            Err(bad(format!("`current` is {current:?}, and there is no such context")))
        }
        _ => Ok(said),
    }
}

/// What holds tokens was within the reach of others.
fn not_safe(file: &Path, error: &Unsafe) -> CliError {
    let path = error.path.display();
    let next = match &error.why {
        Why::Readable { .. } | Why::Writable { .. } if error.path == file => format!(
            "run `chmod go-rwx {path}`; whoever read it knows the tokens in it: have them revoked, and log in again"
        ),
        Why::Writable { .. } => format!("run `chmod go-w {path}`"),
        Why::Owner { owner, .. } => format!("run the command as user {owner}, or remove it and log in again"),
        Why::Link => "replace the link with the file that it leads to".to_owned(),
        Why::Kind { .. } => "remove it and log in again".to_owned(),
        Why::Readable { .. } | Why::Unseen { .. } => error.next(),
    };
    CliError::new(Exit::Config, "unsafe-contexts", error.to_string()).next(next)
}

#[cfg(test)]
pub(super) mod tests {
    use std::{
        ffi::OsString,
        fs::Permissions,
        os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    };

    use super::*;
    use crate::client::lab::Ca;

    pub(in super::super) const TOKEN: &str = "t1.very-secret";

    /// A user whose home is this directory, with these further variables.
    pub(in super::super) fn user(home: &Path, further: &[(&'static str, String)]) -> Environment {
        let mut variables: Vec<(&'static str, OsString)> = vec![("HOME", home.into())];
        variables.extend(further.iter().map(|(name, value)| (*name, value.into())));
        Environment::new(move |wanted| {
            variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone())
        })
    }

    pub(in super::super) fn context(ca: &Ca, url: &str) -> Context {
        Context { node: url.parse().unwrap(), ca: ca.authority(), token: TOKEN.parse().unwrap() }
    }

    fn file(home: &Path) -> PathBuf {
        home.join(".config/bailiwick/contexts.yaml")
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    /// A home with the contexts `lab` and `shop`, the second the current one.
    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let mut contexts = Contexts::read(&user(home.path(), &[])).unwrap();
        let ca = Ca::new("lab");
        contexts.put("lab".into(), context(&ca, "https://lab"));
        contexts.put("shop".into(), context(&ca, "https://[::1]:9"));
        contexts.write().unwrap();
        home
    }

    #[test]
    fn what_is_written_is_read_back_and_is_for_its_owner_alone() {
        // given
        let home = home();
        let user = user(home.path(), &[]);
        // when
        let mut contexts = Contexts::read(&user).unwrap();
        let gone = contexts.remove("shop").unwrap();
        contexts.write().unwrap();
        let left = Contexts::read(&user).unwrap();
        // then
        assert_eq!(gone.node.to_string(), "https://[::1]:9");
        assert_eq!((left.current(), left.all().len()), (None, 1));
        let lab = left.named("lab").unwrap();
        assert_eq!(*lab, Context { node: "https://lab:8443".parse().unwrap(), ..gone });
        assert_eq!(left.leading_to(&lab.node).unwrap().0, "lab");
        let file = file(home.path());
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert!(!format!("{left:?}").contains("secret"), "{left:?}");
    }

    #[test]
    fn a_configured_directory_comes_before_the_home() {
        // given
        let (home, elsewhere) = (home(), tempfile::tempdir().unwrap());
        let path = elsewhere.path().display().to_string();
        // when
        let there = Contexts::read(&user(home.path(), &[("XDG_CONFIG_HOME", path)])).unwrap();
        let relative = Contexts::read(&user(home.path(), &[("XDG_CONFIG_HOME", "config".into())])).unwrap();
        let nowhere = Contexts::read(&Environment::new(|_| None)).unwrap();
        // then
        assert_eq!([there.all().len(), relative.all().len(), nowhere.all().len()], [0, 2, 0]);
        assert_eq!(nowhere.write().unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn what_others_may_read_or_write_is_refused() {
        for mode in [0o640, 0o604, 0o620, 0o602, 0o666] {
            // given
            let home = home();
            fs::set_permissions(file(home.path()), Permissions::from_mode(mode)).unwrap();
            // when
            let error = Contexts::read(&user(home.path(), &[])).unwrap_err();
            // then
            assert_eq!((&*error.code, error.exit), ("unsafe-contexts", Exit::Config), "{mode:o}");
            assert!(error.next_step.starts_with("run `chmod go-rwx "), "{mode:o}: {error:?}");
        }
        // given: a directory in which others can put another file
        let home = home();
        let directory = home.path().join(".config");
        fs::set_permissions(&directory, Permissions::from_mode(0o777)).unwrap();
        // when
        let error = Contexts::read(&user(home.path(), &[])).unwrap_err();
        // then
        assert_eq!(error.next_step, format!("run `chmod go-w {}`", directory.display()));
    }

    #[test]
    fn a_link_and_a_file_of_somebody_else_are_refused() {
        // given
        let home = home();
        let (file, other) = (file(home.path()), home.path().join("other"));
        fs::rename(&file, &other).unwrap();
        symlink(&other, &file).unwrap();
        // then
        assert_eq!(Contexts::read(&user(home.path(), &[])).unwrap_err().code, "unsafe-contexts");
        if rustix::process::geteuid().is_root() {
            fs::rename(&other, &file).unwrap();
            chown(&file, Some(65_534), None).unwrap();
            let error = Contexts::read(&user(home.path(), &[])).unwrap_err();
            assert!(error.message.contains("belongs to user 65534"), "{error:?}");
        }
    }

    #[test]
    fn what_is_no_file_of_contexts_is_refused_and_not_quoted() {
        let home = home();
        let file = file(home.path());
        let good = fs::read_to_string(&file).unwrap();
        for (text, said) in [
            (good.replace("current:", "currant:"), "line "),
            (good.replace("current: shop", "current: sloop"), "`current` is \"sloop\""),
            (good.replace("https://lab", "http://lab"), "line "),
            (good.replace("  shop:", "  'a shop':").replace("current: shop", ""), "\"a shop\""),
            (good.replace("token: ", "taken: "), "line "),
            (good.replace("BEGIN", "END"), "line "),
            (format!("contexts: {{lab: {TOKEN}}}"), "line "),
            ("\u{0}".to_owned(), "line "),
        ] {
            // given
            assert_ne!(text, good);
            fs::write(&file, &text).unwrap();
            // when
            let error = Contexts::read(&user(home.path(), &[])).unwrap_err();
            // then
            assert_eq!((&*error.code, error.exit), ("bad-contexts", Exit::Config), "{text}");
            assert!(error.message.contains(said), "{error:?}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn a_context_that_is_not_there_is_not_found_and_a_near_one_is_named() {
        // given
        let home = home();
        let mut contexts = Contexts::read(&user(home.path(), &[])).unwrap();
        // when
        let error = contexts.choose(Some("shap")).unwrap_err();
        // then
        assert_eq!((error.exit, &*error.code), (Exit::NotFound, "no-context"));
        assert!(error.next_step.starts_with("did you mean shop?"), "{error:?}");
        assert_eq!(contexts.current(), Some("shop"));
        contexts.choose(None).unwrap();
        assert_eq!(contexts.current(), None);
    }
}
