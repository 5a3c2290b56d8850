//! Which tokens a configuration accepts, and the secret with which it signs.

use std::{io, path::PathBuf, sync::Arc};

use event_store::Clock;

use crate::{
    auth::{KeyError, Tokens},
    config::Config,
    secret::{self, SecretError},
};

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// No such file, or no right to it.
    #[error("read the public key {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The data directory's secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A key that does not do.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// The secret that was named, or the data directory's.
pub fn secret(config: &Config) -> Result<String, SecretError> {
    match &config.jwt_secret {
        Some(secret) => Ok(secret.clone()),
        None => secret::of_data(&config.data),
    }
}

/// HS256 with the secret, and the public keys. Where there are public keys and no secret was named, the one in the
/// data directory opens nothing.
pub fn tokens(config: &Config, clock: Arc<dyn Clock>) -> Result<Tokens, KeysError> {
    let mut tokens = Tokens::new(clock);
    for path in &config.jwt_public_keys {
        let pem = std::fs::read(path).map_err(|source| KeysError::Read { path: path.clone(), source })?;
        tokens = tokens.with_public_key(&path.display().to_string(), &pem)?;
    }
    if config.jwt_secret.is_some() || config.jwt_public_keys.is_empty() {
        tokens = tokens.with_secret(&secret(config)?)?;
    }
    Ok(tokens)
}
