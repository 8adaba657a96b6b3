//! What is right and wrong with a data directory. Only looks.

use std::{
    fs, io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_actors::{ports::Clock, vocab::Timestamp};
use bailiwick_journal::{
    Journal, Occupant, OpenError, ReadOnlyJournal,
    disk::{Disk, OsDisk, room},
    occupant,
};
use serde_json::Value;
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};

use super::{Finding, expiry};
use crate::{
    api::query::Query,
    cli::{
        Global,
        exit::CliError,
        session,
        settings::{self, Settings},
    },
    client::socket_address,
    clock::SystemClock,
    config::tls_dir,
    node::place::{self, Twin},
    ownership,
    providers::storage::helper::client::StorageHelper,
    words::{count, period},
};

/// So long before its end an authority is worth a note: 90 days.
const EXPIRES_SOON_MS: u64 = 90 * 86_400_000;
/// The same of a certificate that somebody gives the node, and renews in time: 14 days.
const GIVEN_SOON_MS: u64 = 14 * 86_400_000;

pub(super) fn findings(global: &Global, config: Option<&Path>) -> Vec<Finding> {
    let data_dir = match session::data_dir(global) {
        Ok(data_dir) => data_dir,
        // Nothing in it is read: a user who could change it could have written it.
        Err(error) => return vec![Finding::of_error("data-directory", error)],
    };
    let now = SystemClock::new().wall();
    if !data_dir.exists() {
        let configuration = configuration(&data_dir, config, now);
        return [missing(&data_dir)].into_iter().chain(configuration).collect();
    }
    let shown = data_dir.display();
    let mut findings = vec![Finding::ok("data-directory", format!("{shown} is for its owner alone"))];
    findings.push(file_system(&data_dir));
    findings.extend(free_space(&data_dir));
    findings.extend(copies(&data_dir));
    findings.extend(authority(&data_dir, now));
    findings.extend(configuration(&data_dir, config, now));
    findings.extend(match session::journal_in(&data_dir) {
        Ok(dir) => of_journal(global, &data_dir, &dir),
        Err(_) => vec![without_journal(&data_dir)],
    });
    findings
}

fn missing(data_dir: &Path) -> Finding {
    let above = data_dir.ancestors().skip(1).find(|above| above.exists());
    let can_make = above.is_some_and(|above| rustix::fs::access(above, rustix::fs::Access::WRITE_OK).is_ok());
    let told = format!("{} does not exist", data_dir.display());
    if can_make {
        return Finding::note("data-directory", told, "nothing: the first start of a node makes it");
    }
    let above = above.map(|above| above.display().to_string()).unwrap_or_default();
    let told = format!("{told}, and this user may not make it in {above}");
    Finding::problem("data-directory", told, "make it for the user of the node, or choose another with --data-dir DIR")
}

fn file_system(data_dir: &Path) -> Finding {
    const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58F6];
    const OVERLAY: u64 = 0x794C_7630;
    if let Some(name) = OsDisk::new(data_dir).network_file_system() {
        let told = format!("a network file system ({name}), whose locks and syncs a journal cannot rely on");
        return Finding::problem("file-system", told, "move the data directory to a local disk");
    }
    match rustix::fs::statfs(data_dir).map(|found| found.f_type.cast_unsigned()) {
        Ok(kind) if IN_MEMORY.contains(&kind) => {
            let told = "in memory: a restart of the machine ends the journal and all that it says";
            Finding::note("file-system", told, "move the data directory to a disk, unless that is wanted")
        }
        Ok(OVERLAY) => {
            let told = "the overlay of a container: the journal goes with the container";
            Finding::note("file-system", told, "mount a volume at the data directory, unless that is wanted")
        }
        _ => Finding::ok("file-system", "local"),
    }
}

fn free_space(data_dir: &Path) -> Option<Finding> {
    let room = room(&OsDisk::new(data_dir))?;
    Some(if room.is_short() {
        let told = format!("{room}: only removals, holds and reports of running work are recorded");
        Finding::problem("free-space", told, "free space on that disk, or move the data directory to a larger one")
    } else {
        Finding::ok("free-space", room.to_string())
    })
}

/// Other directories with the same identity.
fn copies(data_dir: &Path) -> Vec<Finding> {
    match place::look(data_dir) {
        Ok(Ok(elsewhere)) => {
            let told = |told| Finding::note("identity", told, "nothing, if the other one is never started again");
            elsewhere.told.into_iter().map(told).collect()
        }
        Ok(Err(Twin { path, holder })) => {
            let told = format!("a node with the same identity runs in {} (process {holder})", path.display());
            vec![Finding::problem("identity", told, place::MENDED)]
        }
        Err(error) => {
            let told = format!("cannot read where this directory was before: {error}");
            vec![Finding::problem("identity", told, "check the permissions of place.json")]
        }
    }
}

/// Until when the node's own certificate authority holds, if it has one.
fn authority(data_dir: &Path, now: Timestamp) -> Option<Finding> {
    let file = tls_dir(data_dir).join("ca.pem");
    if !file.exists() {
        return None;
    }
    let replace = format!(
        "stop the node, remove {} and start it again: it makes a new one, and everybody logs in anew",
        tls_dir(data_dir).display()
    );
    let read = CertificateDer::from_pem_file(&file).ok();
    let end = read.and_then(|certificate| expiry::end(&certificate));
    Some(judged("certificate-authority", end, now, (&file, replace, EXPIRES_SOON_MS)))
}

/// What is said of a certificate that ends then; what to do about it, and how long before its end.
fn judged(
    check: &'static str,
    end: Option<Timestamp>,
    now: Timestamp,
    (file, replace, soon_ms): (&Path, String, u64),
) -> Finding {
    match end {
        None => Finding::problem(check, format!("{} is no certificate", file.display()), replace),
        Some(end) if end <= now => {
            Finding::problem(check, format!("it expired at {end}: no client believes the node"), replace)
        }
        Some(end) if end.since(now) < soon_ms => {
            Finding::note(check, format!("it expires at {end}, in {}", period(end.since(now))), replace)
        }
        Some(end) => Finding::ok(check, format!("it holds until {end}")),
    }
}

/// The configuration file, and until when the certificate holds that it names.
fn configuration(data_dir: &Path, named: Option<&Path>, now: Timestamp) -> Vec<Finding> {
    let file = named.map_or_else(|| data_dir.join(settings::FILE), Path::to_owned);
    if named.is_none() && !file.exists() {
        return Vec::new();
    }
    let read = ownership::check_file(&file).map_err(CliError::from).and_then(|()| Settings::read(&file));
    let settings = match read {
        Ok(settings) => settings,
        Err(error) => return vec![Finding::of_error("configuration", error)],
    };
    let told = format!("{}: {}, all valid", file.display(), count(settings.count(), "setting"));
    let named = settings.value("tls_cert").map(|file| certificate(Path::new(file), now));
    let helper = settings.value("storage_helper").map(|socket| storage_helper(Path::new(socket)));
    [Finding::ok("configuration", told)].into_iter().chain(named).chain(helper).collect()
}

/// The storage helper that the configuration names, if it can be read. What is wrong with it, [`findings`] tell.
pub(super) fn helper_named(global: &Global, config: Option<&Path>) -> Option<StorageHelper> {
    let named = config.map(Path::to_owned);
    let file = named.or_else(|| session::data_dir(global).ok().map(|data_dir| data_dir.join(settings::FILE)))?;
    ownership::check_file(&file).ok()?;
    Settings::read(&file).ok()?.value("storage_helper").map(|socket| StorageHelper::at(Path::new(socket)))
}

fn storage_helper(socket: &Path) -> Finding {
    match StorageHelper::at(socket).reach() {
        Ok(()) => Finding::ok("storage-helper", format!("answers on {}", socket.display())),
        Err(error) => Finding::problem(
            "storage-helper",
            error.to_string(),
            "start it as root: `bailiwick storage-helper`; until then storage inside of machines waits",
        ),
    }
}

/// A certificate of somebody else's.
fn certificate(file: &Path, now: Timestamp) -> Finding {
    let replace = format!("replace {} and its key; a running node reads them again", file.display());
    let read = CertificateDer::from_pem_file(file).ok();
    judged("certificate", read.and_then(|certificate| expiry::end(&certificate)), now, (file, replace, GIVEN_SOON_MS))
}

fn without_journal(data_dir: &Path) -> Finding {
    match place::machines_without_journal(data_dir) {
        Some(machines) => {
            let told = format!("{} holds machines, and the journal that created them is missing", machines.display());
            Finding::problem("journal", told, "restore the journal from a backup, or choose another directory")
        }
        None => Finding::note("journal", "there is none yet", "nothing: the first start of a node makes it"),
    }
}

fn of_journal(global: &Global, data_dir: &Path, dir: &Path) -> Vec<Finding> {
    match occupant(dir) {
        Ok(Occupant { holder: Some(holder), .. }) => of_running(global, &holder),
        Ok(Occupant { holder: None, .. }) => of_stopped(data_dir, dir),
        Err(error) => vec![Finding::of_error("journal", error.into())],
    }
}

/// A node has the journal open: it is asked.
fn of_running(global: &Global, holder: &str) -> Vec<Finding> {
    let answer = match session::ask_node(global, &Query::Status { at: None }) {
        Ok(answer) => answer,
        Err(error) => return vec![Finding::of_error("node", error)],
    };
    let mut findings = vec![Finding::ok("node", format!("process {holder} runs it, and answers"))];
    for trouble in answer["node"].as_array().into_iter().flatten() {
        let text = |name: &str| trouble[name].as_str().unwrap_or_default();
        let told = format!("{}: {}", text("status"), text("why"));
        findings.push(Finding::problem("node", told, "`bailiwick status` says since when"));
    }
    findings.push(Finding::ok("journal", "the node has it open; `bailiwick journal check` has it check all of it"));
    findings.extend(session::ask_node(global, &Query::Clock).map(|answer| clock(&answer)).unwrap_or_default());
    findings
}

fn of_stopped(data_dir: &Path, dir: &Path) -> Vec<Finding> {
    let mut findings = vec![Finding::ok("node", "none runs here")];
    findings.extend(stale_socket(data_dir));
    // Without its block store, of which a copy would be made beside it: nothing is written here.
    let disk: Arc<dyn Disk> = Arc::new(OsDisk::new(dir));
    match ReadOnlyJournal::open_on(disk) {
        Ok(journal) => {
            findings.push(opened(&journal));
            let asked = Query::Clock.answer_from(&journal, SystemClock::new().wall());
            findings.extend(asked.map(|answer| clock(&answer)).unwrap_or_default());
        }
        Err(OpenError::OnlyInStore { .. }) => findings.push(Finding::note(
            "journal",
            "its older entries are in sled alone, which is not opened here",
            "`bailiwick journal check` reads those, too",
        )),
        Err(error) => findings.push(Finding::of_error("journal", session::not_opened(data_dir, error))),
    }
    findings
}

fn opened(journal: &ReadOnlyJournal) -> Finding {
    let entries = journal.head().position;
    match journal.repair() {
        None => Finding::ok("journal", format!("{entries} entries, all there")),
        Some(repair) => {
            let problem = repair.problems.first().map(|problem| format!("{problem}; ")).unwrap_or_default();
            let told = format!("{entries} entries; damaged, and mended at the next start: {problem}{repair}");
            Finding::note(
                "journal",
                told,
                "`bailiwick journal check` says more; a backup before the start does no harm",
            )
        }
    }
}

/// A socket that nobody listens on.
fn stale_socket(data_dir: &Path) -> Option<Finding> {
    let refused = |address: &Path| {
        UnixStream::connect(address).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    };
    let socket: PathBuf = data_dir.join("node.sock");
    let is_stale =
        fs::symlink_metadata(&socket).is_ok() && socket_address(data_dir).is_ok_and(|address| refused(address.path()));
    is_stale.then(|| {
        let told = format!("{} was left by a node that was killed", socket.display());
        Finding::note("socket", told, "nothing: the next start of a node replaces it")
    })
}

fn clock(answer: &Value) -> Vec<Finding> {
    match answer["step"]["text"].as_str() {
        Some(text) => vec![Finding::problem("clock", text, "compare this host's clock with another: `date -u`")],
        None => vec![Finding::ok("clock", "the node's time is the clock's")],
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;
    use crate::cli::doctor::Level;

    /// A data directory with an authority that ends at the beginning of that year.
    fn with_authority(year: i32) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(tls_dir(dir.path())).expect("a directory");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.not_after = date_time_ymd(year, 1, 1);
        let made = params.self_signed(&KeyPair::generate().expect("a key")).expect("signed");
        fs::write(tls_dir(dir.path()).join("ca.pem"), made.pem()).expect("written");
        dir
    }

    #[test]
    fn an_authority_is_judged_by_its_end() {
        let now = SystemClock::new().wall();
        let level = |dir: &Path| authority(dir, now).map(|finding| finding.level);
        let nothing = tempfile::tempdir().expect("a directory");
        assert_eq!(level(nothing.path()), None);
        assert_eq!(level(with_authority(2_020).path()), Some(Level::Problem));
        let later = with_authority(2_048);
        assert_eq!(level(later.path()), Some(Level::Ok));
        let end = "2047-12-01T00:00:00Z".parse::<jiff::Timestamp>().expect("a time").as_millisecond();
        let then = Timestamp(end.cast_unsigned());
        let soon = authority(later.path(), then).expect("there is one");
        assert_eq!(soon.level, Level::Note);
        assert!(soon.finding.ends_with("in 31d00h"), "{soon:?}");
        fs::write(tls_dir(later.path()).join("ca.pem"), "nonsense").expect("written");
        assert_eq!(level(later.path()), Some(Level::Problem));
    }

    #[test]
    fn a_configuration_file_is_read_with_the_certificate_that_it_names() {
        let dir = with_authority(2_020);
        let levels = || -> Vec<(&str, Level)> {
            let found = configuration(dir.path(), None, SystemClock::new().wall());
            found.into_iter().map(|finding| (finding.check, finding.level)).collect()
        };
        assert_eq!(levels(), []);
        let file = dir.path().join(settings::FILE);
        let expired = tls_dir(dir.path()).join("ca.pem");
        fs::write(&file, format!("tls-cert = {:?}\n", expired.to_str().expect("text"))).expect("written");
        assert_eq!(levels(), [("configuration", Level::Ok), ("certificate", Level::Problem)]);
        fs::write(&file, "tls-crt = 1\n").expect("written");
        assert_eq!(levels(), [("configuration", Level::Problem)]);
        let elsewhere = configuration(dir.path(), Some(Path::new("/nowhere/c.toml")), SystemClock::new().wall());
        assert_eq!(elsewhere[0].level, Level::Problem, "that is named and not there");
    }

    #[test]
    fn machines_without_their_journal_are_a_problem() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(without_journal(dir.path()).level, Level::Note);
        fs::create_dir_all(dir.path().join("local/machines/m")).expect("a directory");
        assert_eq!(without_journal(dir.path()).level, Level::Problem);
    }

    #[test]
    fn a_directory_that_is_not_there_is_made_by_the_first_start() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).expect("closed");
        assert_eq!(missing(&dir.path().join("a/b")).level, Level::Note);
    }
}
