//! A filesystem is mounted on machines that are there, and holds as long as it is mounted.

use bailiwick_actors::{ports::Lookup, vocab::FaultCode};

use super::{
    Check,
    bench::{ensure, new_id, wrong},
    storage_bench::unmount_wish,
};

pub const CHECKS: &[Check] = &[
    Check {
        id: "mounts/path",
        what: "a mounted filesystem has an absolute path",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                let made = bench.mount(&wish).await?;
                let is_path = made.mount_point.starts_with('/') && !made.mount_point.contains('\0');
                ensure(is_path, || format!("its mount point is {:?}", made.mount_point))?;
                ensure(!made.read_only, || "it is read-only, though that was not requested".into())
            })
        },
    },
    Check {
        id: "mounts/read-only",
        what: "what is to be read-only is mounted read-only",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let mut wish = bench.mount_wish(&machine, (&name, &filesystem));
                wish.read_only = true;
                let made = bench.mount(&wish).await?;
                ensure(made.read_only, || "it is writable".into())
            })
        },
    },
    Check {
        id: "mounts/again",
        what: "mounting again under the same id gives the same answer",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                let first = bench.mount(&wish).await?;
                let again = bench.mount(&wish).await?;
                ensure(first == again, || format!("first {first:?}, then {again:?}"))
            })
        },
    },
    Check {
        id: "mounts/found",
        what: "a mount is found by its id, and an unused id is absent",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                let made = bench.mount(&wish).await?;
                let found = bench.lookup_mount(wish.id).await?;
                ensure(found == Lookup::Present(made), || format!("lookup says {found:?}"))?;
                let found = bench.lookup_mount(new_id()).await?;
                ensure(found == Lookup::Absent, || format!("lookup says {found:?}"))
            })
        },
    },
    Check {
        id: "mounts/detached",
        what: "what was unmounted is absent, and unmounting it again is a success",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                bench.mount(&wish).await?;
                bench.unmount(unmount_wish(&wish)).await?;
                let found = bench.lookup_mount(wish.id).await?;
                ensure(found == Lookup::Absent, || format!("lookup says {found:?}"))?;
                bench.unmount(unmount_wish(&wish)).await
            })
        },
    },
    Check {
        id: "mounts/never-mounted",
        what: "unmounting what was never mounted is a success",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                bench.unmount(unmount_wish(&wish)).await
            })
        },
    },
    Check {
        id: "mounts/holds",
        what: "a filesystem that is mounted is not destroyed: failed-precondition",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                bench.mount(&wish).await?;
                match bench.try_destroy_filesystem(filesystem.effect).await?.remove(0) {
                    Err(fault) if fault.code == FaultCode::FailedPrecondition => Ok(()),
                    answer => wrong(format!("it answered {answer:?}")),
                }
            })
        },
    },
    Check {
        id: "mounts/no-machine",
        what: "mounting on a machine that is not there is refused with not-found",
        run: |bench| {
            Box::pin(async move {
                let (mut machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                machine.effect = new_id();
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                match bench.try_mount(&wish).await?.remove(0) {
                    Err(fault) if fault.code == FaultCode::NotFound => Ok(()),
                    answer => wrong(format!("it answered {answer:?}")),
                }
            })
        },
    },
    Check {
        id: "mounts/restarted",
        what: "after a restart a mount is found, and mounting again gives the same answer",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                let made = bench.mount(&wish).await?;
                bench.restart()?;
                let found = bench.lookup_mount(wish.id).await?;
                ensure(found == Lookup::Present(made.clone()), || format!("lookup says {found:?}"))?;
                let again = bench.mount(&wish).await?;
                ensure(made == again, || format!("first {made:?}, then {again:?}"))
            })
        },
    },
];
