// The one long request of a tab: events, or the overview's numbers.

import { follow } from './sse.js';
import { signal } from './store.js';
import { now } from './time.js';

const BATCH_MS = 500;
const MARGIN_MS = 1_000;

/** How the connection is: {state: 'none' | 'live' | 'lost' | 'quiet', since, retryAt}. */
export const connection = signal({ state: 'none' });

let current = null;

function only(path, query, until, on, refused, back = () => {}) {
  current?.abort();
  const mine = new AbortController();
  current = mine;
  const stop = () => mine.abort();
  until.addEventListener('abort', stop, { once: true });
  mine.signal.addEventListener('abort', () => {
    until.removeEventListener('abort', stop);
    if (current === mine) connection.set({ state: 'none' });
  });
  follow(path, query, {
    signal: mine.signal,
    on,
    refused,
    state(word, retryAt) {
      const before = connection.get();
      const since = word === 'lost' && before.state === 'lost' ? before.since : Date.now();
      if (current === mine) connection.set({ state: word, since, retryAt });
      if (word === 'live' && before.state === 'lost') back();
    },
  });
}

/**
 * Events of a filter from now on, or from its `from`, and `back` when the connection was lost and what an event made a page read may be, too; `reset` when some were missed
 * for good, `refused(problem)` when there are none to be had.
 */
export function events(filter, until, { lines, reset, refused }) {
  let begin = filter.from;
  const open = () => {
    let from = 'now';
    // Who connects again before anything happened goes on where it began.
    const query = () => {
      const asked = { batch_ms: BATCH_MS, ...filter, from: begin ?? from };
      from = Math.floor(now()) - MARGIN_MS;
      return asked;
    };
    only(
      '/events',
      query,
      until,
      (name, data) => {
        const said = JSON.parse(data);
        if (name === 'batch') lines(said);
        return said.code !== 'cursor_expired' || missed();
      },
      (problem) => (problem.code === 'cursor_expired' ? missed() : refused(problem)),
      () => lines({ lines: [], skipped: 0, back: true }),
    );
  };
  const missed = () => {
    if (until.aborted) return false;
    begin = undefined;
    open();
    reset();
    return false;
  };
  open();
}

/** The newest numbers of the overview, for whoever shows some of them. */
export const snapshot = signal(null);

export function overview(namespace, until, refused) {
  only('/overview', { namespace }, until, (name, data) => {
    if (name === 'overview') snapshot.set(JSON.parse(data));
  }, refused);
}
