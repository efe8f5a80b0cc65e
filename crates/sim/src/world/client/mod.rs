//! Clients and operators: everything that is done to work from outside.
//!
//! | file | operations |
//! |---|---|
//! | `submit` | submissions, one by one and in batches; tags and inputs |
//! | `operate` | cancel, replay, revoke, priority, hold, reclaim grants |
//! | `flows`, `graphs`, `flow_reads` | flows |
//! | `limits` | budgets and quota policies |
//! | `signals` | signals, approvals, resuming |
//! | `admin` | lanes, signing keys |
//! | `reads`, `output`, `steps` | everything that only looks |
//! | `mistakes` | calls that are wrong, so that every refusal is seen |

mod admin;
mod flow_reads;
mod flows;
mod graphs;
mod limits;
mod mistakes;
mod operate;
mod output;
mod reads;
mod signals;
mod steps;
mod submit;

pub(super) use submit::dependency_kind;

use super::actor::Actor;
use super::board::Phase;

/// One kind of thing a client does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Submit,
    SubmitBatch,
    SubmitMember,
    Tag,
    Cancel,
    Replay,
    Revoke,
    Prioritise,
    Hold,
    Unhold,
    Reclaim,
    Delete,
    CreateFlow,
    CreateGraph,
    SendPartAgain,
    Join,
    Adopt,
    OpenFlow,
    StageEdge,
    ApplyEdge,
    SetGroupPolicy,
    CancelFlow,
    DeleteFlow,
    TagFlow,
    ReadFlow,
    CreateLimit,
    ChangeLimit,
    Charge,
    DeleteLimit,
    Signal,
    Decide,
    Resume,
    AskAgain,
    ReadToken,
    PauseLane,
    RotateKey,
    ChangeKeys,
    Read,
    List,
    ReadOutput,
    Err,
}

/// How often each thing is done, beside the others.
const MIX: &[(u32, Deed)] = &[
    (16, Deed::Submit),
    (2, Deed::SubmitBatch),
    (8, Deed::SubmitMember),
    (2, Deed::Tag),
    (3, Deed::Cancel),
    (5, Deed::Replay),
    (3, Deed::Revoke),
    (2, Deed::Prioritise),
    (3, Deed::Hold),
    (3, Deed::Unhold),
    (4, Deed::Reclaim),
    (1, Deed::Delete),
    (3, Deed::CreateFlow),
    (3, Deed::CreateGraph),
    (3, Deed::SendPartAgain),
    (3, Deed::Join),
    (2, Deed::Adopt),
    (2, Deed::OpenFlow),
    (6, Deed::StageEdge),
    (3, Deed::ApplyEdge),
    (3, Deed::SetGroupPolicy),
    (2, Deed::CancelFlow),
    (2, Deed::DeleteFlow),
    (2, Deed::TagFlow),
    (5, Deed::ReadFlow),
    (2, Deed::CreateLimit),
    (5, Deed::ChangeLimit),
    (3, Deed::Charge),
    (1, Deed::DeleteLimit),
    (9, Deed::Signal),
    (4, Deed::Decide),
    (4, Deed::Resume),
    (4, Deed::AskAgain),
    (2, Deed::ReadToken),
    (3, Deed::PauseLane),
    (1, Deed::RotateKey),
    (2, Deed::ChangeKeys),
    (8, Deed::Read),
    (5, Deed::List),
    (5, Deed::ReadOutput),
    (6, Deed::Err),
];

/// What every client submits before it does anything else.
const FIRST_SUBMISSIONS: usize = 6;

impl Actor {
    /// A client's whole life.
    pub(crate) async fn be_a_client(self) {
        self.board.client_comes();
        self.set_up().await;
        while self.board.phase() == Phase::Storm {
            if let Some(deed) = self.luck.weighted(MIX) {
                self.act(deed).await;
            }
            self.pause(0, 400).await;
        }
        self.board.client_goes();
    }

    /// Limits and flows that everything after shares, and something to do.
    async fn set_up(&self) {
        self.create_budget().await;
        self.create_quota().await;
        self.create_flow().await;
        for _ in 0..FIRST_SUBMISSIONS {
            self.submit().await;
        }
    }

    async fn act(&self, deed: Deed) {
        match deed {
            Deed::Submit => self.submit().await,
            Deed::SubmitBatch => self.submit_batch().await,
            Deed::SubmitMember => self.submit_member().await,
            Deed::Tag => self.tag().await,
            Deed::Cancel => self.cancel().await,
            Deed::Replay => self.replay().await,
            Deed::Revoke => self.revoke().await,
            Deed::Prioritise => self.prioritise().await,
            Deed::Hold => self.hold().await,
            Deed::Unhold => self.unhold().await,
            Deed::Reclaim => self.reclaim().await,
            Deed::Delete => self.delete().await,
            Deed::CreateFlow => self.create_flow().await,
            Deed::CreateGraph => self.create_graph().await,
            Deed::SendPartAgain => self.send_part_again().await,
            Deed::Join => self.join().await,
            Deed::Adopt => self.adopt().await,
            Deed::OpenFlow => self.open_flow().await,
            Deed::StageEdge => self.stage_edge().await,
            Deed::ApplyEdge => self.apply_edge().await,
            Deed::SetGroupPolicy => self.set_group_policy().await,
            Deed::CancelFlow => self.cancel_flow().await,
            Deed::DeleteFlow => self.delete_flow().await,
            Deed::TagFlow => self.tag_flow().await,
            Deed::ReadFlow => self.read_flow().await,
            Deed::CreateLimit => self.create_limit().await,
            Deed::ChangeLimit => self.change_limit().await,
            Deed::Charge => self.charge().await,
            Deed::DeleteLimit => self.delete_limit().await,
            Deed::Signal => self.signal().await,
            Deed::Decide => self.decide().await,
            Deed::Resume => self.resume().await,
            Deed::AskAgain => self.ask_again().await,
            Deed::ReadToken => self.read_token().await,
            Deed::PauseLane => self.pause_lane().await,
            Deed::RotateKey => self.rotate_key().await,
            Deed::ChangeKeys => self.change_keys().await,
            Deed::Read => self.read().await,
            Deed::List => self.list().await,
            Deed::ReadOutput => self.read_output().await,
            Deed::Err => self.err().await,
        }
    }
}
