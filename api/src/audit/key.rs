//! The Ed25519 key that signs checkpoints and exports: a PEM file that only its owner reads, made by whoever needs it
//! first. Nodes on one database want the same one, see `--audit-key`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ed25519_dalek::{
    SigningKey, VerifyingKey,
    pkcs8::{
        DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, KeypairBytes,
        spki::der::pem::LineEnding,
    },
};

use crate::{
    config::Config,
    secret::{self, SecretError},
};

/// The file's name below the data directory.
const NAME: &str = "audit.key";

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum AuditKeyError {
    /// Not read or not made.
    #[error(transparent)]
    File(#[from] SecretError),
    /// No such file, or no right to it.
    #[error("read the key {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Not a key.
    #[error("read the key {path}: it is not an Ed25519 key in PEM, {what}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Which kind of PEM it would be.
        what: &'static str,
    },
}

/// The key that was named, or the data directory's, which is made where there is none.
pub fn signing_key(config: &Config) -> Result<SigningKey, AuditKeyError> {
    let (path, pem) = match &config.audit_key {
        Some(path) => (path.clone(), read(path)?),
        None => {
            let path = config.data.join(NAME);
            let pem = secret::made_once(&path, pem)?;
            (path, pem)
        }
    };
    signing_key_of(path, &pem)
}

/// The public half of the key that was named, or of the data directory's if there is one: nothing is made.
pub fn known_key(config: &Config) -> Result<Option<VerifyingKey>, AuditKeyError> {
    let path = config.audit_key.clone().unwrap_or_else(|| config.data.join(NAME));
    if config.audit_key.is_none() && !path.exists() {
        return Ok(None);
    }
    let pem = read(&path)?;
    Ok(Some(signing_key_of(path, &pem)?.verifying_key()))
}

/// The public key in a PEM file.
pub fn public_key(path: &Path) -> Result<VerifyingKey, AuditKeyError> {
    let malformed =
        |_| AuditKeyError::Malformed { path: path.to_owned(), what: "as `quipu audit public-key` prints it" };
    VerifyingKey::from_public_key_pem(&read(path)?).map_err(malformed)
}

/// As others need it.
pub fn public_pem(key: &SigningKey) -> String {
    // A key of fixed size always has a form.
    key.verifying_key().to_public_key_pem(LineEnding::LF).unwrap_or_default()
}

fn signing_key_of(path: PathBuf, pem: &str) -> Result<SigningKey, AuditKeyError> {
    SigningKey::from_pkcs8_pem(pem).map_err(|_| AuditKeyError::Malformed {
        path,
        what: "as `openssl genpkey -algorithm ed25519` makes it",
    })
}

/// Without the public half, as OpenSSL writes it and wants it.
fn pem(secret_key: [u8; 32]) -> String {
    let pem = KeypairBytes { secret_key, public_key: None }.to_pkcs8_pem(LineEnding::LF);
    // A key of fixed size always has a form.
    pem.map(|pem| pem.to_string()).unwrap_or_default()
}

fn read(path: &Path) -> Result<String, AuditKeyError> {
    fs::read_to_string(path).map_err(|source| AuditKeyError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with OpenSSL from 32 times the byte 7.
    const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n\
        -----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=\n\
        -----END PUBLIC KEY-----\n";

    #[test]
    fn keys_are_written_and_read_as_openssl_does() {
        assert_eq!(pem([7; 32]), PRIVATE);
        let key = signing_key_of("x".into(), PRIVATE).unwrap();
        assert_eq!(key.to_bytes(), [7; 32]);
        assert_eq!(public_pem(&key), PUBLIC);
        assert!(signing_key_of("x".into(), PUBLIC).is_err());
    }
}
