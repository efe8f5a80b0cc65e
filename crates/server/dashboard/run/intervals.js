// What a run did when: leases, waits and steps as intervals, out of what the API says of it. Pure: JSON in, intervals out.

import { union } from './axis.js';

/** What ends a lease, and in which word. */
const LEASE_ENDS = new Set(['released', 'returned', 'lease_expired', 'lease_revoked', 'completed', 'retry_scheduled', 'failed',
  'cancelled', 'expired', 'skipped', 'delayed', 'waiting_children', 'suspended', 'reclaimable']);
/** What begins a wait of which kind, and what ends it. */
const WAITS = {
  suspended: ['suspended', ['resumed', 'suspension_timed_out']],
  delayed: ['delayed', ['delay_over', 'claimed']],
  retry_scheduled: ['delayed', ['delay_over', 'claimed']],
  waiting_children: ['children', ['dependencies_satisfied', 'claimed']],
  blocked: ['blocked', ['unblocked', 'claimed']],
  held: ['held', ['unheld']],
  lease_expired: ['lost', ['claimed']],
  lease_revoked: ['lost', ['claimed']],
};
const ENDS = ['completed', 'failed', 'cancelled', 'expired', 'skipped'];
const isOpen = (bar) => bar.open;
const worker = (actor) => actor?.worker ?? '';

/** Lines of the history in order; those of one moment as they were told. */
export const inOrder = (history) => history.map((line, i) => [line, i]).sort((a, b) => a[0].at - b[0].at || a[1] - b[1]).map(([line]) => line);

/** The leases of a run: `{from, to, attempt, worker, end}`, the open one without an end. */
export function leases(lines, attempts, now) {
  const found = [];
  let open = null;
  for (const line of lines) {
    if (open && (LEASE_ENDS.has(line.what) || line.what === 'claimed')) {
      found.push({ ...open, to: line.at, end: line.what });
      open = null;
    }
    if (line.what === 'claimed') open = { from: line.at, attempt: line.attempt_index ?? 0, worker: worker(line.actor) };
  }
  if (open) found.push({ ...open, to: now, end: null, open: true });
  if (found.length || lines.some((line) => line.what === 'created')) return found;
  // The history begins later than the run: its attempts say at least when they began and ended.
  return attempts.map((attempt) => ({
    from: attempt.started_at, to: attempt.end?.at ?? now, attempt: attempt.index, worker: attempt.worker_instance_id,
    end: attempt.end ? attempt.end.state : null,
  }));
}

/** The waits of a run: `{from, to, kind, detail, by}`, an open one until `now`. */
export function waits(lines, now) {
  const found = [];
  const open = new Map();
  const close = (kind, line) => {
    const wait = open.get(kind);
    open.delete(kind);
    if (wait && line.at > wait.from) found.push({ ...wait, to: line.at, by: line.what, open: false });
  };
  for (const line of lines) {
    for (const [kind, wait] of [...open]) {
      if (wait.until.includes(line.what) || ENDS.includes(line.what)) close(kind, line);
    }
    const begins = WAITS[line.what];
    if (begins && !open.has(begins[0])) {
      open.set(begins[0], { from: line.at, kind: begins[0], detail: line.detail, until: begins[1] });
    }
  }
  for (const wait of open.values()) found.push({ ...wait, to: Math.max(now, wait.from), by: null, open: true });
  for (const wait of found) delete wait.until;
  return found.sort((a, b) => a.from - b.from);
}

/** What steps cost together, by dimension whatever the budget. */
export function spent(steps) {
  const sum = {};
  for (const { deltas } of steps.flatMap((step) => step.usage ?? [])) {
    for (const [dimension, n] of Object.entries(deltas)) sum[dimension] = (sum[dimension] ?? 0) + n;
  }
  return sum;
}

/** Steps of earlier attempts that answered in the current one: how many, and what was not paid again. */
export function fromJournal(steps, attempts) {
  const current = attempts.at(-1);
  const kept = current ? steps.filter((step) => step.attempt_index < current.index && step.state === 'done') : [];
  return { count: kept.length, usage: spent(kept) };
}

/** A name without its number or its parts: what steps have in common. */
export const family = (key) => key.replace(/(#\d+|\[[^\]]*\])+$/, '');

/** The bar of one step. */
function stepBar(step, suspensions, now) {
  const { kind, recorded_at: at } = step;
  if (kind === 'sleep') return { from: at, to: Math.min(step.until ?? at, now), state: 'sleep', open: step.until > now, until: step.until };
  if (kind === 'wait') {
    const open = step.state === 'waiting';
    const near = suspensions.filter((wait) => (open ? wait.open : Math.abs(wait.to - at) < 1_000)).at(-1);
    return { from: near?.from ?? step.started_at ?? at, to: open ? now : at, state: 'wait', open };
  }
  const from = step.started_at !== undefined && step.started_at <= at ? step.started_at : at;
  const running = kind === 'run' && step.state === 'started';
  return { from, to: running ? now : at, state: kind === 'spawn' ? 'spawn' : running ? 'active' : step.state, open: running };
}

/** Steps that frames name and nobody recorded in their attempt: under way in the open lease, else lost with their worker. */
function unrecorded(frames, steps, held) {
  const recorded = new Set(steps.map((step) => `${step.attempt_index} ${step.key}`));
  return frames.filter((frame) => !recorded.has(`${frame.attempt} ${frame.key}`)).flatMap((frame) => {
    const lease = held.filter((lease) => lease.attempt === frame.attempt && lease.from <= frame.to + 1_000).at(-1);
    if (!lease) return [];
    const lost = lease.end !== null;
    return [{ key: frame.key, from: frame.from, to: lost ? Math.max(frame.to, lease.to) : lease.to, state: lost ? 'lost' : 'active', open: !lost }];
  });
}

/** One row per step name: `{key, kind, state, seq, bars, rings, took, usage}`, in the order in which they began. */
function stepRows(steps, attempts, held, suspensions, frames, doing, now) {
  const rows = new Map();
  const row = (key) => {
    if (!rows.has(key)) rows.set(key, { key, kind: 'run', state: 'started', bars: [], rings: [], took: 0, usage: {} });
    return rows.get(key);
  };
  const under = doing.map(({ step, started_at }) => ({ key: step, from: started_at, to: now, state: 'active', open: true }));
  const known = new Set(under.map(({ key }) => key));
  const others = unrecorded(frames, steps, held).filter(({ key, state }) => state === 'lost' || !known.has(key));
  for (const { key, ...bar } of [...others, ...under]) {
    const at = row(key);
    at.bars.push(bar);
    at.state = bar.state;
    if (bar.state === 'active') at.took = bar.to - bar.from;
  }
  for (const step of steps) {
    const at = row(step.key);
    const bar = stepBar(step, suspensions, now);
    const usage = spent([step]);
    at.bars.push({ ...bar, by: step.resumed_by });
    const rings = attempts.filter((attempt) => attempt.index > step.attempt_index && attempt.started_at >= step.recorded_at);
    Object.assign(at, { kind: step.kind, state: step.state, seq: step.seq, step, usage, took: bar.to - bar.from,
      rings: step.state === 'done' ? rings.map((attempt) => attempt.started_at) : [] });
  }
  for (const at of rows.values()) at.from = Math.min(...at.bars.map((bar) => bar.from));
  return [...rows.values()].sort((a, b) => a.from - b.from || (a.seq ?? Infinity) - (b.seq ?? Infinity));
}

/** More rows than `most` fold by what their names have in common: their bars as one, their costs as a sum. */
export function foldRows(rows, most = 200, open = new Set()) {
  if (rows.length <= most) return rows;
  const groups = new Map();
  for (const row of rows) {
    const name = family(row.key);
    groups.set(name, groups.get(name) ?? []);
    groups.get(name).push(row);
  }
  return [...groups].flatMap(([name, members]) => {
    if (members.length === 1) return members;
    const usage = {};
    for (const row of members) for (const [d, n] of Object.entries(row.usage)) usage[d] = (usage[d] ?? 0) + n;
    const state = ['active', 'failed', 'waiting', 'started'].find((state) => members.some((row) => row.state === state)) ?? 'done';
    const whole = members.flatMap((row) => row.bars.filter((bar) => bar.state !== 'lost'));
    const bars = union(whole.map((bar) => [bar.from, bar.to])).map(([from, to]) => ({ from, to, state }));
    const took = members.reduce((sum, row) => sum + row.took, 0);
    const head = { key: name, of: members.length, kind: members[0].kind, state, bars, rings: [], took, usage, open: open.has(name) };
    return open.has(name) ? [head, ...members.map((row) => ({ ...row, inside: true }))] : [head];
  });
}

/** The same a moment later, when nothing happened but that time went on: what is open lasts longer. */
export function advance(data, now) {
  if (data.ended || now <= data.to) return data;
  const { all, busy, worked, rows } = data.open;
  for (const bar of all) bar.to = Math.min(now, bar.until ?? now);
  for (const row of rows) row.took = row.bars.at(-1).to - row.bars.at(-1).from;
  const grown = (list, bars) => (bars.length > 0 ? union([...list, ...bars.map((bar) => [bar.from, bar.to])]) : list);
  return { ...data, to: now, busy: grown(data.busy, busy), worked: grown(data.worked, worked) };
}

/**
 * Everything the timeline shows. `frames` are `{key, attempt, from, to}`, when frames were written under the name of a step;
 * `more` says that the history holds less than the run.
 */
export function intervals({ execution, attempts = [], history = [], steps = [], frames = [], now }) {
  const lines = inOrder(history);
  const until = execution.completed_at ?? now;
  const held = leases(lines, attempts, until);
  const idle = waits(lines, until);
  const suspensions = idle.filter((wait) => wait.kind === 'suspended');
  const pending = execution.suspension?.waitpoints?.[0]?.waitpoint_key;
  const waiting = pending && !steps.some((step) => step.state === 'waiting' || step.key === pending)
    ? [{ key: pending, kind: 'wait', state: 'waiting', recorded_at: execution.suspension.since, attempt_index: Infinity }] : [];
  const rows = stepRows([...steps, ...waiting], attempts, held, suspensions, frames, execution.doing ?? [], until);
  const ran = rows.filter((row) => row.kind === 'run').flatMap((row) => row.bars);
  const spans = (bars) => union(bars.map((bar) => [bar.from, bar.to]));
  return {
    from: execution.created_at, to: until, ended: execution.completed_at !== undefined, leases: held, waits: idle, rows,
    busy: spans([...held, ...ran]), worked: spans(rows.length > 0 ? ran : held),
    open: { all: [...held, ...idle, ...rows.flatMap((row) => row.bars)].filter(isOpen), busy: [...held, ...ran].filter(isOpen),
      worked: (rows.length > 0 ? ran : held).filter(isOpen), rows: rows.filter((row) => row.bars.at(-1).open) },
    signals: lines.filter((line) => line.what === 'signalled').map((line) => ({ at: line.at, detail: line.detail ?? 'a signal' })),
    late: lines.length > 0 && lines[0].what !== 'created' ? lines[0].at : null,
    journal: fromJournal(steps, attempts),
  };
}
