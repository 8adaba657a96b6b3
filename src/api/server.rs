//! The server: its own thread and workers, so that no question ever holds up a decision.

use std::{
    fs, io,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use actix_web::{App, HttpServer, dev::ServerHandle, http::StatusCode, web};

use super::{agents, asker::Peer, changes, errors::Failure, journal, operate, questions, shared::Shared};
use crate::{client::SocketPath, handle::Handle, providers::enrolment::Enrolments};

/// The longest body of a change, in bytes: a manifest's limit and some room.
const CHANGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The longest body of anything else.
const BODY_BYTES_MAX: usize = 256 * 1024;

/// A running server.
#[derive(Debug)]
pub struct Server {
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    socket: PathBuf,
    /// Which file that is: another node may have its own at the same path by the time this one ends.
    made: (u64, u64),
}

/// Listens on the socket; an old one that nobody listens on is replaced. `address` is a name of `real` that is short
/// enough for the system.
///
/// # Errors
/// If the socket cannot be made.
pub fn start(
    node: Handle,
    key: [u8; 32],
    enrolments: Arc<Enrolments>,
    address: &SocketPath,
    real: &Path,
) -> io::Result<Server> {
    match fs::remove_file(real) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => (),
    }
    let listener = listen(address, real)?;
    let made = file_at(real)?;
    let shared = Shared { node, key: Arc::new(key), enrolments };
    let (ready, is_ready) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("bailiwick-api".into()).spawn(move || serve(listener, shared, &ready))?;
    let handle = is_ready.recv().map_err(|_| io::Error::other("the server's thread ended"))??;
    Ok(Server { handle, thread: Some(thread), socket: real.to_owned(), made })
}

/// Device and inode of what is at a path.
fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Binds a socket where nobody else gets, and puts it in place when only its owner may use it.
fn listen(address: &SocketPath, real: &Path) -> io::Result<UnixListener> {
    let closed = real.with_extension("new");
    match fs::remove_dir_all(&closed) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => (),
    }
    fs::DirBuilder::new().mode(0o700).create(&closed)?;
    let inner = closed.join("s");
    let listener = UnixListener::bind(SocketPath::of(&inner)?.path())?;
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o600))?;
    fs::rename(&inner, address.path())?;
    fs::remove_dir(closed)?;
    Ok(listener)
}

fn serve(listener: UnixListener, shared: Shared, ready: &mpsc::SyncSender<io::Result<ServerHandle>>) {
    let system = actix_web::rt::System::new();
    let served = system.block_on(async {
        let server = HttpServer::new(move || {
            let json = web::JsonConfig::default().limit(CHANGE_BYTES_MAX).error_handler(|error, _| {
                let message = format!("cannot read the body: {error}");
                Failure::new(StatusCode::BAD_REQUEST, "bad-request", message).into()
            });
            let query = web::QueryConfig::default().error_handler(|error, _| {
                Failure::new(StatusCode::BAD_REQUEST, "bad-request", error.to_string()).into()
            });
            App::new()
                .app_data(web::Data::new(shared.clone()))
                .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
                .app_data(json)
                .app_data(query)
                .service(
                    // Paths are tried in this order, and one with a part to be filled in costs a search: commands come first.
                    web::scope("/v1")
                        .configure(operate::routes)
                        .configure(changes::routes)
                        .configure(journal::routes)
                        .configure(questions::routes)
                        .configure(agents::routes),
                )
                .default_service(web::to(nowhere))
        })
        .on_connect(|connection, data| {
            data.insert(Peer::of(connection));
        })
        .workers(1)
        .max_connections(1_000)
        .client_request_timeout(Duration::from_secs(5))
        .client_disconnect_timeout(Duration::from_secs(1))
        .shutdown_timeout(2)
        .disable_signals()
        .listen_uds(listener)?
        .run();
        drop(ready.send(Ok(server.handle())));
        server.await
    });
    if let Err(error) = served {
        tracing::error!(%error, "the server ended");
        drop(ready.send(Err(error)));
    }
}

async fn nowhere() -> Result<&'static str, Failure> {
    Err(Failure::new(StatusCode::NOT_FOUND, "not-found", "path not found; paths begin with /v1"))
}

impl Server {
    /// Ends the server; requests under way have two seconds.
    pub async fn stop(mut self) {
        self.handle.stop(true).await;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        if file_at(&self.socket).is_ok_and(|there| there == self.made) {
            drop(fs::remove_file(&self.socket));
        }
    }
}
