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

#[cfg(test)]
mod tests {
    use domain::Uid;

    use super::*;
    use crate::{
        auth,
        clock::SystemClock,
        config::{CommonArgs, ServeArgs},
    };

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn takes_hs256(secret: Option<&str>, public_keys: &[&str]) -> bool {
        let file = |name: &&str| [env!("CARGO_MANIFEST_DIR"), "src/auth/testdata", name].iter().collect();
        let common = CommonArgs { jwt_secret: secret.map(str::to_owned), ..CommonArgs::default() };
        let serve =
            ServeArgs { jwt_public_key: public_keys.iter().map(file).collect(), ..ServeArgs::default() };
        let tokens = tokens(&Config::load(common, serve).unwrap(), Arc::new(SystemClock)).unwrap();
        let token = auth::sign(SECRET, Uid::new(1).unwrap(), &[], None, SystemClock.now(), 60).unwrap();
        tokens.check(&token).is_ok()
    }

    #[test]
    fn with_public_keys_only_a_named_secret_opens() {
        assert!(takes_hs256(Some(SECRET), &[]));
        assert!(takes_hs256(Some(SECRET), &["rsa.pub.pem", "ed25519.pub.pem"]));
        assert!(!takes_hs256(None, &["rsa.pub.pem"]));
    }
}
