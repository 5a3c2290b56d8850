//! One set-based statement and its columns: what a read model wants written of a batch.

use domain::ConvId;
use tokio_postgres::types::ToSql;

/// A column of an `unnest`.
pub(crate) type Column = Box<dyn ToSql + Send + Sync>;

/// A statement that writes as many rows as its columns are long.
pub(crate) struct Write {
    /// What our errors call it.
    pub doing: &'static str,
    /// The file's text.
    pub sql: &'static str,
    /// `$1`, `$2` …, all of the same length.
    pub columns: Vec<Column>,
}

impl Write {
    /// None where there is nothing to write.
    pub(crate) fn unless_empty<const N: usize>(
        rows: usize,
        doing: &'static str,
        sql: &'static str,
        columns: [Column; N],
    ) -> Option<Self> {
        (rows > 0).then(|| Self { doing, sql, columns: columns.into() })
    }
}

/// A column of any type.
pub(crate) fn column<T: ToSql + Send + Sync + 'static>(values: impl IntoIterator<Item = T>) -> Column {
    Box::new(values.into_iter().collect::<Vec<T>>())
}

/// A column of conversations.
pub(crate) fn convs<'a>(convs: impl IntoIterator<Item = &'a ConvId>) -> Column {
    column(convs.into_iter().map(|conv| conv.as_str().to_owned()))
}

/// Postgres has no unsigned numbers; ours all stay below 2^63.
pub(crate) fn int(number: u64) -> i64 {
    number.min(i64::MAX as u64) as i64
}

/// The inverse of [`int`].
pub(crate) fn count(number: i64) -> u64 {
    number.max(0) as u64
}
