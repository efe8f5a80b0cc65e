// Every page, light and dark, on a desktop and a phone: nothing goes wrong, nothing moves by itself, everybody can read it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { open, together, wrongOn } from './look.mjs';
import { said } from './worker.mjs';
import { DESKTOP, PHONE, close, serve, until, visit } from './world.mjs';

// Between the two there are icons instead of the rail, and panels below instead of beside.
const SIZES = { DESKTOP, BETWEEN: { width: 900, height: 800 }, PHONE };
const LISTS = ['/executions', '/flows', '/approvals', '/lanes', '/budgets', '/quotas', '/workers', '/events', '/keys'];
/** What one is told to do first is done as it stands there; these need what a machine may not have. */
const ELSEWHERE = /^(cargo|ff) /;

let server;
const places = [];

before(async () => {
  server = await serve(['dev', '--memory', '--port', '0']);
  const some = (what, path, n = 1) => until(what, async () => {
    const { items } = await said(server, path);
    return items.length >= n && items;
  });
  const waiting = await some('the demo asks two persons', '/approvals', 2);
  const flows = await some('the demo has a flow', '/flows');
  const workers = await some('the demo has a worker', '/workers');
  const { items: budgets } = await said(server, '/budgets');
  const { items: quotas } = await said(server, '/quotas');
  places.push('/', '/executions', '/executions?state=completed&state=failed', `/executions/${waiting[0].execution_id}`);
  places.push('/flows', `/flows/${flows[0].flow_id}`, '/approvals', `/approvals/${waiting[0].execution_id}/${waiting[0].waitpoints[0].waitpoint_id}`);
  places.push('/lanes', '/lanes/default', '/budgets', ...budgets.slice(0, 1).map(({ budget_id: id }) => `/budgets/${id}`));
  places.push('/quotas', ...quotas.slice(0, 1).map(({ quota_policy_id: id }) => `/quotas/${id}`));
  places.push('/workers', `/workers/${encodeURIComponent(workers[0].worker_instance_id)}`, '/events', '/keys', '/sign-in');
});

after(async () => {
  await close();
  await server?.stop();
});

for (const theme of ['light', 'dark']) {
  test(`every page is in order, ${theme} on desktop, phone and between`, async () => {
    const wrong = [];
    await together(Object.entries(SIZES), async ([name, size]) => {
      const page = await visit(null, { size, theme });
      for (const place of places) {
        await open(page, server.url + place);
        wrong.push(...(await wrongOn(page, `${place} on ${name.toLowerCase()}`)));
      }
      await page.leave();
    });
    assert.deepEqual(wrong, []);
  });
}

test('who is asked is told so on the first page, also when the question is fresh', async () => {
  const page = await visit(server.url);
  await until('it says so', async () => /2 approvals wait for a person/.test(await page.locator('.need').allTextContents().then((all) => all.join())));
  await page.getByRole('link', { name: 'Review' }).click();
  await until('the inbox', async () => (await page.locator('.ask').count()) === 2);
  assert.deepEqual(page.troubles, []);
  await page.leave();
});

test('where there is nothing each page says what would be there and how to get it, in any theme and size', async () => {
  const fresh = await serve(['serve', '--store', 'memory:', '--listen', '127.0.0.1:0']);
  const [commands, wrong] = [new Set(), []];
  await together(['light', 'dark'].flatMap((theme) => Object.values(SIZES).map((size) => ({ theme, size }))), async (how) => {
    const page = await visit(null, how);
    for (const place of ['/', ...LISTS]) {
      await open(page, fresh.url + place);
      const says = await page.locator('main .empty p').allTextContents();
      if (!/\w.*\.$/.test(says[0])) wrong.push(`${place} says nothing: ${says}`);
      const codes = await page.locator('main .empty code').allTextContents();
      if (codes.length === 0 && place !== '/events') wrong.push(`${place} does not say how to get it`);
      for (const command of codes) commands.add(command);
      wrong.push(...(await wrongOn(page, `${place}, empty`)));
    }
    await page.leave();
  });
  assert.deepEqual([...new Set(wrong)], []);
  // What they say is right: after each of it there is something.
  const here = [...commands].filter((command) => !ELSEWHERE.test(command));
  assert(here.length >= 4, `only ${here.join('; ')}`);
  for (const command of here) {
    const { stdout } = await promisify(execFile)('bash', ['-c', command.replace(/^curl /, 'curl -sS --fail-with-body ')]);
    assert(stdout.length > 0, command);
  }
  const page = await visit();
  for (const place of ['/', '/executions', '/flows', '/lanes', '/budgets', '/quotas']) {
    await open(page, fresh.url + place);
    await until(`${place} has something`, async () => (await page.locator('main .empty').count()) === 0, 5_000);
  }
  await page.leave();
  await fresh.stop();
});

test('an address that no page has is said to be none', async () => {
  const page = await visit(null, { allows: (said) => /404/.test(said) });
  const reply = await page.goto(`${server.url}/nothing-here`);
  assert.equal(reply.status(), 404);
  await page.leave();
});
