// A day of a busy system, for pictures. The clock is the server's own and is moved, so that a day takes a minute, and
// everything that is shown has happened: work was submitted, run, paid for, held back and asked about.
import assert from 'node:assert/strict';
import { submit, worker } from './worker.mjs';
import { serve, until } from './world.mjs';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** 16 January 2027, 14:04: when the pictures are taken. */
const NOW = 1_800_000_000_000 + 30 * HOUR + 4 * MINUTE;
const LANES = ['web', 'agents', 'ingest', 'gpu', 'mail', 'ops'];
const RETRY = { max_retries: 5, backoff: { fixed: { delay_ms: 31 * SECOND } }, retryable_categories: ['timeout'] };

/** Usage that goes up and down a little, the same in every run. */
const wave = (i) => 1 + 0.12 * Math.sin(i / 3) + 0.07 * Math.sin(i * 1.7) + 0.05 * Math.sin(i * 5.3);

export async function day() {
  const server = await serve(['dev', '--memory', '--virtual-clock', '--port', '0']);
  let now = 1_800_000_000_000;
  const put = async (method, path, body) => {
    const { status, body: told } = await server.api(method, path, body, { accept: 'application/json' });
    assert(status < 300, `${method} ${path}: ${status} ${JSON.stringify(told)}`);
    return told;
  };
  const passTo = async (moment) => {
    if (moment > now) now = (await put('POST', '/test/advance', { by_ms: moment - now })).server_time;
  };
  /** Workers are there only while they work: time passes when nothing could be handed out. */
  const crew = async (lanes, work, more) => {
    const one = await worker(server, { instance: `${lanes[0]}-3`, lanes, slots: 64, ...more });
    const told = await work(one);
    await one.leave();
    return told;
  };
  const takeAll = async (one, lanes, max = 500) => (await one.exchange({ want: { lanes, max, lease_ttl_ms: MINUTE }, wait_ms: 0 })).tasks;
  const finishAll = async (one, finished) => {
    const { results } = await one.exchange({ finished });
    for (const result of results) assert(!result.error, JSON.stringify(result));
  };
  const world = { server, put, passTo, crew, takeAll, finishAll, at: (before) => NOW - before };
  const limits = await makeLimits(world);
  world.limits = limits;
  world.asked = await ask(world);
  await theDay(world);
  await theHour(world);
  await rightNow(world);
  return server;
}

async function makeLimits({ put, passTo, at }) {
  const budget = async (scope, dimensions, more) => (await put('POST', '/budgets', { scope, dimensions, ...more })).budget_id;
  const research = await budget('research', { cents: { hard: 25_000 } });
  await budget('sandbox', { cents: { hard: 0 } });
  const quota = (await put('POST', '/quotas', { max_requests_per_window: 60, window_seconds: 60, max_concurrent: 12 })).quota_policy_id;
  await put('POST', '/quotas', { max_requests_per_window: 500, window_seconds: 3_600 });
  await passTo(at(28 * HOUR + 6 * MINUTE));
  return { research, quota, budget };
}

/** What waits for a person since yesterday. */
async function ask(world) {
  const shown = {
    customer: '88213 · since 2019', order: 'A-20931, delivered 6 Jan', amount: '€1,840.00', reason: '“Arrived broken, photos attached”',
    policy: 'above €500 needs a person', 'model says': 'approve, confidence 0.81',
  };
  const steps = [{ key: 'load#0', took: 200 }, { key: 'llm#0', took: 2_400, usage: [{ budget_id: world.limits.research, deltas: { cents: 8 } }] }];
  await question(world, 'refund.decide', 'agents', { title: 'Refund €1,840 to customer 88213?', shown, steps, timeout: 24 * HOUR, behavior: 'escalate' });
}

async function question({ server, crew, at }, kind, lane, { title, shown = {}, steps = [], timeout, behavior = 'expire', by = 'api-shop' }) {
  await submit(server, kind, { lane_id: lane, creator_identity: by });
  await crew([lane], async (one) => {
    const task = await one.take();
    if (steps.length > 0) await one.steps(task, steps.map(({ took, ...step }) => ({ output: {}, started_at: task.server_time - took, ...step })));
    await one.frames(task, [{ frame_type: 'summary', mode: 'summary', payload: { approvals: { 'review#0': { title, ...shown } } } }]);
    await one.ask(task, 'review#0', timeout && { timeout_at: task.server_time + timeout, timeout_behavior: behavior });
  });
}

/** Every ten minutes from yesterday afternoon on: what is spent. */
async function theDay(world) {
  const { passTo, at, limits, put } = world;
  await passTo(at(24 * HOUR - 4 * MINUTE));
  for (let i = 0; i < 137; i += 1) {
    if (i === 18) await passTo(at(20 * HOUR + 48 * MINUTE));
    if (i === 18) limits.acme = await limits.budget('acme-llm', { tokens: { hard: 1_000_000, soft: 800_000 } }, { reset_interval_ms: 12 * HOUR });
    if (i === 30) {
      limits.globex = await limits.budget('globex-llm', { tokens: { hard: 1_000_000, soft: 800_000 } });
      limits.search = await limits.budget('search-api', { requests: { hard: 100_000, soft: 90_000 } }, { reset_interval_ms: 24 * HOUR });
    }
    const pays = [[limits.research, 'cents', 38 * wave(i)]];
    if (i >= 18) pays.push([limits.acme, 'tokens', tokensAt(i) * wave(i)]);
    if (i >= 30) pays.push([limits.globex, 'tokens', 7_600 * wave(i)], [limits.search, 'requests', 375 * wave(i)]);
    const items = pays.flatMap(([budget, unit, n]) => KINDS[unit].map(([kind, share]) => spending(kind, budget, unit, Math.round(n * share))));
    await round(world, items, ['agents', 'web']);
    await passTo(at(24 * HOUR - 4 * MINUTE - (i + 1) * 10 * MINUTE));
  }
  await put('GET', '/overview');
}

const KINDS = { tokens: [['research.agent', 0.81], ['refund.decide', 0.12], ['mail.draft', 0.07]], cents: [['research.agent', 1]], requests: [['web.fetch', 1]] };
/** Evenly before the reset, then faster and faster. */
const tokensAt = (i) => (i < 90 ? 11_300 : [9_000, 21_000, 41_000][Math.floor((i - 90) / 20)] ?? 45_000);
const spending = (kind, budget, unit, n) => ({ kind, lane: kind === 'web.fetch' ? 'web' : 'agents', budget, usage: { [unit]: n } });

/** Submits these, runs all that may run and lets it end as `ends` says. */
async function round(world, items, lanes, ends = () => null) {
  const { crew, takeAll, finishAll, put } = world;
  const executions = items.map(({ kind, lane, budget, usage, policy }, i) => ({
    execution_kind: kind, lane_id: lane, creator_identity: 'api-acme', input: { i, usage },
    policy: { ...(budget && { budget_ids: [budget] }), ...policy },
  }));
  const { results } = await put('POST', '/executions/batch', { executions });
  const of = new Map(results.map(({ execution_id: id }, i) => [id, items[i]]));
  await crew(lanes, async (one) => {
    const tasks = await takeAll(one, lanes);
    if (world.looks) await put('GET', '/overview');
    const told = tasks.map((task, i) => {
      const { budget, usage } = of.get(task.execution_id) ?? {};
      const steps = usage ? [{ key: 'llm#0', output: {}, started_at: task.server_time - 1_200, usage: [{ budget_id: budget, deltas: usage }] }] : [];
      const end = ends(task, i) ?? { op: 'complete', result: { ok: true } };
      return { ...one.fence(task), steps, ...end };
    });
    if (told.length > 0) await finishAll(one, told);
  });
}

/** Every minute of the last hour: what ends. */
async function theHour(world) {
  const { passTo, at, limits, put, server } = world;
  world.looks = true;
  for (let minute = 64; minute > 0; minute -= 1) {
    await passTo(at(minute * MINUTE));
    const n = (kind, lane, many) => Array.from({ length: Math.round(many * wave(minute)) }, () => ({ kind, lane }));
    const items = [...n('web.fetch', 'web', 78), ...n('pdf.extract', 'ingest', 13), ...n('embed.batch', 'gpu', 5)];
    if (minute > 19) items.push(...n('mail.campaign', 'mail', 4));
    items.push({ ...spending('research.agent', limits.research, 'cents', 6) });
    const spike = Math.max(0, 6 - 1.6 * Math.abs(minute - 16));
    const failing = Math.round(1 + spike);
    let failed = 0;
    // While its budget is closed this waits.
    for (let i = 0; i < 5; i += 1) items.push({ ...spending('research.agent', limits.acme, 'tokens', 5_600), usage: { tokens: 5_600 } });
    await round(world, items, ['web', 'ingest', 'gpu', 'agents', 'mail'], (task) =>
      task.execution_kind === 'web.fetch' && (failed += 1) <= failing
        ? { op: 'fail', category: 'timeout', reason: '504 from api.example.com after 90 s' } : null);
    if (minute === 41) await gpuWork(server);
    if (minute === 41) await question(world, 'research.agent', 'agents', { title: 'Publish draft “Q3 outlook”?', timeout: 7 * 24 * HOUR, by: 'api-acme' });
    if (minute === 19) {
      await Promise.all(Array.from({ length: 24 }, () => submit(server, 'mail.campaign', { lane_id: 'mail' })));
      await put('PUT', '/lanes/mail/state', { state: 'paused' });
    }
    if (minute === 12) await question(world, 'deploy.canary', 'ops', { title: 'Promote build 2214 to 100 %?', timeout: HOUR, by: 'ci' });
    if (minute === 3) await question(world, 'mail.campaign', 'ops', { title: 'Send to 48,200 recipients?', by: 'marketing' });
  }
}

const gpuWork = (server) =>
  Promise.all(Array.from({ length: 48 }, () =>
    submit(server, 'embed.batch', { lane_id: 'gpu', policy: { routing_requirements: { required_capabilities: ['h100'] } } })));

/** The last minute: what runs, waits and is held when the picture is taken. */
async function rightNow(world) {
  const { server, passTo, crew, takeAll, finishAll, put, at, limits } = world;
  const many = (n, kind, more) => Promise.all(Array.from({ length: n }, () => submit(server, kind, more)));
  await passTo(at(50 * SECOND));
  await many(6, 'web.fetch', { lane_id: 'web', policy: { retry_policy: RETRY } });
  await many(8, 'report.nightly', { lane_id: 'web', delay_until: at(-2 * HOUR) });
  for (const id of await many(3, 'pdf.extract', { lane_id: 'ingest' })) await put('POST', `/executions/${id}/hold`, { reason: 'looked at by li' });
  await crew(['web'], async (one) => {
    const tasks = await takeAll(one, ['web']);
    await finishAll(one, tasks.map((task) => ({ ...one.fence(task), op: 'fail', category: 'timeout', reason: '503 from api.example.com' })));
  });
  await put('POST', '/flows/graph', {
    flow_kind: 'nightly.index',
    members: [{ key: 'all', execution_kind: 'index.plan', lane_id: 'ops', delay_until: at(-HOUR) }, ...Array.from({ length: 21 }, (_, i) => ({ key: `m${i}`, execution_kind: 'index.part', lane_id: 'ingest' }))],
    edges: Array.from({ length: 21 }, (_, i) => ({ upstream: 'all', downstream: `m${i}` })),
  });
  await passTo(at(38 * SECOND));
  await many(64, 'web.fetch', { lane_id: 'web' });
  await passTo(at(24 * SECOND));
  for (let i = 0; i < 9; i += 1) {
    await many(3, 'llm.answer', { lane_id: 'agents', policy: { quota_policy_id: limits.quota } });
    await many(1, 'embed.batch', { lane_id: 'gpu' });
    await many(2, 'pdf.extract', { lane_id: 'ingest' });
    await many(1, 'research.agent', { lane_id: 'agents', policy: { budget_ids: [i % 2 ? limits.acme : limits.research] } });
  }
  await passTo(at(9 * SECOND));
  await listed(world);
  await passTo(NOW);
  await workers(world);
  await until('everything is seen', async () => (await put('GET', '/overview')).running > 30);
}

/** Executions of each sort, for the top of the list. */
async function listed({ server, crew, finishAll, takeAll, passTo, at, limits }) {
  const budget = { budget_ids: [limits.research] };
  // Handed out before what waits there already.
  const priority = 9;
  const spend = (cents) => [{ key: 'llm#0', output: {}, started_at: at(12 * SECOND), usage: [{ budget_id: limits.research, deltas: { cents } }] }];
  await submit(server, 'quote.fetch', { lane_id: 'ops', execution_deadline_at: at(8 * SECOND) });
  await submit(server, 'refund.decide', { lane_id: 'agents', priority, policy: budget });
  await submit(server, 'research.agent', { lane_id: 'agents', priority, policy: budget });
  await submit(server, 'pdf.extract', { lane_id: 'ingest', priority });
  const gone = await submit(server, 'web.fetch', { lane_id: 'web', delay_until: at(0) });
  await server.api('POST', `/executions/${gone}/cancel`, { reason: 'wrong region' });
  const lanes = ['agents', 'ingest'];
  const slept = { 'refund.decide': 2_600, 'research.agent': 1_900, 'pdf.extract': 1_200 };
  await crew(lanes, async (one) => {
    const tasks = await takeAll(one, lanes, 3);
    await finishAll(one, tasks.map((task) => ({ ...one.fence(task), op: 'delay', step: 'sleep#0', until: task.server_time + (slept[task.execution_kind] ?? 1_000) })));
  });
  await passTo(at(7 * SECOND));
  await crew(lanes, async (one) => {
    const ends = { 'research.agent': { op: 'fail', category: 'permanent', reason: 'model refused the prompt at llm#2' }, 'pdf.extract': { op: 'fail', category: 'permanent', reason: 'page 14 is encrypted' } };
    const tasks = await takeAll(one, lanes, 3);
    await finishAll(one, tasks.map((task) => ({ ...one.fence(task), steps: task.lane_id === 'agents' ? spend(22) : [], ...(ends[task.execution_kind] ?? { op: 'complete', result: {} }) })));
  });
}

/** Processes with what they run; nothing moves the clock any more. */
async function workers({ server, limits }) {
  const start = async (instance, lanes, take, more) => {
    const one = await worker(server, { instance, lanes, slots: 16, version: '4.2.0', ...more });
    if (!take) return [];
    const { tasks } = await one.exchange({ want: { lanes, max: take, lease_ttl_ms: HOUR, ...(more?.capabilities && { capabilities: more.capabilities }) }, running: take });
    const renewed = tasks.length > 0 && (await one.exchange({ renew: tasks.map((task) => ({ ...one.fence(task), ttl_ms: HOUR })), running: tasks.length, slots: more?.slots ?? 16 }));
    assert(renewed !== null);
    return tasks.map((task) => [one, task]);
  };
  await start('gpu-1', ['gpu'], 6, { capabilities: ['a100'] });
  await start('gpu-2', ['gpu'], 3, { capabilities: ['a100'] });
  await start('web-1', ['web'], 14, { capabilities: ['eu'] });
  await start('web-2', ['web'], 11, { capabilities: ['eu'] });
  await start('ingest-1', ['ingest', 'web'], 12, { slots: 32 });
  await start('ops-1', ['ops'], 0, { slots: 4 });
  const asking = [...(await start('agents-1', ['agents'], 400, { capabilities: ['llm', 'search'], slots: 24 })), ...(await start('agents-2', ['agents'], 8, { slots: 24 }))];
  const says = ['3 of 9 sources', 'writing section 2', 'reading filings', 'comparing figures'];
  for (const [i, [one, task]] of asking.entries()) {
    if (i > 7) break;
    const usage = [{ budget_id: limits.research, deltas: { cents: 4 + 3 * i } }];
    await one.steps(task, [{ key: 'plan#0', output: {}, started_at: task.server_time - 900, usage }], { message: says[i % 4], pct: 20 + ((i * 17) % 70) });
  }
}
