//! Taking over a volume that somebody else made.

use serde::{Deserialize, Serialize};

use crate::vocab::{EffectId, InstanceId, SizeMib};

/// What is wished for: this volume, as ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportWish {
    /// The effect id that it will be known by from now on.
    pub id: EffectId,
    /// What the provider calls it.
    pub volume_id: InstanceId,
    /// At least this much; 0 takes it as it is.
    pub size_min: SizeMib,
}

/// A volume as its provider describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingVolume {
    pub volume_id: InstanceId,
    pub size: SizeMib,
    /// The effect id that it bears as a tag, if it bears one.
    pub tagged: Option<EffectId>,
    /// The control plane that it bears as a tag, if that is not ours.
    pub foreign_owner: Option<String>,
    /// What uses it now, as far as the provider can tell.
    pub in_use_by: Option<String>,
}

/// What has to be done to make it ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Adoption {
    /// Give it our tag.
    Tag { size: SizeMib },
    /// It bears this wish's own tag: an earlier attempt came this far.
    Done { size: SizeMib },
}

/// Why a volume is not taken over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportRefusal {
    #[error("a provider's id has 1 to 255 printable characters and no slash")]
    BadId,
    #[error("the provider describes another volume, {found}")]
    AnotherVolume { found: InstanceId },
    #[error("this node already has it, under id {effect}")]
    AlreadyOurs { effect: EffectId },
    #[error("it belongs to {owner:?}")]
    Foreign { owner: String },
    #[error("it is in use by {by:?}")]
    InUse { by: String },
    #[error("it has {have}, but {want} are needed")]
    TooSmall { have: SizeMib, want: SizeMib },
}

/// Whether a volume can be taken over, and what is left to do. Its data is never looked at, nor touched.
///
/// Source: Juju imports only what nobody uses and nobody else has tagged.
pub fn check_import(wish: &ImportWish, existing: &ExistingVolume) -> Result<Adoption, ImportRefusal> {
    let id = &wish.volume_id.0;
    let is_printable = id.chars().all(|letter| letter.is_ascii_graphic() && letter != '/');
    if !(1..=255).contains(&id.len()) || !is_printable || id == "." || id == ".." {
        return Err(ImportRefusal::BadId);
    }
    if existing.volume_id != wish.volume_id {
        return Err(ImportRefusal::AnotherVolume { found: existing.volume_id.clone() });
    }
    if existing.tagged == Some(wish.id) {
        return Ok(Adoption::Done { size: existing.size });
    }
    if let Some(effect) = existing.tagged {
        return Err(ImportRefusal::AlreadyOurs { effect });
    }
    if let Some(owner) = &existing.foreign_owner {
        return Err(ImportRefusal::Foreign { owner: owner.clone() });
    }
    if let Some(by) = &existing.in_use_by {
        return Err(ImportRefusal::InUse { by: by.clone() });
    }
    if existing.size < wish.size_min || existing.size.0 == 0 {
        return Err(ImportRefusal::TooSmall { have: existing.size, want: wish.size_min.max(SizeMib(1)) });
    }
    Ok(Adoption::Tag { size: existing.size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(n: u128) -> EffectId {
        EffectId(uuid::Uuid::from_u128(n))
    }

    fn wish(volume_id: &str) -> ImportWish {
        ImportWish { id: effect(1), volume_id: InstanceId(volume_id.to_owned()), size_min: SizeMib(10) }
    }

    fn existing() -> ExistingVolume {
        ExistingVolume {
            volume_id: InstanceId("vol-1".to_owned()),
            size: SizeMib(10),
            tagged: None,
            foreign_owner: None,
            in_use_by: None,
        }
    }

    #[test]
    fn only_what_nobody_has_is_taken() {
        let wish = wish("vol-1");
        assert_eq!(check_import(&wish, &existing()), Ok(Adoption::Tag { size: SizeMib(10) }));
        let again = ExistingVolume { tagged: Some(effect(1)), in_use_by: Some("us".into()), ..existing() };
        assert_eq!(check_import(&wish, &again), Ok(Adoption::Done { size: SizeMib(10) }));
        for (volume, refusal) in [
            (
                ExistingVolume { tagged: Some(effect(2)), ..existing() },
                ImportRefusal::AlreadyOurs { effect: effect(2) },
            ),
            (
                ExistingVolume { foreign_owner: Some("them".into()), ..existing() },
                ImportRefusal::Foreign { owner: "them".into() },
            ),
            (
                ExistingVolume { in_use_by: Some("them".into()), ..existing() },
                ImportRefusal::InUse { by: "them".into() },
            ),
            (
                ExistingVolume { size: SizeMib(9), ..existing() },
                ImportRefusal::TooSmall { have: SizeMib(9), want: SizeMib(10) },
            ),
            (
                ExistingVolume { volume_id: InstanceId("vol-2".into()), ..existing() },
                ImportRefusal::AnotherVolume { found: InstanceId("vol-2".into()) },
            ),
        ] {
            assert_eq!(check_import(&wish, &volume), Err(refusal));
        }
    }

    #[test]
    fn ids_that_could_be_paths_are_refused() {
        for id in ["", "..", "a/b", "../x", "a b", "a\n", "\u{202e}x", &"x".repeat(256)] {
            let volume = ExistingVolume { volume_id: InstanceId(id.to_owned()), ..existing() };
            assert_eq!(check_import(&wish(id), &volume), Err(ImportRefusal::BadId), "{id:?}");
        }
    }
}
