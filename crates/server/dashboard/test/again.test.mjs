import assert from 'node:assert/strict';
import test from 'node:test';
import { isPassing, Problem } from '../core/api.js';
import { newest, rereader } from '../ui/again.js';
import { chosen } from '../ui/chosen.js';

const problem = (status) => new Problem(status, { code: 'x', title: 'No' });

test('what a server cannot answer now is asked again, what it refuses is not', () => {
  for (const status of [0, 429, 500, 502, 503, 504]) assert.equal(isPassing(problem(status)), true, status);
  for (const status of [400, 401, 403, 404, 409, 410, 422]) assert.equal(isPassing(problem(status)), false, status);
});

test('what stands beside a list stays while it is there, and an address means itself alone', () => {
  const key = (item) => item;
  assert.equal(chosen(['a', 'b'], key), 'a');
  assert.equal(chosen(['new', 'a', 'b'], key, undefined, 'a'), 'a', 'what came first since changes nothing');
  assert.equal(chosen(['new', 'b'], key, undefined, 'a'), 'new', 'what is gone is left');
  assert.equal(chosen(['a', 'b'], key, 'b', 'a'), 'b');
  assert.equal(chosen(['a', 'b'], key, 'c', 'a'), undefined, 'nothing stands for what is named and not there');
  assert.equal(chosen([], key), undefined);
});

/** A question that is answered by hand: `answers[0](value)`, and refused by `refusals[0](problem)`. */
function asked() {
  const [answers, refusals] = [[], []];
  return { answers, refusals, ask: () => new Promise((resolve, reject) => (answers.push(resolve), refusals.push(reject))) };
}

test('an answer that was overtaken is not shown, and neither is why there is none', async () => {
  const { answers, refusals, ask } = asked();
  const shown = [];
  const read = newest(ask, (value) => shown.push(value));
  const all = [read(), read(), read()];
  answers[2]('third');
  answers[0]('first');
  refusals[1](problem(500));
  await Promise.all(all);
  assert.deepEqual(shown, ['third']);
  const last = read();
  refusals[3](problem(500));
  await assert.rejects(last, { status: 500 });
});

test('rows are read again a few at a time, until there was an answer for each', async () => {
  const reads = [];
  const ends = new AbortController();
  let refuses = [problem(0), problem(503)];
  const done = new Promise((resolve) => {
    const again = rereader(async (ids) => {
      reads.push(ids);
      const refused = refuses.shift();
      if (refused) throw refused;
      if (reads.flat().includes('c') && reads.length === 4) resolve();
    }, 2, ends.signal, 1);
    again(['a', 'b', 'c']);
    again(['a']);
  });
  await done;
  assert.deepEqual(reads.slice(2).flat().sort(), ['a', 'b', 'c']);
  assert(reads.every((ids) => ids.length <= 2));
  ends.abort();
});

test('rows that are refused are not asked for again', async () => {
  let reads = 0;
  const again = rereader(async () => {
    reads += 1;
    throw problem(404);
  }, 10, new AbortController().signal, 1);
  again(['a']);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(reads, 1);
});
