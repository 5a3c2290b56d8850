//! The door: paths, query strings and headers become checked types, once. Inside, nobody checks again.
//!
//! Bodies are in `door/body.rs`. What does not pass is answered with a [`Problem`].

mod body;

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Query, RawPathParams},
    http::request::Parts,
};
use domain::{ConvId, Seq, Uid};
use projections::query::PageLimit;
use serde::de::DeserializeOwned;
use uuid::Uuid;

pub use body::{Body, OptionalBody, body_bytes_max};

use crate::{
    app::App,
    problem::{Code, Problem},
};

/// Something that stands in the path.
pub trait InPath: Sized {
    /// Its name in the route.
    const NAME: &'static str;

    /// Checks it.
    fn parse(text: &str) -> Result<Self, Problem>;
}

impl InPath for ConvId {
    const NAME: &'static str = "conv_id";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Self::parse(text)?)
    }
}

impl InPath for Seq {
    const NAME: &'static str = "seq";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Self::parse(text)?)
    }
}

impl InPath for Uid {
    const NAME: &'static str = "uid";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Self::parse(text)?)
    }
}

/// A conversation that is a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group(pub ConvId);

impl InPath for Group {
    const NAME: &'static str = ConvId::NAME;

    fn parse(text: &str) -> Result<Self, Problem> {
        let conv = ConvId::parse(text)?;
        if conv.is_group() {
            Ok(Self(conv))
        } else {
            Err(Problem::new(Code::NotAGroup, "a group's id is grp-<slug>"))
        }
    }
}

/// One checked thing of the path.
pub struct Path<T>(pub T);

impl<T: InPath> FromRequestParts<Arc<App>> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        // Undecodable percent signs: no such address.
        let params = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::new(Code::NotFound, "the path is not UTF-8"))?;
        let (_, text) = params
            .iter()
            .find(|(name, _)| *name == T::NAME)
            .ok_or_else(|| Problem::bug("a handler asks for something that its route does not have"))?;
        T::parse(text).map(Self)
    }
}

/// The query string; unknown and repeated parameters are refused.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(params)| Self(params))
            .map_err(|error| Problem::new(Code::InvalidParameter, error.body_text()))
    }
}

/// `limit`: 1..=200, 50 by default.
pub fn page_limit(limit: Option<u32>) -> Result<PageLimit, Problem> {
    let Some(limit) = limit else { return Ok(PageLimit::default()) };
    let most = PageLimit::MAX;
    PageLimit::new(limit).ok_or_else(|| Problem::new(Code::InvalidParameter, format!("limit is 1 to {most}")))
}

/// The header `Idempotency-Key`, where there is one.
pub struct IdempotencyKey(pub Option<Uuid>);

impl FromRequestParts<Arc<App>> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let (first, second) = (values.next(), values.next());
        let Some(value) = first else { return Ok(Self(None)) };
        let key =
            value.to_str().ok().filter(|_| second.is_none()).and_then(|text| Uuid::try_parse(text).ok());
        key.map(|key| Self(Some(key)))
            .ok_or_else(|| Problem::new(Code::InvalidIdempotencyKey, "the header names one UUID"))
    }
}
