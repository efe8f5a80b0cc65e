// Every state × reason that an execution can be in, in words: what `sentence` says of it is compared with sentence.golden.txt.
// `UPDATE_DOCS=1 node --test` writes that file anew.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { sentence, told, usageText } from '../ui/sentence.js';

const NOW = 1_731_943_443_000;
const ago = (seconds) => NOW - seconds * 1_000;
const later = (seconds) => NOW + seconds * 1_000;
const clock = (ms) => new Date(ms).toISOString().slice(11, 19);
const FILE = new URL('sentence.golden.txt', import.meta.url);

const view = (state, reason, fields = {}) => ({
  lane_id: 'agents', execution_kind: 'research.agent', public_state: state, created_at: ago(2_600), attempt_count: 1, attempt_index: 0,
  state_vector: { blocking_reason: reason, ownership_state: 'unowned', ...fields.vector }, ...fields,
});
const ended = { completed_at: ago(120), attempt_count: 1 };
const leased = { started_at: ago(75), worker_instance_id: 'web-7', lease_expires_at: later(26), vector: { ownership_state: 'leased' } };
const suspended = (reason_code, fields) => ({
  suspension: { reason_code, since: ago(2_442), escalated: false, timeout_behavior: 'escalate', timeout_at: later(601_200),
    waitpoints: [{ waitpoint_key: 'review#0' }], ...fields },
});
const lost = {
  attempts: [{ index: 0, kind: 'initial', worker_instance_id: 'web-3', end: { at: ago(74), state: 'interrupted_reclaimed' } },
    { index: 1, kind: 'reclaim', worker_instance_id: 'web-7' }],
  history: [{ what: 'claimed', at: ago(2_590) }, { what: 'lease_expired', at: ago(74) }, { what: 'claimed', at: ago(52) }],
};
const failedOnce = {
  attempts: [{ index: 0, kind: 'initial', worker_instance_id: 'web-3', end: { at: ago(30), state: 'ended_failure', failure: { reason: 'the model is overloaded', category: 'overloaded' } } }],
};
const retried = { attempts: [...failedOnce.attempts, { index: 1, kind: 'retry', worker_instance_id: 'web-7' }] };
const nearest = (...workers) => ({ conditions: [], nearest_workers: workers.map(([worker_instance_id, ...missing]) => ({ worker_instance_id, missing })) });
const budget = { conditions: [{ hindrance: 'budget', blocks: false, detail: 'budget 0193f0aa-0000-7000-8000-00009e4bc17d: cents 1120/20000; tokens 48120, no limit' }], nearest_workers: [] };

/** What it is, and all that is known of it. */
const CASES = [
  ['waiting · waiting_for_worker', view('waiting', 'waiting_for_worker')],
  ['waiting · waiting_for_worker, some could', view('waiting', 'waiting_for_worker'), { explain: nearest(['web-1'], ['web-2']) }],
  ['waiting · waiting_for_worker, promised', view('waiting', 'waiting_for_worker', { grant: { worker: 'web', expires_at: later(3) } })],
  ['waiting · waiting_for_worker, after a hold', view('waiting', 'waiting_for_worker'), { history: [{ what: 'created', at: ago(2_600) }, { what: 'unheld', at: ago(9) }] }],
  ['waiting · paused_by_operator', view('waiting', 'paused_by_operator', { blocking_detail: `held by an operator since ${ago(180)}: the index is rebuilt` }), { history: [{ what: 'held', at: ago(180) }] }],
  ['waiting · paused_by_operator, no reason', view('waiting', 'paused_by_operator', { blocking_detail: `held by an operator since ${ago(180)}` })],
  ['waiting · paused_by_policy', view('waiting', 'paused_by_policy', { blocking_detail: 'lane agents is paused' })],
  ['waiting · waiting_for_capable_worker, none', view('waiting', 'waiting_for_capable_worker'), { explain: nearest() }],
  ['waiting · waiting_for_capable_worker', view('waiting', 'waiting_for_capable_worker'), { explain: nearest(['web-1', 'gpu'], ['web-2', 'gpu', 'eu'], ['web-3', 'a', 'b', 'c']) }],
  ['waiting · paused_by_flow_cancel', view('waiting', 'paused_by_flow_cancel')],
  ['waiting · waiting_for_quota', view('waiting', 'waiting_for_quota', { blocking_detail: 'quota policy 0193: all its leases are taken' })],
  ['resumable · waiting_for_worker', view('resumable', 'waiting_for_worker')],
  ['resumable · paused_by_policy', view('resumable', 'paused_by_policy')],
  ['resumable · waiting_for_capable_worker', view('resumable', 'waiting_for_capable_worker'), { explain: nearest(['web-1', 'gpu']) }],
  ['resumable · paused_by_flow_cancel', view('resumable', 'paused_by_flow_cancel')],
  ['resumable · waiting_for_quota', view('resumable', 'waiting_for_quota')],
  ['delayed · waiting_for_delay', view('delayed', 'waiting_for_delay', { delay_until: later(185) })],
  ['delayed · waiting_for_retry_backoff', view('delayed', 'waiting_for_retry_backoff', { delay_until: later(12) }), failedOnce],
  ['delayed · waiting_for_resume_delay', view('delayed', 'waiting_for_resume_delay', { delay_until: later(5) })],
  ['waiting_children · waiting_for_children', view('waiting_children', 'waiting_for_children', { blocking_detail: 'waiting for 3 of its dependencies' })],
  ['waiting_children · waiting_for_children, not opened', view('waiting_children', 'waiting_for_children', { blocking_detail: 'flow not opened yet' })],
  ['rate_limited · waiting_for_budget', view('rate_limited', 'waiting_for_budget', { blocking_detail: 'budget 0193: tokens 48120 of 40000 are used' })],
  ['rate_limited · waiting_for_quota', view('rate_limited', 'waiting_for_quota', { blocking_detail: `quota policy 0193 has no room before ${later(40)}` })],
  ['active · none', view('active', 'none', leased)],
  ['active · none, a step under way', view('active', 'none', { ...leased, doing: [{ step: 'llm#4', started_at: ago(16) }] }), { explain: budget }],
  ['active · none, several under way', view('active', 'none', { ...leased, doing: [{ step: 'search[news]', started_at: ago(3) }, { step: 'search[docs]', started_at: ago(3) }, { step: 'search[code]', started_at: ago(3) }] })],
  ['active · none, frames say what', view('active', 'none', leased), { doing: [{ step: 'llm#1', started_at: ago(4) }] }],
  ['active · none, took over', view('active', 'none', { ...leased, deadline_at: later(4_620), doing: [{ step: 'llm#4', started_at: ago(16) }] }), { ...lost, journal: { count: 7, usage: { cents: 38, tokens: 900 } } }],
  ['active · none, took over for nothing', view('active', 'none', leased), { ...lost, journal: { count: 0, usage: {} } }],
  ['active · none, tries again', view('active', 'none', leased), { ...retried, journal: { count: 1, usage: {} } }],
  ['active · none, lease ran out', view('active', 'none', { ...leased, vector: { ownership_state: 'lease_expired_reclaimable' } })],
  ['suspended · waiting_for_approval', view('suspended', 'waiting_for_approval', suspended('waiting_for_approval'))],
  ['suspended · waiting_for_approval, no timeout', view('suspended', 'waiting_for_approval', suspended('waiting_for_approval', { timeout_at: undefined }))],
  ['suspended · waiting_for_signal', view('suspended', 'waiting_for_signal', suspended('waiting_for_signal', { timeout_behavior: 'fail' }))],
  ['suspended · waiting_for_callback', view('suspended', 'waiting_for_callback', suspended('waiting_for_callback', { timeout_behavior: 'auto_resume_with_timeout_signal' }))],
  ['suspended · waiting_for_tool_result', view('suspended', 'waiting_for_tool_result', suspended('waiting_for_tool_result', { timeout_behavior: 'cancel' }))],
  ['suspended · paused_by_operator, escalated', view('suspended', 'paused_by_operator', suspended('waiting_for_approval', { escalated: true }))],
  ['suspended · paused_by_operator, review', view('suspended', 'paused_by_operator', suspended('operator_review', { timeout_behavior: 'expire' }))],
  ['suspended · paused_by_operator, pause', view('suspended', 'paused_by_operator', suspended('manual_pause', { timeout_at: undefined }))],
  ['suspended · paused_by_policy', view('suspended', 'paused_by_policy', suspended('policy', { timeout_at: undefined }))],
  ['suspended · waiting_for_budget', view('suspended', 'waiting_for_budget', suspended('budget', { timeout_at: undefined }))],
  ['completed · none', view('completed', 'none', { ...ended, result_bytes: 14_200 })],
  ['completed · none, took over', view('completed', 'none', { ...ended, attempt_count: 2 }), { ...lost, journal: { count: 7, usage: { tokens: 900 } } }],
  ['failed · none', view('failed', 'none', { ...ended, attempt_count: 3, failure: { reason: 'the index is missing', category: 'permanent' } })],
  ['cancelled · none', view('cancelled', 'none', { ...ended, reason: 'asked twice by mistake' })],
  ['expired · none', view('expired', 'none', { ...ended, reason: 'its deadline passed' })],
  ['skipped · none', view('skipped', 'none', { ...ended, attempt_count: 0, reason: 'an upstream failed' })],
];

const say = (view, more = {}) => sentence({ view, ...more, now: NOW, clock });
const line = ({ lead, then, strong, more }) => [[lead, then, strong && `*${strong}*`].filter(Boolean).join(' '), ...more.map((text) => `    ${text}`)].join('\n');

test('every state and reason is said as the golden file has it', () => {
  const said = CASES.map(([name, view, more]) => `${name}\n  ${line(say(view, more))}\n`).join('\n');
  if (process.env.UPDATE_DOCS) writeFileSync(FILE, said);
  assert.equal(said, readFileSync(FILE, 'utf8'));
});

const STATES = ['waiting', 'resumable', 'delayed', 'waiting_children', 'rate_limited', 'active', 'suspended', 'completed', 'failed', 'cancelled', 'expired', 'skipped'];
const REASONS = ['none', 'waiting_for_worker', 'waiting_for_retry_backoff', 'waiting_for_resume_delay', 'waiting_for_delay', 'waiting_for_signal',
  'waiting_for_approval', 'waiting_for_callback', 'waiting_for_tool_result', 'waiting_for_children', 'waiting_for_budget', 'waiting_for_quota',
  'waiting_for_capable_worker', 'paused_by_operator', 'paused_by_policy', 'paused_by_flow_cancel'];

test('each state and each reason is among the cases', () => {
  const seen = CASES.map(([name]) => name.split(/ · |, /));
  assert.deepEqual(new Set(seen.map(([state]) => state)), new Set(STATES));
  assert.deepEqual(new Set(seen.map(([, reason]) => reason)), new Set(REASONS));
});

test('a state with any reason, known or of a later version, is a sentence', () => {
  for (const state of [...STATES, 'napping']) {
    for (const reason of [...REASONS, 'waiting_for_spring']) {
      const { lead, then, strong } = say(view(state, reason));
      assert.match(lead, /^[A-Z].*[.!?]$/, `${state} ${reason}`);
      assert.doesNotMatch(lead + then + strong, /undefined|NaN|null/, `${state} ${reason}`);
    }
  }
});

test('what the server says becomes a sentence with times of day', () => {
  assert.equal(told(`retried at ${NOW}`, clock), 'Retried at 15:24:03.');
  assert.equal(told('Gone!', clock), 'Gone!');
  assert.equal(told('web-7 offers all it requires', clock), 'web-7 offers all it requires.');
});

test('usage says money first', () => {
  assert.equal(usageText({ tokens: 48_120, cents: 61 }), '$0.61 · 48,120 tokens');
  assert.equal(usageText({}), '');
  assert.equal(usageText(undefined), '');
});
