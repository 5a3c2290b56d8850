//! The secret of a data directory: 32 random bytes in hex, in a file that only its owner reads. Made by whoever
//! needs it first, `serve` or `token`.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use event_store::hex;

use crate::entropy::{EntropyError, secret_bytes};

/// The file's name below the data directory.
const NAME: &str = "secret";

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file system says no.
    #[error("{doing} {path}")]
    File {
        /// What we were doing.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// No random bytes.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Reads the secret of `data`, or makes it. Of several that make it at once, one wins and all read the same.
pub fn of_data(data: &Path) -> Result<String, SecretError> {
    Ok(made_once(&data.join(NAME), |bytes| hex::encode(&bytes))?.trim().to_owned())
}

/// Reads a file that only its owner reads, or makes it from 32 random bytes.
pub fn made_once(path: &Path, make: impl FnOnce([u8; 32]) -> String) -> Result<String, SecretError> {
    let failed = |doing| {
        let path = path.to_owned();
        move |source| SecretError::File { doing, path, source }
    };
    match fs::read_to_string(path) {
        Ok(text) => return Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed("read the secret")(error)),
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed("make the directory of the secret"))?;
    }
    let text = make(secret_bytes()?);
    // Written aside and then linked: nobody ever reads half of it, and nobody's is replaced.
    let aside = path.with_extension(hex::encode(&secret_bytes()?[..8]));
    write_private(&aside, &text).map_err(failed("write the secret"))?;
    let linked = fs::hard_link(&aside, path);
    fs::remove_file(&aside).map_err(failed("clean up beside the secret"))?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed("write the secret")(error)),
        Ok(()) | Err(_) => fs::read_to_string(path).map_err(failed("read the secret")),
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", text.trim_end())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("quipu-secret-{name}-{}", std::process::id())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn all_who_make_it_at_once_read_the_same_and_nobody_else_may() {
        let scratch = Scratch::new("race");
        let data = scratch.0.join("not/yet/there");
        let secrets: Vec<String> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| of_data(&data).unwrap())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(secrets.iter().all(|it| *it == secrets[0] && it.len() == 64), "{secrets:?}");
        assert_eq!(fs::metadata(data.join(NAME)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "nothing is left beside it");
    }
}
