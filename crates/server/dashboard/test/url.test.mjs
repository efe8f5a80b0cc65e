import assert from 'node:assert/strict';
import test from 'node:test';
import { asked, canonical, idLike, params, route, typed, viewName, withQuery } from '../core/url.js';

test('every page has a path, and its parts have names', () => {
  assert.deepEqual(route('/'), { page: 'overview', section: 'overview', params: {} });
  assert.deepEqual(route('/executions'), { page: 'executions', section: 'executions', params: {} });
  assert.deepEqual(route('/executions/fp%3A1%3Aab'), { page: 'execution', section: 'executions', params: { id: 'fp:1:ab' } });
  assert.deepEqual(route('/approvals/x/y').params, { execution: 'x', waitpoint: 'y' });
  assert.deepEqual(route('/lanes/a%20b').params, { lane: 'a b' });
  assert.equal(route('/workers/w-1').page, 'workers');
});

test('what is no page is none', () => {
  for (const path of ['/nothing', '/approvals/x', '/events/1', '/lanes/a/b', '/constructor', '/lanes/%zz', '/docs'])
    assert.equal(route(path), null, path);
});

test('values of a list are repeated and what is empty is left out', () => {
  assert.equal(params({ a: ['x', 'y'], b: null, c: '', d: 0, e: undefined }).toString(), 'a=x&a=y&d=0');
});

test('changing a parameter keeps the others, also those nobody knows', () => {
  assert.equal(withQuery('?ns=a&strange=1&lane=x&lane=y', { lane: ['z'] }), '?ns=a&strange=1&lane=z');
  assert.equal(withQuery('?lane=x', { lane: null }), '');
  assert.equal(withQuery('', { 'tag.tenant': 'a=b&c' }), '?tag.tenant=a%3Db%26c');
});

test('what is typed becomes a filter', () => {
  assert.deepEqual(typed('kind:web* lane:agents tenant=acme failed').query, {
    kind: ['web*'],
    lane: ['agents'],
    'tag.tenant': ['acme'],
    state: ['failed'],
  });
  assert.deepEqual(typed('held lane:a lane:b').query, { state: ['rate_limited'], lane: ['a', 'b'] });
  assert.deepEqual(typed(' research.agent '), { query: {}, words: ['research.agent'], id: null });
  assert.deepEqual(typed('state:person').query, { state: ['suspended'] });
  assert.deepEqual(typed('a=b=c').query, { 'tag.a': ['b=c'] });
});

test('an id is known by its form', () => {
  assert.equal(idLike('019a72c4-1111-7222-8333-944455556666'), 'whole');
  assert.equal(idLike('fp:12:019a72c4-1111-7222-8333-944455556666'), 'whole');
  assert.equal(idLike('{fp:12}:019a72c4-1111-7222-8333-944455556666'), 'whole');
  assert.equal(idLike('9e4bc17d'), 'tail');
  assert.equal(idLike('019a72c4-11'), 'prefix');
  assert.equal(idLike('019a72c411'), 'prefix');
  assert.equal(idLike('research'), null);
  assert.equal(typed('9e4bc17d').id, 'tail');
  assert.equal(typed('9e4bc17d failed').id, null);
});

test('the API is asked in its own names', () => {
  assert.deepEqual(asked('?ns=n&lane=a&lane=b&tag.k=v=w&from=1&to=2&after=c&view=x&cause=hold'), {
    namespace: ['n'],
    lane: ['a', 'b'],
    tag: ['k=v=w'],
    created_from: ['1'],
    created_before: ['2'],
    cursor: ['c'],
    cause: ['hold'],
  });
  assert.deepEqual(asked('?utm=mail&constructor=1&order=next'), { order: ['next'] }, 'what the API does not know stays in the address');
});

test('an id has one spelling', () => {
  assert.equal(canonical('fp:12:019a72c4-1111-7222-8333-944455556666'), '{fp:12}:019a72c4-1111-7222-8333-944455556666');
  assert.equal(canonical('{fp:12}:019a72c4-1111-7222-8333-944455556666'), '{fp:12}:019a72c4-1111-7222-8333-944455556666');
  assert.equal(canonical('anything'), 'anything');
});

test('views that are called alike have names of their own', () => {
  assert.equal(viewName('Mail that waits', []), 'mail-that-waits');
  assert.equal(viewName('Mail, that waits!', ['mail-that-waits']), 'mail-that-waits-2');
  assert.equal(viewName('отказы', ['view', 'view-2']), 'view-3');
  assert(viewName('x'.repeat(80), ['x'.repeat(60)]).length <= 64);
});
