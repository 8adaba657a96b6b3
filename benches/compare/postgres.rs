//! PostgreSQL with 64 connections, where a server is installed: its own `pgbench` inserts, each insert one transaction.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::{Fallible, writers::Run};

/// One row for each entry: stream, version, and as many bytes as an entry of ours has.
const TABLE: &str = "CREATE TABLE entries(stream bigint, version bigint, bytes bytea, PRIMARY KEY(stream, version)); \
                     CREATE SEQUENCE versions";
const INSERT: &str = "\\set stream random(1, 1024)\n\
                      INSERT INTO entries SELECT :stream, nextval('versions'), decode(repeat('5a', 312), 'hex');\n";
const PORT: &str = "54329";

pub fn writers(dir: &Path, time: Duration) -> Fallible<Run> {
    let server = Server::start(dir)?;
    server.done("psql", &["-q", "-c", TABLE])?;
    let script = dir.join("insert.sql");
    fs::write(&script, INSERT)?;
    let seconds = time.as_secs().max(2).to_string();
    let script = script.to_string_lossy();
    let text =
        server.done("pgbench", &["-n", "-M", "prepared", "-c", "64", "-j", "2", "-T", &seconds, "-f", &script])?;
    let number = |after: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(after))?;
        line.split_whitespace().find_map(|word| word.parse().ok())
    };
    let per_s = number("tps = ").ok_or("pgbench says nothing")?;
    let mean = Duration::from_secs_f64(number("latency average = ").unwrap_or_default() / 1e3);
    Ok(Run { per_s, p50: mean, p99: mean, cpu_us: f64::NAN, others: 0.0 })
}

/// A server of our own, ended with the value.
struct Server {
    bin: PathBuf,
    data: PathBuf,
    sockets: PathBuf,
}

impl Server {
    fn start(dir: &Path) -> Fallible<Self> {
        let bin = programs().ok_or("no server is installed")?;
        // The folder is made by the account that the server runs under; a server refuses to be root's.
        let home = dir.join("postgres");
        fs::create_dir(&home)?;
        let server = Self { bin, data: home.join("data"), sockets: home.clone() };
        if is_root() {
            done(Command::new("chown").arg("postgres").arg(&home))?;
            // Folders above may be closed to others.
            for above in home.ancestors().skip(1).take(2) {
                done(Command::new("chmod").arg("o+x").arg(above))?;
            }
        }
        let data = server.data.to_string_lossy().into_owned();
        server.run("initdb", &["-D", &data, "-A", "trust", "-U", "postgres"])?;
        let settings = format!(
            "-p {PORT} -c listen_addresses= -c max_connections=100 -c unix_socket_directories={}",
            server.sockets.display()
        );
        let log = home.join("log").to_string_lossy().into_owned();
        server.run("pg_ctl", &["-D", &data, "-o", &settings, "-l", &log, "-w", "start"])?;
        Ok(server)
    }

    /// Runs one of the server's programs as its account.
    fn run(&self, program: &str, args: &[&str]) -> Fallible<String> {
        let program = self.bin.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        done(command.args(args))
    }

    /// Runs a client's program.
    fn done(&self, program: &str, args: &[&str]) -> Fallible<String> {
        let mut command = Command::new(self.bin.join(program));
        command.arg("-h").arg(&self.sockets).args(["-p", PORT, "-U", "postgres"]);
        if program == "pgbench" {
            return done(command.args(args).arg("postgres"));
        }
        done(command.args(["-d", "postgres"]).args(args))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.data.to_string_lossy().into_owned();
        if let Err(error) = self.run("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "stop"]) {
            eprintln!("the server did not stop: {error}");
        }
    }
}

fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = versions.flatten().map(|version| version.path().join("bin"));
    bins.filter(|bin| bin.join("initdb").exists() && bin.join("pgbench").exists()).max()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn done(command: &mut Command) -> Fallible<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned();
    Err(format!("{}: {said}", output.status).into())
}
