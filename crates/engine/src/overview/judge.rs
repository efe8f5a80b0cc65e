//! What of an overview a person should know first: pure, from what was read and counted.

use std::cmp::Reverse;

use ff_core::command::submit::LaneState;
use ff_core::state::PublicState;
use ff_core::time::{Duration, Timestamp};
use ff_core::view::{
    Attention, AttentionCode, ClosedBudget, HeldBack, HowMany, LaneOverview, LaneProblem, LaneView, WaitingForPeople,
    WorkersSeen,
};

/// Most that is said at once.
const ATTENTION_MAX: usize = 6;
/// How long the oldest of a lane becomes older before that is said.
const GROWING_FOR: Duration = Duration::from_secs(600);
/// How long somebody waits for a decision before that is said.
const OLD_AFTER: Duration = Duration::from_hours(1);
/// Of how many ends something can be said at all.
const ENDS_MIN: f64 = 20.0;
/// The share of ends that are failures before that is said, and how many times the usual it is.
const FAILED_SHARE: f64 = 0.05;
const FAILED_TIMES: f64 = 3.0;

/// What was counted of a lane.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneCounted {
    /// What ended in the last minute, and what of it failed.
    pub(super) ended: f64,
    pub(super) failed: f64,
    /// The same for the last hour.
    pub(super) ended_in_hour: u64,
    pub(super) failed_in_hour: u64,
    /// How old the oldest one was at earlier looks, with the time of each, oldest look first.
    pub(super) oldest: Vec<(Timestamp, Duration)>,
}

/// What is wrong with a lane. `is_served`: a live worker takes work of it.
pub(super) fn problems_of(lane: &LaneView, is_served: bool, counted: &LaneCounted, now: Timestamp) -> Vec<LaneProblem> {
    let waiting = waiting_in(lane);
    let is_said = [
        (
            LaneProblem::NoWorker,
            waiting > 0 && !is_served && lane.state.hands_out(),
        ),
        (LaneProblem::Paused, waiting > 0 && lane.state == LaneState::Paused),
        (LaneProblem::Disabled, waiting > 0 && lane.state == LaneState::Disabled),
        (LaneProblem::Growing, waiting > 0 && grows(lane, counted, now)),
        (LaneProblem::Failing, fails(counted)),
    ];
    is_said
        .into_iter()
        .filter(|(_, is)| *is)
        .map(|(problem, _)| problem)
        .collect()
}

/// How much of a lane waits for a worker.
pub(super) fn waiting_in(lane: &LaneView) -> u64 {
    let of = |state| lane.depth.get(&state).copied().unwrap_or_default();
    of(PublicState::Waiting) + of(PublicState::Resumable)
}

/// Whether at every look of ten minutes the oldest one was older than at the one before.
fn grows(lane: &LaneView, counted: &LaneCounted, now: Timestamp) -> bool {
    let Some(oldest) = lane.oldest_eligible.map(|at| now.since(at)) else {
        return false;
    };
    let looks = counted
        .oldest
        .iter()
        .skip_while(|(at, _)| now.since(*at) > GROWING_FOR + Duration::from_secs(60));
    let ages: Vec<Duration> = looks.map(|(_, age)| *age).chain([oldest]).collect();
    let began = counted.oldest.iter().any(|(at, _)| now.since(*at) >= GROWING_FOR);
    began && ages.len() > 3 && ages.is_sorted_by(|one, next| one < next)
}

fn fails(counted: &LaneCounted) -> bool {
    if counted.ended < ENDS_MIN {
        return false;
    }
    let usual = counted.failed_in_hour as f64 / (counted.ended_in_hour.max(1)) as f64;
    let share = counted.failed / counted.ended;
    share >= FAILED_SHARE && share >= usual * FAILED_TIMES
}

/// When somebody who has waited for a decision since then has waited for long.
pub(super) fn old_at(since: Timestamp) -> Timestamp {
    since + OLD_AFTER
}

/// Everything that is to be judged.
pub(super) struct Judged<'o> {
    pub(super) lanes: &'o [LaneOverview],
    pub(super) causes: &'o [HeldBack],
    pub(super) approvals: &'o WaitingForPeople,
    pub(super) closed_budgets: &'o [ClosedBudget],
    pub(super) workers: &'o WorkersSeen,
    pub(super) now: Timestamp,
}

/// What somebody should do something about, worst first.
pub(super) fn attention(judged: &Judged<'_>) -> Vec<Attention> {
    let mut all: Vec<Attention> = Vec::new();
    let about = |code, subject: Option<String>, count| Attention {
        code,
        subject,
        id: None,
        count,
        since: None,
    };
    for budget in judged.closed_budgets {
        all.push(Attention {
            id: Some(budget.budget_id.to_string()),
            since: budget.since,
            ..about(AttentionCode::BudgetClosed, Some(budget.name.clone()), budget.waiting)
        });
    }
    let unfit = judged
        .causes
        .iter()
        .find(|held| held.cause == ff_core::view::HeldBackKind::Capabilities);
    let is_unserved = |lane: &&LaneOverview| lane.problems.contains(&LaneProblem::NoWorker);
    let unserved: u64 = judged
        .lanes
        .iter()
        .filter(is_unserved)
        .map(|lane| waiting_in(&lane.lane))
        .sum();
    // What no worker fits although its lane has some.
    if let Some(unfit) = unfit.filter(|unfit| unfit.count.n > unserved) {
        let n = unfit.count.n - unserved;
        let count = HowMany { n, ..unfit.count };
        all.push(about(AttentionCode::NoWorker, None, count));
    }
    for lane in judged.lanes {
        for problem in &lane.problems {
            let n = waiting_in(&lane.lane);
            let count = HowMany { n, at_least: false };
            all.push(Attention {
                since: lane.lane.oldest_eligible,
                ..about(
                    AttentionCode::of_lane(*problem),
                    Some(lane.lane_id().to_string()),
                    count,
                )
            });
        }
    }
    let approvals = judged.approvals;
    if approvals.escalated > 0 {
        let count = HowMany {
            n: approvals.escalated,
            at_least: approvals.count.at_least && approvals.escalated == approvals.count.n,
        };
        all.push(Attention {
            since: approvals.oldest_at,
            ..about(AttentionCode::ApprovalEscalated, None, count)
        });
    } else if approvals.oldest_at.is_some_and(|at| old_at(at).has_come(judged.now)) {
        all.push(Attention {
            since: approvals.oldest_at,
            ..about(AttentionCode::ApprovalOld, None, approvals.count)
        });
    }
    for lost in &judged.workers.lost {
        let count = HowMany { n: 1, at_least: false };
        all.push(about(AttentionCode::WorkerLost, Some(lost.to_string()), count));
    }
    all.sort_by_key(|attention| (attention.code, Reverse(attention.count.n)));
    all.truncate(ATTENTION_MAX);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ff_core::name::{LaneId, Namespace};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn lane(state: LaneState, waiting: u64) -> LaneView {
        LaneView {
            namespace: Namespace::default_namespace(),
            lane_id: LaneId::default_lane(),
            state,
            depth: BTreeMap::from([(PublicState::Waiting, waiting)]),
            oldest_eligible: (waiting > 0).then(|| NOW - Duration::from_secs(700)),
            throughput: 0.0,
        }
    }

    #[test]
    fn a_lane_has_a_problem_only_while_something_waits_in_it() {
        let none = LaneCounted::default();
        for (state, problem) in [
            (LaneState::Active, LaneProblem::NoWorker),
            (LaneState::Paused, LaneProblem::Paused),
            (LaneState::Disabled, LaneProblem::Disabled),
        ] {
            assert_eq!(problems_of(&lane(state, 3), false, &none, NOW), [problem]);
            assert_eq!(problems_of(&lane(state, 0), false, &none, NOW), []);
        }
        assert_eq!(problems_of(&lane(LaneState::Active, 3), true, &none, NOW), []);
    }

    #[test]
    fn a_lane_grows_when_its_oldest_became_older_at_every_look_of_ten_minutes() {
        let at = |minutes: u64, age: u64| (NOW - Duration::from_secs(minutes * 60), Duration::from_secs(age));
        let grows = |oldest| {
            let counted = LaneCounted {
                oldest,
                ..LaneCounted::default()
            };
            problems_of(&lane(LaneState::Active, 1), true, &counted, NOW) == [LaneProblem::Growing]
        };
        assert!(grows(vec![at(10, 100), at(5, 400), at(1, 640)]));
        assert!(!grows(vec![at(10, 100), at(5, 90), at(1, 640)]), "it became younger");
        assert!(
            !grows(vec![at(8, 100), at(5, 400), at(1, 640)]),
            "not for ten minutes yet"
        );
        assert!(!grows(Vec::new()));
    }

    #[test]
    fn a_lane_fails_when_more_than_usual_does_and_enough_ended() {
        let counted = |ended, failed, ended_in_hour, failed_in_hour| LaneCounted {
            ended,
            failed,
            ended_in_hour,
            failed_in_hour,
            oldest: Vec::new(),
        };
        assert!(fails(&counted(100.0, 30.0, 6_000, 300)));
        assert!(!fails(&counted(100.0, 4.0, 6_000, 0)), "less than one in twenty");
        assert!(!fails(&counted(100.0, 30.0, 6_000, 1_200)), "as usual");
        assert!(!fails(&counted(10.0, 10.0, 10, 0)), "too few to say");
    }

    #[test]
    fn the_worst_is_said_first_and_no_more_than_six() {
        let unserved = LaneOverview {
            lane: lane(LaneState::Paused, 3),
            failed_per_s: 0.0,
            problems: vec![LaneProblem::Paused],
        };
        let lanes = vec![unserved; 8];
        let closed = ClosedBudget {
            budget_id: ff_core::id::BudgetId::from_uuid(uuid::Uuid::nil()),
            name: "team".to_owned(),
            waiting: HowMany { n: 2, at_least: false },
            since: None,
            opens_at: None,
        };
        let said = attention(&Judged {
            lanes: &lanes,
            causes: &[],
            approvals: &WaitingForPeople {
                escalated: 1,
                ..WaitingForPeople::default()
            },
            closed_budgets: &[closed],
            workers: &WorkersSeen::default(),
            now: NOW,
        });
        let codes: Vec<AttentionCode> = said.iter().map(|said| said.code).collect();
        assert_eq!(codes.len(), 6);
        assert_eq!(
            codes[..3],
            [
                AttentionCode::BudgetClosed,
                AttentionCode::ApprovalEscalated,
                AttentionCode::LanePaused
            ]
        );
    }
}
