//! Which event each side of an entity stands on.

use bailiwick_journal::Version;

use crate::vocab::Fact;

/// What an event does to the sides of its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touches {
    /// The entity begins anew: nothing of an earlier life counts any more.
    All,
    /// These sides change.
    Some(&'static [Fact]),
}

/// The version of the last event of each side. Folded beside the state, and forgotten with it.
///
/// Versions are kept in four bytes: a stream of more than 4,294,967,295 events cites the last that fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks([u32; Fact::ALL.len()]);

impl Marks {
    /// An event has happened.
    pub fn note(&mut self, at: Version, touches: Touches) {
        let at = u32::try_from(at.0).unwrap_or(u32::MAX);
        match touches {
            Touches::All => {
                *self = Self::default();
                self.0[Fact::Spec as usize] = at;
                self.0[Fact::Life as usize] = at;
            }
            Touches::Some(facts) => facts.iter().for_each(|fact| self.0[*fact as usize] = at),
        }
    }

    /// The last event of a side; none if it never had one in this life.
    pub fn of(&self, fact: Fact) -> Option<Version> {
        match self.0[fact as usize] {
            0 => None,
            at => Some(Version(u64::from(at))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_stands_on_its_last_event_and_a_new_life_on_its_first() {
        let mut marks = Marks::default();
        assert_eq!(marks.of(Fact::Effect), None);
        marks.note(Version(1), Touches::All);
        marks.note(Version(2), Touches::Some(&[Fact::Effect, Fact::Zone]));
        marks.note(Version(3), Touches::Some(&[Fact::Effect]));
        let of = |marks: &Marks| Fact::ALL.map(|fact| marks.of(fact)).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(of(&marks), [Version(1), Version(1), Version(3), Version(2)]);
        marks.note(Version(4), Touches::All);
        assert_eq!(of(&marks), [Version(4), Version(4)]);
    }
}
