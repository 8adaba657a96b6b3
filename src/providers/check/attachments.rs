//! A volume is attached to one machine at a time.

use bailiwick_actors::{
    ports::Lookup,
    vocab::{Fault, FaultCode},
};

use super::{
    Check,
    bench::{Judged, detach_wish, ensure, new_id, wrong},
};

/// It was refused with this code.
fn refused<T>(answer: Result<T, Fault>, code: FaultCode) -> Judged {
    match answer {
        Err(fault) if fault.code == code => Ok(()),
        Err(fault) => wrong(format!("expected {code}, got {fault}")),
        Ok(_) => wrong(format!("expected {code}, and it was done")),
    }
}

pub const CHECKS: &[Check] = &[
    Check {
        id: "attachments/path",
        what: "an attached volume has a path",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                let made = bench.attach(&wish).await?;
                ensure(!made.path.is_empty() && !made.path.contains('\0'), || format!("its path is {:?}", made.path))?;
                ensure(!made.read_only, || "it is read-only, though that was not requested".into())
            })
        },
    },
    Check {
        id: "attachments/read-only",
        what: "what is to be read-only is attached read-only",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let mut wish = bench.attach_wish(&machine, (&name, &volume));
                wish.read_only = true;
                let made = bench.attach(&wish).await?;
                ensure(made.read_only, || "it is writable".into())
            })
        },
    },
    Check {
        id: "attachments/again",
        what: "attaching again under the same id gives the same answer",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                let first = bench.attach(&wish).await?;
                let again = bench.attach(&wish).await?;
                ensure(first == again, || format!("first {first:?}, then {again:?}"))
            })
        },
    },
    Check {
        id: "attachments/found",
        what: "an attachment is found by its id, and an unused id is absent",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                let made = bench.attach(&wish).await?;
                let found = bench.lookup_attachment(wish.id).await?;
                ensure(found == Lookup::Present(made), || format!("lookup says {found:?}"))?;
                let found = bench.lookup_attachment(new_id()).await?;
                ensure(found == Lookup::Absent, || format!("lookup says {found:?}"))
            })
        },
    },
    Check {
        id: "attachments/one-at-a-time",
        what: "a volume that is attached is refused to another machine with failed-precondition",
        run: |bench| {
            Box::pin(async move {
                let (one, other) = (bench.machine().await?, bench.machine().await?);
                let (name, volume) = bench.volume().await?;
                let first = bench.attach_wish(&one, (&name, &volume));
                let second = bench.attach_wish(&other, (&name, &volume));
                bench.attach(&first).await?;
                refused(bench.try_attach(vec![second]).await?.remove(0), FaultCode::FailedPrecondition)
            })
        },
    },
    Check {
        id: "attachments/race",
        what: "of two machines that want one volume at the same time, one gets it",
        run: |bench| {
            Box::pin(async move {
                let (one, other) = (bench.machine().await?, bench.machine().await?);
                let (name, volume) = bench.volume().await?;
                let first = bench.attach_wish(&one, (&name, &volume));
                let second = bench.attach_wish(&other, (&name, &volume));
                let (a, b) = (bench.volume_provider()?, bench.volume_provider()?);
                let both = async { tokio::join!(a.attach_volumes(vec![first]), b.attach_volumes(vec![second])) };
                let (first, second) = bench.timed("attach", both).await?;
                let got = [first, second].into_iter().flatten().flatten().filter(Result::is_ok).count();
                ensure(got == 1, || format!("{got} of the two got it"))
            })
        },
    },
    Check {
        id: "attachments/no-machine",
        what: "attaching to a machine that is not there is refused with not-found",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                bench.delete(&[machine.effect]).await?;
                let wish = bench.attach_wish(&machine, (&name, &volume));
                refused(bench.try_attach(vec![wish]).await?.remove(0), FaultCode::NotFound)
            })
        },
    },
    Check {
        id: "attachments/no-volume",
        what: "attaching a volume that is not there is refused",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                bench.destroy(volume.effect).await?;
                let wish = bench.attach_wish(&machine, (&name, &volume));
                match bench.try_attach(vec![wish]).await?.remove(0) {
                    Ok(_) => wrong("it was attached"),
                    Err(_) => Ok(()),
                }
            })
        },
    },
    Check {
        id: "attachments/holds",
        what: "a volume that is attached is not destroyed: failed-precondition",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                bench.attach(&wish).await?;
                refused(bench.try_destroy(vec![volume.effect]).await?.remove(0), FaultCode::FailedPrecondition)?;
                let found = bench.lookup_volumes(&[volume.effect]).await?;
                ensure(found == [Lookup::Present(volume)], || "it was destroyed anyway".into())
            })
        },
    },
    Check {
        id: "attachments/detached",
        what: "what was detached is absent, and detaching it again is a success",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                bench.attach(&wish).await?;
                bench.detach(detach_wish(&wish)).await?;
                let found = bench.lookup_attachment(wish.id).await?;
                ensure(found == Lookup::Absent, || format!("lookup says {found:?}"))?;
                bench.detach(detach_wish(&wish)).await
            })
        },
    },
    Check {
        id: "attachments/never-made",
        what: "detaching what was never attached is a success",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                bench.detach(detach_wish(&wish)).await
            })
        },
    },
    Check {
        id: "attachments/elsewhere",
        what: "after detaching, another machine can have the volume",
        run: |bench| {
            Box::pin(async move {
                let (one, other) = (bench.machine().await?, bench.machine().await?);
                let (name, volume) = bench.volume().await?;
                let first = bench.attach_wish(&one, (&name, &volume));
                bench.attach(&first).await?;
                bench.detach(detach_wish(&first)).await?;
                let second = bench.attach_wish(&other, (&name, &volume));
                bench.attach(&second).await.map(drop)
            })
        },
    },
    Check {
        id: "attachments/two-volumes",
        what: "two volumes of one machine have two paths",
        run: |bench| {
            Box::pin(async move {
                let machine = bench.machine().await?;
                let ((one, first), (other, second)) = (bench.volume().await?, bench.volume().await?);
                let first = bench.attach_wish(&machine, (&one, &first));
                let second = bench.attach_wish(&machine, (&other, &second));
                let (first, second) = (bench.attach(&first).await?, bench.attach(&second).await?);
                ensure(first.path != second.path, || format!("both are {:?}", first.path))
            })
        },
    },
    Check {
        id: "attachments/machine-gone",
        what: "when the machine is gone, detaching is a success, and the volume stays",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                bench.attach(&wish).await?;
                bench.delete(&[machine.effect]).await?;
                bench.detach(detach_wish(&wish)).await?;
                let found = bench.lookup_volumes(&[volume.effect]).await?;
                ensure(found == [Lookup::Present(volume)], || format!("lookup says {found:?}"))
            })
        },
    },
    Check {
        id: "attachments/restarted",
        what: "after a restart an attachment is found as it was, and still holds its volume",
        run: |bench| {
            Box::pin(async move {
                let (machine, (name, volume)) = (bench.machine().await?, bench.volume().await?);
                let wish = bench.attach_wish(&machine, (&name, &volume));
                let made = bench.attach(&wish).await?;
                bench.restart()?;
                let found = bench.lookup_attachment(wish.id).await?;
                ensure(found == Lookup::Present(made), || format!("lookup says {found:?}"))?;
                refused(bench.try_destroy(vec![volume.effect]).await?.remove(0), FaultCode::FailedPrecondition)
            })
        },
    },
    Check {
        id: "attachments/cancel",
        what: "cancelling what is not under way changes no volume",
        run: |bench| {
            Box::pin(async move {
                let (_, volume) = bench.volume().await?;
                let provider = bench.volume_provider()?;
                provider.cancel(volume.effect);
                provider.cancel(new_id());
                let found = bench.lookup_volumes(&[volume.effect]).await?;
                ensure(found == [Lookup::Present(volume)], || format!("lookup says {found:?}"))
            })
        },
    },
];
