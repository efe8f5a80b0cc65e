// A reader finds no act on any page, asks for nothing it may not have, and is refused whatever it tries by hand.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { as, close, makeKeys, serve, settled, signedIn, until } from './world.mjs';
import { submit, worker } from './worker.mjs';

// What somebody may press who only looks, a line for each page that has something of its own.
const LOOKS = new Set([
  '15 m', '1 h', '6 h', '24 h', 'as table', 'Copy id', 'Workers', 'Review',
  'lane', 'kind', 'state', 'held by', 'failed with', 'flow', 'worker', 'created from', 'created before', 'order', 'tag',
  'Copy the id', 'Copy the idY', 'Copy as curl', 'Why?E', 'Gaps folded', 'True scale', 'review#0', 'Signals', 'History', 'Attempts',
  'Find in this flow', 'Critical path', 'Groups', 'Members', 'List', 'Zoom out', '100 %', 'Zoom in', 'Show all of it', 'Open',
  'State', 'Kind', '0completed', '0running', '0failed', '1waiting', '0for upstream',
  'Any lane', 'default', 'PauseP', 'what', 'execution',
]);
let server;
let keys;
const places = [];
const made = {};

before(async () => {
  server = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
  keys = await makeKeys(server, { root: 'admin', rea: 'reader' });
  const act = async (method, path, body) => {
    const { status, body: told } = await server.api(method, path, body, as(keys.root));
    assert(status < 300, `${path}: ${status} ${JSON.stringify(told)}`);
    return told;
  };
  const web = await worker(server, { key: keys.root });
  made.asks = await submit(server, 'mail.send', {}, keys.root);
  await web.ask(await web.take());
  made.broken = await submit(server, 'web.fetch', {}, keys.root);
  await web.finish(await web.take(), 'fail', { category: 'timeout', reason: 'too slow' });
  made.runs = await submit(server, 'web.fetch', {}, keys.root);
  await web.take();
  ({ flow_id: made.flow } = await act('POST', '/flows', { flow_kind: 'import' }));
  await submit(server, 'web.fetch', { flow_id: made.flow }, keys.root);
  made.waits = await submit(server, 'web.fetch', { lane_id: 'mail' }, keys.root);
  ({ budget_id: made.budget } = await act('POST', '/budgets', { dimensions: { cents: { hard: 100 } } }));
  await act('POST', `/budgets/${made.budget}/usage`, { deltas: { cents: 200 } });
  await submit(server, 'web.fetch', { lane_id: 'mail', policy: { budget_ids: [made.budget] } }, keys.root);
  const { quota_policy_id: quota } = await act('POST', '/quotas', { max_requests_per_window: 5, window_seconds: 60 });
  const [{ waitpoint_id: point }] = (await act('GET', `/executions/${encodeURIComponent(made.asks)}/pending-waitpoints`)).items;
  const run = (name) => `/executions/${encodeURIComponent(made[name])}`;
  places.push(['/'], ['/executions', 'Select'], [run('asks'), 'Resume without an answer…'], [run('broken'), 'Replay from a step…']);
  places.push([run('runs'), 'Take the lease away…'], [run('waits'), 'Hold'], ['/flows'], [`/flows/${made.flow}`, 'Cancel…']);
  places.push(['/approvals', 'ApproveA'], [`/approvals/${encodeURIComponent(made.asks)}/${point}`, 'RejectR'], ['/lanes'], ['/lanes/mail', 'Pause']);
  places.push(['/budgets', 'New'], [`/budgets/${made.budget}`, 'Reset…'], ['/quotas'], [`/quotas/${quota}`], ['/workers'], ['/workers/web-7', 'Drain…']);
  places.push(['/events']);
});

after(async () => {
  await close();
  await server?.stop();
});

/** What can be pressed on a page, with the entries of its menus. */
async function pressable(page) {
  const all = await page.locator('main :is(button, a.btn, summary, input, select, textarea)').evaluateAll((els) => {
    const seen = els.filter((el) => el.checkVisibility() && el.ariaHasPopup !== 'menu');
    return seen.map((el) => el.textContent.trim() || el.ariaLabel || el.placeholder || el.type);
  });
  const menus = page.locator('main [aria-haspopup=menu]:visible');
  for (let at = 0; at < (await menus.count()); at += 1) {
    await menus.nth(at).click();
    all.push(...(await page.locator('.popup [role=menuitem]').allTextContents()));
    await page.keyboard.press('Escape');
  }
  return all;
}

test('a reader finds no act on any page, and nothing is asked for that a reader may not have', async () => {
  const reader = await signedIn(server, keys.rea);
  for (const [place] of places) {
    await reader.goto(server.url + place);
    await settled(reader);
    assert.deepEqual((await pressable(reader)).filter((name) => !LOOKS.has(name)), [], place);
    assert.deepEqual(reader.troubles, [], place);
  }
  assert.equal(await reader.locator('#rail [data-s=keys]').isVisible(), false);
  await reader.leave();
});

test('whoever may act finds the acts there', async () => {
  const admin = await signedIn(server, keys.root);
  for (const [place, act] of places.filter(([, act]) => act)) {
    await admin.goto(server.url + place);
    await until(`${act} on ${place}`, async () => (await pressable(admin)).includes(act));
  }
  assert.equal(await admin.locator('#rail [data-s=keys]').isVisible(), true);
  await admin.leave();
});

test('single keys of a reader do nothing, and are not listed', async () => {
  const reader = await signedIn(server, keys.rea);
  const asked = [];
  reader.on('request', (request) => request.method() !== 'GET' && asked.push(request.url()));
  for (const name of ['asks', 'broken', 'runs', 'waits']) {
    await reader.goto(`${server.url}/executions/${encodeURIComponent(made[name])}`);
    await settled(reader);
    for (const key of 'chrax') await reader.keyboard.press(key);
  }
  await reader.goto(`${server.url}/approvals`);
  await settled(reader);
  for (const key of 'ar') await reader.keyboard.press(key);
  await reader.keyboard.press('?');
  const listed = await reader.getByRole('dialog').locator('.keys td:last-child').allTextContents();
  assert(listed.includes('Go to executions'));
  assert.deepEqual(listed.filter((label) => /Approve|Reject/.test(label)), []);
  assert.deepEqual(asked, []);
  assert.deepEqual(reader.troubles, []);
  await reader.leave();
});

test('whatever a reader may not is refused by hand, with the key and with the cookie', async () => {
  const { body: me } = await server.api('GET', '/me', undefined, as(keys.rea));
  const { paths } = await (await fetch(`${server.url}/openapi.json`)).json();
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: name }]) => (name ? [{ path, method: method.toUpperCase(), name }] : [])));
  const beyond = all.filter(({ name }) => !me.may.includes(name));
  for (const name of ['cancel_execution', 'approve', 'hold', 'replay_execution', 'create_key', 'get_result', 'revoke_lease', 'drain_worker']) {
    assert(beyond.some((one) => one.name === name), `${name} is beyond a reader`);
  }
  const real = { execution_id: encodeURIComponent(made.asks), lane_id: 'mail', worker_instance_id: 'web-7', budget_id: made.budget, flow_id: made.flow };
  const calls = beyond.map(({ path, method, name }) => [name, method, path.replace(/\{(\w+)\}/g, (_, field) => real[field] ?? '0')]);
  const answers = await Promise.all(calls.map(async ([name, method, path]) => {
    const init = { method, headers: { ...as(keys.rea), 'content-type': 'application/json' }, body: method === 'GET' ? undefined : '{}' };
    return `${name} ${(await fetch(server.url + path, init)).status}`;
  }));
  assert.deepEqual(answers, calls.map(([name]) => `${name} 403`));
  const reader = await signedIn(server, keys.rea);
  await reader.goto(`${server.url}/lanes`);
  await settled(reader);
  const byHand = await reader.evaluate((all) => Promise.all(all.map(async ([name, method, path]) => {
    const init = { method, headers: { 'X-FF-Page': '1', 'content-type': 'application/json' }, body: method === 'GET' ? undefined : '{}' };
    return `${name} ${(await fetch(path, init)).status}`;
  })), calls);
  assert.deepEqual(byHand, answers);
  await reader.goto(`${server.url}/keys`);
  await until('the page of keys says why it shows none', async () => /needs the role admin/.test(await reader.locator('main').textContent()));
  await reader.leave();
});
