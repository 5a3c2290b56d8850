//! A file that grows under another name until it is whole, and goes on where it was interrupted.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// What went wrong with a file.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {path}")]
pub struct FileError {
    /// What we were doing.
    pub doing: &'static str,
    /// With what.
    pub path: PathBuf,
    /// What went wrong.
    pub source: io::Error,
}

/// A file under way.
pub struct Part {
    whole: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    /// Of all bytes so far.
    pub hasher: blake3::Hasher,
    /// Bytes so far.
    pub bytes: u64,
    /// Lines so far.
    pub lines: u64,
}

impl Part {
    /// Begins it, or goes on with what is there of it: `each` gets every whole line; half of one is cut off. None where
    /// it is finished already.
    pub fn open(
        whole: &Path,
        line_bytes_max: u64,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Option<Self>, FileError> {
        if whole.exists() {
            return Ok(None);
        }
        let path = part_of(whole);
        let failed = |doing| {
            let path = path.clone();
            move |source| FileError { doing, path, source }
        };
        if let Some(folder) = whole.parent() {
            fs::create_dir_all(folder).map_err(failed("make the directory of"))?;
        }
        let mut options = OpenOptions::new();
        // What people said is nobody's business on this machine.
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(failed("open"))?;
        let (mut hasher, mut bytes, mut lines) = (blake3::Hasher::new(), 0, 0);
        let mut reader = BufReader::new(&mut file);
        while let Some(line) = whole_line(&mut reader, line_bytes_max).map_err(failed("read"))? {
            hasher.update(&line);
            bytes += line.len() as u64;
            lines += 1;
            each(&line);
        }
        file.set_len(bytes).map_err(failed("cut"))?;
        file.seek(SeekFrom::Start(bytes)).map_err(failed("go on with"))?;
        Ok(Some(Self { whole: whole.to_owned(), path, file: BufWriter::new(file), hasher, bytes, lines }))
    }

    /// Adds one line, which ends with its end.
    pub fn line(&mut self, line: &[u8]) -> Result<(), FileError> {
        self.hasher.update(line);
        self.bytes += line.len() as u64;
        self.lines += 1;
        self.file.write_all(line).map_err(|source| self.failed("write", source))
    }

    /// Hands over to the system what was added, so that it is there for whoever goes on.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.file.flush().map_err(|source| self.failed("write", source))
    }

    /// It is whole: durable, and under its name.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.flush()?;
        self.file.get_ref().sync_all().map_err(|source| self.failed("keep", source))?;
        fs::rename(&self.path, &self.whole).map_err(|source| self.failed("finish", source))
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> FileError {
        FileError { doing, path: self.path.clone(), source }
    }
}

fn part_of(whole: &Path) -> PathBuf {
    let mut name = OsString::from(whole);
    name.push(".part");
    name.into()
}

/// The next line with its end; none where there is no whole one any more.
fn whole_line(reader: &mut impl BufRead, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = vec![];
    reader.take(bytes_max).read_until(b'\n', &mut line)?;
    Ok(line.ends_with(b"\n").then_some(line))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Scratch(PathBuf);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn it_goes_on_after_the_last_whole_line_and_is_there_at_the_end() {
        let scratch = Scratch(std::env::temp_dir().join(format!("quipu-part-{}", std::process::id())));
        let whole = scratch.0.join("a/b");
        let open = || {
            let mut lines = vec![];
            let part = Part::open(&whole, 100, |line| lines.push(String::from_utf8(line.to_vec()).unwrap()));
            (part.unwrap(), lines)
        };
        let (part, lines) = open();
        let mut part = part.unwrap();
        assert!(lines.is_empty());
        part.line(b"one\n").unwrap();
        part.line(b"tw").unwrap();
        part.flush().unwrap();
        drop(part);
        assert!(!whole.exists());
        let (part, lines) = open();
        let mut part = part.unwrap();
        assert_eq!((lines, part.bytes, part.lines), (vec!["one\n".to_owned()], 4, 1));
        part.line(b"two\n").unwrap();
        assert_eq!(part.hasher.finalize(), blake3::hash(b"one\ntwo\n"));
        part.finish().unwrap();
        assert_eq!(fs::read_to_string(&whole).unwrap(), "one\ntwo\n");
        assert_eq!(fs::read_dir(scratch.0.join("a")).unwrap().count(), 1);
        assert_eq!(fs::metadata(&whole).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(open().0.is_none(), "finished");
    }
}
