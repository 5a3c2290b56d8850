//! Writes a connection's settings as a URL, which the settings of quipu and psql take.

use std::os::unix::ffi::OsStrExt;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The URL of the first host of `config`, with port, user, password and database. Whatever means something in
/// a URL is percent-encoded, a socket's directory too. Other settings are left out.
pub fn url_of(config: &Config) -> String {
    let mut url = String::from("postgresql://");
    if let Some(user) = config.get_user() {
        encode(user.as_bytes(), &mut url);
        if let Some(password) = config.get_password() {
            url.push(':');
            encode(password, &mut url);
        }
        url.push('@');
    }
    match config.get_hosts().first() {
        Some(Host::Unix(dir)) => encode(dir.as_os_str().as_bytes(), &mut url),
        // An address of IPv6 is encoded too: its colons are no port.
        Some(Host::Tcp(name)) => encode(name.as_bytes(), &mut url),
        None => {}
    }
    if let Some(port) = config.get_ports().first() {
        url.push_str(&format!(":{port}"));
    }
    if let Some(database) = config.get_dbname() {
        url.push('/');
        encode(database.as_bytes(), &mut url);
    }
    url
}

fn encode(bytes: &[u8], into: &mut String) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(byte.into());
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_what_the_settings_say() {
        for host in ["/srv/a b/ü@:?/s", "db.example", "::1"] {
            let mut config = Config::new();
            config.host(host).port(5433).user("qui:pu").password("p@ss/word").dbname("a%b");
            let read: Config = url_of(&config).parse().unwrap();
            assert_eq!(read.get_hosts(), config.get_hosts());
            assert_eq!(read.get_ports(), config.get_ports());
            assert_eq!(read.get_user(), config.get_user());
            assert_eq!(read.get_password(), config.get_password());
            assert_eq!(read.get_dbname(), config.get_dbname());
        }
    }
}
