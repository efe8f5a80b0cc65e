// What is known of one execution: read once, then only what an event touches, and no more often than once a second.

import { get, p } from '../core/api.js';
import { now } from '../core/time.js';
import { refused } from '../ui/act.js';
import { inOrder } from './intervals.js';

const ONCE_A_MS = 1_000;
const PAGE = 1_000;
/** Lines that say more in the history than in an event. */
const TELLING = new Set(['blocked', 'held', 'retry_scheduled', 'signalled', 'resumed', 'failed', 'cancelled', 'expired', 'skipped']);
/** Lines after which attempts are others. */
const ATTEMPTS = new Set(['claimed', 'retry_scheduled', 'reclaimable', 'completed', 'failed', 'cancelled', 'expired', 'replayed']);
const ENDED = ['completed', 'failed', 'cancelled', 'expired', 'skipped'];

export const isOver = (view) => view.completed_at !== undefined;
/** Whether nothing will change about a step any more. */
const isSettled = ({ state, child }) => ['done', 'failed'].includes(state) && ENDED.includes(child?.public_state ?? 'completed');

/** `changed()` is called whenever something is known anew; `run` is what is known. */
export function loader(id, signal, changed) {
  const run = { view: null, explain: null, attempts: [], history: [], steps: [], frames: new Map() };
  const path = (rest = '') => p`/executions/${id}` + rest;
  const ask = (rest, query) => get(path(rest), query, { signal });

  let stepsAt = 0;
  async function steps() {
    stepsAt = now();
    let from = run.steps.find((step) => !isSettled(step))?.seq ?? (run.steps.at(-1)?.seq ?? -1) + 1;
    const kept = run.steps.filter((step) => step.seq < from);
    const known = new Map(kept.map((step) => [step.key, step]));
    do {
      const page = await ask('/steps', { from_seq: from, limit: PAGE });
      for (const step of page.items) {
        known.delete(step.key);
        known.set(step.key, step);
      }
      from = page.next;
    } while (from !== undefined);
    run.steps = [...known.values()];
  }

  const view = async () => {
    run.view = await ask('');
  };
  const explain = async () => {
    run.explain = isOver(run.view) ? null : await ask('/explain');
  };
  const attempts = async () => {
    run.attempts = (await ask('/attempts', { limit: PAGE })).items;
  };
  const history = async () => {
    run.history = inOrder((await ask('/history', { limit: PAGE })).items);
  };

  let wanted = new Set();
  let last = 0;
  let timer = null;
  const reads = { view, attempts, history, steps, explain };

  async function read(names) {
    await Promise.all([...names].filter((name) => name !== 'explain').map((name) => reads[name]()));
    if (names.has('explain')) await explain();
    changed();
  }

  /** Reads these again soon. Without an answer that waits for the next time: the bar of the connection says so. */
  function soon(...names) {
    for (const name of names) wanted.add(name);
    if (timer !== null || signal.aborted) return;
    timer = setTimeout(async () => {
      let lost = false;
      const asked = wanted;
      wanted = new Set();
      last = Date.now();
      await read(asked).catch((problem) => {
        lost = problem.status === 0;
        if (lost) for (const name of asked) wanted.add(name);
        else if (problem.status === 404) run.problem = problem;
        else if (problem.name !== 'AbortError') refused(problem);
        changed();
      });
      timer = null;
      if (wanted.size > 0 && !lost) soon();
    }, Math.max(0, last + ONCE_A_MS - Date.now()));
  }
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  return {
    run,
    soon,
    /** Everything, for the first time. */
    all: () => read(new Set(Object.keys(reads))),
    /** Everything anew. */
    again() {
      run.steps = [];
      soon(...Object.keys(reads));
    },
    /** What lines of the event stream touch. */
    heard({ lines, skipped, back }) {
      const own = lines.filter((line) => line.subject.execution === id);
      const any = (names) => own.some((line) => names.has(line.what));
      if (skipped || back || any(TELLING)) soon('history');
      else {
        const known = new Set(run.history.map((line) => `${line.at} ${line.what}`));
        run.history = inOrder([...run.history, ...own.filter((line) => !known.has(`${line.at} ${line.what}`))]);
      }
      if (skipped || back || any(ATTEMPTS)) soon('attempts');
      if (own.some((line) => line.what === 'replayed')) run.steps = [];
      if (own.length > 0 || skipped || back) soon('view', 'explain', 'steps');
    },
    /** A frame was written under the name of a step: when, and in which attempt. */
    frame(attempt, key, at) {
      const name = `${attempt} ${key}`;
      const known = run.frames.get(name);
      if (known) {
        known.to = Math.max(known.to, at);
        return;
      }
      run.frames.set(name, { key, attempt, from: at, to: at });
      // One that was written before they were read is among them, if it was recorded.
      if (run.view && !isOver(run.view) && at > stepsAt - ONCE_A_MS) soon('steps');
      changed();
    },
  };
}
