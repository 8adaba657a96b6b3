//! Whether what is asked for can be made at all, before a provider is called.

use super::{AttributeError, Attributes, EbsError, Pool, ProviderType, StorageKind, ebs_volume};
use crate::vocab::SizeMib;

/// Why parameters make no sense. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamsError {
    #[error("a size is at least 1 MiB")]
    NoSize,
    #[error("{size} is more than the {max} that a provider of type {provider} can make")]
    TooBig { provider: ProviderType, size: SizeMib, max: SizeMib },
    #[error("{size} is too small: a filesystem on a volume has at least {min}")]
    TooSmallForFilesystem { size: SizeMib, min: SizeMib },
    #[error("a provider of type {provider} does not provide volumes")]
    NoVolumes { provider: ProviderType },
    #[error(transparent)]
    Attributes(#[from] AttributeError),
    #[error(transparent)]
    Ebs(#[from] EbsError),
}

/// The largest file of ext4 with 4 KiB blocks: 16 TiB.
const FILE_MAX: SizeMib = SizeMib(16 * 1024 * 1024);
/// What fits into the signed 64-bit length of any file.
const LENGTH_MAX: SizeMib = SizeMib((i64::MAX as u64) >> 20);
/// The smallest volume that ext4 fits on with a journal and something left over.
const MANAGED_MIN: SizeMib = SizeMib(2);

/// Checks a volume's parameters.
pub fn check_volume(pool: &Pool, size: SizeMib) -> Result<(), ParamsError> {
    check(pool.provider(), pool.attributes(), size, StorageKind::Block)
}

/// Checks a filesystem's parameters; from a pool of volumes it is made on a volume.
pub fn check_filesystem(pool: &Pool, size: SizeMib) -> Result<(), ParamsError> {
    check(pool.provider(), pool.attributes(), size, StorageKind::Filesystem)?;
    if !pool.provider().makes_filesystems() && size < MANAGED_MIN {
        return Err(ParamsError::TooSmallForFilesystem { size, min: MANAGED_MIN });
    }
    Ok(())
}

fn check(provider: ProviderType, attributes: &Attributes, size: SizeMib, kind: StorageKind) -> Result<(), ParamsError> {
    if !provider.can_make(kind) {
        return Err(ParamsError::NoVolumes { provider });
    }
    super::check_attributes(provider, attributes)?;
    if size.0 == 0 {
        return Err(ParamsError::NoSize);
    }
    let max = match provider {
        ProviderType::Ebs => return ebs_volume(size, attributes).map(drop).map_err(ParamsError::from),
        ProviderType::Loop | ProviderType::Local => FILE_MAX,
        ProviderType::Tmpfs
        | ProviderType::Rootfs
        | ProviderType::Directory
        | ProviderType::Simulated
        | ProviderType::Exec
        | ProviderType::External => LENGTH_MAX,
    };
    if max < size { Err(ParamsError::TooBig { provider, size, max }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(provider: ProviderType) -> Pool {
        let named = (Pool::PROVIDER.to_owned(), "mine".to_owned());
        let attributes = provider.is_named_by_attribute().then_some(named).into_iter().collect();
        Pool::new(provider, attributes).unwrap()
    }

    #[test]
    fn impossible_parameters_are_refused_before_any_call() {
        assert_eq!(check_volume(&pool(ProviderType::Loop), SizeMib(0)), Err(ParamsError::NoSize));
        assert_eq!(
            check_volume(&pool(ProviderType::Tmpfs), SizeMib(1)),
            Err(ParamsError::NoVolumes { provider: ProviderType::Tmpfs })
        );
        for provider in ProviderType::ALL {
            assert!(check_filesystem(&pool(provider), SizeMib(u64::MAX)).is_err(), "{provider}");
            assert_eq!(check_filesystem(&pool(provider), SizeMib(1_024)), Ok(()), "{provider}");
        }
        assert!(matches!(
            check_filesystem(&pool(ProviderType::Loop), SizeMib(1)),
            Err(ParamsError::TooSmallForFilesystem { .. })
        ));
        assert!(matches!(
            check_volume(&pool(ProviderType::Ebs), SizeMib(1 << 30)),
            Err(ParamsError::Ebs(EbsError::TooBig { .. }))
        ));
    }
}
