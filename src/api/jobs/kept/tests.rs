//! Which jobs are kept, and for whom.

use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp(1_000_000);

fn job(principal: &str) -> Arc<Job> {
    Arc::new(Job::new(Question::Replay, principal.into(), NOW))
}

fn seen(jobs: &Jobs, principal: &str, role: Role, now: Timestamp) -> usize {
    jobs.seen_by(principal, role, now).len()
}

#[test]
fn each_has_room_for_four_and_what_has_ended_makes_room() {
    let jobs = Jobs::default();
    let mine: Vec<Arc<Job>> = (0..4).map(|_| job("account:ada")).collect();
    assert!(mine.iter().all(|job| jobs.add(job.clone())));
    assert!(!jobs.add(job("account:ada")), "none of the four has ended");
    assert!(jobs.add(job("account:ben")), "another's do not count");
    mine[2].end(Ok(json!({})));
    assert!(jobs.add(job("account:ada")));
    assert_eq!(mine.iter().filter(|job| Arc::strong_count(job) > 1).count(), 3, "the one that has ended is gone");
}

#[test]
fn a_job_is_seen_by_who_asked_and_by_administrators_for_an_hour_after_it_has_ended() {
    let jobs = Jobs::default();
    let (mine, late) = (job("account:ada"), NOW.after(KEPT_MS));
    assert!(jobs.add(mine.clone()));
    assert_eq!(seen(&jobs, "account:ada", Role::View, late), 1, "it runs still");
    mine.end(Ok(json!({})));
    assert_eq!(seen(&jobs, "account:ben", Role::Operate, NOW), 0, "it is not his");
    assert_eq!(seen(&jobs, "uid:0", Role::Admin, NOW), 1);
    assert_eq!(seen(&jobs, "account:ada", Role::View, late), 0);
}

#[test]
fn a_cancelled_job_does_not_begin_and_one_that_runs_is_told_to_end() {
    let (waiting, running, done) = (job("account:ada"), job("account:ada"), job("account:ada"));
    waiting.cancel();
    assert!(!waiting.has_begun());
    assert_eq!(waiting.told().state, State::Cancelled);
    assert!(running.has_begun() && running.goes_on(1, 2));
    running.cancel();
    assert!(!running.goes_on(2, 2));
    assert_eq!(running.told().state, State::Running, "until it has noticed");
    running.end(Err(Problem::cancelled()));
    assert_eq!(running.told().state, State::Cancelled);
    done.end(Ok(json!({"entries": 1})));
    done.cancel();
    assert_eq!((done.told().state, done.answer()), (State::Done, Some(json!({"entries": 1}))));
}
