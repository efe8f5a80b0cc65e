// A small world with one of each: something for every page to show, and in every state that an execution can have.
import { done, submit, worker } from './worker.mjs';

const HOUR_MS = 3_600_000;

const TAG_MOST = 250;

/**
 * Makes it, with a key if the server wants one. `name(word)` and `text(words)` say how what people name and write looks there;
 * `lane(word)` the same for lanes. Where it `isQuiet` nothing happens once it is made, and no worker is there. Answers the ids, the addresses of pages by a name, and the worker that runs what runs.
 */
export async function oneOfEach(server, { key, name = (word) => word, text = (words) => words, lane = (word) => word, isQuiet = false } = {}) {
  const act = (method, path, body) => done(server, method, path, body, key);
  const run = (id) => `/executions/${encodeURIComponent(id)}`;
  const [kind, mail, other] = [name('web.fetch'), name('mail.send'), lane('mail')];
  const made = {};
  const make = async (called, what, more) => (made[called] = await submit(server, what, { creator_identity: name('shop'), tags: { tenant: text('acme').slice(0, TAG_MOST) }, ...more }, key));

  const instance = name('web-7');
  const web = await worker(server, { key, instance, slots: 8, version: text('4.2.0').slice(0, 64), capabilities: [name('gpu')] });
  // It is there as long as somebody looks, however slow the machine is.
  if (!isQuiet) setInterval(() => web.alive().catch(() => {}), 20_000).unref();
  const point = name('review#0');
  await make('asks', mail, { input: { [text('to')]: text('ana@example.org') } });
  const asking = await web.take();
  await web.frames(asking, [{ frame_type: 'summary', mode: 'summary', payload: { approvals: { [point]: { title: text('Send 40 mails?'), [text('to')]: text('ana@example.org') } } } }]);
  await web.ask(asking, point);
  [{ waitpoint_id: made.point }] = (await act('GET', `${run(made.asks)}/pending-waitpoints`)).items;

  await make('broken', kind, { input: text('a line'), input_type: 'text/html' });
  await web.finish(await web.take(), 'fail', { category: 'timeout', reason: text('too slow') });
  await make('done', kind, { input: { list: [1, 2.5, null, true, text('an entry')] } });
  const ending = await web.take();
  await web.steps(ending, [{ key: name('plan#0'), output: { [text('found')]: text('three') }, started_at: ending.server_time - 900 }]);
  await web.frames(ending, [{ payload: text('first words'), correlation_id: name('say#0') }, { payload: { [text('a')]: text('b') }, correlation_id: name('json#0') }]);
  await web.finish(ending, 'complete', { result: { [text('answer')]: text('yes') } });
  await make('gone', kind);
  await act('POST', `${run(made.gone)}/cancel`, { reason: text('wrong region') });
  await make('runs', kind);
  // As long as the slowest test looks at it.
  const running = await web.take(1, { ttl: HOUR_MS });
  await web.steps(running, [{ key: name('load#0'), output: text('loaded'), started_at: running.server_time - 500 }], { message: text('3 of 9 sources'), pct: 33 });
  await web.frames(running, [{ payload: text('so far'), correlation_id: name('say#0') }, { payload: text('a log'), frame_type: name('log') }]);

  await make('held', kind, { lane_id: other });
  await act('POST', `${run(made.held)}/hold`, { reason: text('until Monday') });
  await make('late', kind, { lane_id: other, delay_until: Date.now() + HOUR_MS });
  await make('waits', kind, { lane_id: other, policy: { routing_requirements: { required_capabilities: [name('tpu')] } } });
  ({ budget_id: made.budget } = await act('POST', '/budgets', { scope: name('research'), dimensions: { [name('cents')]: { hard: 100 } } }));
  await act('POST', `/budgets/${made.budget}/usage`, { deltas: { [name('cents')]: 200 } });
  await make('unpaid', kind, { lane_id: other, policy: { budget_ids: [made.budget] } });
  // Whoever asks for work finds that this one may not start.
  const mails = await worker(server, { key, instance: name('mail-1'), lanes: [other] });
  await mails.exchange({ want: { lanes: [other], max: 1, lease_ttl_ms: 1_000 }, wait_ms: 0 });
  await mails.leave();
  ({ quota_policy_id: made.quota } = await act('POST', '/quotas', { max_requests_per_window: 5, window_seconds: 60 }));
  ({ flow_id: made.flow } = await act('POST', '/flows/graph', {
    flow_kind: name('import'),
    members: ['a', 'b', 'c'].map((member) => ({ key: member, execution_kind: name(`part.${member}`), lane_id: other })),
    edges: [{ upstream: 'a', downstream: 'b' }, { upstream: 'b', downstream: 'c' }],
  }));
  await act('PUT', '/views/mail', { title: text('Mail that waits').slice(0, 200), query: `?lane=${encodeURIComponent(other)}`, shared: true });

  const places = { overview: '/', executions: '/executions', chosen: '/executions?state=completed&state=failed' };
  for (const state of ['asks', 'broken', 'done', 'gone', 'runs', 'held', 'late', 'waits', 'unpaid']) places[state] = run(made[state]);
  Object.assign(places, { flows: '/flows', flow: `/flows/${made.flow}` });
  Object.assign(places, { approvals: '/approvals', approval: `/approvals/${encodeURIComponent(made.asks)}/${made.point}` });
  Object.assign(places, { lanes: '/lanes', lane: `/lanes/${encodeURIComponent(other)}`, budgets: '/budgets', budget: `/budgets/${made.budget}` });
  Object.assign(places, { quotas: '/quotas', quota: `/quotas/${made.quota}`, workers: '/workers', worker: `/workers/${encodeURIComponent(instance)}` });
  Object.assign(places, { events: '/events?from=oldest', keys: '/keys' });
  if (isQuiet) await web.leave();
  return { made, places, web, running };
}
