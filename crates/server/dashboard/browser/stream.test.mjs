// The live output of a run: whatever the connection does, the page shows what the ledger has, once and in its order.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { proxy } from './proxy.mjs';
import { said, submit, worker } from './worker.mjs';
import { FULL, close, serve, until, visit } from './world.mjs';

const FRAMES = FULL ? 5_000 : 900;
const AT_ONCE = 50;
/** Connections end after so many bytes, in the middle of a message as a rule. */
const ROOM = FULL ? 60_000 : 40_000;
/** As many blocks as a page keeps. */
const KEPT = 2_000;

let server;
let way;
before(async () => {
  server = await serve(['dev', '--memory', '--empty', '--port', '0']);
  way = await proxy(server.url);
});
after(async () => {
  await close();
  await way?.stop();
  await server?.stop();
});

const path = (id) => `/executions/${encodeURIComponent(id)}`;
const lost = (line) => /net::ERR_/.test(line);
/** Text with characters of one to four bytes, line ends among it. */
const word = (i) => `${['word', 'grün', '漢字', '🙂', 'end.\n'][i % 5]}${i} `;
const token = (i) => ({ payload: word(i), correlation_id: `say#${Math.floor(i / 300)}/0` });
const range = (from, to, of) => Array.from({ length: to - from }, (_, i) => of(from + i));

/** Every frame of an attempt, as curl reads them. */
async function ledger(id, attempt = 0) {
  const all = [];
  for (let from = 'start'; ; ) {
    const { frames } = await said(server, `${path(id)}/attempts/${attempt}/stream?limit=1000&from=${from}`);
    const fresh = frames.filter((frame) => frame.id !== from);
    if (fresh.length === 0) return all;
    all.push(...fresh);
    from = all.at(-1).id;
  }
}

/** What frames say together, each step by itself. */
function texts(frames) {
  const steps = new Map();
  for (const { correlation_id: step = '', payload, payload_base64: bytes } of frames) {
    steps.set(step, [...(steps.get(step) ?? []), bytes === undefined ? Buffer.from(payload) : Buffer.from(bytes, 'base64')]);
  }
  return [...steps.values()].map((parts) => Buffer.concat(parts).toString());
}

/** A run of its own, and who works on it. */
async function begun(lane, how) {
  const writer = await worker(server, { instance: `${lane}-7`, lanes: [lane] });
  const id = await submit(server, 'demo.talk', { lane_id: lane });
  return { id, writer, task: await writer.take(1, how) };
}

const shown = (page) => page.locator('.out-text').evaluateAll((all) => all.map((el) => el.textContent));
/** Whether exactly that is there. */
const same = async (page, frames) => JSON.stringify(await shown(page)) === JSON.stringify(texts(frames));
const status = (page) => page.locator('.out-foot span').first().textContent();

test('a connection that is cut again and again loses no word and says none twice', async () => {
  const { id, writer, task } = await begun('cut');
  const page = await visit(way.url + path(id), { allows: lost });
  const before = way.cuts;
  way.cutAfter(ROOM);
  for (let i = 0; i < FRAMES; i += AT_ONCE) await writer.frames(task, range(i, Math.min(FRAMES, i + AT_ONCE), token));
  await until('the whole text is there', async () => (await shown(page)).join('').length >= texts(await ledger(id)).join('').length, 120_000);
  way.cutAfter(Infinity);
  const frames = await ledger(id);
  assert.equal(frames.length, FRAMES);
  assert.deepEqual(await shown(page), texts(frames));
  assert(way.cuts - before >= 3, `cut only ${way.cuts - before} times`);
  // Readings that were cut are made again: the page knows the end of what it shows.
  await writer.finish(task, 'complete', { result: 'done' });
  await page.locator('.out-foot', { hasText: 'Ended' }).waitFor();
  await page.locator('.head .state-chip', { hasText: 'Completed' }).waitFor();
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('a connection that says nothing any more is given up and goes on elsewhere', async () => {
  const { id, writer, task } = await begun('stalled');
  const page = await visit(null, { allows: lost });
  await page.clock.install();
  await page.goto(way.url + path(id));
  await writer.frames(task, range(0, 5, token));
  await until('five words', async () => same(page, await ledger(id)));
  way.stall();
  await writer.frames(task, range(5, 9, token));
  // A server that lives says so every 15 s.
  await page.clock.fastForward(41_000);
  await until('nine words', async () => {
    await page.clock.runFor(500);
    return same(page, await ledger(id));
  });
  await writer.finish(task, 'complete');
  await page.leave();
});

test('a character that two frames share is one', async () => {
  const { id, writer, task } = await begun('shared');
  const page = await visit(server.url + path(id));
  const bytes = Buffer.from('a🙂b漢c');
  const parts = [...bytes].map((byte) => ({ payload_base64: Buffer.from([byte]).toString('base64'), payload_type: 'text/plain' }));
  await writer.frames(task, parts);
  await until('all of it', async () => (await shown(page)).join('') === 'a🙂b漢c');
  await writer.finish(task, 'complete');
  await page.leave();
});

test('who pauses stays where they are, is told how much is new, and comes to the newest again', async () => {
  const { id, writer, task } = await begun('paused');
  await writer.frames(task, range(0, 300, (i) => ({ payload: `\nline ${i}` })));
  const page = await visit(server.url + path(id));
  const view = page.locator('.out-scroll');
  const place = () => view.evaluate((el) => ({ top: el.scrollTop, atEnd: el.scrollHeight - el.scrollTop - el.clientHeight < 2 }));
  await until('it follows', async () => (await place()).atEnd && (await status(page)) === 'Following');

  await page.keyboard.press('p');
  assert.equal(await status(page), 'Paused');
  const { top } = await place();
  await writer.frames(task, range(300, 312, (i) => ({ payload: `\nline ${i}` })));
  await until('12 new', async () => (await status(page)) === '12 new');
  assert.equal((await place()).top, top);
  await page.keyboard.press('.');
  await until('the newest', async () => (await place()).atEnd && (await status(page)) === 'Following');

  // Scrolling up is a pause, too, and scrolling to the end its end.
  await view.hover();
  await page.mouse.wheel(0, -900);
  await until('it pauses', async () => (await status(page)) === 'Paused');
  const high = (await place()).top;
  await writer.frames(task, range(312, 340, (i) => ({ payload: `\nline ${i}` })));
  await until('28 new', async () => (await status(page)) === '28 new');
  assert.equal((await place()).top, high);
  await page.mouse.wheel(0, 9_000);
  await until('it follows again', async () => (await status(page)) === 'Following');
  assert.deepEqual(page.troubles, []);
  await writer.finish(task, 'complete');
  await page.leave();
});

test('a new attempt says so, and what it writes takes the place of what was interrupted', async () => {
  const { id, writer, task: first } = await begun('again', { ttl: 1_000 });
  const page = await visit(server.url + path(id));
  await writer.frames(first, [{ payload: 'kept', correlation_id: 'plan#0/0' }, { payload: 'half a', correlation_id: 'draft#0/0' }]);
  await writer.steps(first, [{ key: 'plan#0', output: 'kept' }]);
  await until('two blocks', async () => (await shown(page)).length === 2);

  const other = await worker(server, { instance: 'web-8', lanes: ['again'] });
  const second = await other.take();
  assert.equal(second.attempt_index, 1);
  await other.frames(second, [{ payload: 'a whole draft', correlation_id: 'draft#0/0' }]);
  await until('the new draft', async () => (await shown(page)).join('|') === 'kept|a whole draft');
  await until('its line', async () => (await page.locator('.out-attempt').allTextContents()).join('|') === 'attempt 1 · web-8 · 1 step from the journal');

  // A second try within an attempt takes the place of the first, too, and says which it is.
  await other.frames(second, [{ payload: 'better', correlation_id: 'draft#0/1' }]);
  await until('the second try', async () => (await shown(page)).join('|') === 'kept|better');
  assert.match(await page.locator('.out').last().textContent(), /try 2/);
  await other.finish(second, 'complete');
  await other.leave();
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('of very many blocks the newest stay, and older ones are read back', async () => {
  const { id, writer, task } = await begun('many');
  const [early, each] = [60, 30];
  const frames = [
    ...range(0, early * each, (i) => ({ payload: `${i} `, correlation_id: `long#${Math.floor(i / each)}/0` })),
    ...range(0, KEPT, (i) => ({ payload: `short ${i}`, correlation_id: `short#${i}/0` })),
  ];
  for (let i = 0; i < frames.length; i += 1_000) await writer.frames(task, frames.slice(i, i + 1_000));
  const page = await visit(server.url + path(id));
  const count = () => page.locator('.out').count();
  await until('the newest', async () => (await page.locator('.out').last().textContent())?.includes(`short ${KEPT - 1}`), 30_000);
  assert.equal(await count(), KEPT);
  const all = texts(await ledger(id));
  assert.deepEqual(await shown(page), all.slice(early));
  const button = page.getByRole('button', { name: 'Older output' });
  for (let kept = KEPT; kept < all.length; kept = await count()) {
    await button.click();
    await until('more of it', async () => (await count()) > kept);
  }
  assert.deepEqual(await shown(page), all);
  assert.equal(await button.count(), 0);
  assert.deepEqual(page.troubles, []);
  await writer.finish(task, 'complete');
  await page.leave();
});
