// Starts the page: who looks, which page, and what happens when the address changes.

import { $, fill, h, plain } from './dom.js';
import { keys } from './keys.js';
import { connection, events, overview, snapshot } from './live.js';
import { me, recognise } from './role.js';
import { go, here, namespace, start, to } from './router.js';
import { problemCard } from '../ui/empty.js';
import { frame, light, recount } from '../ui/frame.js';
import { favicon } from '../ui/state-mark.js';

const main = $('main');
let open = null;

function contextOf(at, root, leave) {
  const until = leave.signal;
  const again = () => until.aborted || fresh(at);
  let trouble = null;
  // What was said of a subscription is no longer so of the next.
  const refused = (problem) => {
    trouble?.remove();
    trouble = problem && h('div.trouble', problemCard(problem, again));
    if (problem) root.removeAttribute('aria-busy');
    // Over the page, so that nothing moves for it.
    if (trouble) root.append(trouble);
  };
  return {
    root,
    params: at.params,
    get query() {
      return new URLSearchParams(location.search);
    },
    ns: namespace(),
    signal: until,
    title(text, state) {
      document.title = plain(`${state ? '● ' : ''}${text} · FlowFabric`);
      favicon(state);
    },
    onQuery: (heard) => (open.onQuery = heard),
    onParams: (heard) => (open.onParams = heard),
    live(filter, lines, reset = again) {
      const heard = (batch) => {
        recount();
        lines(batch);
      };
      refused(null);
      events({ namespace: namespace(), ...filter }, until, { lines: heard, reset, refused });
    },
    /** Resolves with the first numbers. */
    overview(heard) {
      open.hasNumbers = true;
      snapshot.set(null);
      overview(namespace(), until, refused);
      return new Promise((first) => snapshot.on((said) => said && first(heard(said)), until));
    },
    every(ms, run) {
      const timer = setInterval(() => document.hidden || run(), ms);
      until.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
    keys: (map) => keys(map, until),
  };
}

/** Leaves the page that is open and makes another one. */
async function fresh(at, state = null) {
  open?.leave.abort();
  const leave = new AbortController();
  // Until it has what it opens with.
  const root = h(`div.p-${at.page}`, { 'aria-busy': 'true' });
  open = { page: at.page, ns: namespace(), path: location.pathname, leave, onQuery: null, onParams: null };
  const mine = open;
  try {
    const { page } = await import(`../page/${at.page}.js`);
    if (mine !== open) return;
    fill(main, root);
    if (!state) {
      scrollTo(0, 0);
      main.focus({ preventScroll: true });
    }
    await page(contextOf(at, root, leave));
  } catch (problem) {
    if (mine !== open || leave.signal.aborted) return;
    if (!problem.code) console.error(problem);
    fill(main, root);
    root.append(
      h(
        'div.page',
        problemCard(problem, () => fresh(at)),
      ),
    );
  }
  root.removeAttribute('aria-busy');
  if (mine !== open) return;
  if (!mine.hasNumbers && me.get()) recount();
  if (state) comeBack(root, state);
}

function comeBack(root, { y, focus }) {
  scrollTo(0, y ?? 0);
  if (focus)
    root
      .querySelector(`[data-key="${CSS.escape(focus)}"]`)
      ?.querySelector('a, button')
      ?.focus({ preventScroll: true });
}

function shown(state) {
  const at = here();
  light(at.section);
  const same = open && open.page === at.page && open.ns === namespace();
  if (same && open.path === location.pathname && open.onQuery) open.onQuery(state);
  else if (same && open.path !== location.pathname && open.onParams) {
    open.path = location.pathname;
    open.onParams(at.params);
  } else fresh(at, state);
}

const isSignIn = () => here().page === 'sign-in';

addEventListener('ff-signed-out', () => {
  if (!isSignIn()) go(to('/sign-in', { next: location.pathname + location.search }));
});

// Who was away may have slept: what time it is, and what may be done, is asked again.
let was;
connection.on(({ state }) => {
  if (was === 'lost' && state === 'live') recognise().catch(() => {});
  was = state;
});

try {
  if (!isSignIn()) await recognise();
} catch (problem) {
  if (problem.status !== 401)
    fill(
      main,
      h(
        'div.page',
        problemCard(problem, () => location.reload()),
      ),
    );
}
if (me.get() || isSignIn()) {
  frame();
  start(shown);
}
