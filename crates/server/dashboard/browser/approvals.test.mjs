// Deciding: an approval lets its execution go on, everybody who looks hears of it, and of two who decide at once one wins.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { as, close, makeKeys, serve, settled, signedIn, until } from './world.mjs';
import { submit, worker } from './worker.mjs';

const SECOND_MS = 1_000;
let server;
let keys;
let web;

before(async () => {
  server = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
  keys = await makeKeys(server, { root: 'admin', ana: 'operator', li: 'operator' });
  web = await worker(server, { key: keys.root });
});

after(async () => {
  await close();
  await server?.stop();
});

/** An execution that asks whether it may go on: its id, and the one of what it waits at. */
async function asked(title, kind = 'mail.send') {
  const id = await submit(server, kind, {}, keys.root);
  const task = await web.take();
  await web.frames(task, [{ mode: 'summary', payload: { approvals: { 'review#0': { title, to: 'ana@example.org' } } } }]);
  await web.ask(task);
  const { body } = await server.api('GET', `/executions/${encodeURIComponent(id)}/pending-waitpoints`, undefined, as(keys.root));
  return { id, address: `/approvals/${encodeURIComponent(id)}/${encodeURIComponent(body.items[0].waitpoint_id)}` };
}

async function decisions(id) {
  const { body } = await server.api('GET', `/executions/${encodeURIComponent(id)}/history`, undefined, as(keys.root));
  return body.items.filter(({ what }) => what === 'signalled').map(({ detail }) => detail);
}

async function open(name, address, how) {
  const page = await signedIn(server, keys[name], how);
  await page.goto(server.url + address);
  await settled(page);
  return page;
}

const decider = async (name, address, how) => {
  const page = await open(name, address, how);
  await page.getByRole('button', { name: 'Approve A' }).waitFor();
  return page;
};
const press = (page, name) => page.getByRole('button', { name }).click();
const said = (page) => page.locator('.ask.told').allTextContents();

/** Notes when `selector` first says what `text` matches, in a page that is open already. */
const watch = (page, selector, text) =>
  page.evaluate(([selector, text]) => {
    const look = () => {
      if (globalThis.seenAt || !new RegExp(text).test(document.querySelector(selector)?.textContent)) return;
      globalThis.seenAt = Date.now();
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  }, [selector, text]);

async function seenWithin(page, from, what) {
  const at = await until(what, () => page.evaluate(() => globalThis.seenAt));
  assert(at - from <= SECOND_MS, `${what}: after ${at - from} ms`);
}

test('what is approved goes on, which a second browser shows within a second', async () => {
  const { id, address } = await asked('Send 40 mails?');
  const ana = await decider('ana', address);
  assert.equal(await ana.locator('.ask-pane h2').textContent(), 'Send 40 mails?');
  assert.match(await ana.locator('.shown').textContent(), /ana@example\.org/);
  const run = await open('li', `/executions/${encodeURIComponent(id)}`);
  const inbox = await open('li', '/approvals');
  await until('both listen', async () => (await run.locator('#link').textContent()) === 'Live' && (await inbox.locator('#link').textContent()) === 'Live');
  assert.match(await run.locator('.run-banner').textContent(), /Waits for a person at review#0/);
  await watch(run, '.run-banner', 'Waits for a worker|Ready to');
  await watch(inbox, '.p-approvals', 'approved by ana');
  await ana.locator('#note').fill('go on');
  const pressed = Date.now();
  await press(ana, 'Approve A');
  await seenWithin(run, pressed, 'the page of the execution says that it goes on');
  await seenWithin(inbox, pressed, 'the inbox of the other says who decided');
  await until('the own inbox says it', async () => (await said(ana)).some((line) => /Send 40 mails\?approved by ana, just now/.test(line)));
  const task = await web.take();
  assert.equal(task.execution_id, id, 'a worker is given it again');
  const { body } = await server.api('GET', `/executions/${encodeURIComponent(id)}/signals`, undefined, as(keys.root));
  assert.deepEqual(body.items[0].payload, { text: 'go on' });
  await web.finish(task, 'complete');
  await until('then it leaves', async () => (await ana.locator('.ask').count()) === 0);
  for (const page of [ana, run, inbox]) {
    assert.deepEqual(page.troubles, []);
    await page.leave();
  }
});

test('of two who decide at once one wins, and the other is told who did', async () => {
  const { id, address } = await asked('Delete everything?');
  const pages = { ana: await decider('ana', address), li: await decider('li', address) };
  await pages.li.locator('#note').fill('not today');
  // Both requests are under way before the server sees the first one.
  let [held, release] = [0, null];
  const both = new Promise((resolve) => (release = resolve));
  for (const page of Object.values(pages)) {
    await page.route(/\/waitpoints\//, async (route) => {
      held += 1;
      if (held === 2) release();
      await both;
      await route.continue();
    });
  }
  await Promise.all([press(pages.ana, 'Approve A'), press(pages.li, 'Reject R')]);
  const won = await until('somebody has decided', async () => (await decisions(id))[0]);
  const [, verdict, winner] = /^(approved|rejected) at review#0, from (ana|li)$/.exec(won);
  assert.equal(verdict, winner === 'ana' ? 'approved' : 'rejected');
  const slower = winner === 'ana' ? 'li' : 'ana';
  const line = new RegExp(`^Delete everything\\?${verdict} by ${winner}, just now$`);
  for (const page of Object.values(pages)) await until('both inboxes name the winner', async () => (await said(page)).some((says) => line.test(says)));
  await until('who was slower is told', async () =>
    (await pages[slower].locator('.toast').allTextContents()).some((says) => new RegExp(`^${winner} was faster: ${verdict} .* ago\\.$`).test(says)));
  assert.equal(await pages[winner].locator('.toast').count(), 0, 'the winner is told nothing');
  assert.equal((await decisions(id)).length, 1, 'one decision is in the history');
  for (const page of Object.values(pages)) {
    assert.deepEqual(page.troubles, [], 'a conflict is no error');
    await page.leave();
  }
  await web.finish(await web.take(), 'complete');
});

test('a lost answer is asked for again, and nothing is decided twice', async () => {
  const { id, address } = await asked('Pay the bill?');
  const ana = await decider('ana', address, { allows: (line) => /ERR_/.test(line) });
  const asks = [];
  await ana.route(/\/approve$/, async (route) => {
    asks.push(route.request().headers()['idempotency-key']);
    if (asks.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await press(ana, 'Approve A');
  await until('it says so in the end', async () => (await said(ana)).some((line) => /approved by ana/.test(line)));
  assert.equal(asks.length, 2);
  assert.equal(asks[0], asks[1], 'the same click has the same key');
  assert.equal((await decisions(id)).length, 1);
  assert.equal(await ana.locator('.toast.h-red').count(), 0);
  assert.deepEqual(ana.troubles, []);
  await ana.leave();
  await web.finish(await web.take(), 'complete');
});

test('a rejection needs a reason, and is told to the handler', async () => {
  const { id, address } = await asked('Post it?');
  const li = await decider('li', address);
  await press(li, 'Reject R');
  assert.equal(await li.evaluate(() => document.activeElement.id), 'note', 'asks for the reason');
  assert.deepEqual(await decisions(id), []);
  await li.keyboard.type('wrong channel');
  await press(li, 'Reject R');
  await until('the inbox says it', async () => (await said(li)).some((line) => /rejected by li, just now/.test(line)));
  assert.deepEqual(await decisions(id), ['rejected at review#0, from li']);
  assert.deepEqual(li.troubles, []);
  await li.leave();
  await web.finish(await web.take(), 'complete');
});

test('what is no longer there is not offered for a decision', async () => {
  const { id, address } = await asked('Still?');
  const ana = await decider('ana', address);
  await server.api('POST', `/executions/${encodeURIComponent(id)}/cancel`, { reason: 'no longer wanted' }, as(keys.root));
  await until('the inbox says so', async () => (await said(ana)).some((line) => /no longer waits/.test(line)));
  assert.equal(await ana.getByRole('button', { name: 'Approve A' }).count(), 0);
  assert.deepEqual(ana.troubles, []);
  await ana.leave();
});
