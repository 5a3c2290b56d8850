//! A bucket's bitmap as Postgres' `bit(100)`: slot 0 is the leftmost bit.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use domain::{Bits, bucket::BUCKET_SIZE};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// As it goes over the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SqlBits(pub Bits);

const BYTES: usize = BUCKET_SIZE.div_ceil(8) as usize;

fn to_wire(bits: Bits) -> [u8; BYTES] {
    let mut wire = [0; BYTES];
    wire.copy_from_slice(&bits.get().reverse_bits().to_be_bytes()[..BYTES]);
    wire
}

fn from_wire(wire: &[u8; BYTES]) -> Bits {
    let mut wide = [0; 16];
    wide[..BYTES].copy_from_slice(wire);
    Bits::new(u128::from_be_bytes(wide).reverse_bits())
}

impl ToSql for SqlBits {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i32(BUCKET_SIZE as i32);
        out.put_slice(&to_wire(self.0));
        Ok(IsNull::No)
    }

    accepts!(BIT);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for SqlBits {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let wire = raw.get(4..).unwrap_or_default();
        let wire: &[u8; BYTES] = wire.try_into().map_err(|_| "a bitmap has a hundred bits")?;
        Ok(Self(from_wire(wire)))
    }

    accepts!(BIT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_0_is_the_leftmost_bit() {
        let mut bits = Bits::EMPTY;
        bits.set(0, true);
        bits.set(9, true);
        bits.set(99, true);
        let wire = to_wire(bits);
        assert_eq!((wire[0], wire[1], wire[12]), (0b1000_0000, 0b0100_0000, 0b0001_0000));
        assert_eq!(from_wire(&wire), bits);
    }
}
