//! Pages of many histories in one request.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{ConvId, Seq, Uid};
use projections::{
    ReadModels,
    query::{Page, QueryError, Range},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answers::PageAnswer;
use crate::{
    app::App,
    auth::Caller,
    door::Body,
    openapi::BatchProblems,
    problem::{Code, Problem, ProblemBody},
};

/// Ranges in one request: a few screens of conversations.
const RANGES_MAX: usize = 100;

/// Ranges of histories.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchBody {
    /// 1 to 100 of them; of one conversation there may be several.
    ranges: Vec<RangeBody>,
}

/// A range of one history; both bounds are exclusive and may be left out, as in a page of it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeBody {
    conv_id: String,
    /// Only what is above it.
    after_seq: Option<u64>,
    /// Only what is below it.
    before_seq: Option<u64>,
}

/// A page a range, in the order asked.
#[derive(Debug, Serialize, ToSchema)]
pub struct BatchAnswer {
    /// At most 200 items each, 1000 in all, and about 4 MiB. What did not fit says `has_more`.
    pages: Vec<RangeAnswer>,
}

/// What came of one range.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum RangeAnswer {
    /// The page.
    Page(PageAnswer),
    /// The caller may not read this one, or it cannot be read now; the others are not hindered.
    Failed(FailedRange),
}

/// A range without a page.
#[derive(Debug, Serialize, ToSchema)]
pub struct FailedRange {
    conv_id: String,
    error: ProblemBody,
}

impl BatchBody {
    /// Checks everything.
    pub fn ranges(self) -> Result<Vec<(ConvId, Range)>, Problem> {
        if !(1..=RANGES_MAX).contains(&self.ranges.len()) {
            return Err(Problem::new(Code::InvalidCount, format!("ranges takes 1 to {RANGES_MAX} items")));
        }
        let range = |it: RangeBody| {
            let bound = |seq: Option<u64>| seq.map(Seq::new);
            let range = Range { before_seq: bound(it.before_seq), after_seq: bound(it.after_seq) };
            Ok((ConvId::parse(&it.conv_id)?, range))
        };
        self.ranges.into_iter().map(range).collect()
    }
}

/// Pages of several histories at one moment, bounded in all.
#[utoipa::path(
    post, path = "/v1/messages/batch", tag = "sync",
    request_body = BatchBody,
    responses((status = 200, description = "A page a range", body = BatchAnswer), BatchProblems),
)]
pub async fn batch(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(body): Body<BatchBody>,
) -> Result<Json<BatchAnswer>, Problem> {
    pages(&app.read_models, caller.uid, &body.ranges()?).await.map(Json)
}

async fn pages(
    read_models: &ReadModels,
    viewer: Uid,
    ranges: &[(ConvId, Range)],
) -> Result<BatchAnswer, Problem> {
    let pages = read_models.pages(viewer, ranges).await?;
    let answer = |((conv, _), page): (&(ConvId, Range), Result<Page, QueryError>)| match page {
        Ok(page) => RangeAnswer::Page(page.into()),
        Err(error) => {
            RangeAnswer::Failed(FailedRange { conv_id: conv.to_string(), error: Problem::from(error).body() })
        }
    };
    Ok(BatchAnswer { pages: ranges.iter().zip(pages).map(answer).collect() })
}
