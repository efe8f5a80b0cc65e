// Server-sent events over fetch: a long request that goes on where it was, and that nobody pays for while nobody looks.

import { isPassing, Problem, unreachable } from './api.js';
import { v1 } from './root.js';
import { params } from './url.js';

const HIDDEN_MS = 10_000;
const SILENCE_MS = 40_000;
const BACKOFF_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** One message at a time from the text of a stream. */
export function parser(message) {
  let rest = '';
  let name = 'message';
  let data = [];
  let id;
  const line = (text) => {
    if (text === '') {
      if (data.length > 0) message(name, data.join('\n'), id);
      name = 'message';
      data = [];
      return;
    }
    const [, field, value] = text.match(/^([^:]*):? ?(.*)$/s);
    if (field === 'data') data.push(value);
    else if (field === 'event') name = value;
    else if (field === 'id') id = value;
  };
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    lines.forEach(line);
  };
}

/**
 * Follows `path` until `signal` is aborted; `query` may be a function of the last id, asked at every connection. `on(name, data, id)` gets every message and ends it by returning false;
 * `state('live' | 'lost' | 'quiet', retryAt?)` is told how the connection is; `refused(problem)` ends it. A message `error` is a connection that is lost: who asks again is told with a status what is wrong.
 */
export function follow(path, query, { signal, on, state = () => {}, refused = () => {}, cursor }) {
  let last = cursor;
  let failures = 0;
  let request = null;
  let timer = null;
  let over = false;

  const later = (run, ms) => {
    clearTimeout(timer);
    timer = setTimeout(run, ms);
  };

  const end = () => {
    over = true;
    clearTimeout(timer);
    request?.abort();
    document.removeEventListener('visibilitychange', seen);
  };

  const seen = () => {
    if (document.hidden) {
      later(() => {
        request?.abort('hidden');
        request = null;
        state('quiet');
      }, HIDDEN_MS);
    } else if (request) clearTimeout(timer);
    else open();
  };

  const lost = () => {
    if (over || document.hidden) {
      request = null;
      return;
    }
    const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)];
    failures += 1;
    request = null;
    state('lost', Date.now() + wait);
    later(open, wait);
  };

  async function open() {
    if (over || request) return;
    clearTimeout(timer);
    const mine = new AbortController();
    request = mine;
    try {
      await read(mine);
    } catch (problem) {
      if (over || request !== mine) return;
      if (problem instanceof Problem && !isPassing(problem)) {
        end();
        state('none');
        refused(problem);
        return;
      }
    }
    if (request === mine) lost();
  }

  async function read(mine) {
    const text = params(typeof query === 'function' ? query(last) : query).toString();
    const headers = { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) };
    let watchdog = setTimeout(() => mine.abort('silent'), SILENCE_MS);
    try {
      const response = await fetch(v1(path + (text && `?${text}`)), { headers, signal: mine.signal });
      if (response.status === 401) dispatchEvent(new Event('ff-signed-out'));
      if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({ title: response.statusText })));
      unreachable.set(null);
      state('live');
      const decoder = new TextDecoder();
      const take = parser((name, data, id) => {
        if (over || mine.signal.aborted) return;
        if (id) last = id;
        if (name !== 'error') failures = 0;
        if (on(name, data, id) === false) end();
        else if (name === 'error') mine.abort('error');
      });
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => mine.abort('silent'), SILENCE_MS);
        if (unreachable.get() !== null) unreachable.set(null);
        take(decoder.decode(value, { stream: true }));
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  signal.addEventListener('abort', end, { once: true });
  document.addEventListener('visibilitychange', seen);
  if (!document.hidden) open();
  return end;
}
