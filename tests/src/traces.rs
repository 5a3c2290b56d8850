//! Looks for texts in every file of a stopped Postgres, as somebody would who has the disk: raw bytes, live or left over;
//! zstd frames, which are opened; values that were cut into pieces and lie apart, which are put together.
//!
//! A text is found by any eight of its bytes in a row: Postgres' own compression leaves runs of eight as they are where
//! a text is random. Texts to look for are therefore random, and longer than twice that.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    io::Read,
    path::{Path, PathBuf},
};

/// Bytes in a row by which a text is known.
const RUN: usize = 8;
/// How every zstd frame begins (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A frame is opened so far: far more than a bucket of a test.
const OPENED_BYTES_MAX: u64 = 16 << 20;
/// Of a tuple in a page: its header's length, without nulls.
const HEADER: usize = 24;
/// The largest piece of a value that is cut up, with its length word, in bytes.
const PIECE_MAX: usize = 2100;

/// Texts that are looked for, by any of their runs.
pub struct Traces {
    texts: Vec<String>,
    runs: HashMap<u64, BTreeSet<usize>>,
    /// Whether any run ends with these two bytes: most places are passed by this.
    ends: Vec<bool>,
}

/// A text, and the files in which it is.
pub type Found = BTreeMap<String, BTreeSet<PathBuf>>;

impl Traces {
    /// Of these texts.
    pub fn of(texts: &[String]) -> Self {
        let mut traces = Self { texts: texts.to_vec(), runs: HashMap::new(), ends: vec![false; 1 << 16] };
        for (nth, text) in texts.iter().enumerate() {
            assert!(text.len() > 2 * RUN, "{text} is too short to be known by a part of it");
            for run in text.as_bytes().windows(RUN) {
                let run = run.iter().fold(0, |run, byte| run << 8 | u64::from(*byte));
                traces.runs.entry(run).or_default().insert(nth);
                traces.ends[(run & 0xffff) as usize] = true;
            }
        }
        traces
    }

    /// Where they are below this directory.
    pub fn find(&self, dir: &Path) -> Found {
        let mut found = Found::new();
        let mut dirs = vec![dir.to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(&dir).expect("list a directory") {
                let path = entry.expect("list a directory").path();
                let kind = fs::symlink_metadata(&path).expect("look at a file").file_type();
                if kind.is_dir() {
                    dirs.push(path);
                } else if kind.is_file() {
                    let bytes = fs::read(&path).expect("read a file");
                    for nth in self.within(&bytes) {
                        found.entry(self.texts[nth].clone()).or_default().insert(path.clone());
                    }
                }
            }
        }
        found
    }

    fn within(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut found = self.raw(bytes);
        found.extend(self.frames(bytes));
        for value in put_together(bytes) {
            found.extend(self.raw(&value));
            found.extend(self.frames(&value));
        }
        found
    }

    fn raw(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut run = 0u64;
        for byte in bytes {
            run = run << 8 | u64::from(*byte);
            if self.ends[(run & 0xffff) as usize]
                && let Some(texts) = self.runs.get(&run)
            {
                found.extend(texts);
            }
        }
        found
    }

    /// What is in zstd frames, as far as they can be opened.
    fn frames(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let starts = bytes.windows(ZSTD.len()).enumerate().filter(|(_, four)| *four == ZSTD);
        let mut found = BTreeSet::new();
        for (start, _) in starts {
            let mut opened = Vec::new();
            if let Ok(frame) = zstd::stream::read::Decoder::with_buffer(&bytes[start..]) {
                // Up to where it is damaged or ends.
                let _ = frame.single_frame().take(OPENED_BYTES_MAX).read_to_end(&mut opened);
            }
            found.extend(self.raw(&opened));
        }
        found
    }
}

/// Values that were cut into pieces (TOAST), put together: the pieces of live tuples and of those that are left over, as
/// long as nothing was written over them. A piece is a tuple of three columns: the value's number, the piece's number, and
/// its bytes.
fn put_together(bytes: &[u8]) -> Vec<Vec<u8>> {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let mut values: BTreeMap<u32, BTreeMap<u32, &[u8]>> = BTreeMap::new();
    for tuple in (0..bytes.len().saturating_sub(HEADER + 12)).step_by(8) {
        let columns = u16::from_le_bytes([bytes[tuple + 18], bytes[tuple + 19]]) & 0x7ff;
        if usize::from(bytes[tuple + 22]) != HEADER || columns != 3 {
            continue;
        }
        let (value, piece) = (word(tuple + HEADER), word(tuple + HEADER + 4));
        // A length word with two low bits of zero: not compressed, not elsewhere.
        let length = word(tuple + HEADER + 8);
        let (start, length) = (tuple + HEADER + 12, (length >> 2) as usize);
        if !(4..=PIECE_MAX).contains(&length)
            || word(tuple + HEADER + 8) & 3 != 0
            || start + length - 4 > bytes.len()
        {
            continue;
        }
        values.entry(value).or_default().entry(piece).or_insert(&bytes[start..start + length - 4]);
    }
    values.into_values().map(|pieces| pieces.into_values().collect::<Vec<_>>().concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_raw_in_a_frame_and_in_pieces() {
        let text = "kX9wQ2vLr8TzP4sYbN7mJ1cF".to_owned();
        let traces = Traces::of(std::slice::from_ref(&text));
        let all = |bytes: &[u8]| traces.within(bytes).len();
        assert_eq!((all(b"nothing of it"), all(format!("...{text}...").as_bytes())), (0, 1));
        // Of few different bytes, so that they are packed bit by bit and the text with them.
        let mut dice = 7u64;
        let mut letter = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b'a' + (dice >> 33) as u8 % 20
        };
        let noise: Vec<u8> = (0..15_000).map(|_| letter()).collect();
        let frame = zstd::bulk::compress(&[&noise[..], text.as_bytes(), &noise[..]].concat(), 3).unwrap();
        assert_eq!((traces.raw(&frame).len(), all(&frame)), (0, 1));
        // The same in pieces of 1996 bytes, the last one first.
        let mut page = vec![0u8; 64];
        for (nth, piece) in frame.chunks(1996).enumerate().collect::<Vec<_>>().into_iter().rev() {
            let mut tuple = vec![0u8; HEADER];
            (tuple[18], tuple[22]) = (3, HEADER as u8);
            tuple.extend(77u32.to_le_bytes());
            tuple.extend((nth as u32).to_le_bytes());
            tuple.extend(((piece.len() as u32 + 4) << 2).to_le_bytes());
            tuple.extend(piece);
            tuple.resize(tuple.len().next_multiple_of(8), 0);
            page.extend(tuple);
        }
        page.extend([0; 64]);
        assert!(frame.len() > 3 * 1996, "several pieces");
        assert_eq!(all(&page), 1);
    }
}
