//! What happens next in a drain.

use super::{
    Answer, Command, Event, How, Lane, LaneStep, Outcome, Pod, PodFault, Report, State, Turn, state::Emptying,
};
use crate::{policy::DeadlineReading, vocab::Timestamp};

/// What follows from a command, as events in order. None: it changes nothing (a report about what is over, a wake-up for
/// which nothing is due).
pub fn decide(state: &State, command: &Command, now: Timestamp) -> Vec<Event> {
    let mut draft = Draft { state: state.clone(), events: Vec::new(), now };
    match command {
        Command::Begin { plan, needs_cordon } => draft.begin(plan, *needs_cordon),
        Command::Wake => (),
        Command::Report(report) => draft.report(report),
    }
    draft.go_on();
    draft.events
}

/// A state on its way, with the events that brought it there.
struct Draft {
    state: State,
    events: Vec<Event>,
    now: Timestamp,
}

impl Draft {
    fn emit(&mut self, event: Event) {
        self.state.evolve(&event);
        self.events.push(event);
    }

    fn begin(&mut self, plan: &super::Plan, needs_cordon: bool) {
        if self.state != State::Idle {
            return;
        }
        self.emit(Event::Begun { plan: Box::new(plan.clone()) });
        if !needs_cordon {
            self.emit(Event::Cordoned);
        }
    }

    fn report(&mut self, report: &Report) {
        match (&self.state, report) {
            (State::Cordoning(_), Report::Cordoned) => self.emit(Event::Cordoned),
            (State::Cordoning(_), Report::CordonFailed) => self.emit(Event::Ended(Outcome::NotCordoned)),
            (State::Listing(_), Report::Pods(pods)) => {
                let pods = pods.iter().filter(|pod| !pod.stays()).cloned().collect();
                self.emit(Event::Listed { pods });
            }
            (State::Listing(_), Report::ListFailed) => self.emit(Event::Ended(Outcome::NotListed)),
            (State::Emptying(emptying), report) => {
                let event = emptying.on_report(report, self.now);
                event.into_iter().for_each(|event| self.emit(event));
            }
            (State::Idle | State::Cordoning(_) | State::Listing(_) | State::Over(_), _) => (),
        }
    }

    /// Takes every step that needs nobody's answer.
    fn go_on(&mut self) {
        loop {
            let State::Emptying(emptying) = &self.state else { return };
            let Some(event) = emptying.due_lane(self.now).or_else(|| emptying.due_turn(self.now)) else {
                break;
            };
            self.emit(event);
        }
        let State::Emptying(emptying) = &self.state else { return };
        if let Some(outcome) = emptying.outcome() {
            self.emit(Event::Ended(outcome));
        }
    }
}

impl Emptying {
    fn on_report(&self, report: &Report, now: Timestamp) -> Option<Event> {
        match report {
            Report::Told { pod, how, answer } => match self.lanes.iter().find(|lane| lane.pod.name == *pod) {
                Some(lane) => self.lane_told(lane, *how, *answer, now),
                None => self.turn_told(pod, *how, *answer, now),
            },
            Report::PodGone { pod } => {
                let is_leaving = |lane: &&Lane| lane.pod.name == *pod && matches!(lane.step, LaneStep::Leaving { .. });
                let lane = self.lanes.iter().find(is_leaving)?;
                Some(Event::LaneOver { pod: lane.pod.name.clone(), fault: None })
            }
            Report::VolumeLeft { volume } => match &self.round.turn {
                Turn::Detaching { volumes, .. } if volumes.contains(volume) => {
                    Some(Event::VolumeLeft { volume: volume.clone() })
                }
                _ => None,
            },
            Report::VolumeArrived { volume } => match &self.round.turn {
                Turn::Reattaching { volumes, .. } if volumes.contains(volume) => {
                    Some(Event::VolumeArrived { volume: volume.clone() })
                }
                _ => None,
            },
            Report::NodeGone if !self.is_node_gone => Some(Event::NodeVanished),
            Report::NodeGone | Report::Cordoned | Report::CordonFailed | Report::Pods(_) | Report::ListFailed => None,
        }
    }

    fn lane_told(&self, lane: &Lane, how: How, answer: Answer, now: Timestamp) -> Option<Event> {
        let LaneStep::Calling { how: asked, .. } = lane.step else { return None };
        if asked != how {
            return None;
        }
        let pod = lane.pod.name.clone();
        let over = |fault| Event::LaneOver { pod: pod.clone(), fault };
        Some(match answer {
            // Nobody waits in a forced drain.
            Answer::Accepted if self.plan.is_forced => over(None),
            Answer::Accepted => {
                let wait_ms = lane.pod.grace_ms.min(self.plan.timeout_ms).saturating_add(self.plan.end_buffer_ms);
                Event::LaneLeaves { pod, until: now.after(wait_ms) }
            }
            Answer::Gone => over(None),
            Answer::Refused(budget) if budget.is_some_and(|budget| budget.is_misconfigured()) => {
                over(Some(PodFault::Misconfigured { pod: pod.clone() }))
            }
            Answer::Refused(_) if how == How::Evict => {
                Event::LaneRefused { pod, until: now.after(self.plan.eviction_retry_ms) }
            }
            Answer::Refused(_) | Answer::Failed => over(Some(PodFault::CallFailed { pod: pod.clone() })),
        })
    }

    fn turn_told(&self, name: &str, how: How, answer: Answer, now: Timestamp) -> Option<Event> {
        let Turn::Calling(pod) = &self.round.turn else { return None };
        if pod.name != name || self.round.how != how {
            return None;
        }
        let over = |fault| Event::TurnOver { fault };
        Some(match answer {
            Answer::Accepted => {
                let wait_ms = pod.grace_ms.saturating_add(self.plan.volume_detach_ms);
                Event::VolumesLeave { volumes: self.plan.volumes(pod), until: now.after(wait_ms).min(self.plan.ends()) }
            }
            Answer::Gone => over(None),
            Answer::Refused(budget) if budget.is_some_and(|budget| budget.is_misconfigured()) => {
                over(Some(PodFault::Misconfigured { pod: name.to_owned() }))
            }
            Answer::Refused(_) | Answer::Failed if how == How::Evict => Event::TurnPostponed,
            Answer::Refused(_) | Answer::Failed => over(Some(PodFault::CallFailed { pod: name.to_owned() })),
        })
    }

    /// The next step on some lane that needs no answer.
    fn due_lane(&self, now: Timestamp) -> Option<Event> {
        self.lanes.iter().find_map(|lane| match lane.step {
            LaneStep::Refused { attempt, until } if until <= now => {
                let attempt = attempt.saturating_add(1);
                Some(Event::LaneCalls { pod: lane.pod.name.clone(), how: self.plan.how(attempt), attempt })
            }
            LaneStep::Leaving { until } if until <= now => {
                let pod = lane.pod.name.clone();
                Some(Event::LaneOver { fault: Some(PodFault::Stayed { pod: pod.clone() }), pod })
            }
            LaneStep::Calling { .. } | LaneStep::Refused { .. } | LaneStep::Leaving { .. } | LaneStep::Over => None,
        })
    }

    /// The next step in turn that needs no answer.
    fn due_turn(&self, now: Timestamp) -> Option<Event> {
        match &self.round.turn {
            Turn::Nobody => Some(self.next_turn(now)),
            Turn::Calling(_) | Turn::Over => None,
            // A volume is not waited for on a node that is not there; nor does anybody have to leave it.
            Turn::Detaching { volumes, .. } if self.is_node_gone && !volumes.is_empty() => {
                Some(Event::TurnsEnded { untold: Vec::new() })
            }
            Turn::Detaching { pod, volumes, .. } if volumes.is_empty() => Some(self.arrivals(pod, now)),
            Turn::Detaching { pod, until, .. } if *until <= now => {
                Some(Event::TurnOver { fault: Some(PodFault::VolumesStayed { pod: pod.name.clone() }) })
            }
            Turn::Reattaching { volumes, until, .. } if volumes.is_empty() || *until <= now => {
                Some(Event::TurnOver { fault: None })
            }
            Turn::Between { until } if *until <= now => {
                let number = self.round.number.saturating_add(1);
                Some(Event::RoundBegun { number, how: self.plan.how(number) })
            }
            Turn::Detaching { .. } | Turn::Reattaching { .. } | Turn::Between { .. } => None,
        }
    }

    fn next_turn(&self, now: Timestamp) -> Event {
        let mut waiting: Vec<Pod> = self.round.next.clone();
        waiting.extend(self.round.again.iter().cloned());
        if waiting.is_empty() {
            return Event::TurnsEnded { untold: Vec::new() };
        }
        if self.plan.ends() <= now {
            return Event::TurnsEnded { untold: waiting };
        }
        if self.round.next.is_empty() {
            return Event::RoundOver { until: now.after(self.plan.eviction_retry_ms) };
        }
        Event::TurnBegun
    }

    /// The wait for a pod's volumes to arrive elsewhere. Where nobody tells, all of it is waited.
    fn arrivals(&self, pod: &Pod, now: Timestamp) -> Event {
        let until = now.after(self.plan.volume_reattach_ms).min(self.plan.ends());
        Event::VolumesArrive { volumes: self.plan.volumes(pod), until }
    }

    fn outcome(&self) -> Option<Outcome> {
        let is_over = self.round.turn == Turn::Over && self.lanes.iter().all(|lane| lane.step == LaneStep::Over);
        if !is_over {
            return None;
        }
        if !self.left.is_empty() && self.plan.deadline == DeadlineReading::TimedOut {
            return Some(Outcome::TimedOut { left: self.left.clone() });
        }
        Some(if self.faults.is_empty() { Outcome::Done } else { Outcome::Failed(self.faults.clone()) })
    }
}
