//! What operators ask to be changed.

use actix_web::{http::StatusCode, web};
use bailiwick_actors::{
    contract::Decider,
    document::Role,
    filesystem, machine_deployment, member, policy, provider, replica_set,
    shell::{Answer, AnyCommand},
    vocab::{FaultClass, FaultCode, SizeMib, derived_uuid},
    volume,
};
use bailiwick_journal::{Outcome, StreamId};
use uuid::Uuid;

use super::{
    access::Need,
    asker::{Asker, Seen},
    errors::Failure,
    query::no_entity,
    routes::{MANIFESTS, Routes, SMALL},
    wire::change::{
        Blocked, ChangePool, Changed, Decided, Declare, EnableHa, Import, PoolChange, Remove, Retry, RetryFailed,
        Rollout, RolloutStep,
    },
};
use crate::{
    handle::{Applied, Handle, ImportVolume, OperateError},
    manifest::{self, Manifest, Source},
    plan::{Going, KEPT_TOLD_MAX, Plan, Prune, retrying},
    view::{Blocker, blockers, declared, failed},
    words::count,
};

/// As many objects may be named in one request.
const ITEMS_MAX: usize = 10_000;

pub(super) fn routes(routes: &mut Routes<'_>) {
    let operate = Need::Role(Role::Operate);
    routes
        .post("/apply", operate, MANIFESTS, "Declares what manifests say: all of it or nothing", apply)
        .post("/plan", Need::Role(Role::View), MANIFESTS, "What applying them would do", plan)
        .post("/remove", operate, MANIFESTS, "Removes objects, and says what stands in the way", remove)
        .post("/import", operate, SMALL, "Takes over a volume that exists already", import)
        .post("/pools", operate, SMALL, "Creates or removes a storage pool, or makes it the default", change_pool)
        .post("/retry", operate, SMALL, "Tries again what was given up for one object", retry)
        .post("/retry-failed", operate, SMALL, "Tries again all that failed with such faults", retry_failed)
        .post(
            "/rollout",
            operate,
            SMALL,
            "Pauses, resumes, restarts or undoes the rollout of a machine deployment",
            rollout,
        )
        .post("/enable-ha", operate, SMALL, "Sets how many servers of a replica set vote", enable_ha);
}

async fn apply(asker: Asker, declare: web::Json<Declare>) -> Result<web::Json<Changed>, Failure> {
    let manifest = read(&asker, &declare)?;
    let id = declare.id.unwrap_or_else(Uuid::new_v4);
    let streams: Vec<StreamId> = manifest.documents.iter().map(|document| document.wish.stream()).collect();
    let node = match prune(&declare) {
        Prune::Yes => asker.to_change_all().and_then(|_| asker.to_change(streams.iter().map(StreamId::kind)))?,
        Prune::No => asker.to_change(streams.iter().map(StreamId::kind))?,
    };
    let applied = node.apply(&manifest.documents, prune(&declare), id).await?;
    Ok(web::Json(changed(applied).noted(&manifest)))
}

async fn plan(asker: Asker, declare: web::Json<Declare>) -> Result<web::Json<Changed>, Failure> {
    let manifest = read(&asker, &declare)?;
    let plan = asker.node().plan(&manifest.documents, prune(&declare)).await?;
    Ok(web::Json(planned(plan).noted(&manifest)))
}

async fn remove(asker: Asker, seen: Seen, remove: web::Json<Remove>) -> Result<web::Json<Changed>, Failure> {
    let mut remove = remove.into_inner();
    if remove.entities.len() > ITEMS_MAX {
        let message = format!("{} objects are named; a request may name {ITEMS_MAX}", remove.entities.len());
        return Err(
            Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too-many", message).next("split it into several requests")
        );
    }
    if remove.all {
        asker.to_change_all()?;
    }
    let node = match remove.entities.as_slice() {
        [one] if !remove.all => asker.to_change_one(one, seen)?,
        _ if seen.is_given() => {
            let message = "If-Match is about one object, and this request is not";
            return Err(
                Failure::new(StatusCode::BAD_REQUEST, "misdirected", message).next("name one object, or leave it out")
            );
        }
        several => asker.to_change(several.iter().map(StreamId::kind))?.clone(),
    };
    node.look(|fleet| {
        if remove.all {
            remove.entities = declared(fleet);
        }
        if remove.present_only {
            remove.entities.retain(|entity| fleet.exists(entity));
        }
    })?;
    if remove.entities.is_empty() && (remove.all || remove.present_only) {
        return Ok(web::Json(Changed::default()));
    }
    let id = remove.id.unwrap_or_else(Uuid::new_v4);
    if let Some(policy) = remove.entities.iter().find(|stream| stream.kind() == policy::State::KIND) {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", format!("{policy} cannot be removed"))
            .next("change it instead with `bailiwick apply`"));
    }
    if let Some(held) = remove.entities.iter().find(|stream| stream.kind() == provider::State::KIND) {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", format!("{held} cannot be removed"))
            .next(&format!("end its hold with `bailiwick unhold {held}`")));
    }
    if let Some(member) = remove.entities.iter().find(|stream| stream.kind() == member::State::KIND) {
        return Err(Failure::new(
            StatusCode::BAD_REQUEST,
            "misdirected",
            format!("{member} is managed by its replica set"),
        )
        .next("remove its machine, or its seat in the replica set"));
    }
    let missing = node.look(|fleet| {
        remove.entities.iter().find(|stream| !fleet.exists(stream)).map(|missing| no_entity(fleet, missing))
    })?;
    if let Some(missing) = missing {
        return Err(missing.into());
    }
    let is_stored = |stream: &StreamId| matches!(stream.kind(), volume::State::KIND | filesystem::State::KIND);
    let of_storage = remove.release || remove.destroy;
    if let Some(other) = remove.entities.iter().find(|stream| of_storage && !is_stored(stream)) {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", format!("{other} has no data of its own"))
            .next("name a volume or filesystem"));
    }
    if remove.release && remove.destroy {
        let message = "`release` and `destroy` exclude each other: data is either kept or destroyed";
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", message.to_owned()));
    }
    let Remove { force, keep_instance, release, destroy, .. } = remove;
    let how = Going { force, keep_instance, release, destroy };
    let applied = node.remove(&remove.entities, how, id).await?;
    let blocked = node.look(|fleet| {
        let all = remove.entities.iter().flat_map(|entity| blockers(fleet, entity));
        all.map(|blocker| blocker.by_clock(fleet))
            .map(|Blocker { entity, by, why, since_ms }| Blocked { entity, by, why, since_ms })
            .collect()
    })?;
    Ok(web::Json(Changed { blocked, ..changed(applied) }))
}

async fn change_pool(asker: Asker, seen: Seen, wanted: web::Json<ChangePool>) -> Result<web::Json<Decided>, Failure> {
    let ChangePool { change, id } = wanted.into_inner();
    if let PoolChange::Create { name, settings } = &change {
        asker.node().check_pool(name, settings)?;
    }
    let command = AnyCommand::from(match change {
        PoolChange::Create { name, settings } => policy::Command::CreatePool { name, settings },
        PoolChange::Remove { name } => policy::Command::RemovePool { name },
        PoolChange::Default { kind, name: pool } => policy::Command::SetDefaultPool { kind, pool },
    });
    let name = policy::default_name();
    let entity = StreamId::new(policy::State::KIND, name.as_str()).expect("a valid name");
    ask(&asker, seen, &entity, command, id).await
}

async fn import(asker: Asker, import: web::Json<Import>) -> Result<web::Json<Changed>, Failure> {
    let Import { entity, provider, volume_id, machine, size_mib, id } = import.into_inner();
    let name = entity.name().parse().ok().filter(|_| entity.kind() == volume::State::KIND);
    let Some(name) = name else {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", format!("{entity} is not a volume")));
    };
    let node = asker.to_change([entity.kind()])?;
    let spec = volume::Spec { provider, size: SizeMib(size_mib) };
    let wish = ImportVolume { name, spec, volume_id, machine };
    Ok(web::Json(changed(node.import(&wish, id.unwrap_or_else(Uuid::new_v4)).await?)))
}

async fn retry(asker: Asker, seen: Seen, retry: web::Json<Retry>) -> Result<web::Json<Decided>, Failure> {
    let node = asker.to_change_one(&retry.entity, seen)?;
    answered(&node, node.retry(&retry.entity, retry.id.unwrap_or_else(Uuid::new_v4)).await)
}

/// Asks all that failed so, one after the other; who has no answer any more when it is its turn is left out.
async fn retry_failed(asker: Asker, wanted: web::Json<RetryFailed>) -> Result<web::Json<Vec<Decided>>, Failure> {
    let RetryFailed { faults, transient, id } = wanted.into_inner();
    let may_pass = |code: FaultCode| transient && code.class() != FaultClass::Permanent;
    let node = asker.to_change_all()?;
    let failed = node.look(|fleet| failed(fleet, |fault| faults.contains(&fault.code) || may_pass(fault.code)))?;
    let id = id.unwrap_or_else(Uuid::new_v4);
    let mut all = Vec::new();
    for entity in failed {
        let Some(command) = retrying(&entity) else { continue };
        let own = derived_uuid(&format!("retry {id} {entity}"));
        all.push(decided(&node.ask(entity, command, own).await?));
    }
    Ok(web::Json(all))
}

async fn enable_ha(asker: Asker, seen: Seen, wanted: web::Json<EnableHa>) -> Result<web::Json<Decided>, Failure> {
    if wanted.entity.kind() != replica_set::State::KIND {
        let message = format!("{} is not a replica set", wanted.entity);
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", message));
    }
    let command = AnyCommand::from(replica_set::Command::EnableHa { servers: wanted.servers });
    ask(&asker, seen, &wanted.entity, command, wanted.id).await
}

async fn rollout(asker: Asker, seen: Seen, wanted: web::Json<Rollout>) -> Result<web::Json<Decided>, Failure> {
    use machine_deployment::Command;
    let Rollout { entity, step, id } = wanted.into_inner();
    if entity.kind() != machine_deployment::State::KIND {
        let message = format!("{entity} is not a machine deployment");
        return Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", message));
    }
    let command = match step {
        RolloutStep::Pause => Command::Pause,
        RolloutStep::Resume => Command::Resume,
        RolloutStep::Now => Command::Hurry,
        RolloutStep::Restart => Command::Restart,
        RolloutStep::Undo { revision } => Command::Undo { revision },
    };
    ask(&asker, seen, &entity, AnyCommand::from(command), id).await
}

/// Asks one entity that exists.
async fn ask(
    asker: &Asker,
    seen: Seen,
    entity: &StreamId,
    command: AnyCommand,
    id: Option<Uuid>,
) -> Result<web::Json<Decided>, Failure> {
    let node = asker.to_change_one(entity, seen)?;
    if let Some(missing) = node.look(|fleet| (!fleet.exists(entity)).then(|| no_entity(fleet, entity)))? {
        return Err(missing.into());
    }
    let answer = node.ask(entity.clone(), command, id.unwrap_or_else(Uuid::new_v4)).await?;
    answered(&node, Ok(answer))
}

/// How an order went, as it is told.
pub(super) fn answered(node: &Handle, answer: Result<Answer, OperateError>) -> Result<web::Json<Decided>, Failure> {
    let message = answer.as_ref().err().map(ToString::to_string).unwrap_or_default();
    match answer {
        Ok(answer) if answer.outcome == Outcome::Refused => Err(refused(&answer)),
        Ok(answer) => Ok(web::Json(decided(&answer))),
        Err(OperateError::NotFound(entity)) => Err(node.look(|fleet| no_entity(fleet, &entity))?.into()),
        Err(OperateError::Misdirected { .. } | OperateError::NotRetried { .. }) => Err(Failure::new(StatusCode::BAD_REQUEST, "misdirected", message)),
        Err(OperateError::NoInstance(_)) => Err(Failure::new(StatusCode::NOT_FOUND, "not-found", message)
            .next("`bailiwick harvest --dry-run` lists unmanaged instances; one that was just disowned appears after the next poll of its provider")),
        Err(OperateError::NoProvider { .. }) => {
            Err(Failure::new(StatusCode::NOT_FOUND, "not-found", message).next("hold one of them"))
        }
        Err(OperateError::Ambiguous { .. }) => {
            Err(Failure::new(StatusCode::BAD_REQUEST, "ambiguous", message).next("choose one with --instance"))
        }
        Err(OperateError::Ask(error)) => Err(error.into()),
        Err(OperateError::Read(error)) => Err(error.into()),
    }
}

fn refused(answer: &Answer) -> Failure {
    let refused = Failure::new(StatusCode::CONFLICT, "refused", format!("{}: {}", answer.stream, answer.text));
    match next_of(answer) {
        Some(next) => refused.next(&next),
        None => refused,
    }
}

/// What helps with a refusal, where that is one command.
fn next_of(answer: &Answer) -> Option<String> {
    let name = answer.stream.name();
    match (answer.stream.kind(), answer.code.as_str()) {
        (machine_deployment::State::KIND, "paused") => {
            Some(format!("run `bailiwick rollout resume {name}`, then retry"))
        }
        (machine_deployment::State::KIND, "no-earlier-revision" | "unknown-revision") => {
            Some(format!("`bailiwick rollout history {name}` lists its revisions"))
        }
        // Nothing that a policy refuses goes away by itself.
        (policy::State::KIND, _) => Some("fix what is named above, then retry".to_owned()),
        _ => None,
    }
}

fn read(asker: &Asker, declare: &Declare) -> Result<Manifest, Failure> {
    let sources: Vec<Source> = declare.files.iter().map(|file| Source::new(&file.name, file.text.as_bytes())).collect();
    Ok(manifest::parse(&sources, &asker.node().known()?)?)
}

fn prune(declare: &Declare) -> Prune {
    if declare.prune { Prune::Yes } else { Prune::No }
}

impl Changed {
    /// The same with what was noticed about the manifest, which comes first.
    pub(crate) fn noted(mut self, manifest: &Manifest) -> Self {
        self.notes.splice(0..0, manifest.notes.iter().map(ToString::to_string));
        self
    }
}

/// What was done, as it is told.
pub(crate) fn changed(applied: Applied) -> Changed {
    let decisions = applied.answers.iter().map(decided).collect();
    Changed { decisions, changes: !applied.answers.is_empty(), repeated: applied.repeated, ..planned(applied.plan) }
}

/// What would be done, as it is told.
pub(crate) fn planned(plan: Plan) -> Changed {
    let more = plan.kept.saturating_sub(KEPT_TOLD_MAX);
    let told = |more| format!("{} no longer declared: kept as well, not listed", count(more, "more object"));
    let notes = (more > 0).then_some(more).map(told).into_iter().collect();
    Changed { changes: plan.changes(), steps: plan.steps, notes, ..Changed::default() }
}

/// One decision, as it is told.
pub(super) fn decided(answer: &Answer) -> Decided {
    Decided {
        entity: answer.stream.to_string(),
        position: answer.position.map(|position| position.0),
        code: answer.code.clone(),
        reason: answer.text.clone(),
        repeated: answer.repeated,
    }
}
