//! Durations as people write them, and moments as people read them.

use domain::Ms;

const DAY_MS: Ms = 86_400_000;

/// The longest duration, in seconds: ten years. More is a slip of the finger.
const SECONDS_MAX: u64 = 10 * 366 * 86_400;

/// `90s`, `15m`, `24h`, `7d`, or plain seconds.
pub fn parse_seconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("a duration is 1s to {}d, such as 90s, 15m, 24h or 7d", SECONDS_MAX / 86_400);
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let seconds = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    seconds.filter(|seconds| (1..=SECONDS_MAX).contains(seconds)).ok_or_else(wrong)
}

/// `2025-11-24T16:00:00.000Z`.
pub fn utc(at: Ms) -> String {
    let (days, ms) = (at.div_euclid(DAY_MS), at.rem_euclid(DAY_MS));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// Year, month and day of a day since 1970-01-01. Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
/// civil_from_days: years begin in March and repeat every 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_based = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_based + 2) / 5 + 1;
    let month = if march_based < 10 { march_based + 3 } else { march_based - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_the_calendar_has_them() {
        assert_eq!(utc(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(1_764_000_000_123), "2025-11-24T16:00:00.123Z");
        assert_eq!(utc(1_709_164_800_000), "2024-02-29T00:00:00.000Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        let all = ["90s", "15m", "24h", "7d", "60"].map(parse_seconds);
        assert_eq!(all, [Ok(90), Ok(900), Ok(86_400), Ok(604_800), Ok(60)]);
        for odd in ["", "h", "0s", "-1s", "1y", "1hh", "1.5h", "99999999999999999999d", "9999d"] {
            assert!(parse_seconds(odd).is_err(), "{odd}");
        }
    }
}
