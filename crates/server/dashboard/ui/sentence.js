// Why an execution stands where it stands, in words. Pure: JSON in, text out.

import { brief, bytes, costOf, count, duration, usage, wholly, withTails } from '../core/format.js';

const number = (n, one) => `${count(n)} ${one}${n === 1 ? '' : 's'}`;
const stop = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);
const since = (at, now) => (at === undefined ? '' : ` for ${wholly(now - at)}`);

/**
 * A sentence out of what the server says for a person: moments as times of day, a capital in front unless a name stands there, a full
 * stop behind.
 */
export function told(detail = '', clock) {
  const text = detail.replace(/\b1\d{12}\b/g, (ms) => clock(Number(ms)));
  return text && stop(/^[a-z]+[ ,:;!]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text);
}

/** What a run used, money first: `$0.61 · 48,120 tokens`. */
export function usageText(used) {
  const counts = Object.entries(used ?? {}).filter(([dimension]) => costOf({ [dimension]: 1 }) === null);
  return [costOf(used), ...counts.map(([dimension, n]) => usage(dimension, n))].filter(Boolean).join(' · ');
}

function active({ view, doing = view.doing ?? [], now }) {
  if (view.state_vector.ownership_state === 'lease_expired_reclaimable') {
    return { lead: `${brief(view.worker_instance_id ?? 'Its worker')} was lost.`, then: 'Another worker takes over as soon as one is free.' };
  }
  const [first, ...others] = doing;
  const what = first ? ` ${brief(first.step)}${others.length ? ` and ${number(others.length, 'more step')}` : ''}` : '';
  return { lead: `Running${what}${since(first?.started_at ?? view.started_at, now)}${view.worker_instance_id ? ` on ${brief(view.worker_instance_id)}` : ''}.`, tells: true };
}

const SUSPENDED = {
  waiting_for_approval: 'Waits for a person',
  waiting_for_signal: 'Waits for a signal',
  waiting_for_callback: 'Waits for a callback',
  waiting_for_tool_result: 'Waits for the result of a tool',
  paused_by_operator: 'Paused until a person lets it go on',
  paused_by_policy: 'Paused by a rule',
  waiting_for_budget: 'Paused because a budget ran out',
};

function suspended({ view: { suspension, state_vector: { blocking_reason: reason } }, now }) {
  const long = since(suspension?.since, now);
  if (suspension?.escalated) return { lead: `Nobody decided in time; it has waited${long}.`, then: 'A person must resume or cancel it.', rests: true };
  const word = suspension?.reason_code === 'operator_review' ? 'Waits for a person to look at it' : SUSPENDED[reason] ?? 'Suspended';
  const key = suspension?.waitpoints?.[0]?.waitpoint_key;
  return { lead: `${word}${key ? ` at ${key}` : ''}${long && `,${long}`}.`, rests: true };
}

const QUEUED = ['created', 'released', 'returned', 'reclaimable', 'delay_over', 'unblocked', 'unheld', 'replayed', 'opened',
  'dependencies_satisfied', 'resumed', 'reopened'];

/** Of work that does not run: by what is in its way. */
const WAITING = {
  waiting_for_worker({ view, explain, last, now }) {
    if (view.grant) return { lead: `Promised to ${brief(view.grant.worker)}.`, then: 'It begins as soon as the worker takes it.' };
    const able = explain?.nearest_workers.filter((worker) => worker.missing.length === 0).length;
    return { lead: `Waits for a worker${since(last(...QUEUED)?.at ?? view.created_at, now)}.`, then: able ? `${number(able, 'live worker')} could take it, as soon as one is free.` : '' };
  },
  paused_by_operator({ view, last, now }) {
    const [, at, why] = view.blocking_detail?.match(/^held by an operator since (\d+)(?:: (.*))?$/s) ?? [];
    return { lead: `Held by an operator${since(at ? Number(at) : last('held')?.at, now)}${why ? `: ${stop(why)}` : '.'}`, then: 'Nothing hands it out until it is let go.' };
  },
  paused_by_policy: ({ view }) => ({ lead: `Lane ${view.lane_id} hands nothing out.`, then: 'It goes on when the lane is active again.' }),
  paused_by_flow_cancel: () => ({ lead: 'Its flow was cancelled.', then: 'It ends without running.' }),
  waiting_for_capable_worker({ view, explain }) {
    const lacking = (explain?.nearest_workers ?? []).filter((worker) => worker.missing.length > 0).slice(0, 2);
    const then = lacking.map((worker) => `${brief(worker.worker_instance_id)} lacks ${brief(worker.missing.join(', '))}.`).join(' ');
    return { lead: 'No live worker can take it.', then: then || `None serves lane ${brief(view.lane_id)}.` };
  },
  waiting_for_quota: ({ detail }) => ({ lead: 'Waits for a place in its quota.', then: detail }),
  waiting_for_budget: ({ detail }) => ({ lead: 'Held because a budget is used up.', then: detail }),
  waiting_for_children: ({ detail }) => ({ lead: detail || 'Waits for what it depends on.' }),
};

function delayed({ view, attempts, now, clock }) {
  const when = view.delay_until === undefined ? '' : ` in ${wholly(view.delay_until - now)}, at ${clock(view.delay_until)}`;
  const reason = view.state_vector.blocking_reason;
  if (reason !== 'waiting_for_retry_backoff') return { lead: `${reason === 'waiting_for_resume_delay' ? 'Resumed; goes' : 'Goes'} on${when}.` };
  const { index, end } = attempts.at(-1) ?? {};
  return { lead: `Tries again${when}.`, then: end?.failure ? `Attempt ${index} failed: ${stop(end.failure.reason)}` : '' };
}

const ended = (word) => ({ view: { completed_at: at, created_at: from, attempt_count: tries, failure, reason }, now }) => {
  const when = at === undefined ? '' : ` ${wholly(now - at)} ago after ${duration(at - from)}`;
  const why = failure?.reason ?? reason;
  return { lead: `${word}${when}${tries > 1 ? ` in ${tries} attempts` : ''}${why ? `: ${stop(why)}` : '.'}`, tells: true, over: true };
};

const STATES = { active, suspended, delayed, completed: ended('Completed'), failed: ended('Failed'), cancelled: ended('Cancelled'), expired: ended('Expired'), skipped: ended('Skipped') };
const FALLBACK = {
  resumable: { lead: 'Ready to go on.', then: 'It waits for a worker at its old place.' },
  waiting: { lead: 'Waits.' },
  waiting_children: { lead: 'Waits for what it depends on.' },
  rate_limited: { lead: 'Held by a limit.' },
};

/** What an attempt after the first one took over, and what it need not do and pay again. */
function takenOver({ attempts, last, journal, clock }) {
  const [before, attempt] = attempts.slice(-2);
  if (!attempt) return {};
  const at = last('lease_expired')?.at ?? before.end?.at;
  const then = {
    reclaim: `Attempt ${attempt.index} took over when ${brief(before.worker_instance_id)} was lost${at ? ` at ${clock(at)}` : ''}`,
    retry: `Attempt ${attempt.index} tries again what failed${before.end ? ` at ${clock(before.end.at)}` : ''}`,
    replay: `Attempt ${attempt.index} is a replay`,
  }[attempt.kind] ?? `Attempt ${attempt.index}`;
  if (!journal?.count) return { then: `${then}.` };
  const money = costOf(journal.usage);
  const paid = money ? `, ${money} was not paid again` : usageText(journal.usage) && `, ${usageText(journal.usage)} were not paid again`;
  return { then: `${then}:`, strong: `${number(journal.count, 'step')} came from the journal${paid}.` };
}

const AFTER = { fail: 'it fails', cancel: 'it is cancelled', expire: 'it expires', auto_resume_with_timeout_signal: 'it goes on without an answer', escalate: 'a person is called' };

/** What comes next, in a line of its own. */
function more({ view, explain, now }, { over, rests }) {
  const { timeout_at: timeout, timeout_behavior: what, escalated } = view.suspension ?? {};
  const left = (until) => wholly(Math.max(0, until - now));
  const next = over ? [view.failure && `category ${view.failure.category}`, view.result_bytes && `its result has ${bytes(view.result_bytes)}`] : [
    rests && 'holds no worker and no lease',
    view.lease_expires_at && `lease ends in ${left(view.lease_expires_at)} unless renewed`,
    timeout && !escalated && `waits ${left(timeout)} more, then ${AFTER[what] ?? 'it ends'}`,
    view.deadline_at && `deadline in ${left(view.deadline_at)}`,
    ...(explain?.conditions ?? []).map(budgetLeft),
  ];
  return next.filter(Boolean);
}

/** What is left in a budget, out of `budget ID: cents 12/100; …`. */
function budgetLeft({ hindrance, blocks, detail }) {
  if (hindrance !== 'budget' || blocks) return null;
  const limited = [...detail.matchAll(/([a-z][\w.-]*) (\d+)\/(\d+)/g)].map(([, dimension, used, limit]) => usage(dimension, Math.max(0, limit - used)));
  return limited.length && `budget ${detail.match(/^budget (\S+?):/)?.[1].slice(-8)} has ${limited.slice(0, 2).join(' and ')} left`;
}

/**
 * The sentence of an execution: `{lead, then, strong, more[]}`. `view` is the execution; `explain`, `attempts`, `history` (oldest first) and
 * `journal` ({count, usage} of what came from earlier attempts) make it say more; `doing` is what is under way if not the view but frames say it.
 */
export function sentence({ view, attempts = [], history = [], ...known }) {
  const last = (...what) => history.findLast((line) => what.includes(line.what));
  const about = { view, attempts, last, ...known, detail: withTails(told(view.blocking_detail, known.clock)) };
  const { public_state: state, state_vector: { blocking_reason: reason } } = view;
  const resumed = state === 'resumable' && reason === 'waiting_for_worker';
  const said = (STATES[state] ?? (resumed ? null : WAITING[reason]))?.(about) ?? FALLBACK[state] ?? { lead: 'Its state has no words here yet.' };
  const { then = '', strong = '' } = said.tells ? takenOver(about) : said;
  return { lead: said.lead, then, strong, more: more(about, said) };
}
