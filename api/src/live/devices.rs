//! How many devices of one platform a person may have connected, and who must go when one more comes. Pure: the hub
//! says who is connected, and closes.

use crate::ws::close::Close;

/// What a token without a device runs on.
const UNKNOWN: &str = "unknown";

/// What a connection runs on, as its token says: `<platform>:<whatever tells this one from the others>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device(Option<String>);

impl Device {
    /// Of the token's claim.
    pub fn new(claim: Option<String>) -> Self {
        Self(claim)
    }

    /// The whole claim.
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// What stands before the first colon; the whole claim where there is none.
    pub fn platform(&self) -> &str {
        let claim = self.0.as_deref().unwrap_or(UNKNOWN);
        claim.split_once(':').map_or(claim, |(platform, _)| platform)
    }

    /// Two without a claim may be two devices.
    fn is(&self, other: &Self) -> bool {
        self.0.is_some() && self == other
    }
}

/// Who of a person's connections, oldest first, must go when a new one comes, and why. `most` is how many may be
/// connected of one platform; 0 means any number, and then nobody goes. A device that connects again takes its own
/// place, and nobody else's.
pub fn must_go(connected: &[&Device], new: &Device, most: u32) -> Vec<(usize, Close)> {
    if most == 0 {
        return vec![];
    }
    let of_platform = connected.iter().enumerate().filter(|(_, device)| device.platform() == new.platform());
    let (same, others): (Vec<_>, Vec<_>) = of_platform.partition(|(_, device)| device.is(new));
    let too_many = (others.len() + 1).saturating_sub(most as usize);
    let same = same.into_iter().map(|(at, _)| (at, Close::ConnectedAgain));
    same.chain(others.into_iter().take(too_many).map(|(at, _)| (at, Close::Replaced))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(claim: &str) -> Device {
        Device::new((claim != "-").then(|| claim.to_owned()))
    }

    #[test]
    fn a_platform_is_what_stands_before_the_first_colon() {
        for (claim, platform) in [
            ("ios:6F3A", "ios"),
            ("ios:6F3A:2", "ios"),
            ("web", "web"),
            (":odd", ""),
            ("", ""),
            ("-", "unknown"),
        ] {
            assert_eq!(device(claim).platform(), platform, "{claim}");
        }
    }

    #[test]
    fn who_must_go_is_the_oldest_of_the_platform_and_oneself_first() {
        let (again, replaced) = (Close::ConnectedAgain, Close::Replaced);
        // Who is connected, oldest first; who comes; how many may be; who must go.
        for (connected, new, most, gone) in [
            // Any number.
            (vec!["ios:a", "ios:b", "ios:a"], "ios:a", 0, vec![]),
            (vec!["-", "-"], "-", 0, vec![]),
            // The first, and others of other platforms.
            (vec![], "ios:a", 1, vec![]),
            (vec!["web:a", "android:a", "-"], "ios:a", 1, vec![]),
            // One too many: the oldest goes.
            (vec!["ios:a"], "ios:b", 1, vec![(0, replaced)]),
            (vec!["ios:a", "ios:b"], "ios:c", 2, vec![(0, replaced)]),
            (vec!["web:x", "ios:a", "web:y", "ios:b"], "ios:c", 2, vec![(1, replaced)]),
            (vec!["ios:a", "ios:b"], "ios:c", 3, vec![]),
            // The same device again takes its own place, wherever that stands, and nobody else's.
            (vec!["ios:a"], "ios:a", 1, vec![(0, again)]),
            (vec!["ios:a", "ios:b"], "ios:a", 2, vec![(0, again)]),
            (vec!["ios:a", "ios:b"], "ios:b", 2, vec![(1, again)]),
            (vec!["ios:a"], "ios:a", 5, vec![(0, again)]),
            (vec!["ios:a", "ios:a", "ios:b"], "ios:a", 2, vec![(0, again), (1, again)]),
            // Without a colon the whole claim is platform and device.
            (vec!["web", "web:1"], "web", 2, vec![(0, again)]),
            (vec!["web:1"], "web", 1, vec![(0, replaced)]),
            // Without a claim nobody is known to be the same.
            (vec!["-", "-"], "-", 3, vec![]),
            (vec!["-", "-"], "-", 2, vec![(0, replaced)]),
            (vec!["unknown"], "-", 1, vec![(0, replaced)]),
            // A policy that has become narrower.
            (vec!["ios:a", "ios:b", "ios:c"], "ios:d", 1, vec![(0, replaced), (1, replaced), (2, replaced)]),
            (vec!["ios:a", "ios:b", "ios:c"], "ios:c", 2, vec![(2, again), (0, replaced)]),
        ] {
            let devices: Vec<Device> = connected.iter().map(|claim| device(claim)).collect();
            let devices: Vec<&Device> = devices.iter().collect();
            assert_eq!(must_go(&devices, &device(new), most), gone, "{connected:?} {new} {most}");
        }
    }
}
