//! Which setting goes before which, and what is refused.

use super::*;

fn merged(
    common: CommonArgs,
    serve: ServeArgs,
    url: Option<&str>,
    file: &str,
) -> Result<Config, ConfigError> {
    Config::merge(common, serve, url.map(str::to_owned), toml::from_str(file).unwrap())
}

fn of(file: &str) -> Result<Config, ConfigError> {
    merged(CommonArgs::default(), ServeArgs::default(), None, file)
}

#[test]
fn without_settings_the_contract_stands() {
    let config = of("").unwrap();
    assert_eq!((config.listen.as_str(), config.data), ("127.0.0.1:7300", PathBuf::from("quipu-data")));
    assert_eq!(
        config.limits,
        Limits { recall_window: 120_000, content_bytes: 65_536, group_members: 10_000, ..Limits::default() }
    );
    assert_eq!((config.database, config.jwt_secret, config.instance), (None, None, None));
}

#[test]
fn flags_go_before_the_file_and_database_url_between() {
    let file = "database = 'file'\nlisten = 'file:1'\nrecall_window_s = 0\ninstance = 7";
    let flags = || CommonArgs { database: Some("flag".into()), ..CommonArgs::default() };
    let database = |common, url| merged(common, ServeArgs::default(), url, file).unwrap().database.unwrap();
    assert_eq!(database(flags(), Some("url")), "flag");
    assert_eq!(database(CommonArgs::default(), Some("url")), "url");
    assert_eq!(database(CommonArgs::default(), Some("")), "file");
    let serve = ServeArgs { recall_window_s: Some(5), ..ServeArgs::default() };
    let config = merged(CommonArgs::default(), serve, None, file).unwrap();
    assert_eq!(
        (config.limits.recall_window, config.listen.as_str(), config.instance),
        (5000, "file:1", Some(7))
    );
    assert_eq!(of(file).unwrap().limits.recall_window, 0);
}

#[test]
fn a_burst_is_twice_the_rate_unless_somebody_says_so() {
    let rates = |file| of(file).map(|it| [it.limits.person_rate, it.limits.conversation_rate]).unwrap();
    let rate = Rate::per_second;
    assert_eq!(rates(""), [rate(10_000, 20_000), rate(20_000, 40_000)]);
    assert_eq!(rates("rate_user = 5"), [rate(5, 10), rate(20_000, 40_000)]);
    assert_eq!(rates("rate_conversation_burst = 3"), [rate(10_000, 20_000), rate(20_000, 3)]);
    assert!(rates("rate_user = 0")[0].every.is_zero());
    let flags = ServeArgs { rate_user: Some(7), ..ServeArgs::default() };
    let config = merged(CommonArgs::default(), flags, None, "rate_user = 5\nrate_user_burst = 9").unwrap();
    assert_eq!(config.limits.person_rate, rate(7, 9));
}

#[test]
fn typing_is_told_and_presence_is_not_unless_somebody_says_otherwise() {
    let is_told = |file| of(file).unwrap().limits.typing_every.is_some();
    assert!(is_told("") && is_told("typing = true") && !is_told("typing = false"));
    let is_shown = |file| of(file).unwrap().limits.presence;
    assert!(!is_shown("") && is_shown("presence = true") && !is_shown("presence = false"));
}

#[test]
fn a_checkpoint_is_made_every_hour_unless_somebody_says_otherwise() {
    let every = |file| of(file).unwrap().checkpoint_every;
    assert_eq!(every(""), Some(Duration::from_secs(3600)));
    assert_eq!(every("checkpoint_every_s = 7"), Some(Duration::from_secs(7)));
    assert_eq!(every("checkpoint_every_s = 0"), None);
}

#[test]
fn what_is_out_of_bounds_or_unknown_is_refused() {
    for file in [
        "instance = 1024",
        "content_bytes_max = 0",
        "group_members_max = 100001",
        "rate_user = 1000001",
        "rate_conversation_burst = 0",
        "devices_per_platform = 1001",
        "checkpoint_every_s = 2678401",
    ] {
        assert!(matches!(of(file), Err(ConfigError::Bounds { .. })), "{file}");
    }
    assert!(toml::from_str::<File>("recal_window_s = 1").is_err());
}
