//! Who is in a conversation now: kept twice, by conversation and by person, so that no query joins across.

pub(crate) mod acquaintances;
pub(crate) mod query;

use std::collections::BTreeMap;

use domain::{ConvId, ConvKind, Ms, Role, Seq, Uid};

use crate::write::{Write, column, convs, int};

/// How somebody came in.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Joined {
    role: Role,
    seq: Seq,
    at: Ms,
}

/// Who of those that a batch names is in at its end.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects {
    inside: BTreeMap<(ConvId, Uid), Option<Joined>>,
    /// New roles of those who came in earlier.
    roles: BTreeMap<(ConvId, Uid), Role>,
}

impl Effects {
    /// Came in, or came back.
    pub(crate) fn join(&mut self, conv: &ConvId, uid: Uid, role: Role, seq: Seq, at: Ms) {
        self.inside.insert((conv.clone(), uid), Some(Joined { role, seq, at }));
        self.roles.remove(&(conv.clone(), uid));
    }

    /// Left or was removed.
    pub(crate) fn leave(&mut self, conv: &ConvId, uid: Uid) {
        self.inside.insert((conv.clone(), uid), None);
        self.roles.remove(&(conv.clone(), uid));
    }

    /// Is something else.
    pub(crate) fn set_role(&mut self, conv: &ConvId, uid: Uid, role: Role) {
        match self.inside.get_mut(&(conv.clone(), uid)) {
            Some(Some(joined)) => joined.role = role,
            Some(None) => {}
            None => drop(self.roles.insert((conv.clone(), uid), role)),
        }
    }

    /// A single chat's two come in with its first message; of one's own notes there is only one.
    pub(crate) fn first_message(&mut self, conv: &ConvId, at: Ms) {
        if let ConvKind::Single { lo, hi } = conv.kind() {
            self.join(conv, lo, Role::Member, Seq::ZERO, at);
            self.join(conv, hi, Role::Member, Seq::ZERO, at);
        }
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let Self { inside, roles } = self;
        let left: Vec<_> = inside.iter().filter(|(_, joined)| joined.is_none()).map(|(key, _)| key).collect();
        let joined: Vec<_> = inside.iter().filter_map(|(key, joined)| Some((key, (*joined)?))).collect();
        let leave =
            || [convs(left.iter().map(|key| &key.0)), column(left.iter().map(|key| int(key.1.get())))];
        let join = || {
            [
                convs(joined.iter().map(|(key, _)| &key.0)),
                column(joined.iter().map(|(key, _)| int(key.1.get()))),
                column(joined.iter().map(|(_, joined)| joined.role.name())),
                column(joined.iter().map(|(_, joined)| int(joined.seq.get()))),
                column(joined.iter().map(|(_, joined)| joined.at)),
            ]
        };
        let set_roles = [
            convs(roles.keys().map(|(conv, _)| conv)),
            column(roles.keys().map(|(_, uid)| int(uid.get()))),
            column(roles.values().map(|role| role.name())),
        ];
        let [conv, uid, _, seq, at] = join();
        let writes = [
            Write::unless_empty(left.len(), "take members out", include_str!("leave_conv.sql"), leave()),
            Write::unless_empty(
                left.len(),
                "take people's groups out",
                include_str!("leave_person.sql"),
                leave(),
            ),
            Write::unless_empty(joined.len(), "bring members in", include_str!("join_conv.sql"), join()),
            Write::unless_empty(
                joined.len(),
                "bring people in",
                include_str!("join_person.sql"),
                [conv, uid, seq, at],
            ),
            Write::unless_empty(roles.len(), "set roles", include_str!("set_role.sql"), set_roles),
        ];
        writes.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_own_notes_have_one_member() {
        for (conv, members) in [("p2p-7-7", 1), ("p2p-7-8", 2), ("grp-a", 0)] {
            let mut effects = Effects::default();
            effects.first_message(&ConvId::parse(conv).unwrap(), 1);
            assert_eq!(effects.inside.len(), members, "{conv}");
        }
    }

    #[test]
    fn who_comes_back_within_a_batch_is_in() {
        let (conv, ana) = (ConvId::parse("grp-a").unwrap(), Uid::new(1).unwrap());
        let mut effects = Effects::default();
        effects.join(&conv, ana, Role::Member, Seq::new(1), 1);
        effects.leave(&conv, ana);
        assert_eq!(effects.inside.values().next(), Some(&None));
        effects.join(&conv, ana, Role::Member, Seq::new(9), 2);
        assert!(matches!(effects.inside.values().next(), Some(Some(joined)) if joined.seq == Seq::new(9)));
    }
    #[test]
    fn a_role_changes_within_a_batch_or_behind_it() {
        let (conv, ana, bo) = (ConvId::parse("grp-a").unwrap(), Uid::new(1).unwrap(), Uid::new(2).unwrap());
        let mut effects = Effects::default();
        effects.join(&conv, ana, Role::Member, Seq::new(1), 1);
        effects.set_role(&conv, ana, Role::Admin);
        effects.set_role(&conv, bo, Role::Admin);
        assert!(matches!(effects.inside.values().next(), Some(Some(joined)) if joined.role == Role::Admin));
        assert_eq!(effects.roles.values().collect::<Vec<_>>(), [&Role::Admin]);
        effects.leave(&conv, bo);
        assert!(effects.roles.is_empty());
    }
}
