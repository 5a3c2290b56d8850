//! The bytes of a full bucket: one zstd frame of its hundred messages, each preceded by its length.

use domain::bucket::BUCKET_SIZE;

use super::message::{Damaged, Reader, put};

const FORMAT: u8 = 1;

/// zstd's default: higher levels gain two or three percent on a bucket for several times the work.
const LEVEL: i32 = 3;

/// Far above a hundred of the largest messages; what claims more is damaged and is not unpacked.
const UNPACKED_BYTES_MAX: usize = 256 << 20;

/// Why a bucket was not sealed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    /// The hundredth has come, but others are not there.
    #[error("seal a bucket: it holds {0} messages of a hundred")]
    Gap(usize),
    /// Its messages are larger than messages may be.
    #[error("seal a bucket: it is larger than {UNPACKED_BYTES_MAX} bytes")]
    TooLarge,
    /// The compressor fails.
    #[error("seal a bucket")]
    Compress(#[from] std::io::Error),
}

/// Packs exactly a hundred stored messages, in order of their slots.
pub(crate) fn seal<'a>(messages: impl ExactSizeIterator<Item = &'a [u8]>) -> Result<Vec<u8>, SealError> {
    if messages.len() as u64 != BUCKET_SIZE {
        return Err(SealError::Gap(messages.len()));
    }
    let mut unpacked = Vec::new();
    for message in messages {
        put(&mut unpacked, message.len() as u64);
        unpacked.extend(message);
    }
    if unpacked.len() > UNPACKED_BYTES_MAX {
        return Err(SealError::TooLarge);
    }
    let mut bytes = vec![FORMAT];
    put(&mut bytes, unpacked.len() as u64);
    bytes.extend(zstd::bulk::compress(&unpacked, LEVEL)?);
    Ok(bytes)
}

/// An unpacked bucket.
pub(crate) struct Opened(Vec<u8>);

/// Unpacks a sealed bucket.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened, Damaged> {
    let mut rest = Reader(bytes);
    if rest.byte()? != FORMAT {
        return Err(Damaged("its bucket's format is not known"));
    }
    let length = rest.number()? as usize;
    if length > UNPACKED_BYTES_MAX {
        return Err(Damaged("its bucket is too large"));
    }
    let unpacked =
        zstd::bulk::decompress(rest.0, length).map_err(|_| Damaged("its bucket does not unpack"))?;
    Ok(Opened(unpacked))
}

impl Opened {
    /// The stored messages, in order of their slots.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Result<&[u8], Damaged>> {
        let mut rest = Reader(&self.0);
        (0..BUCKET_SIZE).map(move |_| {
            let length = rest.number()? as usize;
            rest.take(length)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_go_in_and_come_out() {
        let messages: Vec<Vec<u8>> = (0..100u8).map(|n| vec![n; n.into()]).collect();
        let opened = open(&seal(messages.iter().map(Vec::as_slice)).unwrap()).unwrap();
        let out: Vec<Vec<u8>> = opened.messages().map(|message| message.unwrap().to_vec()).collect();
        assert_eq!(out, messages, "the empty one too: its body is erased");
    }

    #[test]
    fn ninety_nine_are_no_bucket() {
        let messages = vec![&b"x"[..]; 99];
        assert!(matches!(seal(messages.into_iter()), Err(SealError::Gap(99))));
    }

    #[test]
    fn damage_is_noticed() {
        assert!(open(&[]).is_err() && open(&[2, 0]).is_err() && open(&[1, 5, 1, 2, 3]).is_err());
        assert!(open(&[1, 255, 255, 255, 255, 255, 255, 1]).is_err(), "claims to be huge");
    }
}
