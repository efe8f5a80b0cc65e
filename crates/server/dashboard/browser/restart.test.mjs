// A server that is killed and comes back, connections that break, events that are gone: the page says so, shows what is, and offers nothing that is over.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { proxy } from './proxy.mjs';
import { said, submit, worker } from './worker.mjs';
import { close, serve, until, visit } from './world.mjs';

const EVENTS_KEPT = 20;
const HOUR_MS = 3_600_000;
/** As long as a server that is asked to go takes at most, whoever looks at it. */
const DRAIN_MS = 5_000;

let folder;
let port;
let server;

/** The same store at the same address, now or again. One partition, so that a few events are many for it. */
const start = () =>
  serve(['serve', '--store', 'sqlite:ff.db', '--listen', `127.0.0.1:${port}`, '--flow-partitions', '1', '--events-max-per-partition', String(EVENTS_KEPT)], { folder });

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ff-restart-'));
  const free = net.createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  port = free.address().port;
  free.close();
  await once(free, 'close');
  server = await start();
});
after(async () => {
  await close();
  await server?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const path = (id) => `/executions/${encodeURIComponent(id)}`;
const lost = (line) => /net::ERR_/.test(line);
const chip = (page, word) => page.locator('.head .state-chip', { hasText: word });
const isLost = (page) => page.locator('#lost:not([hidden])');

/** A run that waits for a person. */
async function asks(lane) {
  const id = await submit(server, 'demo.letter', { lane_id: lane });
  const writer = await worker(server, { instance: `${lane}-1`, lanes: [lane] });
  await writer.ask(await writer.take());
  await writer.leave();
  return id;
}

/** A person says yes, and what was asked goes on to its end. */
async function ends(id, lane) {
  const { suspension } = await said(server, path(id));
  const { status } = await server.api('POST', `${path(id)}/waitpoints/${suspension.waitpoints[0].waitpoint_id}/approve`, {});
  assert.equal(status, 200);
  const writer = await worker(server, { instance: `${lane}-2`, lanes: [lane] });
  await writer.finish(await writer.take(), 'complete', { result: 'sent' });
  await writer.leave();
}

test('a server that was killed is missed at once and found again, and nothing stale can be done', async () => {
  const id = await asks('killed');
  const { body: flow } = await server.api('POST', '/flows/graph', {
    flow_kind: 'letters', members: [{ key: 'a', execution_kind: 'demo.greet', lane_id: 'flow' }, { key: 'b', execution_kind: 'demo.greet', lane_id: 'flow' }],
  });
  const places = [path(id), '/', `/flows/${encodeURIComponent(flow.flow_id)}`, '/approvals'];
  const pages = await Promise.all(places.map((place) => visit(server.url + place, { allows: lost })));
  const [run, , graph, inbox] = pages;
  for (const page of pages) await page.locator('#link', { hasText: 'Live' }).waitFor();
  await chip(run, 'Waits for a person').waitFor();
  await inbox.locator('.ask').first().waitFor();

  await server.kill();
  for (const page of pages) {
    await isLost(page).waitFor();
    assert.match(await page.locator('#lost').textContent(), /^Not connected since \d\d:\d\d:\d\d, trying again( in \d s)?$/);
    assert.equal(await page.locator('#link').textContent(), 'Not connected');
  }
  // What was there is still to be read, and acts are refused at once, with that reason.
  await run.getByRole('button', { name: 'Cancel…' }).click();
  await run.locator('.toast', { hasText: 'Not connected: nothing was done.' }).waitFor();
  assert.equal(await run.locator('dialog[open]').count(), 0);
  await chip(run, 'Waits for a person').waitFor();

  server = await start();
  await ends(id, 'killed');
  const member = await worker(server, { instance: 'flow-1', lanes: ['flow'] });
  await member.finish(await member.take(), 'complete');
  for (const page of pages) {
    await until('the bar is gone', async () => (await isLost(page).count()) === 0);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
  }
  await chip(run, 'Completed').waitFor();
  await until('nothing to cancel', async () => (await run.getByRole('button', { name: 'Cancel…' }).count()) === 0);
  await until('nobody is asked', async () => (await inbox.locator('.ask:not(.told)').count()) === 0);
  await until('one member ended', async () => (await graph.locator('.flow-number[title=Completed] b').textContent()) === '1');
  for (const page of pages) {
    assert.deepEqual(page.troubles, []);
    await page.leave();
  }
});

test('a server that lets go and is replaced is missed for a moment, and the page goes on where it was', async () => {
  const id = await submit(server, 'demo.letter', { lane_id: 'drained' });
  const writer = await worker(server, { instance: 'drained-1', lanes: ['drained'] });
  const task = await writer.take();
  await writer.frames(task, [{ payload: 'before ', correlation_id: 'say#0' }]);
  const places = [path(id), '/', '/executions', '/events'];
  const pages = await Promise.all(places.map((place) => visit(server.url + place, { allows: lost })));
  const [run, , list, events] = pages;
  for (const page of pages) await page.locator('#link', { hasText: 'Live' }).waitFor();
  const output = () => run.locator('.out-text').allTextContents();
  await until('its words', async () => (await output()).join('') === 'before ');

  const began = Date.now();
  await server.drain();
  assert(Date.now() - began < DRAIN_MS, `open pages held the server for ${Date.now() - began} ms`);
  for (const page of pages) await isLost(page).waitFor();
  server = await start();
  for (const page of pages) {
    await until('the bar is gone', async () => (await isLost(page).count()) === 0);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
  }
  // The lease is still held, so what is written and done now comes after what was there, and nothing comes twice.
  await writer.frames(task, [{ payload: 'and after', correlation_id: 'say#0' }]);
  await until('all its words', async () => (await output()).join('') === 'before and after');
  await writer.finish(task, 'complete', { result: 'sent' });
  await chip(run, 'Completed').waitFor();
  await until('its row', async () => /Completed/.test(await list.locator(`tr[data-key="${id}"]`).textContent()));
  await until('its event', async () => (await events.locator('tr', { hasText: 'demo.letter' }).filter({ hasText: 'completed' }).count()) === 1);
  for (const page of pages) {
    assert.deepEqual(page.troubles, []);
    await page.leave();
  }
  await writer.leave();
});

test('an answer that breaks off in the middle is asked for again', async () => {
  const way = await proxy(server.url);
  const id = await asks('broken');
  const page = await visit(way.url + path(id), { allows: lost });
  await chip(page, 'Waits for a person').waitFor();
  await page.locator('#link', { hasText: 'Live' }).waitFor();
  // The event comes through; what the page then reads does not.
  const { length } = way.asked;
  await page.route(`**/v1${path(id)}`, async (route) => {
    const whole = await (await route.fetch()).body();
    await route.fulfill({ status: 200, headers: { 'content-type': 'application/json' }, body: whole.subarray(0, 100) });
  }, { times: 1 });
  await ends(id, 'broken');
  await chip(page, 'Completed').waitFor();
  assert(way.asked.slice(length).filter((line) => line === `GET /v1${path(id)}`).length >= 1);
  assert.deepEqual(page.troubles, []);
  await page.leave();
  await way.stop();
});

test('an act whose answer is lost is asked for again and done once', async () => {
  const id = await asks('held');
  const page = await visit(server.url + path(id), { allows: lost });
  const keys = [];
  page.on('request', (request) => request.method() === 'POST' && keys.push(request.headers()['idempotency-key']));
  await page.route(`**/v1${path(id)}/hold`, async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  }, { times: 1 });
  await page.getByRole('button', { name: 'Hold' }).click();
  await page.getByRole('button', { name: 'Let go' }).waitFor();
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  const { items } = await said(server, `${path(id)}/history`);
  assert.equal(items.filter(({ what }) => what === 'held').length, 1);
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('a page that was away for longer than events are kept reads everything anew', async () => {
  const way = await proxy(server.url);
  const [heard, fresh] = [await asks('heard'), await asks('fresh')];
  const allows = (line) => lost(line) || /410/.test(line);
  const [one, other] = [await visit(way.url + path(heard), { allows }), await visit(way.url + path(fresh), { allows })];
  for (const page of [one, other]) await page.locator('#link', { hasText: 'Live' }).waitFor();
  // One has heard something, so it comes back with a cursor; the other comes back with a moment.
  const { status } = await server.api('PUT', `${path(heard)}/priority`, { priority: 7 });
  assert.equal(status, 200);
  await one.locator('.facts', { hasText: '7' }).waitFor();

  way.down();
  await ends(heard, 'heard');
  await ends(fresh, 'fresh');
  for (let i = 0; i < 4 * EVENTS_KEPT; i += 1) await submit(server, 'demo.greet', { lane_id: 'many' });
  for (const page of [one, other]) await isLost(page).waitFor();
  const { length } = way.asked;
  way.down(false);
  for (const page of [one, other]) {
    await chip(page, 'Completed').waitFor();
    await until('the bar is gone', async () => (await isLost(page).count()) === 0);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
  }
  assert(way.asked.length > length);
  // And they hear what happens from then on.
  for (const [page, id] of [[one, heard], [other, fresh]]) {
    const replayed = await server.api('POST', `${path(id)}/replay`, {});
    assert.equal(replayed.status, 200, JSON.stringify(replayed.body));
    await chip(page, 'Waiting').waitFor();
    assert.deepEqual(page.troubles, []);
    await page.leave();
  }
  await way.stop();
});

test('a clock that is set anew makes nothing older or younger', async () => {
  const id = await asks('clock');
  const page = await visit(server.url + path(id));
  const ages = () => page.locator('.run-banner').textContent();
  await chip(page, 'Waits for a person').waitFor();
  await page.evaluate((by) => {
    const real = Date.now;
    Date.now = () => real() + by;
  }, HOUR_MS);
  const before = await ages();
  await until('a second passes', async () => (await ages()) !== before);
  assert.doesNotMatch(await ages(), /\d h/);
  assert.deepEqual(page.troubles, []);
  await page.leave();
});
