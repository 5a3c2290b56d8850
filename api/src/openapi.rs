//! The description of the API: every route, and which problems each can answer with.

use std::collections::BTreeMap;

use utoipa::{
    IntoResponses, Modify, OpenApi, ToSchema,
    openapi::{
        Components, ContentBuilder, Ref, RefOr, ResponseBuilder,
        response::Response,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use crate::{
    problem::{Code, MEDIA_TYPE, ProblemBody},
    rest::{
        audit, batch, conversations, groups, marks, members, messages, notifications, operations, presence,
        projections, readers, sync, system::SystemContent,
    },
    ws,
};

/// The document that `/openapi.json` shows.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "quipu",
        description = "Messages of a chat product. Errors are RFC 9457 problems with a stable `code`. Every command \
            may be sent again. What a client sees is ordered by (conv_id, seq).",
    ),
    paths(
        messages::send, messages::page, messages::recall, messages::delete, messages::restore,
        marks::read, marks::clear,
        readers::read_positions, readers::readers,
        conversations::list, conversations::one, conversations::with, conversations::hide, conversations::settle,
        groups::create, groups::one, groups::change, groups::dissolve,
        members::list, members::add, members::remove, members::set_role,
        notifications::post, notifications::page, notifications::read,
        ws::connect,
        presence::presence,
        sync::sync, batch::batch,
        projections::all, projections::rebuild, projections::roll_back, projections::drop_other,
        audit::events::events, audit::message::message, audit::accesses::accesses,
        audit::erasures::ask, audit::erasures::show,
        audit::holds::list, audit::holds::show, audit::holds::place, audit::holds::lift,
        operations::healthz, operations::readyz, operations::metrics,
    ),
    components(schemas(ProblemBody, SystemContent)),
    modifiers(&Bearer),
    security(("bearer" = [])),
)]
pub struct Description;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme =
            SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build());
        openapi.components.get_or_insert_with(Components::new).add_security_scheme("bearer", scheme);
    }
}

/// Problems of everything that asks for a token.
const OF_ALL: [Code; 2] = [Code::Unauthorized, Code::Unavailable];
/// Problems of everything that takes a body.
const OF_BODIES: [Code; 6] = [
    Code::MalformedJson,
    Code::RequestTimeout,
    Code::ContentTooLarge,
    Code::UnsupportedMediaType,
    Code::InvalidBody,
    Code::InvalidCount,
];
/// Problems of every command in a conversation.
const OF_COMMANDS: [Code; 4] =
    [Code::InvalidConvId, Code::NotAMember, Code::TooManyRequests, Code::CommandRefused];
/// Problems of every question about a conversation.
const OF_QUERIES: [Code; 4] =
    [Code::InvalidConvId, Code::InvalidParameter, Code::InvalidCursor, Code::NotAMember];

/// Declares sets of problems, for `responses(…)` of a route.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident = [$($codes:expr),*];)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                let sets: &[&[Code]] = &[&OF_ALL, $(&$codes),*];
                by_status(sets.iter().copied().flatten().copied())
            }
        }
    )*};
}

problems! {
    /// Of a list of one's own.
    ListProblems = [[Code::InvalidParameter, Code::InvalidCursor]];
    /// Of the question who is online.
    PresenceProblems = [[Code::InvalidParameter, Code::SwitchedOff]];
    /// Of a WebSocket's opening.
    ConnectProblems = [[Code::UpgradeRequired]];
    /// Of a batch of ranges.
    BatchProblems = [OF_BODIES, [Code::InvalidConvId]];
    /// Of a uid in the path.
    UidProblems = [[Code::InvalidUid]];
    /// Of a question.
    QueryProblems = [OF_QUERIES, [Code::NotAGroup]];
    /// Of the question who has read.
    ReadersProblems = [OF_QUERIES, [Code::MessageNotFound, Code::InvalidSeq]];
    /// Of a command that names seqs.
    CommandProblems = [OF_BODIES, OF_COMMANDS, [Code::InvalidSeq, Code::MessageNotFound]];
    /// Of a send.
    SendProblems = [OF_BODIES, OF_COMMANDS, [
        Code::MessageNotFound, Code::IdempotencyConflict, Code::InvalidContent, Code::InvalidUid, Code::InvalidSeq,
        Code::InvalidClientMsgId, Code::Muted, Code::GroupDissolved
    ]];
    /// Of a recall.
    RecallProblems = [OF_COMMANDS, [
        Code::NotSender, Code::RecallWindowPassed, Code::MessageNotFound, Code::InvalidSeq
    ]];
    /// Of a read position.
    ReadProblems = [OF_BODIES, OF_COMMANDS, [Code::InvalidSeq, Code::ReadSeqBeyondHead]];
    /// Of a clear.
    ClearProblems = [OF_BODIES, OF_COMMANDS, [
        Code::InvalidIdempotencyKey, Code::InvalidSeq, Code::UpToSeqBeyondHead, Code::IdempotencyConflict
    ]];
    /// Of a hiding.
    HideProblems = [OF_BODIES, OF_COMMANDS, [
        Code::InvalidIdempotencyKey, Code::InvalidParameter, Code::InvalidSeq, Code::UpToSeqBeyondHead,
        Code::IdempotencyConflict
    ]];
    /// Of settings.
    SettingsProblems = [OF_BODIES, OF_COMMANDS];
    /// Of a foundation.
    CreateGroupProblems = [OF_BODIES, OF_COMMANDS, [
        Code::InvalidIdempotencyKey, Code::InvalidGroupId, Code::InvalidName, Code::InvalidUid, Code::GroupExists,
        Code::GroupFull
    ]];
    /// Of an addition.
    MembersProblems = [OF_BODIES, OF_COMMANDS, [
        Code::NotAGroup, Code::NotAllowed, Code::InvalidUid, Code::GroupFull, Code::GroupDissolved
    ]];
    /// Of a removal.
    RemoveMemberProblems = [OF_COMMANDS, [
        Code::NotAGroup, Code::NotAllowed, Code::InvalidUid, Code::MemberNotFound, Code::OwnerStays,
        Code::GroupDissolved
    ]];
    /// Of a role.
    RoleProblems = [OF_BODIES, OF_COMMANDS, [
        Code::NotAGroup, Code::NotAllowed, Code::InvalidUid, Code::MemberNotFound, Code::OwnerStays,
        Code::GroupDissolved
    ]];
    /// Of a change of a group.
    ChangeGroupProblems = [OF_BODIES, OF_COMMANDS, [
        Code::NotAGroup, Code::NotAllowed, Code::InvalidName, Code::GroupDissolved
    ]];
    /// Of a notification.
    PostNotificationProblems = [OF_BODIES, [
        Code::InvalidIdempotencyKey, Code::NotAllowed, Code::IdempotencyConflict, Code::InvalidContent,
        Code::InvalidCategory, Code::InvalidUid, Code::TooManyRequests, Code::CommandRefused
    ]];
    /// Of the question how the read models stand.
    ProjectionsProblems = [[Code::NotAllowed]];
    /// Of a rebuild, a rollback or a drop.
    GenerationProblems = [[
        Code::NotAllowed, Code::UnknownProjection, Code::RebuildRunning, Code::GenerationLeft,
        Code::NoOtherGeneration
    ]];
    /// Of an inbox.
    InboxProblems = [[Code::InvalidParameter]];
    /// Of a watermark over notifications.
    ReadNotificationsProblems = [OF_BODIES, [
        Code::ReadIdBeyondHead, Code::TooManyRequests, Code::CommandRefused
    ]];
    /// Of what compliance asks of a conversation.
    AuditProblems = [[
        Code::InvalidConvId, Code::InvalidParameter, Code::NotAllowed, Code::ConversationNotFound,
        Code::TooManyRequests
    ]];
    /// Of a message that compliance asks for.
    AuditMessageProblems = [[Code::NotAllowed, Code::MessageNotFound, Code::TooManyRequests]];
    /// Of the record of accesses.
    AccessesProblems = [[Code::InvalidParameter, Code::NotAllowed, Code::TooManyRequests]];
    /// Of a hold.
    HoldProblems = [OF_BODIES, [
        Code::InvalidConvId, Code::InvalidUid, Code::InvalidReason, Code::NotAllowed, Code::ConversationNotFound,
        Code::HoldNotFound, Code::TooManyRequests, Code::CommandRefused
    ]];
    /// Of an erasure that is asked for.
    ErasuresProblems = [OF_BODIES, [
        Code::InvalidUid, Code::InvalidReason, Code::NotAllowed, Code::LegalHold, Code::TooManyRequests,
        Code::CommandRefused
    ]];
    /// Of the question how an erasure stands.
    ErasureProblems = [[Code::InvalidUid, Code::NotAllowed, Code::ErasureNotFound, Code::TooManyRequests]];
    /// Of the list of holds.
    HoldsProblems = [[Code::InvalidParameter, Code::NotAllowed, Code::TooManyRequests]];
    /// Of an end of a group.
    DissolveProblems = [OF_COMMANDS, [Code::NotAGroup, Code::NotAllowed]];
}

fn by_status(codes: impl Iterator<Item = Code>) -> BTreeMap<String, RefOr<Response>> {
    let mut sentences = BTreeMap::<String, Vec<String>>::new();
    for code in codes {
        let sentence = format!("`{}`: {}.", code.name(), code.title());
        sentences.entry(code.status().as_str().to_owned()).or_default().push(sentence);
    }
    let schema = RefOr::Ref(Ref::from_schema_name(ProblemBody::name()));
    let response = |sentences: Vec<String>| {
        let content = ContentBuilder::new().schema(Some(schema.clone())).build();
        ResponseBuilder::new().description(sentences.join("\n\n")).content(MEDIA_TYPE, content).build()
    };
    sentences.into_iter().map(|(status, sentences)| (status, RefOr::T(response(sentences)))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// `("/v1/groups", "post")` … as `routes.rs` writes them.
    fn routes() -> Vec<(String, String)> {
        let text = include_str!("routes.rs");
        let mut routes = Vec::new();
        for route in text.split(".route(").skip(1) {
            let path = route.split('"').nth(1).unwrap().to_owned();
            for method in ["get", "post", "put", "patch", "delete"] {
                if route.contains(&format!("{method}(")) {
                    routes.push((path.clone(), method.to_owned()));
                }
            }
        }
        routes
    }

    #[test]
    fn every_route_is_described() {
        let document = serde_json::to_value(Description::openapi()).unwrap();
        let routes = routes();
        assert!(routes.len() > 15, "{routes:?}");
        for (path, method) in &routes {
            let operation = &document["paths"][path][method];
            assert!(operation.is_object(), "{method} {path}");
        }
        let described: usize =
            document["paths"].as_object().unwrap().values().map(|it| it.as_object().unwrap().len()).sum();
        assert_eq!(described, routes.len(), "nothing is described that is not there");
    }

    #[test]
    fn every_parameter_of_a_path_is_described() {
        let document = serde_json::to_value(Description::openapi()).unwrap();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let named = |name: &str| {
                    let parameters = operation["parameters"].as_array();
                    parameters.is_some_and(|it| it.iter().any(|it| it["name"] == name && it["in"] == "path"))
                };
                for part in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                    assert!(named(part), "{method} {path}: {part}");
                }
            }
        }
    }

    #[test]
    fn problems_are_told_by_status() {
        let document = serde_json::to_value(Description::openapi()).unwrap();
        let recall =
            &document["paths"]["/v1/conversations/{conv_id}/messages/{seq}/recall"]["post"]["responses"];
        let said = |status: &str| recall[status]["description"].as_str().unwrap_or_default().to_owned();
        assert!(said("403").contains("not_a_member") && said("403").contains("not_sender"));
        assert!(said("409").contains("recall_window_passed"));
        assert!(recall["403"]["content"][MEDIA_TYPE] != Value::Null);
    }
}
