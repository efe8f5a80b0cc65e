// One act over selected rows: it says what it will touch, touches that and nothing else, and the list keeps its filter.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { close, serve, until, visit } from './world.mjs';
import { said, submit, worker } from './worker.mjs';

const AT_ONCE = 8;
let server;
let page;

before(async () => {
  server = await serve(['dev', '--memory', '--empty', '--port', '0']);
  page = await visit();
  page.setDefaultTimeout(10_000);
});

after(async () => {
  await close();
  await server?.stop();
});

let kind;
let round = 0;
beforeEach(() => {
  kind = `batch.${(round += 1)}`;
});

async function submitMany(n, more = {}) {
  const executions = Array.from({ length: n }, () => ({ execution_kind: kind, ...more }));
  const { body } = await server.api('POST', '/executions/batch', { executions });
  return body.results.map(({ execution_id: id }) => id);
}

/** How many of the kind of this test are in which state, asked for by pages. */
async function states() {
  const sum = {};
  let next = '';
  do {
    const page = await said(server, `/executions?namespace=default&limit=100&kind=${kind}${next && `&cursor=${encodeURIComponent(next)}`}`);
    for (const view of page.items) {
      const state = view.state_vector.eligibility_state === 'blocked_by_operator' ? 'held' : view.public_state;
      sum[state] = (sum[state] ?? 0) + 1;
    }
    ({ next = '' } = page);
  } while (next);
  return sum;
}

async function open(query = `?kind=${kind}`) {
  await page.goto(`${server.url}/executions${query}`);
  await page.locator('tr[data-key]').first().waitFor();
}

const act = (label) => page.locator('.selbar').getByRole('button', { name: `${label}…` }).click();
const sheet = () => page.getByRole('dialog');
const go = (label) => sheet().locator('footer').getByRole('button', { name: label, exact: true }).click();
const selected = () => page.locator('.selbar b').textContent();

test('as many are touched as the sheet says, over several pages, each under a key of its own', async () => {
  await submitMany(60);
  const others = await submitMany(5, { execution_kind: 'other' });
  await open(`?kind=${kind}&from=0`);
  const address = page.url();
  await page.keyboard.press('*');
  assert.equal(await selected(), '50 selected');
  await page.getByRole('button', { name: 'Older' }).click();
  await until('the next page', async () => (await page.locator('tr[data-key]').count()) === 10);
  assert.equal(await selected(), '50 selected', 'kept over pages of the same filter');
  await page.keyboard.press('*');
  assert.equal(await selected(), '60 selected');
  const asks = [];
  let [under, most] = [0, 0];
  await page.route(/\/cancel$/, async (route) => {
    asks.push(route.request());
    most = Math.max(most, (under += 1));
    const answer = await route.fetch();
    under -= 1;
    await route.fulfill({ response: answer });
  });
  await act('Cancel');
  assert.equal(await sheet().locator('h2').textContent(), 'Cancel 60 of 60 selected');
  assert.match(await sheet().locator('.sheet-body').textContent(), /0 running, told to stop; 60 to end at once\./);
  assert.match(await sheet().locator('.sheet-body').textContent(), /and 40 more/);
  assert.equal(asks.length, 0, 'nothing is done before');
  await sheet().getByRole('textbox').fill('not wanted');
  await go('Cancel');
  await until('the sheet is gone', async () => (await sheet().count()) === 0);
  await page.unroute(/\/cancel$/);
  assert.deepEqual(await states(), { cancelled: 60 });
  assert.equal(asks.length, 60);
  assert.equal(new Set(asks.map((ask) => ask.headers()['idempotency-key'])).size, 60);
  assert(most <= AT_ONCE, `${most} at once`);
  for (const id of others) assert.equal((await said(server, `/executions/${encodeURIComponent(id)}`)).public_state, 'waiting');
  assert.equal((await said(server, `/executions?kind=${kind}&limit=1`)).items[0].reason, 'not wanted');
  assert.deepEqual(new URL(page.url()).searchParams.getAll('kind'), [kind]);
  await page.goBack();
  assert.equal(page.url(), address, 'the filter is the same');
  await until('rows say it', async () => (await page.locator('tr[data-key]', { hasText: 'Cancelled' }).count()) === 50);
});

test('those that an act does not fit are counted, and left alone', async () => {
  const own = { lane_id: kind };
  const done = await submitMany(3, own);
  for (const id of done) await server.api('POST', `/executions/${encodeURIComponent(id)}/cancel`, { reason: 'no longer wanted' });
  await submitMany(6, own);
  const web = await worker(server, { lanes: [kind] });
  await web.take();
  await open();
  await page.keyboard.press('*');
  assert.equal(await selected(), '9 selected');
  await act('Cancel');
  assert.equal(await sheet().locator('h2').textContent(), 'Cancel 6 of 9 selected');
  assert.match(await sheet().locator('.sheet-body').textContent(), /1 running, told to stop; 5 to end at once; 3 ended, left alone\./);
  await go('Leave it');
  assert.deepEqual(await states(), { cancelled: 3, active: 1, waiting: 5 }, 'nothing was done');
  await act('Hold');
  assert.equal(await sheet().locator('h2').textContent(), 'Hold 6 of 9 selected');
  await go('Hold');
  await until('the sheet is gone', async () => (await sheet().count()) === 0);
  const { held } = await states();
  assert(held >= 5, `${held} are held`);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.selbar').isVisible(), false);
});

test('what is refused is said with its reason, and the rest is done', async () => {
  const [first, ...rest] = await submitMany(4);
  await open();
  await page.keyboard.press('*');
  // It ends after the list was read, so the page cannot know.
  await page.route(/\/hold$/, async (route) => {
    if (route.request().url().includes(encodeURIComponent(first))) await server.api('POST', `/executions/${encodeURIComponent(first)}/cancel`, { reason: 'no longer wanted' });
    await route.continue();
  });
  await act('Hold');
  await go('Hold');
  await until('a report', async () => (await sheet().locator('h2').textContent().catch(() => '')) === 'Hold: 3 done');
  assert.match(await sheet().locator('.sheet-body').textContent(), /^1 refused: /);
  await page.keyboard.press('Escape');
  await page.unroute(/\/hold$/);
  assert.deepEqual(await states(), { cancelled: 1, held: rest.length });
});

test('a reload midway loses nothing and does nothing twice', async () => {
  await submitMany(30);
  await open();
  await page.keyboard.press('*');
  let passed = 0;
  let stopped;
  const midway = new Promise((resolve) => (stopped = resolve));
  await page.route(/\/cancel$/, async (route) => {
    passed += 1;
    if (passed <= 10) return route.fulfill({ response: await route.fetch() });
    // The rest never reaches the server: the page is left while they are under way.
    if (passed === 10 + AT_ONCE) stopped();
    return undefined;
  });
  await act('Cancel');
  await go('Cancel');
  await midway;
  assert.match(await sheet().locator('[role=status]').textContent(), /^10 of 30$/);
  await page.reload();
  await page.unroute(/\/cancel$/);
  await page.locator('tr[data-key]').first().waitFor();
  assert.deepEqual(new URL(page.url()).search, `?kind=${kind}`);
  assert.deepEqual(await states(), { cancelled: 10, waiting: 20 });
  assert.equal(await page.locator('tr[data-key]', { hasText: 'Cancelled' }).count(), 10);
  await page.keyboard.press('*');
  await act('Cancel');
  assert.equal(await sheet().locator('h2').textContent(), 'Cancel 20 of 30 selected');
  await go('Cancel');
  await until('the sheet is gone', async () => (await sheet().count()) === 0);
  assert.deepEqual(await states(), { cancelled: 30 });
});

test('another filter selects nothing of the one before', async () => {
  await submitMany(3);
  const id = await submit(server, 'other.kind', {});
  await open();
  await page.keyboard.press('*');
  assert.equal(await selected(), '3 selected');
  await page.keyboard.press('/');
  await page.keyboard.type('kind:other.kind');
  await page.keyboard.press('Enter');
  await until('the other list', async () => (await page.locator(`tr[data-key="${id}"]`).count()) === 1);
  assert.equal(await page.locator('.selbar').isVisible(), false);
  assert.deepEqual(page.troubles.filter((line) => !/409/.test(line)), []);
});
