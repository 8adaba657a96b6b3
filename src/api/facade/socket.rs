//! Connections: WebSockets, on each of which many requests run at the same time.

use std::{rc::Rc, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse,
    guard::GuardContext,
    http::{
        StatusCode,
        header::{self, HeaderMap},
    },
    web,
};
use actix_ws::{CloseCode, CloseReason, Item, Message, MessageStream, ProtocolError, Session};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until, timeout},
};
use uuid::Uuid;

use super::{
    call::call,
    connection::{Connection, FIRST_MESSAGE_MAX, MESSAGE_MAX, Place},
    envelope::{Request, reply},
    seen::Seen,
};
use crate::api::{connection::Peer, errors::Failure, feed::CLOSED, shared::Shared};

/// How often a client may fail to log in.
const LOGINS_MAX: u32 = 8;
/// How long calls that are under way may take when a connection ends.
const END_TIME: Duration = Duration::from_secs(2);

pub(super) async fn of_controller(
    shared: web::Data<Shared>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, actix_web::Error> {
    open(shared.get_ref().clone(), &request, payload, Place::Controller)
}

pub(super) async fn of_model(
    shared: web::Data<Shared>,
    request: HttpRequest,
    model: web::Path<String>,
    payload: web::Payload,
) -> Result<HttpResponse, actix_web::Error> {
    let uuid = Uuid::try_parse(&model).ok().filter(|_| model.len() == 36);
    let uuid = uuid.ok_or_else(|| {
        Failure::new(StatusCode::BAD_REQUEST, "bad-request", format!("invalid model UUID {:?}", model.as_str()))
    })?;
    let is_known = shared.node.look(|fleet| Seen::of(fleet).model_uuid() == uuid).map_err(Failure::from)?;
    let place = if is_known { Place::Model } else { Place::Unknown(uuid) };
    open(shared.get_ref().clone(), &request, payload, place)
}

fn open(
    shared: Shared,
    request: &HttpRequest,
    payload: web::Payload,
    place: Place,
) -> Result<HttpResponse, actix_web::Error> {
    let peer = request.conn_data::<Peer>().copied().unwrap_or(Peer::Local(None));
    if !is_websocket(request.headers()) {
        let failure = Failure::new(StatusCode::BAD_REQUEST, "bad-request", "this path takes a WebSocket");
        return Err(failure.next("connect with one of Juju's clients; `bailiwick help juju` tells more").into());
    }
    let (response, session, messages) = actix_ws::handle(request, payload)?;
    let messages = messages.max_frame_size(FIRST_MESSAGE_MAX);
    let connection = Rc::new(Connection::new(shared, peer, place));
    actix_web::rt::spawn(serve(connection, session, messages));
    Ok(response)
}

/// Whether a client asks for a WebSocket.
pub(super) fn is_upgrade(context: &GuardContext<'_>) -> bool {
    is_websocket(context.head().headers())
}

fn is_websocket(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE).and_then(|value| value.to_str().ok());
    upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case("websocket"))
}

/// Answers a client until it goes, or is cut off, or the node stops.
async fn serve(connection: Rc<Connection>, mut session: Session, mut messages: MessageStream) {
    let mut node = connection.shared.feed.follow();
    let mut text = Text::default();
    let reason = loop {
        let until = connection.until();
        let message = tokio::select! {
            biased;
            message = messages.recv() => message,
            // What is fed to others does not matter here, only that nothing is any more.
            closed = node.wait_for(|last| *last == CLOSED) => {
                drop(closed);
                break CloseCode::Away;
            }
            () = due(until) => break CloseCode::Policy,
        };
        let whole = match message {
            Some(Ok(Message::Ping(bytes))) => match session.pong(&bytes).await {
                Ok(()) => continue,
                Err(_) => break CloseCode::Away,
            },
            Some(Ok(Message::Pong(_) | Message::Nop)) => continue,
            Some(Ok(Message::Close(_))) | None => break CloseCode::Normal,
            Some(Ok(Message::Text(whole))) => Ok(Some(whole.to_string())),
            Some(Ok(Message::Continuation(item))) => text.add(&item, connection.message_max()),
            Some(Ok(Message::Binary(_))) => Err(CloseCode::Unsupported),
            Some(Err(ProtocolError::Overflow)) => Err(CloseCode::Size),
            Some(Err(_)) => Err(CloseCode::Protocol),
        };
        let whole = match whole {
            Ok(Some(whole)) => whole,
            Ok(None) => continue,
            Err(reason) => break reason,
        };
        let Some(request) = Request::read(&whole) else { break CloseCode::Invalid };
        // A client that reads no replies brings no more requests.
        let Some(place) = connection.begin_call(whole.len()) else { break CloseCode::Policy };
        if connection.has_identity() {
            if request.facade == "Pinger" && request.method == "Ping" {
                connection.heard();
            }
            actix_web::rt::spawn(answer(connection.clone(), session.clone(), request, place));
            continue;
        }
        answer(connection.clone(), session.clone(), request, place).await;
        if connection.has_identity() {
            connection.heard();
            messages = messages.max_frame_size(MESSAGE_MAX);
        } else if connection.failed_logins.get() >= LOGINS_MAX {
            break CloseCode::Policy;
        }
    };
    connection.stop_watchers();
    // What runs is answered first.
    drop(timeout(END_TIME, connection.calls_over()).await);
    drop(session.close(Some(CloseReason { code: reason, description: None })).await);
}

/// A message that comes in pieces, kept as one text: pieces of a byte each take no more room than one of all of them.
#[derive(Default)]
struct Text(Vec<u8>);

impl Text {
    /// Adds a piece; the whole message once it was the last.
    fn add(&mut self, item: &Item, bytes_max: usize) -> Result<Option<String>, CloseCode> {
        let (piece, is_last) = match item {
            Item::FirstText(piece) => {
                self.0.clear();
                (piece, false)
            }
            Item::Continue(piece) => (piece, false),
            Item::Last(piece) => (piece, true),
            Item::FirstBinary(_) => return Err(CloseCode::Unsupported),
        };
        if self.0.len() + piece.len() > bytes_max {
            return Err(CloseCode::Size);
        }
        self.0.extend_from_slice(piece);
        if !is_last {
            return Ok(None);
        }
        String::from_utf8(std::mem::take(&mut self.0)).map(Some).map_err(|_| CloseCode::Invalid)
    }
}

async fn due(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

async fn answer(connection: Rc<Connection>, mut session: Session, request: Request, place: OwnedSemaphorePermit) {
    let is_login = !connection.has_identity();
    let called = call(&connection, &request).await;
    if is_login && called.is_err() {
        connection.failed_logins.set(connection.failed_logins.get() + 1);
    }
    // A client that went away hears nothing.
    drop(session.text(reply(request.number, &called)).await);
    drop(place);
}
