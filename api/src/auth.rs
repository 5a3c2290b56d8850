//! Who asks: bearer tokens, checked into a [`Caller`]. Knows nothing of what a caller may do.
//!
//! HS256 with a secret, RS256 and EdDSA with public keys. What is not configured is not accepted: where there are
//! public keys and no secret was named, nobody can come with an HS256 token.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use domain::{Command, Ms, Uid};
use event_store::{Clock, Request};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use lru::LruCache;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::{app::App, problem::Problem, requests::RequestId};

/// The shortest secret, in bytes: as long as the hash (RFC 7518, 3.2).
pub const SECRET_BYTES_MIN: usize = 32;

/// The longest token, in bytes: ours have 200, those with a chain of claims a few thousand.
const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// Good tokens that are remembered, so that the signature of one that comes with every request is checked once: some
/// 250 bytes each.
const GOOD_MAX: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();

/// The longest device, in bytes: it stands in every event's header.
const DEVICE_BYTES_MAX: usize = 64;

/// Who asks, with which device, in which request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The person.
    pub uid: Uid,
    /// What they may do beyond their own.
    pub roles: Roles,
    /// At most 64 bytes, no control characters.
    pub device: Option<String>,
    /// The request's id.
    pub correlation_id: Uuid,
}

/// Roles of a token; those unknown here are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles {
    /// May recall anywhere.
    pub admin: bool,
    /// May read the log.
    pub compliance: bool,
}

/// Why a token is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// No header, or more than one.
    #[error("an Authorization header `Bearer <JWT>` is needed")]
    Missing,
    /// Not a JWT, or with claims of other types.
    #[error("the token is not a JWT with sub and exp")]
    Malformed,
    /// `none`, or one for which there is no key.
    #[error("the token's algorithm is not accepted here")]
    Algorithm,
    /// Signed by somebody else, or changed since.
    #[error("the token's signature is wrong")]
    Signature,
    /// `exp` is not ahead. There is no leeway.
    #[error("the token has expired")]
    Expired,
    /// `nbf` is ahead.
    #[error("the token is not valid yet")]
    NotYet,
    /// Not a uid in decimal.
    #[error("the token's sub is not a uid in decimal")]
    Subject,
    /// Too long or with control characters.
    #[error("the token's device has more than 64 bytes or control characters")]
    Device,
}

/// A key that does not do.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Too short to withstand guessing.
    #[error("use the JWT secret: it has fewer than {SECRET_BYTES_MIN} bytes")]
    ShortSecret,
    /// Neither RSA nor Ed25519.
    #[error("use {name} as a JWT key: it is not the PEM of an RSA or Ed25519 public key")]
    Pem {
        /// Where it is from.
        name: String,
    },
    /// The signer refuses.
    #[error("sign a token")]
    Sign(#[source] jsonwebtoken::errors::Error),
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    /// NumericDate: seconds, perhaps with a fraction.
    exp: f64,
    nbf: Option<f64>,
    #[serde(default)]
    roles: Vec<String>,
    device: Option<String>,
}

/// What a good token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The person.
    pub uid: Uid,
    /// Known roles.
    pub roles: Roles,
    /// The device.
    pub device: Option<String>,
    /// When the token is not good any more.
    pub expires_at: Ms,
}

/// Checks tokens.
pub struct Tokens {
    keys: Vec<(Algorithm, DecodingKey)>,
    clock: Arc<dyn Clock>,
    /// By their hashes: what is remembered opens nothing.
    good: Mutex<LruCache<blake3::Hash, Good>>,
}

/// A token whose signature and claims are good, whenever it is good.
#[derive(Clone)]
struct Good {
    identity: Identity,
    times: Times,
}

/// When a token is good, as its claims say it.
#[derive(Clone, Copy)]
struct Times {
    exp: f64,
    nbf: Option<f64>,
}

impl Tokens {
    /// Accepts nobody until it is given a key.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { keys: vec![], clock, good: Mutex::new(LruCache::new(GOOD_MAX)) }
    }

    /// Accepts HS256 with this secret, which is used as it is written.
    pub fn with_secret(mut self, secret: &str) -> Result<Self, KeyError> {
        let key = DecodingKey::from_secret(strong(secret)?).map_err(|_| KeyError::ShortSecret)?;
        self.keys.push((Algorithm::HS256, key));
        Ok(self)
    }

    /// Accepts RS256 or EdDSA with this public key. `name` is for the error.
    pub fn with_public_key(mut self, name: &str, pem: &[u8]) -> Result<Self, KeyError> {
        let rsa = DecodingKey::from_rsa_pem(pem).map(|key| (Algorithm::RS256, key));
        let key = rsa.or_else(|_| DecodingKey::from_ed_pem(pem).map(|key| (Algorithm::EdDSA, key)));
        self.keys.push(key.map_err(|_| KeyError::Pem { name: name.to_owned() })?);
        Ok(self)
    }

    /// Checks signature, time and claims.
    pub fn check(&self, token: &str) -> Result<Identity, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::Malformed);
        }
        let (hash, now) = (blake3::hash(token.as_bytes()), self.clock.now());
        let known = self.good().get(&hash).cloned();
        if let Some(Good { identity, times }) = known {
            return times.hold(now).map(|()| identity);
        }
        let claims = self.signed(token)?;
        let times = Times { exp: claims.exp, nbf: claims.nbf };
        times.hold(now)?;
        let identity = identity(claims)?;
        self.good().put(hash, Good { identity: identity.clone(), times });
        Ok(identity)
    }

    /// The claims of a token that has a good signature.
    fn signed(&self, token: &str) -> Result<Claims, TokenError> {
        let algorithm = match jsonwebtoken::decode_header(token) {
            Ok(header) => header.alg,
            // `none` and unknown names do not parse; what is no JWT at all has no two dots.
            Err(_) if token.split('.').count() == 3 => return Err(TokenError::Algorithm),
            Err(_) => return Err(TokenError::Malformed),
        };
        let mut keys = self.keys.iter().filter(|(of, _)| *of == algorithm).peekable();
        keys.peek().ok_or(TokenError::Algorithm)?;
        let mut outcome = Err(TokenError::Signature);
        for (algorithm, key) in keys {
            outcome = decode(token, *algorithm, key);
            if outcome.as_ref().err() != Some(&TokenError::Signature) {
                break;
            }
        }
        outcome
    }

    fn good(&self) -> MutexGuard<'_, LruCache<blake3::Hash, Good>> {
        // Nothing in here can panic half-way; a poisoned lock holds good tokens.
        self.good.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Times {
    fn hold(self, now: Ms) -> Result<(), TokenError> {
        let now_s = now as f64 / 1000.0;
        if self.exp <= now_s {
            return Err(TokenError::Expired);
        }
        if self.nbf.is_some_and(|from| from > now_s) {
            return Err(TokenError::NotYet);
        }
        Ok(())
    }
}

fn decode(token: &str, algorithm: Algorithm, key: &DecodingKey) -> Result<Claims, TokenError> {
    let mut validation = Validation::new(algorithm);
    // Times are checked in `Times::hold`, by our own clock.
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    let decoded = jsonwebtoken::decode::<Claims>(token, key, &validation);
    decoded.map(|data| data.claims).map_err(|error| match error.kind() {
        jsonwebtoken::errors::ErrorKind::InvalidSignature => TokenError::Signature,
        _ => TokenError::Malformed,
    })
}

fn identity(claims: Claims) -> Result<Identity, TokenError> {
    let uid = Uid::parse(&claims.sub).map_err(|_| TokenError::Subject)?;
    if claims.device.as_ref().is_some_and(|it| it.len() > DEVICE_BYTES_MAX || it.contains(char::is_control)) {
        return Err(TokenError::Device);
    }
    let has = |role: &str| claims.roles.iter().any(|it| it == role);
    let roles = Roles { admin: has("admin"), compliance: has("compliance") };
    // Past what fits, it does not expire in anybody's lifetime.
    let expires_at = (claims.exp * 1000.0) as Ms;
    Ok(Identity { uid, roles, device: claims.device, expires_at })
}

/// An HS256 token that is good for `ttl_s` seconds from `now` on.
pub fn sign(
    secret: &str,
    uid: Uid,
    roles: &[String],
    device: Option<&str>,
    now: Ms,
    ttl_s: u64,
) -> Result<String, KeyError> {
    let exp = (now / 1000).saturating_add_unsigned(ttl_s);
    let mut claims = json!({"sub": uid.to_string(), "exp": exp, "roles": roles});
    if let Some(device) = device {
        claims["device"] = device.into();
    }
    let key = EncodingKey::from_secret(strong(secret)?).map_err(KeyError::Sign)?;
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key).map_err(KeyError::Sign)
}

fn strong(secret: &str) -> Result<&[u8], KeyError> {
    if secret.len() < SECRET_BYTES_MIN { Err(KeyError::ShortSecret) } else { Ok(secret.as_bytes()) }
}

impl Caller {
    /// Somebody with a good token, in a request.
    pub fn new(identity: Identity, RequestId(correlation_id): RequestId) -> Self {
        let Identity { uid, roles, device, expires_at: _ } = identity;
        Self { uid, roles, device, correlation_id }
    }

    /// A command of this caller, as the command handler takes it. Limits are seen to in [`App::request`].
    pub fn request(&self, command: Command) -> Request {
        Request {
            command,
            device: self.device.clone(),
            correlation_id: self.correlation_id,
            over_limit: None,
        }
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let identity = app.tokens.check(bearer(&parts.headers)?)?;
        Ok(Self::new(identity, RequestId::of(&parts.extensions)))
    }
}

/// The token of the one Authorization header.
pub fn bearer(headers: &HeaderMap) -> Result<&str, TokenError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(TokenError::Missing) };
    let (scheme, token) = value.to_str().ok().and_then(|it| it.split_once(' ')).ok_or(TokenError::Missing)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(TokenError::Missing) }
}

#[cfg(test)]
mod tests;
