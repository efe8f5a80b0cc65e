// The timeline of a run: long waits fold, everything else is to scale, and after a crash it says what was lost and what was kept.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { axis, bar, place } from '../run/axis.js';
import { intervals } from '../run/intervals.js';
import { said, submit, worker } from './worker.mjs';
import { close, serve, until, visit } from './world.mjs';

const MINUTE_MS = 60_000;
const servers = [];
after(async () => {
  await close();
  for (const server of servers) await server.stop();
});

async function started(...more) {
  const server = await serve(['dev', '--memory', '--empty', '--port', '0', ...more]);
  servers.push(server);
  return server;
}

const path = (id) => `/executions/${encodeURIComponent(id)}`;

/** What the page should show, computed from what curl is told. */
async function told(server, id) {
  const [execution, { items: attempts }, { items: history }, { items: steps }] = await Promise.all(
    ['', '/attempts?limit=1000', '/history?limit=1000', '/steps?limit=1000'].map((part) => said(server, path(id) + part)),
  );
  return { execution, attempts, history, steps };
}

/** Marks of a place in the table with where they stand in it, in pixels. */
const marksIn = (page, selector) =>
  page.locator(selector).evaluate((cell) => {
    const { left } = cell.getBoundingClientRect();
    return [...cell.children].map((el) => {
      const box = el.getBoundingClientRect();
      return { is: el.className.split(' ')[0], what: el.className, x: box.left - left, width: box.width, text: el.textContent };
    });
  });
const rowOf = (page, key) => page.locator('.tl tbody tr', { has: page.locator(`button[title="${key}"]`) });
const inRow = (page, key) => marksIn(page, `.tl tbody tr:has(button[title="${key}"]) td.tl-axis`);
const close2 = (found, wanted, what) => assert(Math.abs(found - wanted) < 0.75, `${what}: at ${found}, should be at ${wanted}`);

/** Every bar stands where the axis says. */
async function standsAsComputed(page, data, fold) {
  const width = await page.locator('.tl-heads').evaluate((el) => el.clientWidth);
  const scale = axis({ ...data, width, fold });
  for (const row of data.rows) {
    const bars = (await inRow(page, row.key)).filter(({ is }) => is === 'tl-bar');
    assert.equal(bars.length, row.bars.length, row.key);
    row.bars.forEach(({ from, to }, i) => {
      const { x, width } = bar(scale, from, to);
      close2(bars[i].x, x, `${row.key} begins`);
      close2(bars[i].width, width, `${row.key} lasts`);
    });
  }
  const leases = (await marksIn(page, '.tl-attempts div.tl-axis')).filter(({ what }) => what === 'tl-lease');
  assert.equal(leases.length, data.leases.length);
  data.leases.forEach(({ from, to }, i) => close2(leases[i].x, bar(scale, from, to).x, `attempt ${i}`));
  return { scale, width };
}

test('41 minutes fold, t shows them, and bars stand where the axis says', async () => {
  const server = await started('--virtual-clock');
  const pass = async (ms) => {
    const { status, body } = await server.api('POST', '/test/advance', { by_ms: ms });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const id = await submit(server, 'demo.letter');
  // Time passes while nothing runs and nobody could run anything: so each worker leaves before, and another one goes on.
  const works = async (run) => {
    const writer = await worker(server);
    const task = await writer.take();
    await run(writer, task);
    await writer.leave();
  };
  const begun = new Map();
  const begin = (key, ms) => (writer, task) => {
    begun.set(key, task.server_time);
    return writer.finish(task, 'delay', { until: task.server_time + ms });
  };
  const end = (key, writer, task) => writer.steps(task, [{ key, started_at: begun.get(key), output: key }]);
  await works(begin('fetch#0', 4_000));
  await pass(4_000);
  await works(async (writer, task) => {
    await end('fetch#0', writer, task);
    await begin('write#0', 9_000)(writer, task);
  });
  await pass(9_000);
  await works(async (writer, task) => {
    await end('write#0', writer, task);
    await writer.ask(task);
  });
  await pass(41 * MINUTE_MS);
  const view = await said(server, path(id));
  const decided = await server.api('POST', `${path(id)}/waitpoints/${view.suspension.waitpoints[0].waitpoint_id}/approve`, {});
  assert.equal(decided.status, 200, JSON.stringify(decided.body));
  await works(begin('send#0', 6_000));
  await pass(6_000);
  await works(async (writer, task) => {
    await end('send#0', writer, task);
    await writer.finish(task, 'complete', { result: 'sent' });
  });

  const known = await told(server, id);
  assert.deepEqual(known.steps.map(({ key }) => key), ['fetch#0', 'write#0', 'review#0', 'send#0']);
  const data = intervals({ ...known, now: known.execution.completed_at });
  assert.equal(data.to - data.from, 41 * MINUTE_MS + 19_000);

  const page = await visit(server.url + path(id));
  const { scale } = await standsAsComputed(page, data, true);
  const gaps = scale.segments.filter(({ folded }) => folded);
  assert.equal(gaps.length, 1);
  const [gap] = gaps;
  assert.equal(Math.round(gap.x1 - gap.x0), 46);
  const drawn = await page.locator('.tl-gap').evaluateAll((all) => all.map((el) => [Number(el.getAttribute('x')), Number(el.getAttribute('width'))]));
  assert.equal(drawn.length, 1);
  close2(drawn[0][0], gap.x0, 'the gap begins');
  const words = (await marksIn(page, '.tl-heads')).filter(({ what }) => what.includes('tl-long'));
  assert.deepEqual(words.map(({ text, what }) => [text, what]), [['41 m', 'tl-tick tl-long h-violet']]);
  // What ran is to scale beside it: nine seconds are nine quarters of four.
  const width = async (key) => (await inRow(page, key))[0].width;
  close2((await width('write#0')) * 4, (await width('fetch#0')) * 9, 'nine seconds');

  await page.keyboard.press('t');
  await page.waitForURL(/t=true/);
  await until('no gap', async () => (await page.locator('.tl-gap').count()) === 0);
  await standsAsComputed(page, data, false);
  assert.equal((await inRow(page, 'write#0'))[0].width, 3, 'never narrower than can be seen');
  await page.reload();
  await until('the address says how', async () => (await page.locator('.tl-bar').count()) > 0 && (await page.locator('.tl-gap').count()) === 0);
  await page.keyboard.press('t');
  await until('the gap again', async () => (await page.locator('.tl-gap').count()) === 1);
  await standsAsComputed(page, data, true);
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('after a crash: what was lost is hatched, what was kept has a ring, and what was not paid again is their sum', async () => {
  const server = await started();
  const budget = await server.api('POST', '/budgets', { scope: 'letters', dimensions: { cents: {} } });
  assert(budget.status < 300, JSON.stringify(budget.body));
  const { budget_id } = budget.body;
  const id = await submit(server, 'demo.letter', { policy: { budget_ids: [budget_id] } });
  const first = await worker(server);
  const step = (key, cents, task) => ({ key, started_at: task.server_time, output: key, usage: [{ budget_id, deltas: { cents } }] });

  const task = await first.take(1, { ttl: 1_000 });
  await first.steps(task, [step('plan#0', 12, task), step('search#0', 30, task)]);
  await first.frames(task, [{ payload: 'Dear A', correlation_id: 'draft#0/0' }]);
  const page = await visit(server.url + path(id));
  // Nobody renews its lease, and nobody else is there yet.
  await until('it is lost', async () => (await said(server, path(id))).public_state !== 'active');
  const second = await worker(server, { instance: 'web-8' });
  const again = await second.take();
  await second.doing(again, 'draft#0');

  const sum = (known) => known.steps.flatMap(({ usage }) => usage).reduce((all, { deltas }) => all + deltas.cents, 0);
  assert.equal(sum(await told(server, id)), 42);
  await until('the sentence', async () => (await page.locator('.run-banner').textContent()).includes('2 steps came from the journal, $0.42 was not paid again.'));

  await rowOf(page, 'draft#0').waitFor();
  const [lost] = await inRow(page, 'draft#0');
  assert.equal(lost.what, 'tl-bar lost');
  const hatched = await rowOf(page, 'draft#0').locator('.tl-bar.lost').evaluate((el) => {
    const { backgroundImage, borderTopStyle } = getComputedStyle(el);
    return [backgroundImage.startsWith('repeating-linear-gradient'), borderTopStyle];
  });
  assert.deepEqual(hatched, [true, 'dashed']);

  await second.steps(again, [step('draft#0', 7, again)]);
  await second.finish(again, 'complete', { result: 'sent' });
  await page.locator('.head .state-chip', { hasText: 'Completed' }).waitFor();

  const known = await told(server, id);
  assert.equal(known.attempts.length, 2);
  const frames = [{ key: 'draft#0', attempt: 0, ...(await written(server, id)) }];
  const data = intervals({ ...known, frames, now: known.execution.completed_at });
  await until('every step', async () => (await page.locator('.tl tbody tr').count()) === 3);
  const { scale } = await standsAsComputed(page, data, true);
  const ringAt = place(scale, known.attempts[1].started_at);
  for (const key of ['plan#0', 'search#0']) {
    const rings = (await inRow(page, key)).filter(({ is }) => is === 'tl-ring');
    assert.equal(rings.length, 1, key);
    // A ring begins a pixel before its moment.
    close2(rings[0].x + 1, ringAt, `the ring of ${key}`);
  }
  assert.equal((await inRow(page, 'draft#0')).filter(({ is }) => is === 'tl-ring').length, 0);
  const legend = await page.locator('.tl-legend').textContent();
  assert.match(legend, /answered from the journal.*lost with its worker/);
  const attempts = (await marksIn(page, '.tl-attempts div.tl-axis')).map(({ what }) => what);
  assert.deepEqual(attempts, ['tl-lease', 'tl-lease', 'tl-lease lost']);
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

/** When the first attempt wrote. */
async function written(server, id) {
  const { frames } = await said(server, `${path(id)}/attempts/0/stream`);
  const at = Number(frames[0].id.split('-')[0]);
  return { from: at, to: at };
}
