//! Reads files line by line, one file after the other, in constant memory. Knows nothing of what a line says.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use super::ImportError;

/// The longest line, in bytes. A text of 64 KiB has six times as many when every character of it is escaped.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Read ahead from the disk, in bytes.
const READ_BYTES: usize = 256 * 1024;
/// What some programs put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// In which of the files, from 0.
    pub file: usize,
    /// Its number in that file, from 1.
    pub line: u64,
    /// Where it ends in that file, in bytes.
    pub end: u64,
    /// How many lines with something in them stand before it, in all files.
    pub index: u64,
}

/// A line.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub place: Place,
    /// None if it is longer than [`LINE_BYTES_MAX`].
    pub bytes: Option<&'a [u8]>,
}

/// The lines of these files from some place on. Empty ones are passed over.
pub(super) struct Lines<'a> {
    files: &'a [PathBuf],
    reader: Option<BufReader<File>>,
    /// The last line that was read, or before the first.
    last: Place,
    next_index: u64,
    buffer: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// From the beginning of the first file.
    pub fn of(files: &'a [PathBuf]) -> Self {
        Self { files, reader: None, last: Place::default(), next_index: 0, buffer: Vec::new() }
    }

    /// From the line after this one.
    pub fn after(files: &'a [PathBuf], place: Place) -> Self {
        Self { files, reader: None, last: place, next_index: place.index + 1, buffer: Vec::new() }
    }

    /// The index of the line that comes next.
    pub fn next_index(&self) -> u64 {
        self.next_index
    }

    /// None at the end of the last file.
    pub fn next(&mut self) -> Result<Option<Found<'_>>, ImportError> {
        let is_whole = loop {
            let Some(path) = self.files.get(self.last.file) else { return Ok(None) };
            let read = self.read_line().map_err(|source| ImportError::Read { path: path.clone(), source })?;
            match read {
                None => {
                    let file = self.last.file + 1;
                    (self.reader, self.last) = (None, Place { file, ..Place::default() });
                }
                Some(is_whole) if is_whole && self.line().is_empty() => {}
                Some(is_whole) => break is_whole,
            }
        };
        self.last.index = self.next_index;
        self.next_index += 1;
        Ok(Some(Found { place: self.last, bytes: is_whole.then(|| self.line()) }))
    }

    /// The line that was read last, without what surrounds its JSON.
    fn line(&self) -> &[u8] {
        let line = match self.last.line {
            1 => self.buffer.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.buffer),
            _ => &self.buffer,
        };
        line.trim_ascii()
    }

    /// None at the end of the file; false for a line that is too long, whose rest is passed over.
    fn read_line(&mut self) -> io::Result<Option<bool>> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(open_at(&self.files[self.last.file], self.last.end)?),
        };
        self.buffer.clear();
        let mut bytes =
            reader.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut self.buffer)?;
        if bytes == 0 {
            return Ok(None);
        }
        let too_long = bytes > LINE_BYTES_MAX && self.buffer.last() != Some(&b'\n');
        if too_long {
            bytes += reader.skip_until(b'\n')?;
        }
        self.last.line += 1;
        self.last.end += bytes as u64;
        Ok(Some(!too_long))
    }
}

fn open_at(path: &Path, offset: u64) -> io::Result<BufReader<File>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    Ok(BufReader::with_capacity(READ_BYTES, file))
}
