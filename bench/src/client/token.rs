//! Bearer tokens, signed with the secret of the server.

use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::json;

use super::ClientError;

/// How long a token is good, in seconds: longer than any run.
const TTL_S: u64 = 24 * 3600;

/// A token of this person on this device.
pub fn sign(secret: &str, uid: u64, device: &str) -> Result<String, ClientError> {
    sign_as(secret, uid, device, &[])
}

/// The same with roles.
pub fn sign_as(secret: &str, uid: u64, device: &str, roles: &[&str]) -> Result<String, ClientError> {
    let claims = json!({"sub": uid.to_string(), "exp": now_s() + TTL_S, "device": device, "roles": roles});
    let key = EncodingKey::from_secret(secret.as_bytes())?;
    Ok(jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key)?)
}

#[expect(clippy::disallowed_methods, reason = "a token says in real time when it ends")]
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
