// What a page costs: what it asks for as it opens, nothing while nothing happens, and no more and more while much happens.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open, together } from './look.mjs';
import { oneOfEach } from './one-of-each.mjs';
import { proxy } from './proxy.mjs';
import { submit, worker } from './worker.mjs';
import { FULL, close, serve, settled, until, visit } from './world.mjs';

// How many calls a page may make as it opens, beside who looks (`/me`) and what it is served by (``).
const CALLS = {
  overview: 4, executions: 3, chosen: 3, asks: 6, broken: 6, done: 6, gone: 6, runs: 6, held: 6, late: 6, waits: 6, unpaid: 6,
  flows: 2, flow: 4, approvals: 4, approval: 5, lanes: 2, lane: 4, budgets: 3, budget: 3, quotas: 3, quota: 3, workers: 2, worker: 3, events: 1, keys: 2,
};
const EVERYWHERE = ['GET /v1/me', 'GET /v1'];
/** How long it is quiet. */
const QUIET_MS = FULL ? 60_000 : 8_000;
const REREAD_MS = 6_000;
const ROUNDS = FULL ? 20 : 5;
/** What leads to them, and what they are called. */
const PAGES = { e: 'Executions', f: 'Flows', l: 'Lanes', b: 'Budgets', q: 'Quotas', w: 'Workers', v: 'Events', o: 'Overview' };
/** So much is done while many look, and one of it in this time. */
const PACED = 40;
const PACE_MS = 75;
const MOST_HEAP = 40_000_000;
const GROWTH = 1_500_000;

let server;
let world;

before(async () => {
  server = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
  world = await oneOfEach(server);
});

after(async () => {
  await close();
  await server?.stop();
});

/** A page whose calls are counted: `page.calls`, those under way in `page.pending`, and `page.streams` for what stays open. */
async function counted(how) {
  const page = await visit(null, how);
  Object.assign(page, { calls: [], streams: [], pending: new Set() });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!url.pathname.startsWith('/v1')) return;
    const isStream = request.headers().accept === 'text/event-stream';
    (isStream ? page.streams : page.calls).push(`${request.method()} ${url.pathname}${url.search}`);
    if (!isStream) page.pending.add(request);
  });
  for (const over of ['requestfinished', 'requestfailed']) page.on(over, (request) => page.pending.delete(request));
  return page;
}

/** Has what it needs: nothing is under way, and for half a second nothing was begun. */
async function calm(page) {
  await settled(page);
  let [seen, since] = [-1, 0];
  await until('nothing more is asked for', () => {
    if (seen !== page.calls.length || page.pending.size > 0) [seen, since] = [page.calls.length, Date.now()];
    return Date.now() - since > 500;
  });
}

test('every page asks for each thing once, and for few', async () => {
  const wrong = [];
  await together(Object.entries(world.places), async ([called, place]) => {
    const page = await counted();
    await open(page, server.url + place);
    await calm(page);
    const own = page.calls.filter((call) => !EVERYWHERE.includes(call));
    const twice = page.calls.filter((call, at) => page.calls.indexOf(call) !== at);
    if (twice.length > 0) wrong.push(`${called} asks twice: ${twice.join(', ')}`);
    if (!(own.length <= CALLS[called])) wrong.push(`${called} asks ${own.length} times: ${own.join(', ')}`);
    const streams = new Set(page.streams).size;
    if (streams !== page.streams.length || streams > (place.startsWith('/executions/') ? 2 : 1)) wrong.push(`${called} streams ${page.streams.join(', ')}`);
    wrong.push(...page.troubles.map((trouble) => `${called}: ${trouble}`));
    await page.leave();
  });
  assert.deepEqual(wrong, []);
});

/** How often the store was called so far, by call. */
async function storeCalls(from = server) {
  const text = await (await fetch(`${from.url}/metrics`)).text();
  return Object.fromEntries([...text.matchAll(/^ff_backend_call_seconds_count\{call="(\w+)"\} (\d+)/gm)].map(([, call, n]) => [call, Number(n)]));
}

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const more = (before, after) => Object.fromEntries(Object.entries(after).map(([call, n]) => [call, n - (before[call] ?? 0)]).filter(([, n]) => n > 0));
const sum = (calls) => Object.values(calls).reduce((all, n) => all + n, 0);

test('an open page at which nothing happens asks for nothing, and the store is not called for it', async () => {
  // The one is looked at, and the other is what it costs that a server is there.
  const [quiet, alone] = await Promise.all([1, 2].map(async () => {
    const server = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
    return Object.assign(server, await oneOfEach(server, { isQuiet: true }));
  }));
  // Runs that wait or go on are asked about from time to time: some of what holds them back has no event.
  const names = Object.keys(quiet.places).filter((name) => !['asks', 'runs', 'held', 'late', 'waits', 'unpaid'].includes(name));
  const pages = [];
  await together(names, async (name) => {
    const page = await counted();
    await open(page, quiet.url + quiet.places[name]);
    pages.push([name, page]);
  });
  await Promise.all(pages.map(([, page]) => calm(page)));
  // What was made last is read again some seconds later, once.
  await later(REREAD_MS);
  for (const [, page] of pages) page.calls.length = 0;
  const streams = pages.map(([, page]) => page.streams.length);
  const before = await Promise.all([storeCalls(quiet), storeCalls(alone)]);
  await later(QUIET_MS);
  const after = await Promise.all([storeCalls(quiet), storeCalls(alone)]);
  const [watched, unwatched] = before.map((calls, i) => more(calls, after[i]));
  assert.deepEqual(pages.filter(([, page]) => page.calls.length > 0).map(([name, page]) => [name, page.calls]), []);
  assert.deepEqual(pages.map(([, page]) => page.streams.length), streams, 'nobody connects again');
  const extra = Object.entries(watched).filter(([call, n]) => n > (unwatched[call] ?? 0) + 3);
  assert.deepEqual(extra, [], `alone ${JSON.stringify(unwatched)}, watched ${JSON.stringify(watched)}`);
  for (const [name, page] of pages) {
    assert.deepEqual(await page.evaluate(() => globalThis.shifts), [], `${name} moves by itself`);
    assert.deepEqual(page.troubles, [], name);
    await page.leave();
  }
  await Promise.all([quiet.stop(), alone.stop()]);
});

/** So many runs from their beginning to their end, some at a time. */
async function happen(from, n, lane = 'busy') {
  const crew = await worker(from, { instance: `${lane}-1`, lanes: [lane] });
  for (let left = n; left > 0; left -= 20) {
    const executions = Array.from({ length: Math.min(20, left) }, () => ({ execution_kind: 'busy.work', lane_id: lane }));
    await from.api('POST', '/executions/batch', { executions });
    let open = executions.length;
    while (open > 0) {
      const tasks = [await crew.take(open)].flat();
      await crew.exchange({ finished: tasks.map((task, i) => ({ ...crew.fence(task), ...(i === 3 ? { op: 'fail', category: 'permanent', reason: 'no' } : { op: 'complete', result: 1 }) })) });
      open -= tasks.length;
    }
  }
  await crew.leave();
}

const LIVE = ['overview', 'executions', 'flow', 'approvals', 'lanes', 'lane', 'budget', 'workers', 'runs', 'events'];

test('nothing moves by itself while much happens, and nothing goes wrong', async () => {
  const pages = [];
  for (const name of LIVE) {
    const page = await counted();
    await open(page, server.url + world.places[name]);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
    await calm(page);
    pages.push([name, page]);
  }
  await happen(server, 60, 'mail2');
  await world.web.steps(world.running, [{ key: 'later#0', output: 1, started_at: Date.now() - 10 }], { message: 'nearly', pct: 90 });
  const asks = await submit(server, 'mail.send', {});
  await world.web.ask(await world.web.take());
  const shows = {
    overview: (page) => page.locator('tr[data-key=mail2]'), executions: (page) => page.getByText(/new · show/), approvals: (page) => page.locator('.ask').nth(1),
    lanes: (page) => page.locator('tr[data-key=mail2]'), runs: (page) => page.locator('.tl-step', { hasText: 'later#0' }), events: (page) => page.locator('td', { hasText: 'suspended' }),
  };
  for (const [name, page] of pages) await shows[name]?.(page).first().waitFor();
  // A lane that there was not is not seen until somebody asks for it.
  const [, overview] = pages.find(([name]) => name === 'overview');
  const fits = async () => {
    const [row, table] = [await overview.locator('tr[data-key=mail2]').boundingBox(), await overview.locator('.table').boundingBox()];
    return row.y + row.height <= table.y + table.height + 1;
  };
  assert.equal(await fits(), false);
  for (const [name, page] of pages) {
    assert.deepEqual(await page.evaluate(() => globalThis.shifts), [], `${name} moves by itself`);
    assert.deepEqual(page.troubles, [], name);
    if (name === 'overview') {
      await page.getByRole('button', { name: /^\d+ new · show$/ }).click();
      await until('then it is seen', fits);
    }
    await page.leave();
  }
  await server.api('POST', `/executions/${encodeURIComponent(asks)}/cancel`, { reason: 'over' });
});

test('what somebody reads among the events stays where it is, and what is new waits', async () => {
  const page = await visit(server.url + world.places.events);
  const rows = page.locator('tbody tr');
  const first = () => rows.first().textContent();
  await until('the events so far', async () => (await rows.count()) > 10);
  const [before, many] = [await first(), await rows.count()];
  await rows.nth(3).hover();
  const id = await submit(server, 'read.it', { lane_id: 'mail' });
  const button = page.getByRole('button', { name: /^\d+ new · go on/ });
  await button.waitFor();
  assert.equal(await first(), before);
  assert.equal(await rows.count(), many);
  // Who reads no more is shown it.
  await page.mouse.move(0, 0);
  await until('it is shown', async () => /read\.it/.test(await first()));
  assert.equal(await rows.count(), many + 1);
  // The same for who is there with keys, until they ask for it.
  await rows.nth(2).locator('a').focus();
  await server.api('POST', `/executions/${encodeURIComponent(id)}/cancel`, { reason: 'read' });
  await button.waitFor();
  assert.equal(await rows.count(), many + 1);
  await page.keyboard.press('p');
  await until('it is shown', async () => (await rows.count()) === many + 2);
  assert.deepEqual(await page.evaluate(() => globalThis.shifts), []);
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

/** What a page holds when nothing is left to be thrown away. */
async function holds(page) {
  page.devtools ??= await page.context().newCDPSession(page);
  await page.devtools.send('Performance.enable');
  for (let i = 0; i < 3; i += 1) await page.devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await page.devtools.send('Performance.getMetrics');
  const of = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  return { heap: of.JSHeapUsedSize, nodes: of.Nodes, listeners: of.JSEventListeners };
}

test('pages that stay open hold no more and more', async () => {
  const pages = [];
  for (const name of ['overview', 'executions', 'lane', 'budget', 'workers']) {
    const page = await visit(server.url + world.places[name]);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
    pages.push([name, page]);
  }
  const grown = async (round) => {
    await happen(server, 40, 'grow');
    const marker = await submit(server, `marker.${round}`, { lane_id: 'grow' });
    await pages[1][1].getByText(/new · show/).waitFor();
    await server.api('POST', `/executions/${encodeURIComponent(marker)}/cancel`, { reason: 'counted' });
    return Promise.all(pages.map(([, page]) => holds(page)));
  };
  await grown('warm');
  const first = await grown('first');
  let last = first;
  for (let round = 0; round < ROUNDS; round += 1) last = await grown(round);
  for (const [at, [name, page]] of pages.entries()) {
    const [a, b] = [first[at], last[at]];
    assert(b.heap < MOST_HEAP, `${name} holds ${b.heap} bytes`);
    assert(b.heap - a.heap < GROWTH, `${name} grew from ${a.heap} to ${b.heap} bytes`);
    assert(b.listeners - a.listeners < 40 * ROUNDS, `${name} listens ${b.listeners} times, and ${a.listeners} before`);
    assert.deepEqual(page.troubles, [], name);
    await page.leave();
  }
});

test('who goes from page to page takes nothing along', async () => {
  const page = await visit(server.url);
  const round = async () => {
    for (const [key, title] of Object.entries(PAGES)) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await settled(page);
    }
    await page.locator('#link', { hasText: 'Live' }).waitFor();
    return holds(page);
  };
  await round();
  const first = await round();
  let last = first;
  for (let i = 0; i < ROUNDS; i += 1) last = await round();
  assert(last.heap - first.heap < GROWTH, `grew from ${first.heap} to ${last.heap} bytes`);
  // However many rounds: a page that is left is gone, with all it listened to.
  assert(last.listeners - first.listeners < 20, `listens ${last.listeners} times, and ${first.listeners} before`);
  assert(last.nodes - first.nodes < 300, `${last.nodes} nodes, and ${first.nodes} before`);
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

/** The browser says that the page is not looked at, or that it is again. */
const hide = (page, isHidden) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);

test('a page that nobody looks at holds no connection, and goes on when it is seen', async () => {
  const way = await proxy(server.url);
  const page = await visit(null);
  await page.clock.install();
  await page.goto(way.url + world.places.runs);
  await page.locator('#link', { hasText: 'Live' }).waitFor();
  await hide(page, true);
  await page.clock.fastForward(11_000);
  const { length } = way.asked;
  await until('it says that it is quiet', async () => (await page.locator('#link').textContent()) !== 'Live');
  await world.web.steps(world.running, [{ key: 'unseen#0', output: 1, started_at: Date.now() - 10 }]);
  await page.clock.fastForward(60_000);
  assert.deepEqual(way.asked.slice(length), [], 'asked while nobody looked');
  await hide(page, false);
  await page.clock.fastForward(1_000);
  await page.locator('#link', { hasText: 'Live' }).waitFor();
  await page.clock.fastForward(6_000);
  await page.locator('.tl-step', { hasText: 'unseen#0' }).waitFor();
  assert.deepEqual(page.troubles, []);
  await page.leave();
  await way.stop();
});

test('seven tabs of one browser work, which gives a server six connections', async () => {
  const first = await visit(null, { allows: (said) => said.startsWith('window:') });
  const tabs = [];
  const names = ['runs', 'overview', 'executions', 'flow', 'approvals', 'lanes', 'events'];
  for (const name of names) {
    const tab = tabs.length === 0 ? first : await first.context().newPage();
    await tab.clock.install();
    await tab.goto(server.url + world.places[name]);
    await settled(tab);
    await tab.locator('#link', { hasText: 'Live' }).waitFor();
    // Whoever opens another one looks at that.
    await hide(tab, true);
    await tab.clock.fastForward(11_000);
    tabs.push(tab);
  }
  for (const [at, tab] of tabs.entries()) {
    await hide(tab, false);
    await tab.clock.fastForward(1_000);
    await until(`${names[at]} goes on`, async () => (await tab.locator('#link').textContent()) === 'Live');
    await hide(tab, true);
    await tab.clock.fastForward(11_000);
  }
  assert.deepEqual(first.troubles, []);
  await first.leave();
});

test('as many who look as there may be cost the store what one costs', async () => {
  const shared = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
  /** Streams that are read and thrown away. */
  const look = async (n) => {
    const end = new AbortController();
    const replies = await Promise.all(Array.from({ length: n }, (_, i) => {
      const path = i % 2 ? '/v1/overview?namespace=default' : '/v1/events?namespace=default&from=now&batch_ms=500';
      return fetch(shared.url + path, { headers: { accept: 'text/event-stream' }, signal: end.signal });
    }));
    assert(replies.every(({ status }) => status === 200));
    const streams = replies.map(({ body }) => body.pipeTo(new WritableStream()).catch(() => {}));
    return async () => {
      end.abort();
      await Promise.all(streams);
    };
  };
  /** What happens is the same each time, one thing after the other: nothing shares a commit by chance. */
  const crew = await worker(shared, { instance: 'paced-1', lanes: ['paced'] });
  const work = async (times = PACED) => {
    const began = Date.now();
    for (let i = 0; i < times; i += 1) {
      await submit(shared, 'paced.work', { lane_id: 'paced' });
      await crew.finish(await crew.take(), 'complete', { result: 1 });
      await later(began + (i + 1) * PACE_MS - Date.now());
    }
  };
  // Not the first: what is done once is done.
  await work(1);
  const spent = async (n) => {
    const leave = await look(n);
    await later(PACE_MS);
    const before = await storeCalls(shared);
    await work();
    const calls = more(before, await storeCalls(shared));
    await leave();
    return calls;
  };
  const [few, many] = [await spent(2), await spent(200)];
  const said = JSON.stringify([few, many]);
  // Whoever looks writes nothing, and what is read for them is read once for all.
  assert.equal(many.commit, few.commit, said);
  for (const calls of [few, many]) delete calls.commit;
  assert(sum(many) <= sum(few) * 1.2, `${sum(few)} calls for one of each, ${sum(many)} for a hundred: ${said}`);
  await crew.leave();
  await shared.stop();
});
