//! The servers: each a thread of its own, so that no question ever holds up a decision, and nobody on one way in can keep
//! others out on another.

use std::{
    collections::BTreeSet,
    fs, io,
    net::{SocketAddr, TcpListener},
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use actix_http::{HttpService, KeepAlive, error::DispatchError};
use actix_server::{Server as Listening, ServerHandle};
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::{
    App, Error,
    body::BoxBody,
    dev::{AppConfig, ServiceFactory, ServiceResponse},
    http::StatusCode,
    middleware::DefaultHeaders,
    rt::net::{TcpStream, UnixStream},
    web,
};
use rustix::process::{Resource, getrlimit};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::{
    accounts, agents, changes,
    connection::{Brought, Peer, Seats, Watched},
    denials::Denials,
    errors::Failure,
    facade::{self, common::Facade},
    feed::Feed,
    index, jobs, journal, operate, questions,
    routes::{Route, Routes},
    shared::Shared,
    tls::{Certificates, acceptor},
    turns::Turns,
    watch,
};
use crate::{
    client::SocketPath, config::CrashSweep, handle::Handle, providers::enrolment::Enrolments, signing::Signer,
};

/// The longest body of what is not JSON.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// How many connections there may be on one way in, if the process may have four times as many files; each takes about
/// 20 KiB while it waits.
const CONNECTIONS_MAX: usize = 4_096;
/// How many one address on the network may have. Local users are told apart by the system, and one of them may have all.
const CONNECTIONS_OF_ADDRESS_MAX: usize = 512;
/// How long the head of a request, a handshake and the wait for the next request may take.
const HEAD_TIME: Duration = Duration::from_secs(5);
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
const IDLE_TIME: Duration = Duration::from_secs(15);
/// How long a server may take to end: longer than requests under way have.
const STOP_TIME: Duration = Duration::from_secs(10);
const STOP_POLL: Duration = Duration::from_millis(2);
/// How often it is looked whether denials are to be noted, and certificates to be renewed.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// What is needed to listen on the network.
#[derive(Debug)]
pub struct Network {
    pub listener: TcpListener,
    pub certificates: Arc<Certificates>,
    /// What the node is called in `Host` headers, in lower case; addresses need not be among them.
    pub names: BTreeSet<String>,
}

/// Where a local server listens.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a> {
    /// A name of `real` that is short enough for the system.
    pub address: &'a SocketPath,
    pub real: &'a Path,
}

/// What a node has beside its [`Handle`].
#[derive(Debug)]
pub struct Own {
    /// What the tokens of agents are made with.
    pub key: [u8; 32],
    /// Signs where the journal stands.
    pub signer: Arc<Signer>,
    pub enrolments: Arc<Enrolments>,
    pub crash_sweep: Option<CrashSweep>,
}

/// Running servers.
#[derive(Debug)]
pub struct Server {
    parts: Vec<Part>,
    sockets: Vec<Socket>,
    shared: Shared,
}

/// One of them.
#[derive(Debug)]
struct Part {
    handle: ServerHandle,
    thread: JoinHandle<()>,
}

/// A socket that was made: another node may have its own at the same path by the time this one ends.
#[derive(Debug)]
struct Socket {
    path: PathBuf,
    made: (u64, u64),
}

/// For whom a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// Commands of local users, and agents that an earlier release started.
    Operators,
    /// The agents of local machines, whom no flood of questions keeps out.
    Agents,
    /// Accounts that are users of this machine.
    Accounts,
    /// Accounts over the network, and clients of the Provisioner facade.
    Network,
}

/// Listens on the sockets, whose old ones are replaced, and on the network if that is wanted.
///
/// # Errors
/// If a socket cannot be made, or a thread not be started.
pub fn start(
    node: Handle,
    own: Own,
    operators: Local<'_>,
    agents: Local<'_>,
    users: Option<Local<'_>>,
    network: Option<Network>,
) -> io::Result<Server> {
    let names = network.as_ref().map_or_else(BTreeSet::new, |network| network.names.clone());
    let Own { key, signer, enrolments, crash_sweep } = own;
    let facade = match &network {
        Some(Network { listener, certificates, names }) => {
            Facade::new(certificates.authority_pem(), listener.local_addr()?, names)
        }
        None => Facade::default(),
    };
    let shared = Shared {
        node,
        key: Arc::new(key),
        signer,
        enrolments,
        denials: Arc::new(Denials::default()),
        names: Arc::new(names),
        feed: Arc::new(Feed::new()),
        turns: Arc::default(),
        answers: Arc::default(),
        sweeps: Arc::new(Turns::of(1)),
        jobs: Arc::default(),
        crash_sweep,
        rates: Arc::default(),
        facade: Arc::new(facade),
    };
    let mut server = Server { parts: Vec::new(), sockets: Vec::new(), shared: shared.clone() };
    let users = users.map(|users| (users, Audience::Accounts, "bailiwick-users"));
    let own = [(operators, Audience::Operators, "bailiwick-api"), (agents, Audience::Agents, "bailiwick-agents")];
    for (place, audience, name) in own.into_iter().chain(users) {
        // A client there is known by its user id, and has an account or is refused.
        let mode = if audience == Audience::Accounts { 0o666 } else { 0o600 };
        let listener = listen(place.address, place.real, mode)?;
        server.sockets.push(Socket { path: place.real.to_owned(), made: file_at(place.real)? });
        let shared = shared.clone();
        server.parts.push(part(name, move || local(listener, audience, shared))?);
    }
    if let Some(Network { listener, certificates, .. }) = network {
        let acceptor = acceptor(certificates.clone())?;
        let run = move || {
            actix_web::rt::spawn(keep_fresh(certificates, shared.node.clone()));
            actix_web::rt::spawn(facade::feed(shared.clone()));
            remote(listener, acceptor, shared)
        };
        server.parts.push(part("bailiwick-network", run)?);
    }
    Ok(server)
}

/// Device and inode of what is at a path.
fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Binds a socket where nobody else gets, and puts it in place when only those may use it who shall.
fn listen(address: &SocketPath, real: &Path, mode: u32) -> io::Result<UnixListener> {
    match fs::remove_file(real) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => (),
    }
    let closed = real.with_extension("new");
    match fs::remove_dir_all(&closed) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => (),
    }
    fs::DirBuilder::new().mode(0o700).create(&closed)?;
    let inner = closed.join("s");
    let listener = UnixListener::bind(SocketPath::of(&inner)?.path())?;
    fs::set_permissions(&inner, fs::Permissions::from_mode(mode))?;
    fs::rename(&inner, address.path())?;
    fs::remove_dir(closed)?;
    Ok(listener)
}

/// Runs a server on a thread of its own.
fn part(name: &str, run: impl FnOnce() -> io::Result<Listening> + Send + 'static) -> io::Result<Part> {
    let (ready, is_ready) = mpsc::sync_channel(1);
    let serve = move || {
        let system = actix_web::rt::System::new();
        let served: io::Result<()> = system.block_on(async {
            let server = run()?;
            drop(ready.send(Ok(server.handle())));
            server.await
        });
        if let Err(error) = served {
            tracing::error!(%error, "the server ended");
            drop(ready.send(Err(error)));
        }
    };
    let thread = thread::Builder::new().name(name.into()).spawn(serve)?;
    let handle = is_ready.recv().map_err(|_| io::Error::other("the server's thread ended"))??;
    Ok(Part { handle, thread })
}

/// Shows new certificates in time.
async fn keep_fresh(certificates: Arc<Certificates>, node: Handle) {
    let mut trouble = None;
    loop {
        sleep(LOOK_EVERY).await;
        let (again, now) = (certificates.clone(), node.clock());
        let refreshed = web::block(move || again.refresh(now)).await.map_err(io::Error::other).and_then(|done| done);
        match refreshed {
            Ok(true) => tracing::info!("clients are shown a new certificate"),
            Ok(false) => (),
            Err(error) if trouble.as_ref() == Some(&error.to_string()) => continue,
            Err(error) => {
                tracing::warn!(%error, "the certificate cannot be renewed; the last one is shown further");
                trouble = Some(error.to_string());
                continue;
            }
        }
        trouble = None;
    }
}

/// Notes what was denied since the last note also when nobody is denied any more.
async fn note_denials(shared: Shared) {
    loop {
        sleep(LOOK_EVERY).await;
        let shared = shared.clone();
        drop(web::block(move || shared.denials.note(&shared.node, false)).await);
    }
}

/// So many connections that files, providers and the other ways in have what they need.
fn connections_max() -> usize {
    let files = getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok());
    files.map_or(CONNECTIONS_MAX, |files| (files / 4).clamp(16, CONNECTIONS_MAX))
}

fn builder() -> actix_server::ServerBuilder {
    Listening::build().workers(1).max_concurrent_connections(connections_max()).shutdown_timeout(2).disable_signals()
}

fn local(listener: UnixListener, audience: Audience, shared: Shared) -> io::Result<Listening> {
    if audience == Audience::Operators {
        actix_web::rt::spawn(note_denials(shared.clone()));
        actix_web::rt::spawn(watch::feed(shared.clone()));
    }
    serve_local(listener, move || app(audience, shared.clone()))
}

/// Serves an application, made anew for each worker, to who connects on this machine.
fn serve_local<A>(listener: UnixListener, app: impl Fn() -> A + Send + Clone + 'static) -> io::Result<Listening>
where
    A: ServiceFactory<
            actix_http::Request,
            Config = AppConfig,
            Response = ServiceResponse<BoxBody>,
            Error = Error,
            InitError = (),
        > + 'static,
{
    let seats = Seats::new(CONNECTIONS_MAX);
    let server = builder().listen_uds("local", listener, move || {
        let seats = seats.clone();
        fn_service(move |stream: UnixStream| {
            let peer = Peer::of_unix(&stream);
            let seat = seats.take(peer);
            async move {
                let seat = seat.ok_or_else(too_many)?;
                Ok::<_, DispatchError>((Watched::new(stream, peer, seat), None))
            }
        })
        .and_then(http(app()))
    })?;
    Ok(server.run())
}

fn remote(listener: TcpListener, acceptor: TlsAcceptor, shared: Shared) -> io::Result<Listening> {
    let seats = Seats::new(CONNECTIONS_OF_ADDRESS_MAX);
    let server = builder().listen("network", listener, move || {
        let (seats, acceptor) = (seats.clone(), acceptor.clone());
        fn_service(move |stream: TcpStream| {
            let (seats, acceptor) = (seats.clone(), acceptor.clone());
            async move {
                let peer = Peer::of_tcp(&stream)?;
                let seat = seats.take(peer).ok_or_else(too_many)?;
                stream.set_nodelay(true)?;
                let secured = timeout(HANDSHAKE_TIME, acceptor.accept(stream));
                let stream = secured.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
                let address: Option<SocketAddr> = None;
                Ok::<_, DispatchError>((Watched::new(stream, peer, seat), address))
            }
        })
        .and_then(http(app(Audience::Network, shared.clone())))
    })?;
    Ok(server.run())
}

fn too_many() -> io::Error {
    io::Error::other("too many connections")
}

/// HTTP/1.1 around an application.
fn http<S, A>(
    app: A,
) -> impl ServiceFactory<(Watched<S>, Option<SocketAddr>), Config = (), Response = (), Error = DispatchError, InitError = ()>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + 'static,
    A: ServiceFactory<
            actix_http::Request,
            Config = AppConfig,
            Response = ServiceResponse<BoxBody>,
            Error = Error,
            InitError = (),
        > + 'static,
{
    HttpService::build()
        .keep_alive(KeepAlive::Timeout(IDLE_TIME))
        .client_request_timeout(HEAD_TIME)
        .client_disconnect_timeout(Duration::from_secs(1))
        .on_connect_ext(|stream: &Watched<S>, data| {
            data.insert(stream.peer);
            data.insert(stream.hung_up.clone());
            data.insert(Brought::default());
        })
        .h1(map_config(app.map_err(|error: Error| error.error_response()), |()| AppConfig::default()))
}

fn app(
    audience: Audience,
    shared: Shared,
) -> impl ServiceFactory<
    actix_http::Request,
    Config = AppConfig,
    Response = ServiceResponse<BoxBody>,
    Error = Error,
    InitError = (),
> {
    let query = web::QueryConfig::default()
        .error_handler(|error, _| Failure::new(StatusCode::BAD_REQUEST, "bad-request", error.to_string()).into());
    let mut added: Vec<Route> = Vec::new();
    let scope = web::scope("/v1").configure(|config| add_routes(audience, config, &mut added));
    let app = App::new()
        .app_data(web::Data::new(shared))
        .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
        .app_data(query)
        // Nobody shall guess that an answer is a page.
        .wrap(DefaultHeaders::new().add(("x-content-type-options", "nosniff")).add(("cache-control", "no-store")))
        .service(scope)
        .configure(|config| {
            let mut routes = Routes { config, prefix: "", added: &mut added };
            index::health(&mut routes);
            if audience != Audience::Agents {
                index::metrics_at_root(&mut routes);
            }
            if audience == Audience::Network {
                facade::routes(routes.config);
            }
        })
        .default_service(web::to(nowhere));
    app.app_data(web::Data::new(added)).into_factory()
}

/// Adds what this audience may ask under `/v1`.
fn add_routes(audience: Audience, config: &mut web::ServiceConfig, added: &mut Vec<Route>) {
    let mut routes = Routes { config, prefix: "/v1", added };
    // Paths are tried in this order, and one with a part to be filled in costs a search: commands come first.
    if audience != Audience::Agents {
        operate::routes(&mut routes);
        changes::routes(&mut routes);
        accounts::routes(&mut routes);
        journal::routes(&mut routes);
        jobs::routes(&mut routes);
        watch::routes(&mut routes);
        questions::routes(&mut routes);
        index::routes(&mut routes);
    }
    if matches!(audience, Audience::Operators | Audience::Agents) {
        agents::routes(&mut routes);
    }
    routes.close();
}

/// All routes that there are, for any audience.
#[cfg(test)]
pub(super) fn all_routes() -> Vec<Route> {
    let mut added = Vec::new();
    let _app = App::new().configure(|config| {
        config.service(web::scope("/v1").configure(|config| add_routes(Audience::Operators, config, &mut added)));
        let mut routes = Routes { config, prefix: "", added: &mut added };
        index::health(&mut routes);
        index::metrics_at_root(&mut routes);
    });
    added
}

async fn nowhere(_: web::Data<Shared>) -> Result<&'static str, Failure> {
    Err(Failure::new(StatusCode::NOT_FOUND, "not-found", "path not found; paths begin with /v1"))
}

impl Server {
    /// Ends the servers; requests under way have two seconds.
    pub async fn stop(self) {
        let Self { parts, sockets, shared } = self;
        shared.feed.close();
        shared.turns.close();
        shared.sweeps.close();
        shared.jobs.cancel_all();
        for part in &parts {
            // Each begins to end at once, and is waited for below.
            drop(part.handle.stop(true));
        }
        for Part { handle, thread } in parts {
            // What happens to a request must not keep the node from closing its journal: a request that hangs is left behind.
            let ended = async {
                handle.stop(true).await;
                while !thread.is_finished() {
                    sleep(STOP_POLL).await;
                }
            };
            if timeout(STOP_TIME, ended).await.is_err() {
                tracing::warn!(server = thread.thread().name().unwrap_or_default(), "a server did not end in time");
            }
        }
        shared.denials.note(&shared.node, true);
        for Socket { path, made } in sockets {
            if file_at(&path).is_ok_and(|there| there == made) {
                drop(fs::remove_file(path));
            }
        }
    }
}

#[cfg(test)]
mod tests;
