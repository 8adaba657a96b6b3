//! What an event does to a drain.

use super::{Event, How, Lane, LaneStep, Plan, PodFault, Round, State, Turn, state::Emptying};

impl State {
    /// Takes one event into account.
    pub fn evolve(&mut self, event: &Event) {
        match (event, &mut *self) {
            (Event::Begun { plan }, _) => *self = Self::Cordoning(plan.clone()),
            (Event::Cordoned, Self::Cordoning(plan)) => {
                let plan = plan.clone();
                *self = Self::Listing(plan);
            }
            (Event::Listed { pods }, Self::Listing(plan)) => {
                let plan = Plan { pods: pods.clone(), ..(**plan).clone() };
                *self = Self::Emptying(Box::new(emptying(plan)));
            }
            (Event::Ended(outcome), _) => *self = Self::Over(outcome.clone()),
            (event, Self::Emptying(emptying)) => emptying.evolve(event),
            (_, Self::Idle | Self::Cordoning(_) | Self::Listing(_) | Self::Over(_)) => (),
        }
    }
}

fn emptying(plan: Plan) -> Emptying {
    let (mut in_turn, at_once): (Vec<_>, Vec<_>) = plan.pods.iter().cloned().partition(|pod| plan.takes_turns(pod));
    in_turn.sort_by_key(|pod| std::cmp::Reverse(pod.priority));
    let how = plan.how(1);
    let lanes = at_once.into_iter().map(|pod| Lane { pod, step: LaneStep::Calling { how, attempt: 1 } }).collect();
    let round = Round { number: 1, how, turn: Turn::Nobody, next: in_turn, again: Vec::new() };
    Emptying { plan, is_node_gone: false, lanes, round, faults: Vec::new(), left: Vec::new() }
}

impl Emptying {
    fn evolve(&mut self, event: &Event) {
        match event {
            Event::NodeVanished => self.is_node_gone = true,
            Event::LaneCalls { pod, how, attempt } => {
                self.lane(pod, LaneStep::Calling { how: *how, attempt: *attempt });
            }
            Event::LaneRefused { pod, until } => {
                let attempt =
                    self.lanes.iter().find(|lane| lane.pod.name == *pod).map_or(1, |lane| lane.step.attempt());
                self.lane(pod, LaneStep::Refused { attempt, until: *until });
            }
            Event::LaneLeaves { pod, until } => self.lane(pod, LaneStep::Leaving { until: *until }),
            Event::LaneOver { pod, fault } => {
                self.lane(pod, LaneStep::Over);
                self.faults.extend(fault.clone());
            }
            Event::TurnBegun => {
                if !self.round.next.is_empty() {
                    self.round.turn = Turn::Calling(self.round.next.remove(0));
                }
            }
            Event::TurnPostponed => {
                if let Turn::Calling(pod) = std::mem::replace(&mut self.round.turn, Turn::Nobody) {
                    self.round.again.push(pod);
                }
            }
            Event::VolumesLeave { volumes, until } => {
                if let Some(pod) = self.round.turn.pod().cloned() {
                    self.round.turn = Turn::Detaching { pod, volumes: volumes.clone(), until: *until };
                }
            }
            Event::VolumesArrive { volumes, until } => {
                if let Some(pod) = self.round.turn.pod().cloned() {
                    self.round.turn = Turn::Reattaching { pod, volumes: volumes.clone(), until: *until };
                }
            }
            Event::VolumeLeft { volume } => {
                if let Turn::Detaching { volumes, .. } = &mut self.round.turn {
                    volumes.remove(volume);
                }
            }
            Event::VolumeArrived { volume } => {
                if let Turn::Reattaching { volumes, .. } = &mut self.round.turn {
                    volumes.remove(volume);
                }
            }
            Event::TurnOver { fault } => self.turn_over(fault.as_ref()),
            Event::RoundOver { until } => self.round.turn = Turn::Between { until: *until },
            Event::RoundBegun { number, how } => self.next_round(*number, *how),
            Event::TurnsEnded { untold } => {
                self.left.extend(untold.iter().map(|pod| pod.name.clone()));
                self.round = Round { turn: Turn::Over, next: Vec::new(), again: Vec::new(), ..self.round.clone() };
            }
            Event::Begun { .. } | Event::Cordoned | Event::Listed { .. } | Event::Ended(_) => (),
        }
    }

    fn lane(&mut self, pod: &str, step: LaneStep) {
        for lane in self.lanes.iter_mut().filter(|lane| lane.pod.name == pod) {
            lane.step = step;
        }
    }

    fn turn_over(&mut self, fault: Option<&PodFault>) {
        self.round.turn = Turn::Nobody;
        self.faults.extend(fault.cloned());
    }

    fn next_round(&mut self, number: u32, how: How) {
        let next = std::mem::take(&mut self.round.again);
        self.round = Round { number, how, turn: Turn::Nobody, next, again: Vec::new() };
    }
}
