// The address is the state: every filter set by hand is in it, and a reload or a way back shows the same rows.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { close, serve, settled, until, visit } from './world.mjs';
import { said, submit, worker } from './worker.mjs';

const HOUR_MS = 3_600_000;
let server;
let page;
let flow;
// Executions by a name of this file, in the order in which they were submitted.
const made = new Map();

async function make(name, kind, more) {
  made.set(name, await submit(server, kind, more));
  return made.get(name);
}

/** The ids of these, as a list has them: the newest first. */
const ids = (...names) => [...made].filter(([name]) => names.length === 0 || names.includes(name)).map(([, id]) => id).reverse();

before(async () => {
  server = await serve(['dev', '--memory', '--empty', '--port', '0']);
  const act = async (method, path, body) => {
    const { status, body: told } = await server.api(method, path, body);
    assert(status < 300, `${path}: ${status} ${JSON.stringify(told)}`);
    return told;
  };
  ({ flow_id: flow } = await act('POST', '/flows', { flow_kind: 'import' }));
  const web = await worker(server, { instance: 'web-7' });
  await make('done', 'web.fetch', { tags: { tenant: 'acme' } });
  await web.finish(await web.take(), 'complete');
  await make('broken', 'web.fetch', { tags: { tenant: 'acme' } });
  await web.finish(await web.take(), 'fail', { category: 'timeout', reason: 'too slow' });
  await make('runs', 'web.fetch', { tags: { tenant: 'other' } });
  await web.take();
  await make('member', 'web.fetch', { flow_id: flow });
  await make('late', 'web.fetch', { delay_until: Date.now() + HOUR_MS });
  await make('mail', 'mail.send', { lane_id: 'mail', priority: 5 });
  await make('urgent', 'mail.send', { lane_id: 'mail', priority: 9 });
  await make('kept', 'mail.send', { lane_id: 'mail' });
  await act('POST', `/executions/${encodeURIComponent(made.get('kept'))}/hold`, {});
  await make('gone', 'mail.send', { lane_id: 'mail' });
  await act('POST', `/executions/${encodeURIComponent(made.get('gone'))}/cancel`, { reason: 'no longer wanted' });
  page = await visit();
  page.setDefaultTimeout(10_000);
});

after(async () => {
  await close();
  await server?.stop();
});

const rows = () => page.locator('.table:not(.dim) tr[data-key]').evaluateAll((all) => all.map((row) => row.dataset.key));

async function shows(wanted, when) {
  let seen;
  const isSo = async () => JSON.stringify((seen = await rows())) === JSON.stringify(wanted);
  await until(`${when}: rows`, isSo, 5_000).catch(() => {
    const names = (list) => list.map((id) => [...made].find(([, known]) => known === id)?.[0] ?? id);
    assert.deepEqual(names(seen), names(wanted), when);
  });
}

/** Sets one filter as a person does; the menu of a filter that takes `one` value closes with it. */
async function set(label, { pick = [], text, one = false }) {
  await page.locator('.chip.add').click();
  await page.getByRole('menuitem', { name: label, exact: true }).click();
  const form = page.locator('.popup form');
  for (const value of pick) await form.locator('.menu').getByRole('button', { name: value, exact: true }).click();
  if (text !== undefined) await form.getByRole('searchbox').fill(text);
  if (!one) await form.getByRole('button', { name: 'Apply' }).click();
}

const query = () => {
  const all = {};
  for (const [name, value] of new URL(page.url()).searchParams) (all[name] ??= []).push(value);
  return all;
};

const CASES = [
  { label: 'lane', pick: ['mail'], asks: { lane: ['mail'] }, finds: ['mail', 'urgent', 'kept', 'gone'] },
  { label: 'kind', pick: ['mail.send', 'web.fetch'], asks: { kind: ['mail.send', 'web.fetch'] }, finds: [] },
  { label: 'state', pick: ['Completed', 'Failed'], asks: { state: ['completed', 'failed'] }, finds: ['done', 'broken'] },
  { label: 'held by', pick: ['hold'], asks: { cause: ['hold'] }, finds: ['kept'] },
  { label: 'failed with', pick: ['timeout'], one: true, asks: { category: ['timeout'] }, finds: ['broken'] },
  { label: 'flow', text: () => flow, asks: () => ({ flow: [flow] }), finds: ['member'] },
  { label: 'worker', text: () => 'web-7', asks: { worker: ['web-7'] }, finds: ['done', 'broken', 'runs'] },
  { label: 'tag', text: () => 'tenant=acme', asks: { 'tag.tenant': ['acme'] }, finds: ['done', 'broken'] },
];

for (const { label, pick, one, text, asks, finds } of CASES) {
  test(`a filter by ${label} is in the address, and survives a reload and the way back`, async () => {
    await page.goto(`${server.url}/executions`);
    await shows(ids(), 'all');
    await set(label, { pick, one, text: text?.() });
    await shows(ids(...finds), 'set by hand');
    assert.deepEqual(query(), typeof asks === 'function' ? asks() : asks);
    await page.reload();
    await shows(ids(...finds), 'after a reload');
    await page.goBack();
    await shows(ids(), 'one step back');
    await page.goForward();
    await shows(ids(...finds), 'and forward');
    await page.locator('.chip-group').getByRole('button', { name: /^Drop/ }).click();
    await shows(ids(), 'the filter was dropped');
    assert.deepEqual(query(), {});
  });
}

test('moments are filters, too', async () => {
  for (const [label, finds] of [['created from', ids()], ['created before', []]]) {
    await page.goto(`${server.url}/executions`);
    await shows(ids(), 'all');
    await set(label, { pick: ['15 m ago'], one: true });
    const param = label === 'created from' ? 'from' : 'to';
    await until('the address has it', () => Math.abs(Number(query()[param]) - Date.now() + HOUR_MS / 4) < HOUR_MS / 60);
    await shows(finds, label);
    const address = page.url();
    await page.reload();
    await shows(finds, `${label}, after a reload`);
    assert.equal(page.url(), address);
  }
  // No rows are there before anything is, too.
  await page.locator('.empty a').first().waitFor();
  assert.deepEqual(await page.locator('.empty a').allTextContents(), ['Without created before']);
  await page.locator('.empty a').click();
  await shows(ids(), 'without the filter that hid them');
});

test('filters add up, the order of a lane is one of them, and what no page knows is kept', async () => {
  await page.goto(`${server.url}/executions?utm=mail`);
  await shows(ids(), 'all');
  await set('lane', { pick: ['mail'] });
  await set('order', { pick: ['next in line, of one lane'], one: true });
  const line = ['urgent', 'mail'].map((name) => made.get(name));
  await shows(line, 'next in line');
  assert.deepEqual(query(), { utm: ['mail'], lane: ['mail'], order: ['next'] });
  await page.reload();
  await shows(line, 'after a reload');
  await page.goBack();
  await shows(ids('mail', 'urgent', 'kept', 'gone'), 'one step back');
  await page.getByRole('navigation', { name: 'States' }).getByRole('link', { name: /^Cancelled/ }).click();
  await shows(ids('gone'), 'by the strip of states');
  assert.deepEqual(query(), { utm: ['mail'], lane: ['mail'], state: ['cancelled'] });
});

test('a way back finds the row that was left', async () => {
  await page.goto(`${server.url}/executions?kind=web.fetch`);
  const left = ids('done', 'broken', 'runs', 'member', 'late')[2];
  await page.locator(`tr[data-key="${left}"] .row-link`).click();
  await settled(page);
  assert.equal(new URL(page.url()).pathname, `/executions/${encodeURIComponent(left)}`);
  await page.goBack();
  await until('the row has the focus', () => page.evaluate((id) => document.activeElement.closest('tr')?.dataset.key === id, left));
});

test('a filter that is kept under a name opens the same rows for whoever follows it', async () => {
  await page.goto(`${server.url}/executions?lane=mail&state=waiting`);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Keep this filter…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Mail that waits');
  await page.getByRole('button', { name: 'Keep', exact: true }).click();
  await until('its tab is chosen', () => page.locator('nav.seg a[aria-current]', { hasText: 'Mail that waits' }).count());
  assert.deepEqual(query(), { lane: ['mail'], state: ['waiting'], view: ['mail-that-waits'] });
  const { items } = await said(server, '/views?namespace=default');
  assert.equal(items[0].query, '?lane=mail&state=waiting');
  await page.goto(`${server.url}/executions`);
  await page.locator('nav.seg a', { hasText: 'Mail that waits' }).click();
  await until('the address has it', () => query().view?.[0] === 'mail-that-waits');
  assert.deepEqual(query().state, ['waiting']);
});

test('filters of other pages are in the address, too', async () => {
  await page.goto(`${server.url}/events`);
  await settled(page);
  await set('what', { pick: ['cancelled', 'held'] });
  await set('lane', { pick: ['mail'], one: true });
  await until('the address has both', () => query().lane);
  assert.deepEqual(query(), { what: ['cancelled', 'held'], lane: ['mail'] });
  await page.reload();
  await settled(page);
  assert.deepEqual(await page.locator('.chip-group > .chip:first-child').allTextContents(), ['whatcancelled, held', 'lanemail']);
  await page.goBack();
  await until('one chip fewer', async () => (await page.locator('.chip-group').count()) === 1);
  assert.deepEqual(page.troubles, []);
});
