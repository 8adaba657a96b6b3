//! What is there is never said to be `not-found`: whoever looks only where it has put things in this life leaves them behind
//! after the next restart.

use bailiwick_actors::{
    ports::Lookup,
    vocab::{EffectId, Fault, FaultCode},
};

use super::{
    Check,
    bench::{Judged, Stop, detach_wish, ensure, new_id, wrong},
    storage_bench::unmount_wish,
};

/// How what is there was asked to go: done, or refused, but not denied.
fn not_denied(what: &str, answer: &Result<(), Fault>) -> Judged {
    match answer {
        Err(fault) if fault.code == FaultCode::NotFound => {
            wrong(format!("{what} answered {fault}, and a lookup had just found it"))
        }
        Err(fault) => wrong(format!("{what} answered {fault}")),
        Ok(()) => Ok(()),
    }
}

fn gone<T: std::fmt::Debug>(found: &Lookup<T>) -> Judged {
    ensure(matches!(found, Lookup::Absent), || format!("it was said to be done, and lookup says {found:?}"))
}

fn there<T>(found: &Lookup<T>) -> Judged {
    let seen = matches!(found, Lookup::Present(_));
    ensure(seen, || "after a restart, lookup does not find it".into())
}

fn first<T>(mut answers: Vec<T>) -> Result<T, Stop> {
    answers.pop().ok_or_else(|| Stop::Wrong("there is no answer".into()))
}

pub const CHECKS: &[Check] = &[
    Check {
        id: "not-found/machines",
        what: "after a restart an existing machine is deleted, not reported as not-found",
        run: |bench| {
            Box::pin(async move {
                let (one, other) = (bench.machine().await?, bench.machine().await?);
                bench.restart()?;
                bench.must_be_present(&one).await?;
                bench.must_be_present(&other).await?;
                let ids = vec![one.effect, new_id(), other.effect];
                let answers = bench.try_delete(ids).await?;
                for (seen, at) in [(&one, 0), (&other, 2)] {
                    not_denied("delete-machines", &answers[at])?;
                    bench.must_be_absent(seen.effect).await?;
                }
                Ok(())
            })
        },
    },
    Check {
        id: "not-found/volumes",
        what: "after a restart an existing volume is destroyed, not reported as not-found",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.volume().await?;
                bench.restart()?;
                there(&first(bench.lookup_volumes(&[made.effect]).await?)?)?;
                not_denied("destroy-volumes", &first(bench.try_destroy(vec![made.effect]).await?)?)?;
                gone(&first(bench.lookup_volumes(&[made.effect]).await?)?)
            })
        },
    },
    Check {
        id: "not-found/attachments",
        what: "after a restart an attached volume is detached, not reported as not-found",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                bench.attach(&wish).await?;
                bench.restart()?;
                there(&bench.lookup_attachment(wish.id).await?)?;
                not_denied("detach-volumes", &first(bench.try_detach(detach_wish(&wish)).await?)?)?;
                gone(&bench.lookup_attachment(wish.id).await?)
            })
        },
    },
    Check {
        id: "not-found/filesystems",
        what: "after a restart an existing filesystem is destroyed, not reported as not-found",
        run: |bench| {
            Box::pin(async move {
                let (_, made) = bench.filesystem().await?;
                bench.restart()?;
                there(&first(bench.lookup_filesystems(&[made.effect]).await?)?)?;
                let id: EffectId = made.effect;
                not_denied("destroy-filesystems", &first(bench.try_destroy_filesystem(id).await?)?)?;
                gone(&first(bench.lookup_filesystems(&[id]).await?)?)
            })
        },
    },
    Check {
        id: "not-found/mounts",
        what: "after a restart a mounted filesystem is unmounted, not reported as not-found",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, filesystem)) = (bench.machine().await?, bench.filesystem().await?);
                let wish = bench.mount_wish(&machine, (&name, &filesystem));
                bench.mount(&wish).await?;
                bench.restart()?;
                there(&bench.lookup_mount(wish.id).await?)?;
                not_denied("detach-filesystems", &first(bench.try_unmount(unmount_wish(&wish)).await?)?)?;
                gone(&bench.lookup_mount(wish.id).await?)
            })
        },
    },
];
