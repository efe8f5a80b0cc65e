// Graphs from five members to a hundred thousand: few elements, found by name, walked by keys, and never late.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeFlow } from './large-flow.mjs';
import { said, worker } from './worker.mjs';
import { FULL, close, serve, until, visit } from './world.mjs';

const NODES = 1_500;
const FRAME_MS = 200;
const SHOWN_MS = 1_000;

let server;
before(async () => {
  server = await serve(['dev', '--memory', '--empty', '--port', '0']);
});
after(async () => {
  await close();
  await server?.stop();
});

const path = (id) => `/flows/${encodeURIComponent(id)}`;

async function make(name, members, edges) {
  const { id, ids } = await makeFlow(server, {
    flow_kind: name,
    members: members.map(([key, execution_kind]) => ({ key, execution_kind, lane_id: name })),
    edges: edges.map(([upstream, downstream]) => ({ upstream, downstream })),
  });
  return { id, lane: name, ids };
}

/** One splits, many fetch, each is parsed, one joins. */
function fan(name, size) {
  const many = Math.floor((size - 2) / 2);
  const each = (of) => Array.from({ length: many }, (_, i) => of(i));
  const members = [['split', 'doc.split'], ...each((i) => [`f${i}`, 'doc.fetch']), ...each((i) => [`p${i}`, 'doc.parse']), ['join', 'doc.join']];
  const edges = [...each((i) => ['split', `f${i}`]), ...each((i) => [`f${i}`, `p${i}`]), ...each((i) => [`p${i}`, 'join'])];
  return make(name, members, edges);
}

/** Layers of members of different kinds, so that little folds. */
function web(name, size) {
  const wide = 50;
  const members = Array.from({ length: size }, (_, i) => [`m${i}`, `kind.${(i * 7) % 11}`]);
  const before = (k) => new Set([0, 13, 31].map((by) => Math.floor(k / wide) * wide + ((k + by * k) % wide)));
  const edges = members.slice(wide).flatMap((_, k) => [...before(k)].map((i) => [`m${i}`, `m${k + wide}`]));
  return make(name, members, edges);
}

const small = (name) => make(
  name,
  [['a', 'order.take'], ['b', 'order.pay'], ['c', 'order.pack'], ['d', 'order.bill'], ['e', 'order.send']],
  [['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'e'], ['d', 'e']],
);

const nodes = (page) => page.evaluate(() => document.querySelectorAll('*').length);
const drawn = (page) => page.waitForFunction(() => document.querySelector('.graph path.box[d^=M], .graph path[class*="box h-"][d^=M]'));
const names = (page) => page.locator('.graph .box-name').allTextContents();

/** How long after the server answered a number of the head was another one. */
async function lateness(page, state, happens) {
  const button = page.locator(`.flow-number[title="${state}"] b`);
  const before = await button.textContent();
  await button.evaluate((el, before) => {
    globalThis.changedAt = new Promise((resolve) => {
      const look = () => (document.querySelector(`.flow-number[title="${el.closest('button').title}"] b`).textContent === before ? requestAnimationFrame(look) : resolve(Date.now()));
      look();
    });
  }, before);
  await happens();
  const answered = Date.now();
  return (await page.evaluate(() => globalThis.changedAt)) - answered;
}

/** The longest time between two frames while the picture is moved and zoomed. */
async function slowest(page) {
  const box = await page.locator('.graph').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.evaluate(() => {
    globalThis.slow = { last: performance.now(), most: 0, over: false };
    const frame = (now) => {
      globalThis.slow.most = Math.max(globalThis.slow.most, now - globalThis.slow.last);
      globalThis.slow.last = now;
      if (!globalThis.slow.over) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  for (let i = 0; i < 30; i += 1) {
    await page.mouse.wheel(i % 2 ? -160 : 200, i % 3 ? 90 : -90);
    await page.keyboard.press(i < 15 ? '-' : '+');
  }
  return page.evaluate(() => {
    globalThis.slow.over = true;
    return globalThis.slow.most;
  });
}

async function isLive(page, flow, members) {
  const writer = await worker(server, { instance: `${flow.lane}-1`, lanes: [flow.lane] });
  const claim = { task: null };
  await page.locator('#link', { hasText: 'Live' }).waitFor();
  const claimed = await lateness(page, 'Running', async () => {
    claim.task = await writer.take();
  });
  const ended = await lateness(page, 'Completed', () => writer.finish(claim.task, 'complete'));
  for (const [what, ms] of Object.entries({ claimed, ended })) assert(ms <= SHOWN_MS, `${members} members: ${what} is shown after ${ms} ms`);
  await writer.leave();
  return { claimed, ended };
}

test('five members: keys go along the lines, and what is found is what is meant', async () => {
  const flow = await small('five');
  const page = await visit(server.url + path(flow.id));
  await drawn(page);
  assert.deepEqual((await names(page)).sort(), ['order.bill', 'order.pack', 'order.pay', 'order.send', 'order.take']);
  assert((await nodes(page)) <= NODES);

  const chosen = () => new URL(page.url()).searchParams.get('at');
  const tail = (i) => flow.ids[i].slice(-8);
  await page.locator('.graph').focus();
  const walk = async (key, i) => {
    await page.keyboard.press(key);
    await until(`${key} leads to ${i}`, () => chosen() === tail(i));
  };
  await walk('ArrowRight', 0);
  await page.keyboard.press('ArrowRight');
  await until('one of its two', () => [tail(1), tail(2)].includes(chosen()));
  const [upper, lower] = chosen() === tail(1) ? [1, 2] : [2, 1];
  const other = chosen() === tail(upper) ? lower : upper;
  // Its neighbour in the layer, one way or the other, and back.
  const before = chosen();
  await page.keyboard.press('ArrowDown');
  if (chosen() === before) await page.keyboard.press('ArrowUp');
  await until('its neighbour', () => chosen() === tail(other));
  await walk('ArrowLeft', 0);
  await page.keyboard.press('Escape');
  await until('nothing', () => chosen() === null);

  const dim = () => page.locator('.graph g.dim').count();
  await page.keyboard.press('f');
  await page.keyboard.type('pack');
  await until('four others step back', async () => (await dim()) === 4);
  assert.equal(await page.locator('.flow-find span.meta').textContent(), '1');
  await page.keyboard.press('Enter');
  await until('it is chosen', () => chosen() === tail(2));
  await page.locator('.flow-find input').fill(tail(4));
  await until('by its id', async () => (await dim()) === 4);
  await page.keyboard.press('Enter');
  await until('that one', () => chosen() === tail(4));

  const { claimed, ended } = await isLive(page, flow, 5);
  assert.deepEqual(page.troubles, []);
  await page.leave();
  console.log(`# five: claimed is shown after ${claimed} ms, ended after ${ended} ms`);
});

const SIZES = [['fan', 400, fan], ['web', 400, web], ['fan', 2_000, fan], ['web', 2_000, web]];
for (const [shape, size, of] of SIZES) {
  test(`${size} members, a ${shape}`, async () => {
    const flow = await of(`${shape}${size}`, size);
    const page = await visit(server.url + path(flow.id));
    await drawn(page);
    const most = { nodes: await nodes(page) };
    if (shape === 'fan') assert.deepEqual((await names(page)).sort(), ['doc.join', 'doc.split', `doc.fetch ×${((size - 2) / 2).toLocaleString('en')}`, `doc.parse ×${((size - 2) / 2).toLocaleString('en')}`].sort());
    const { claimed, ended } = await isLive(page, flow, size);

    // Each by itself, from near and from far.
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.waitForURL(/fold=members/);
    for (const key of ['0', '+', '+', '+', '+', '+', '+', '+']) {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      most.nodes = Math.max(most.nodes, await nodes(page));
    }
    assert(most.nodes <= NODES, `${most.nodes} nodes`);
    const ms = FULL ? await slowest(page) : null;
    if (FULL) assert(ms <= FRAME_MS, `a frame took ${ms} ms`);
    assert.deepEqual(page.troubles, []);
    await page.leave();
    console.log(`# ${shape} of ${size}: ${most.nodes} nodes, claimed ${claimed} ms, ended ${ended} ms${FULL ? `, slowest frame ${Math.round(ms)} ms` : ''}`);
  });
}

if (FULL) {
  test('100,000 members', async () => {
    const flow = await fan('fan100000', 100_000);
    const page = await visit(server.url + path(flow.id));
    await drawn(page);
    assert.equal((await said(server, path(flow.id))).counts.members, 100_000);
    const found = await nodes(page);
    assert(found <= NODES, `${found} nodes`);
    const ms = await slowest(page);
    assert(ms <= FRAME_MS, `a frame took ${ms} ms`);
    assert.deepEqual(page.troubles, []);
    await page.leave();
    console.log(`# 100,000: ${found} nodes, slowest frame ${Math.round(ms)} ms`);
  });
}
