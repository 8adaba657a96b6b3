//! What a route takes and answers, read off the types of its handler, so that the API's description ([`super::openapi`])
//! cannot say anything else.

use std::marker::PhantomData;

use actix_web::{HttpRequest, HttpResponse, Responder, body::BoxBody, web};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::{
    asker::{Asker, Seen},
    errors::Failure,
};

/// Describes one type.
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// What a handler takes from its request, and what it answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Described {
    /// What may be added to the path, as an object whose fields are the parameters.
    pub query: Option<Describe>,
    pub body: Option<Describe>,
    /// Whether it takes the version of the object that is meant.
    pub takes_version: bool,
    pub answer: Answer,
}

impl Described {
    /// Of a handler that takes these and answers that.
    pub(super) fn of<Args: Parts, Output: Answered>() -> Self {
        let mut described = Self { query: None, body: None, takes_version: false, answer: Output::ANSWER };
        for taken in Args::TAKEN {
            match *taken {
                Taken::Nothing => (),
                Taken::Query(query) => described.query = Some(query),
                Taken::Body(body) => described.body = Some(body),
                Taken::Version => described.takes_version = true,
            }
        }
        described
    }
}

/// What is answered to a request that succeeds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Json(Describe),
    /// Text of this media type.
    Text(&'static str),
}

/// What one argument of a handler takes from its request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    /// What every request has; parts of the path stand in the path.
    Nothing,
    Query(Describe),
    Body(Describe),
    /// The version of the object that is meant, in the header `If-Match`.
    Version,
}

/// One argument of a handler.
pub(super) trait Part {
    const TAKEN: Taken;
}

impl<T: JsonSchema> Part for web::Json<T> {
    const TAKEN: Taken = Taken::Body(described::<T>);
}

impl<T: JsonSchema> Part for web::Query<T> {
    const TAKEN: Taken = Taken::Query(whole::<T>);
}

impl<T> Part for web::Path<T> {
    const TAKEN: Taken = Taken::Nothing;
}

impl<T> Part for web::Data<T> {
    const TAKEN: Taken = Taken::Nothing;
}

impl Part for HttpRequest {
    const TAKEN: Taken = Taken::Nothing;
}

impl Part for Asker {
    const TAKEN: Taken = Taken::Nothing;
}

impl Part for Seen {
    const TAKEN: Taken = Taken::Version;
}

/// All arguments of a handler.
pub(super) trait Parts {
    const TAKEN: &'static [Taken];
}

impl Parts for () {
    const TAKEN: &'static [Taken] = &[];
}

impl<A: Part> Parts for (A,) {
    const TAKEN: &'static [Taken] = &[A::TAKEN];
}

impl<A: Part, B: Part> Parts for (A, B) {
    const TAKEN: &'static [Taken] = &[A::TAKEN, B::TAKEN];
}

impl<A: Part, B: Part, C: Part> Parts for (A, B, C) {
    const TAKEN: &'static [Taken] = &[A::TAKEN, B::TAKEN, C::TAKEN];
}

impl<A: Part, B: Part, C: Part, D: Part> Parts for (A, B, C, D) {
    const TAKEN: &'static [Taken] = &[A::TAKEN, B::TAKEN, C::TAKEN, D::TAKEN];
}

/// What a handler answers.
pub(super) trait Answered {
    const ANSWER: Answer;
}

impl<T: JsonSchema> Answered for web::Json<T> {
    const ANSWER: Answer = Answer::Json(described::<T>);
}

impl<T: JsonSchema> Answered for Told<T> {
    const ANSWER: Answer = Answer::Json(described::<T>);
}

impl<M: Media> Answered for Sent<M> {
    const ANSWER: Answer = Answer::Text(M::TYPE);
}

/// Every failure is a problem: that is described once, for all.
impl<A: Answered> Answered for Result<A, Failure> {
    const ANSWER: Answer = A::ANSWER;
}

/// An answer that is one `T` once its times are told by the clock, which is why it is a value already.
#[derive(Clone, Debug)]
pub(super) struct Told<T> {
    value: Value,
    _is: PhantomData<T>,
}

impl<T> Told<T> {
    pub(super) fn of(value: Value) -> Self {
        Self { value, _is: PhantomData }
    }
}

impl<T> Responder for Told<T> {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::Ok().json(self.value)
    }
}

/// A kind of text.
pub(super) trait Media {
    /// Its media type.
    const TYPE: &'static str;
}

/// An answer that is text.
#[derive(Debug)]
pub(super) struct Sent<M> {
    answer: HttpResponse,
    _is: PhantomData<M>,
}

impl<M: Media> Sent<M> {
    pub(super) fn body(body: impl actix_web::body::MessageBody + 'static) -> Self {
        Self { answer: HttpResponse::Ok().content_type(M::TYPE).body(body), _is: PhantomData }
    }
}

impl<M> Responder for Sent<M> {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        self.answer
    }
}

/// Plain text.
#[derive(Debug)]
pub(super) enum Plain {}

impl Media for Plain {
    const TYPE: &'static str = "text/plain; charset=utf-8";
}

/// By its name, described once.
fn described<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// In full, where it is used.
fn whole<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}
