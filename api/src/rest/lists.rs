//! Lists of uids that come in, and parameters of lists that go out.

use std::ops::RangeInclusive;

use domain::Uid;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::problem::{Code, Problem};

/// Which part of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// 1..=200, 50 by default.
    pub limit: Option<u32>,
    /// Of the page before, as it was given.
    pub cursor: Option<String>,
}

/// Ascending, each once. `name` is the field's, for the problem.
pub fn uids(name: &str, count: RangeInclusive<usize>, numbers: Vec<u64>) -> Result<Vec<Uid>, Problem> {
    if !count.contains(&numbers.len()) {
        let (least, most) = count.into_inner();
        return Err(Problem::new(Code::InvalidCount, format!("{name} takes {least} to {most} items")));
    }
    let mut uids = numbers.into_iter().map(Uid::new).collect::<Result<Vec<_>, _>>()?;
    uids.sort_unstable();
    uids.dedup();
    Ok(uids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_come_in_ascending_and_each_once() {
        let numbers = |numbers: Vec<u64>| uids("mentions", 0..=3, numbers).map_err(|problem| problem.code);
        assert_eq!(numbers(vec![9, 7, 9]).map(|it| it.into_iter().map(Uid::get).collect()), Ok(vec![7, 9]));
        assert_eq!(numbers(vec![1, 2, 3, 4]), Err(Code::InvalidCount));
        assert_eq!(numbers(vec![0]), Err(Code::InvalidUid));
        assert_eq!(numbers(vec![1 << 53]), Err(Code::InvalidUid));
    }
}
