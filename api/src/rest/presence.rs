//! Who of the people one talks with is online.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Ms, Uid};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::Caller,
    door::Params,
    openapi::PresenceProblems,
    problem::{Code, Problem},
};

/// People that may be asked for at once: a screen of a list has twenty.
const PEOPLE_MAX: usize = 100;

/// About whom.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PresenceParams {
    /// 1 to 100 uids with commas between.
    uids: String,
}

impl PresenceParams {
    fn people(&self) -> Result<Vec<Uid>, Problem> {
        let wrong =
            || Problem::new(Code::InvalidParameter, format!("uids is 1 to {PEOPLE_MAX} uids: 1001,1002"));
        let parts: Vec<&str> = self.uids.split(',').take(PEOPLE_MAX + 1).collect();
        if parts.len() > PEOPLE_MAX {
            return Err(wrong());
        }
        let people = parts.into_iter().map(|part| Uid::parse(part).map_err(|_| wrong()));
        let mut people = people.collect::<Result<Vec<_>, _>>()?;
        people.sort_unstable();
        people.dedup();
        Ok(people)
    }
}

/// How it is with them.
#[derive(Debug, Serialize, ToSchema)]
pub struct PresenceAnswer {
    /// Ascending by uid; people with whom the caller shares no conversation now are left out.
    items: Vec<PresenceItem>,
}

/// How it is with one person.
#[derive(Debug, Serialize, ToSchema)]
pub struct PresenceItem {
    uid: u64,
    /// Is one of their devices connected, to whichever node?
    online: bool,
    /// When they were last seen, within ten seconds or so; null where they never were.
    last_seen: Option<Ms>,
}

/// Who of these people is online. Only of those with whom the caller shares a conversation now anything is told.
/// Where the server has this switched off (as it is unless configured) the answer is `404 switched_off`.
#[utoipa::path(
    get, path = "/v1/presence", tag = "presence",
    params(PresenceParams),
    responses((status = 200, description = "How it is with them", body = PresenceAnswer), PresenceProblems),
)]
pub async fn presence(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<PresenceParams>,
) -> Result<Json<PresenceAnswer>, Problem> {
    let Some(presence) = &app.presence else {
        return Err(Problem::new(Code::SwitchedOff, "presence is switched off on this server"));
    };
    let known = app.read_models.acquaintances(caller.uid, &params.people()?).await?;
    let seen = presence.of(&known).await?;
    let item = |uid: &Uid| {
        let seen = seen.get(uid)?;
        Some(PresenceItem { uid: uid.get(), online: seen.online, last_seen: seen.last_seen })
    };
    Ok(Json(PresenceAnswer { items: known.iter().filter_map(item).collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_come_in_ascending_and_each_once() {
        let people = |uids: &str| {
            let params = PresenceParams { uids: uids.to_owned() };
            params.people().map(|people| people.into_iter().map(Uid::get).collect::<Vec<_>>())
        };
        assert_eq!(people("7"), Ok(vec![7]));
        assert_eq!(people("9,7,9"), Ok(vec![7, 9]));
        let many = |count: u64| (1..=count).map(|uid| uid.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(people(&many(100)).map(|it| it.len()), Ok(100));
        for odd in
            ["", ",", "1,", "0", "-1", "a", "1 ,2", "9007199254740992", &many(101), &",".repeat(100_000)]
        {
            assert_eq!(people(odd).map_err(|problem| problem.code), Err(Code::InvalidParameter), "{odd:.20}");
        }
    }
}
