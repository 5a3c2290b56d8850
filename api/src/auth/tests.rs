//! Which tokens are taken, and why the others are not.

use serde_json::Value;

use super::*;

const NOW: Ms = 1_764_000_000_500;
const NOW_S: i64 = 1_764_000_000;
const SECRET: &str = "0123456789abcdef0123456789abcdef";
const OTHER_SECRET: &str = "fedcba9876543210fedcba9876543210";
const ED_PRIVATE: &str = include_str!("testdata/ed25519.pem");
const ED_PUBLIC: &str = include_str!("testdata/ed25519.pub.pem");
const RSA_PRIVATE: &str = include_str!("testdata/rsa.pem");
const RSA_PUBLIC: &str = include_str!("testdata/rsa.pub.pem");

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Ms {
        NOW
    }
}

fn tokens() -> Tokens {
    Tokens::new(Arc::new(Stopped)).with_secret(SECRET).unwrap()
}

fn signed(algorithm: Algorithm, key: &EncodingKey, claims: &Value) -> String {
    jsonwebtoken::encode(&Header::new(algorithm), claims, key).unwrap()
}

fn hs256(claims: Value) -> String {
    signed(Algorithm::HS256, &EncodingKey::from_secret(SECRET.as_bytes()).unwrap(), &claims)
}

fn good() -> Value {
    json!({"sub": "1001", "exp": NOW_S + 60})
}

#[test]
fn a_signed_token_is_taken_as_it_was_made() {
    let uid = Uid::new(1001).unwrap();
    let roles = ["admin".to_owned(), "something-else".to_owned()];
    let token = sign(SECRET, uid, &roles, Some("phone"), NOW, 60).unwrap();
    let roles = Roles { admin: true, compliance: false };
    let expires_at = (NOW_S + 60) * 1000;
    let identity = Identity { uid, roles, device: Some("phone".into()), expires_at };
    assert_eq!(tokens().check(&token), Ok(identity));
}

#[test]
fn a_bad_claim_is_not_taken() {
    for (claims, error) in [
        (json!({"sub": "1001"}), TokenError::Malformed),
        (json!({"exp": NOW_S + 60}), TokenError::Malformed),
        (json!({"sub": 1001, "exp": NOW_S + 60}), TokenError::Malformed),
        (json!({"sub": "1001", "exp": "tomorrow"}), TokenError::Malformed),
        (json!({"sub": "1001", "exp": null}), TokenError::Malformed),
        (json!({"sub": "1001", "exp": NOW_S + 60, "roles": "admin"}), TokenError::Malformed),
        (json!({"sub": "1001", "exp": NOW_S}), TokenError::Expired),
        (json!({"sub": "1001", "exp": 0}), TokenError::Expired),
        (json!({"sub": "1001", "exp": -1}), TokenError::Expired),
        (json!({"sub": "1001", "exp": NOW_S + 60, "nbf": NOW_S + 30}), TokenError::NotYet),
        (json!({"sub": "", "exp": NOW_S + 60}), TokenError::Subject),
        (json!({"sub": "0", "exp": NOW_S + 60}), TokenError::Subject),
        (json!({"sub": "01001", "exp": NOW_S + 60}), TokenError::Subject),
        (json!({"sub": "9007199254740992", "exp": NOW_S + 60}), TokenError::Subject),
        (json!({"sub": "ana", "exp": NOW_S + 60}), TokenError::Subject),
        (json!({"sub": "1001", "exp": NOW_S + 60, "device": "x".repeat(65)}), TokenError::Device),
        (json!({"sub": "1001", "exp": NOW_S + 60, "device": "a\nb"}), TokenError::Device),
    ] {
        assert_eq!(tokens().check(&hs256(claims.clone())), Err(error), "{claims}");
    }
    assert!(tokens().check(&hs256(json!({"sub": "1001", "exp": NOW_S as f64 + 0.75}))).is_ok());
}

#[test]
fn only_configured_algorithms_and_keys_are_taken() {
    let rsa = EncodingKey::from_rsa_pem(RSA_PRIVATE.as_bytes()).unwrap();
    let ed = EncodingKey::from_ed_pem(ED_PRIVATE.as_bytes()).unwrap();
    let hmac = |secret: &str| EncodingKey::from_secret(secret.as_bytes()).unwrap();
    let by_rsa = signed(Algorithm::RS256, &rsa, &good());
    let by_ed = signed(Algorithm::EdDSA, &ed, &good());
    let by_other = signed(Algorithm::HS256, &hmac(OTHER_SECRET), &good());
    let by_hs512 = signed(Algorithm::HS512, &hmac(SECRET), &good());
    // The public key used as a secret: the classic confusion.
    let by_confusion = signed(Algorithm::HS256, &hmac(RSA_PUBLIC), &good());
    let keys = |pems: &[&str]| {
        pems.iter()
            .fold(Tokens::new(Arc::new(Stopped)), |it, pem| it.with_public_key("x", pem.as_bytes()).unwrap())
    };
    for (tokens, token, expected) in [
        (tokens(), &by_rsa, Some(TokenError::Algorithm)),
        (tokens(), &by_hs512, Some(TokenError::Algorithm)),
        (tokens(), &by_other, Some(TokenError::Signature)),
        (keys(&[RSA_PUBLIC]), &by_rsa, None),
        (keys(&[RSA_PUBLIC]), &by_ed, Some(TokenError::Algorithm)),
        (keys(&[RSA_PUBLIC]), &by_confusion, Some(TokenError::Algorithm)),
        (keys(&[RSA_PUBLIC, ED_PUBLIC]), &by_ed, None),
        (keys(&[ED_PUBLIC]), &hs256(good()), Some(TokenError::Algorithm)),
        (keys(&[]), &hs256(good()), Some(TokenError::Algorithm)),
    ] {
        assert_eq!(tokens.check(token).err(), expected, "{token}");
    }
}

#[test]
fn what_is_unsigned_altered_or_no_token_is_not_taken() {
    let token = hs256(good());
    let (head, signature) = token.rsplit_once('.').unwrap();
    // {"alg":"none","typ":"JWT"} with our own claims
    let none = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", head.split('.').nth(1).unwrap());
    assert_eq!(tokens().check(&none), Err(TokenError::Algorithm));
    let other_claims = hs256(json!({"sub": "1002", "exp": NOW_S + 60}));
    let swapped = format!("{}.{signature}", other_claims.rsplit_once('.').unwrap().0);
    assert_eq!(tokens().check(&swapped), Err(TokenError::Signature));
    for odd in ["", "x", "a.b", "....", head, &"x".repeat(100_000)] {
        assert_eq!(tokens().check(odd), Err(TokenError::Malformed), "{odd}");
    }
    assert!(tokens().check(&format!("{head}.")).is_err());
}

#[test]
fn a_weak_secret_or_a_foreign_pem_is_refused_at_start() {
    assert!(matches!(Tokens::new(Arc::new(Stopped)).with_secret("short"), Err(KeyError::ShortSecret)));
    let pem = Tokens::new(Arc::new(Stopped)).with_public_key("key.pem", b"-----BEGIN NOTHING-----");
    assert!(matches!(pem, Err(KeyError::Pem { name }) if name == "key.pem"));
}

#[test]
fn there_is_one_authorization_header_and_it_is_a_bearer() {
    let headers = |values: &[&'static str]| {
        let values = values.iter().map(|it| (header::AUTHORIZATION, it.parse().unwrap()));
        bearer(&values.collect::<HeaderMap>()).map(str::to_owned)
    };
    assert_eq!(headers(&["Bearer abc"]), Ok("abc".into()));
    assert_eq!(headers(&["bearer abc"]), Ok("abc".into()));
    for bad in [&[][..], &["abc"], &["Basic abc"], &["Bearer"]] {
        assert_eq!(headers(bad), Err(TokenError::Missing), "{bad:?}");
    }
}

/// A clock that is set.
struct Set(std::sync::atomic::AtomicI64);

impl Clock for Set {
    fn now(&self) -> Ms {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

#[test]
fn a_token_that_was_taken_before_is_good_within_its_time_only() {
    let clock = Arc::new(Set(NOW.into()));
    let tokens = Tokens::new(clock.clone()).with_secret(SECRET).unwrap();
    let claims = json!({"sub": "1001", "exp": NOW_S + 60, "nbf": NOW_S, "device": "phone"});
    let token = hs256(claims.clone());
    let first = tokens.check(&token).unwrap();
    assert_eq!(tokens.check(&token).as_ref(), Ok(&first), "again, and the same person with the same device");
    let at = |s: i64| {
        clock.0.store((NOW_S + s) * 1000, std::sync::atomic::Ordering::Relaxed);
        tokens.check(&token).map(|it| it.uid)
    };
    assert_eq!([at(59), at(60), at(-1)], [Ok(first.uid), Err(TokenError::Expired), Err(TokenError::NotYet)]);
    assert_eq!(at(0), Ok(first.uid));
    let other = EncodingKey::from_secret(OTHER_SECRET.as_bytes()).unwrap();
    let forged = signed(Algorithm::HS256, &other, &claims);
    assert_eq!(tokens.check(&forged), Err(TokenError::Signature), "whoever came before");
}

#[test]
fn what_is_not_taken_is_not_remembered() {
    let tokens = tokens();
    let bad = hs256(json!({"sub": "nobody", "exp": NOW_S + 60}));
    assert_eq!([(); 2].map(|()| tokens.check(&bad)), [Err(TokenError::Subject), Err(TokenError::Subject)]);
    assert!(tokens.good().is_empty());
}
