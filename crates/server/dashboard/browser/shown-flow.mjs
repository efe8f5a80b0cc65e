// Flows for pictures: a weekly report of 1,830 members that is under way, and some others.
import { makeFlow } from './large-flow.mjs';
import { said, submit, worker } from './worker.mjs';
import { until } from './world.mjs';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const LANE = 'reports';
const FETCH = 1_200;
const EXTRACT = 600;
const SCORE = 24;

function weekly() {
  const kinds = { plan: 1, fetch: FETCH, extract: EXTRACT, score: SCORE, merge: 1, dedupe: 1, draft: 1, review: 1, send: 1 };
  const members = Object.entries(kinds).flatMap(([kind, n]) => Array.from({ length: n }, (_, i) => ({ key: `${kind}${i}`, execution_kind: kind, lane_id: LANE })));
  const edges = [];
  const edge = (upstream, downstream) => edges.push({ upstream, downstream, dependency_kind: 'any_terminal' });
  for (let i = 0; i < FETCH; i += 1) {
    edge('plan0', `fetch${i}`);
    edge(`fetch${i}`, `extract${i % EXTRACT}`);
    edge(`fetch${i}`, `score${i % SCORE}`);
  }
  for (let i = 0; i < EXTRACT; i += 1) {
    edge(`extract${i}`, 'merge0');
    edge(`extract${i}`, 'dedupe0');
  }
  for (let i = 0; i < SCORE; i += 1) edge(`score${i}`, 'merge0');
  for (const [from, to] of [['merge0', 'draft0'], ['dedupe0', 'draft0'], ['draft0', 'review0'], ['review0', 'send0']]) edge(from, to);
  return { flow_kind: 'weekly-report', members, edges };
}

/** Small ones: a chain each, some done, one that failed. */
async function others(server, crew) {
  for (const [kind, names, fails] of [['invoice.run', ['collect', 'render', 'send']], ['nightly-index', ['scan', 'embed', 'publish'], 'embed'], ['onboarding', ['create', 'invite', 'remind']]]) {
    const members = names.map((name) => ({ key: name, execution_kind: `${kind}.${name}`, lane_id: 'small' }));
    const edges = names.slice(1).map((name, i) => ({ upstream: names[i], downstream: name }));
    await server.api('POST', '/flows/graph', { flow_kind: kind, members, edges });
    for (const name of names.slice(0, kind === 'onboarding' ? 1 : 3)) {
      if (name === 'publish') break;
      const task = await crew.take();
      await wait(150);
      await crew.finish(task, ...(name === fails ? ['fail', { category: 'permanent', reason: 'no model of that name' }] : ['complete', { result: {} }]));
    }
  }
}

/** The id of the flow. */
export async function report(server) {
  await others(server, await worker(server, { instance: 'small-1', lanes: ['small'] }));
  const { id } = await makeFlow(server, weekly());
  const one = await worker(server, { instance: 'report-1', lanes: [LANE], slots: 256 });
  const finish = async (tasks, fails = () => false) => {
    const finished = tasks.map((task, i) => ({ ...one.fence(task), ...(fails(i) ? { op: 'fail', category: 'timeout', reason: '504 after 90 s' } : { op: 'complete', result: {} }) }));
    for (const result of (await one.exchange({ finished })).results) if (result.error) throw new Error(JSON.stringify(result));
  };
  const take = async (max) => {
    const { tasks } = await one.exchange({ want: { lanes: [LANE], max, lease_ttl_ms: 3_600_000 }, wait_ms: 5_000 });
    if (tasks.length > 0) await one.exchange({ renew: tasks.map((task) => ({ ...one.fence(task), ttl_ms: 3_600_000 })) });
    return tasks;
  };
  const plan = await one.take();
  await wait(620);
  await one.finish(plan, 'complete', { result: {} });
  const open = (kind) => said(server, `/executions?lane=${LANE}&state=waiting&kind=${kind}&limit=1`).then(({ items }) => items.length > 0);
  await until('the pages can be fetched', () => open('fetch'), 60_000);
  let done = 0;
  while (done < 1_380) {
    const tasks = await take(120);
    await wait(160);
    // Some stay under way, so that something is seen to run.
    const now = tasks.slice(0, Math.max(1, tasks.length - 8));
    await finish(now, (i) => (i * 7 + done) % 131 === 5);
    done += now.length;
  }
  await take(60);
  await submit(server, 'web.fetch', { lane_id: 'small' });
  return id;
}
