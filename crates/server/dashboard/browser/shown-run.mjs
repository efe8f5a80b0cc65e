// An agent for pictures: it searches, asks a model, waits for a person, is lost with its worker and goes on elsewhere from its
// journal. Takes as long as it shows.
import { said, submit, worker } from './worker.mjs';
import { until } from './world.mjs';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const DRAFT = [
  'The tool result confirms the three figures from the 2025 filing. What is still missing is a second source for the retention number, which the press release words differently (“net” instead of “gross”). I will say so instead of choosing one.',
  '## 2. What changed since the last report\n\nRevenue per customer rose from 412 to 455, most of it in the segment above 1,000 seats. Two things explain it:\n\n1. The price change of March, which applied to renewals only after the summer.\n2. Fewer customers who ',
];

/** The id of the run, which is under way as long as `end` is not called. */
export async function agent(server) {
  const { body: budget } = await server.api('POST', '/budgets', { scope: 'research', dimensions: { cents: { hard: 25_000 }, tokens: { hard: 10_000_000 } } });
  const id = await submit(server, 'research.agent', {
    lane_id: 'agents', priority: 100, creator_identity: 'api-acme', tags: { tenant: 'acme', topic: 'q3' }, input: { question: 'What changed since the last report?', sources: ['news', 'docs', 'code'] },
    policy: { budget_ids: [budget.budget_id], timeout_policy: { execution_deadline_ms: 7_200_000 } },
  });
  const paid = (cents, tokens) => ({ usage: [{ budget_id: budget.budget_id, deltas: { cents, tokens } }] });
  const web3 = await worker(server, { instance: 'web-3', lanes: ['agents'], slots: 8 });
  const task = await web3.take();
  const step = async (one, task, key, ms, more = {}) => {
    const started_at = Date.now();
    await one.exchange({ renew: [{ ...one.fence(task), ttl_ms: 60_000, doing: [{ step: key, started_at }] }], running: 1 });
    await wait(ms);
    await one.steps(task, [{ key, started_at, output: { text: DRAFT[0] }, ...more }], more.progress);
  };
  await step(web3, task, 'plan#0', 400);
  const began = Date.now();
  for (const [name, ms] of [['docs', 600], ['news', 800], ['code', 1_400]]) {
    await wait(ms);
    await web3.steps(task, [{ key: `search[${name}]`, started_at: began, output: { found: 12 } }]);
  }
  await step(web3, task, 'llm#0', 4_200, paid(21, 16_400));
  await web3.frames(task, [{ frame_type: 'summary', mode: 'summary', payload: { approvals: { 'review#0': { title: 'Go on with these nine sources?' } } } }]);
  await web3.ask(task);
  await wait(16_000);
  const [asked] = (await said(server, '/approvals')).items;
  await server.api('POST', `/executions/${id}/waitpoints/${asked.waitpoints[0].waitpoint_id}/approve`, { payload: { text: 'yes' } });
  const again = await web3.take();
  await step(web3, again, 'llm#1', 3_400, paid(17, 12_200));
  // Its worker is lost: it says nothing any more, and the lease runs out.
  const lost = { ...web3.fence(again), ttl_ms: 4_000, doing: [{ step: 'llm#2', started_at: Date.now() }] };
  await web3.frames(again, [{ payload: 'Comparing both filings', correlation_id: 'llm#2' }]);
  await web3.exchange({ renew: [lost] });
  await wait(2_500);
  await web3.frames(again, [{ payload: ' line by line', correlation_id: 'llm#2' }]);
  const web7 = await worker(server, { instance: 'web-7', lanes: ['agents'], slots: 8 });
  await web3.leave();
  await until('the lease has run out', async () => (await said(server, `/executions/${id}`)).state_vector.ownership_state !== 'leased', 30_000);
  const taken = await web7.take();
  await step(web7, taken, 'llm#2', 2_900, paid(14, 9_800));
  await step(web7, taken, 'tool#0', 800);
  await web7.frames(taken, [{ payload: DRAFT[0], correlation_id: 'llm#3' }]);
  await step(web7, taken, 'llm#3', 2_200, paid(9, 9_720));
  await web7.steps(taken, [], { message: 'writing section 2', pct: 60 }).catch(() => null);
  const under = { ...web7.fence(taken), ttl_ms: 60_000, doing: [{ step: 'llm#4', started_at: Date.now() }] };
  await web7.exchange({ renew: [under] });
  // Pictures take their time.
  setInterval(() => web7.exchange({ renew: [under], running: 1 }).catch(() => {}), 10_000).unref();
  await wait(600);
  for (const piece of DRAFT[1].match(/.{1,24}/gs)) {
    await web7.frames(taken, [{ payload: piece, correlation_id: 'llm#4' }]);
    await wait(90);
  }
  return id;
}
