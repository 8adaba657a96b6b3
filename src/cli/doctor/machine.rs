//! What this machine can do for a node.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use super::{Finding, trial};
use crate::{
    cli::{exit::CliError, limits},
    providers::storage::{
        Missing, SystemRunner, Way, helper::client::StorageHelper, missing_for_filesystems, missing_for_loop_volumes,
    },
};

pub(super) fn findings(helper: Option<&StorageHelper>) -> Result<Vec<Finding>, CliError> {
    let mut findings = vec![user(helper), memory(), open_files(), control_groups(), user_namespaces()];
    findings.extend(["etcd", "etcdctl"].map(program));
    let runner = SystemRunner::default();
    let missing = [
        ("loop-volumes", missing_for_loop_volumes(&runner, helper)),
        ("tmpfs", missing_for_filesystems(Way::Tmpfs, &runner, helper)),
        ("filesystems-on-volumes", missing_for_filesystems(Way::Managed, &runner, helper)),
    ];
    for (check, missing) in missing {
        findings.push(match (&missing[..], helper) {
            // It works where the node's machines lie and nowhere else, so there is nothing to be tried.
            ([], Some(_)) => Finding::ok(check, "left to the storage helper"),
            ([], None) => trial::finding(check)?,
            (missing, _) => lacks(check, missing),
        });
    }
    Ok(findings)
}

fn user(helper: Option<&StorageHelper>) -> Finding {
    let user = rustix::process::geteuid();
    if helper.is_some() && !user.is_root() {
        return Finding::ok("user", format!("user {}, with a storage helper", user.as_raw()));
    }
    if user.is_root() {
        return Finding::note(
            "user",
            "root, and so are workloads of local machines",
            "start the node with --workload-user NAME to keep them from it; `bailiwick help security` tells more",
        );
    }
    let told = format!("user {}: machines get mounts and loop devices from a storage helper only", user.as_raw());
    Finding::note(
        "user",
        told,
        "run `bailiwick storage-helper` as root if storage on this machine is wanted; everything else works",
    )
}

fn memory() -> Finding {
    match limits::look() {
        Ok(()) => Finding::ok("memory", "no limit is too low for a node"),
        Err(error) => Finding::of_error("memory", error),
    }
}

fn open_files() -> Finding {
    match limits::files_short() {
        None => Finding::ok("open-files", format!("{} may be open", limits::FILES)),
        Some(maximum) => Finding::note(
            "open-files",
            format!("only {maximum} may be open, so fewer connections are taken"),
            format!("raise it to {}: LimitNOFILE in the systemd unit, or `ulimit -Hn` as root", limits::FILES),
        ),
    }
}

fn control_groups() -> Finding {
    let mounted = Path::new("/sys/fs/cgroup");
    let version = match (mounted.join("cgroup.controllers").exists(), mounted.join("memory").exists()) {
        (true, _) => "version 2",
        (false, true) => "version 1",
        (false, false) => {
            let told = "none are mounted: a limit of memory from outside cannot be seen before it strikes";
            return Finding::note(
                "cgroups",
                told,
                "mount them at /sys/fs/cgroup if the node is to respect such a limit",
            );
        }
    };
    Finding::ok("cgroups", version)
}

/// Tries to make one.
fn user_namespaces() -> Finding {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match unshare.status() {
        Ok(ended) if ended.success() => Finding::ok("user-namespaces", "can be made"),
        Ok(_) => Finding::note(
            "user-namespaces",
            "cannot be made; the node needs none, a workload may",
            "allow them (`sysctl user.max_user_namespaces`) if a workload does",
        ),
        Err(_) => Finding::note(
            "user-namespaces",
            "not tried, because the program unshare is missing; the node needs none, a workload may",
            "install util-linux to have it tried",
        ),
    }
}

/// What workloads and replica sets on this machine may call by its name.
fn program(name: &'static str) -> Finding {
    let directories = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    match (SystemRunner { directories, ..SystemRunner::default() }).find(name) {
        Some(path) => Finding::ok(name, path.display().to_string()),
        None => Finding::note(
            name,
            "not on PATH; the node needs none, a workload that runs etcd on this machine does",
            "install etcd-server and etcd-client, if there is one",
        ),
    }
}

fn lacks(check: &'static str, missing: &[Missing]) -> Finding {
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let next = if missing.contains(&Missing::Rights) {
        "run a storage helper, see `bailiwick help security`, or leave it: storage of that kind is refused"
    } else {
        "install util-linux and e2fsprogs, and let a container have the host's loop devices"
    };
    Finding::note(check, format!("cannot be had, this machine lacks {}", names.join(", ")), next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::Level;

    #[test]
    fn what_is_missing_is_named_with_what_helps_and_is_no_problem() {
        let rights = lacks("tmpfs", &[Missing::Rights, Missing::Program("mount")]);
        assert_eq!(rights.level, Level::Note);
        let told = "cannot be had, this machine lacks the right to mount and to attach devices, the program mount";
        assert_eq!(rights.finding, told);
        assert!(rights.next.expect("advice").starts_with("run a storage helper"));
        let devices = lacks("loop-volumes", &[Missing::LoopDevices]);
        assert!(devices.next.expect("advice").contains("loop devices"));
    }

    #[test]
    fn a_program_that_nobody_has_is_a_note() {
        assert_eq!(program("no-such-program-anywhere").level, Level::Note);
        assert_eq!(program("sh").level, Level::Ok);
    }
}
