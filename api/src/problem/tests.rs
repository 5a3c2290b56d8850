//! Codes and statuses, headers, and what is not shown.

use domain::Seq;

use super::*;

fn answer(problem: impl Into<Problem>) -> (u16, &'static str) {
    let problem = problem.into();
    (problem.code.status().as_u16(), problem.code.name())
}

#[test]
fn the_contracts_codes_have_the_contracts_statuses() {
    let seq = Seq::new(7);
    assert_eq!(answer(Rejection::NotAMember), (403, "not_a_member"));
    assert_eq!(answer(QueryError::NotAMember), (403, "not_a_member"));
    assert_eq!(answer(Rejection::NotSender), (403, "not_sender"));
    assert_eq!(answer(Rejection::Muted), (403, "muted"));
    assert_eq!(answer(Rejection::RecallWindowPassed { seconds: 120 }), (409, "recall_window_passed"));
    assert_eq!(answer(Rejection::MessageNotFound(seq)), (404, "message_not_found"));
    assert_eq!(answer(Rejection::ReadBeyondHead { max_seq: seq }), (422, "read_seq_beyond_head"));
    assert_eq!(answer(Rejection::IdempotencyConflict), (409, "idempotency_conflict"));
    assert_eq!(answer(ContentError::TooLarge { bytes: 2, limit: 1 }), (413, "content_too_large"));
    assert_eq!(answer(ContentError::Nul), (422, "invalid_content"));
    assert_eq!(answer(CommandError::Busy), (429, "too_many_requests"));
    assert_eq!(answer(CommandError::Unavailable), (503, "unavailable"));
    assert_eq!(answer(CommandError::Refused), (422, "command_refused"));
    assert_eq!(answer(QueryError::Behind), (503, "unavailable"));
    assert_eq!(answer(ConvIdError::Form), (400, "invalid_conv_id"));
    assert_eq!(answer(IdError::Seq), (422, "invalid_seq"));
}

#[test]
fn who_may_try_again_hears_when_and_who_must_log_in_hears_how() {
    let header = |code, name| Problem::new(code, "").into_response().headers().contains_key(name);
    assert!(
        header(Code::Unavailable, header::RETRY_AFTER) && header(Code::TooManyRequests, header::RETRY_AFTER)
    );
    assert!(!header(Code::NotAMember, header::RETRY_AFTER));
    assert!(header(Code::Unauthorized, header::WWW_AUTHENTICATE));
}

#[test]
fn no_source_of_an_error_is_shown() {
    let source = "relation \"history_tail\" does not exist".into();
    let problem = Problem::from(QueryError::Unavailable { doing: "read a page", source });
    assert!(!format!("{:?}", problem.body()).contains("history_tail"));
}

#[test]
fn a_detail_does_not_echo_a_body() {
    assert_eq!(
        Problem::new(Code::InvalidBody, "字".repeat(100_000)).detail.chars().count(),
        DETAIL_CHARS_MAX
    );
}
