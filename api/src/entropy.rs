//! The real source of randomness, and the ids that are drawn from it. The only file that asks the system for it.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::Ms;
use event_store::Entropy;
use uuid::Uuid;

/// Random bytes from one seed of the system: each draw is the keyed hash of its number, so that drawing can
/// neither fail nor block, and one draw says nothing about another.
pub struct SeededEntropy {
    seed: [u8; 32],
    drawn: AtomicU64,
}

/// The system gave no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("ask the system for random bytes: {0}")]
pub struct EntropyError(getrandom::Error);

impl SeededEntropy {
    /// Asks the system for a seed.
    pub fn from_system() -> Result<Self, EntropyError> {
        Ok(Self { seed: secret_bytes()?, drawn: AtomicU64::new(0) })
    }
}

impl Entropy for SeededEntropy {
    fn salt(&self) -> [u8; 16] {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut salt = [0; 16];
        salt.copy_from_slice(&blake3::keyed_hash(&self.seed, &number.to_le_bytes()).as_bytes()[..16]);
        salt
    }
}

/// Bytes for a secret that outlives the process.
#[expect(clippy::disallowed_methods, reason = "this is the source that everybody else is handed")]
pub fn secret_bytes() -> Result<[u8; 32], EntropyError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(EntropyError)?;
    Ok(bytes)
}

/// A UUIDv7 of this moment.
pub fn uuid_v7(now: Ms, entropy: &dyn Entropy) -> Uuid {
    let salt = entropy.salt();
    let mut random = [0; 10];
    random.copy_from_slice(&salt[..10]);
    uuid::Builder::from_unix_timestamp_millis(u64::try_from(now).unwrap_or(0), &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_draws_are_alike() {
        let entropy = SeededEntropy::from_system().unwrap();
        let mut drawn: Vec<_> = (0..1000).map(|_| entropy.salt()).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 1000);
        assert_ne!(entropy.salt(), SeededEntropy::from_system().unwrap().salt());
    }

    #[test]
    fn a_uuid_of_this_moment_is_of_version_7() {
        let id = uuid_v7(1_764_000_000_000, &SeededEntropy::from_system().unwrap());
        assert_eq!(id.get_version_num(), 7);
        assert!(id.to_string().starts_with("019ab697-e800-7"), "{id}");
    }
}
