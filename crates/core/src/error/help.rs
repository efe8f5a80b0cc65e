//! What each code means to whoever meets it: why it came, and what to do now.

use super::Code;

/// What a person is told about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Help {
    /// Why it is answered.
    pub cause: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

macro_rules! help {
    ($($code:ident: $cause:literal, $remedy:literal;)+) => {
        impl Code {
            /// Why this code is answered, and what to do then.
            pub const fn help(self) -> Help {
                match self {
                    $(Code::$code => Help { cause: $cause, remedy: $remedy },)+
                }
            }
        }
    };
}

help! {
    InvalidInput: "Something in the request is not as the operation asks for it.",
        "Read `detail`; `errors` points at the field. Correct it and send the request again.";
    InvalidId: "An id is not written as ids are: an execution's is `{fp:N}:<uuid>`, every other is a lower-case UUID.",
        "Copy the id as it was answered; in a path percent-encode it, or write `fp:N:<uuid>`.";
    InvalidCapabilities: "A set of capabilities is too large, or one of its tokens is empty or has a comma, whitespace or a control character.",
        "Give at most 256 tokens and 4,096 bytes in all.";
    InvalidPolicy: "The policy has a field nobody knows, or a value that could not be kept.",
        "Read `detail`, which names the field.";
    InvalidTagKey: "A tag's key does not match `[a-z][a-z0-9_.-]{0,127}`.",
        "Rename the tag.";
    InvalidCondition: "The resume condition is empty, nested too deeply, counts too much, or names a waitpoint the suspension does not have.",
        "Read `detail` and correct the condition.";
    InvalidKid: "The id of a signing key is empty, too long, or has `:` or whitespace in it.",
        "Choose another id.";
    InvalidSecretHex: "A secret is not an even number of hex digits, or shorter than 32 bytes.",
        "Make one with `openssl rand -hex 32`.";
    InvalidCursor: "The cursor is not one this interface gave out, or belongs to another listing.",
        "Start the listing again without a cursor.";
    PartitionMismatch: "Ids that must lie in one partition do not, or the id's partition does not exist here.",
        "Let the server mint the id, or give `execution_uuid` instead.";
    SelfReferencingEdge: "A dependency leads from an execution to itself.",
        "Name two different executions.";
    FenceRequired: "The operation needs the lease: lease_id, lease_epoch and attempt_id, all three.",
        "Send them as the task carried them.";
    GraphTooLarge: "The graph has more members or dependencies than one call or one flow takes.",
        "Add the rest in further calls, or split the flow.";
    Unauthenticated: "No key was shown, or the key is unknown, expired or revoked.",
        "Send `Authorization: Bearer <key>`. An administrator makes keys with `ff key create`.";
    Forbidden: "The key's role or namespace does not allow this; or a server without keys was asked from another machine or web page.",
        "Use a key of the role that `/docs` names for the operation, and its own namespace.";
    InvalidToken: "The token does not open this waitpoint: it is another's, altered, or signed with a key that is gone.",
        "Ask whoever made the waitpoint for its current token.";
    NotFound: "There is no such route.",
        "Look for it in `/docs`; every path begins with `/v1`.";
    ExecutionNotFound: "There is no such execution in a namespace the caller may see. It may have been deleted after its retention.",
        "Check the id and the key's namespace. To keep ended executions longer, submit with `retention_ms`.";
    FlowNotFound: "There is no such flow in a namespace the caller may see, or its retention is over.",
        "Check the id and the key's namespace.";
    EdgeNotFound: "The flow has no such dependency.",
        "List its edges, or stage the dependency first.";
    AttemptNotFound: "The execution has no attempt of this index, or it is no longer kept.",
        "List its attempts; they count from 0.";
    KeyNotFound: "There is no key of this name that the caller may see.",
        "List the keys.";
    WaitpointNotFound: "The execution has no such waitpoint.",
        "List its pending waitpoints.";
    StepNotFound: "The execution has no such step, or a replay has forgotten it.",
        "List its steps.";
    BudgetNotFound: "There is no such budget in this namespace, or it was deleted.",
        "Create it first, or take it out of the policy.";
    QuotaPolicyNotFound: "There is no such quota policy in this namespace, or it was deleted.",
        "Create it first, or take it out of the policy.";
    LaneNotFound: "Nothing was ever submitted to a lane of this name in this namespace.",
        "Check the name; lanes appear with their first use.";
    WorkerNotFound: "No live worker process has this slot: it never registered, its time is over, or it left.",
        "Register again.";
    ResultNotAvailable: "The execution has not ended with a result: it is still open, it failed, or it was completed without one.",
        "Look at its state; wait for its end with `wait_ms`.";
    MethodNotAllowed: "The route exists, but not with this method.",
        "See `/docs` for the method.";
    RequestTimeout: "The body of the request came too slowly.",
        "Send it again over a better connection, or send less at once.";
    ExecutionNotActive: "Nobody holds the execution now; with the last lease, it says how that ended.",
        "Stop working on the task: its end is already recorded.";
    ExecutionNotTerminal: "The execution has not ended.",
        "Wait for its end, or cancel it first.";
    ExecutionNotSuspended: "The execution does not wait for signals.",
        "Look at its state.";
    ExecutionNotEligible: "The execution cannot be handed out now.",
        "Ask for its explanation, which lists what is in its way.";
    ExecutionNotReclaimable: "The execution has not lost its worker.",
        "Revoke the lease first if its worker must not have it.";
    StaleLease: "The lease shown is not the current one: another worker has the execution.",
        "Stop working on the task and write nothing more.";
    LeaseExpired: "The lease ended before this call, so another worker may have the execution.",
        "Stop working on the task. Renew after a third of the lease's time, whatever the handler does.";
    LeaseRevoked: "An operator took the lease away.",
        "Stop working on the task.";
    NoActiveLease: "The execution has no lease that could be revoked.",
        "Nothing needs to be done.";
    InvalidClaimGrant: "The grant was redeemed, dropped, made for another worker, or is no grant.",
        "Ask for work again.";
    ClaimGrantExpired: "The grant was not redeemed in time; the execution went back to its queue.",
        "Ask for work again, and redeem grants at once.";
    CapabilityMismatch: "The worker does not offer everything the execution requires.",
        "Choose a worker that does; `fields` and the explanation say what is missing.";
    AlreadyExists: "The id is taken by something with another definition, which may belong to another namespace.",
        "Choose another id, or send the same definition to repeat the first call.";
    AlreadySuspended: "Another suspension is open under this lease.",
        "Repeat the suspend with its first idempotency key, or leave it.";
    WaitpointClosed: "The waitpoint takes no more signals: its wait is over.",
        "Nothing needs to be done; the execution went on without this signal.";
    WaitpointAlreadyExists: "The execution has an open waitpoint of this id or key.",
        "Use it, or choose another key.";
    PendingWaitpointExpired: "The waitpoint was not used by a suspension before it expired.",
        "Make a new one with a longer `expires_in_ms`.";
    TargetNotSignalable: "The execution cannot take a signal in its state.",
        "Look at its state; signals go to waitpoints that are pending or active.";
    SignalLimitExceeded: "The execution has taken as many signals as its policy allows.",
        "Raise `max_signals_per_execution` in the policy of the next submission.";
    StaleGraphRevision: "The flow's graph has changed since the revision that was named.",
        "Read the flow and decide again.";
    CycleDetected: "The dependency would make an execution wait for itself.",
        "Turn one of the dependencies around or leave it out.";
    DependencyAlreadyExists: "There is a dependency between these two with another definition.",
        "Leave it; a dependency cannot be changed.";
    ExecutionNotInFlow: "The execution is not a member of this flow.",
        "Add it to the flow first, or name its own flow.";
    AlreadyMemberOfDifferentFlow: "The execution belongs to another flow.",
        "An execution has one flow: submit another execution.";
    FlowAlreadyTerminal: "The flow is sealed or cancelled and takes nothing new.",
        "Create another flow.";
    GroupPolicyFixed: "A dependency of this member was applied, so how its dependencies join can no longer change.",
        "Set the policy before applying the first dependency.";
    MaxReplaysExhausted: "The execution was replayed as often as its policy allows.",
        "Submit it again as a new execution.";
    MaxReclaimsExceeded: "The execution lost its worker as often as its policy allows.",
        "Find out why its workers die; then replay it.";
    DuplicateWorkerInstance: "Another live process has this worker instance id.",
        "Give every process an id of its own. After a crash the id is free again when the registration's `ttl_ms` is over.";
    RotationConflict: "The ring has a key of this id with another secret, or one that was retired.",
        "Choose an id no key ever had.";
    LaneNotAccepting: "The lane is draining or disabled.",
        "Submit to another lane, or ask an operator to set its state to active.";
    StepConflict: "A step of this name is recorded with other content.",
        "Give the step another name; to replace the record, name its place in `replaces_seq`.";
    StepLimitExceeded: "The execution has recorded as many steps, or as many bytes of outputs, as it may. Nothing of the call was recorded.",
        "Spawn a child for the rest, put a loop inside one step, or keep large outputs elsewhere and record where.";
    StreamClosed: "The attempt has ended, and its output with it.",
        "Stop appending.";
    StaleOwnerCannotAppend: "The lease shown is not the current one, so it cannot append output.",
        "Stop working on the task.";
    Contention: "Others changed the same thing again and again while this was decided.",
        "Send the request again after a moment.";
    CursorExpired: "What the cursor points at is no longer kept, or was lost in a failover.",
        "Start again at the oldest event, which the answer names, and read what you missed from the executions.";
    CallbackClosed: "What the callback was for is over: it was answered, it expired, or the run has ended.",
        "Nothing needs to be done.";
    PayloadTooLarge: "The body or a payload has more bytes than are taken here.",
        "Store the bytes elsewhere and submit a reference; or raise the limit of the server.";
    FrameTooLarge: "A frame has more than 64 KiB.",
        "Split it.";
    BatchTooLarge: "There are more items in one call than it takes.",
        "Send several calls.";
    UnsupportedMediaType: "The body has a content type this route does not take.",
        "Send `Content-Type: application/json`.";
    RateLimited: "There were too many requests, or too many failed attempts at one waitpoint.",
        "Wait as long as `Retry-After` says.";
    TooManyStreams: "The key, or the whole server, has as many streams or parked polls open as are allowed.",
        "Close some, or share one stream among readers.";
    TooManySignatures: "The lane holds work with too many different sets of requirements, budgets and quotas.",
        "Use fewer different sets, or more lanes.";
    Internal: "Something is wrong on our side. Nothing is known to have been changed.",
        "Look for the `request_id` in the server's log; and tell us.";
    Unavailable: "The store cannot be reached or does not answer.",
        "Send the request again after a moment. Every operation can be repeated.";
    ShuttingDown: "This server is stopping.",
        "Send the request again: another one answers, or this one after its restart.";
    Timeout: "The store did not answer in time. Whether it acted is not known.",
        "Send the request again; a repetition is recognised.";
}
