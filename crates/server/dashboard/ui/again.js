// Reading again what may have changed, and never showing what is older than what is shown.

import { isPassing } from '../core/api.js';
import { happenings } from './happened.js';

const READ_MS = 5_000;
const ROWS_MS = 1_000;

/** A problem of a later read is not worth the page: the numbers keep their age, and the bar says what is lost. */
export const quiet = (problem) => problem.status >= 0 || problem.name === 'AbortError' || console.error(problem);

/** What an act does when it is done: the page is read again. */
export const after = (read) => () => void read().catch(quiet);

/** `show` gets what `ask` brings, unless it was asked again since. */
export function newest(ask, show) {
  let asked = 0;
  return async () => {
    const mine = (asked += 1);
    try {
      const answer = await ask();
      return mine === asked ? await show(answer) : undefined;
    } catch (problem) {
      if (mine === asked) throw problem;
    }
  };
}

/** Reads rows again that changed: at most once a second, `most` of them at once, and those again for which no answer came. */
export function rereader(read, most, until, ms = ROWS_MS) {
  const changed = new Set();
  let timer = null;
  // A page that is left is not kept for what it would have read.
  until.addEventListener('abort', () => clearTimeout(timer), { once: true });
  const later = () => {
    if (changed.size > 0 && !until.aborted) timer ??= setTimeout(run, ms);
  };
  async function run() {
    const ids = [...changed].slice(0, most);
    for (const id of ids) changed.delete(id);
    try {
      await read(ids);
    } catch (problem) {
      if (isPassing(problem)) for (const id of ids) changed.add(id);
      else quiet(problem);
    }
    timer = null;
    later();
  }
  return (ids) => {
    for (const id of ids) changed.add(id);
    later();
  };
}

/** Reads again what the overview says may have changed: never more often than this, and never in a quiet store. */
export function again(ctx, read) {
  const happened = happenings();
  let timer = null;
  ctx.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  ctx.overview((said) => {
    if (!happened(said)) return;
    timer ??= setTimeout(() => {
      timer = null;
      if (!ctx.signal.aborted) Promise.resolve(read(said)).catch(quiet);
    }, READ_MS);
  });
}
