// What stands around every page: the rail, the bar on top, and the keys that work everywhere.

import { $, fill, h, text } from '../core/dom.js';
import { act, get } from '../core/api.js';
import { count } from '../core/format.js';
import { keys, listed } from '../core/keys.js';
import { snapshot } from '../core/live.js';
import { may, me } from '../core/role.js';
import { go, namespace, setQuery, to } from '../core/router.js';
import { outer } from '../core/root.js';
import { isDark, want, wants } from '../core/theme.js';
import { connectionBar } from './connection-bar.js';
import { icon } from './icons.js';
import { menu } from './menu.js';
import { searchBox } from './search.js';
import { sheet } from './sheet.js';

const LETTERS = {
  o: 'overview',
  e: 'executions',
  f: 'flows',
  a: 'approvals',
  l: 'lanes',
  b: 'budgets',
  q: 'quotas',
  w: 'workers',
  v: 'events',
};

const COUNT_MS = 30_000;

const links = () => document.querySelectorAll('#rail a[data-s]');

/** Shows or hides what a phone has no room for in its bar. */
function rest(isOpen) {
  $('#rail').classList.toggle('open', isOpen);
  $('#more').setAttribute('aria-expanded', String(isOpen));
}

/** Marks the entry of the rail the page belongs to; links keep the namespace. */
export function light(section) {
  document.body.dataset.section = section;
  rest(false);
  for (const link of links()) {
    const name = link.dataset.s;
    link.href = to(name === 'overview' ? '/' : `/${name}`);
    if (name === section) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  text($('#ns b'), namespace());
  const inRest = [...links()].slice(4).some((link) => link.dataset.s === section);
  $('#more').toggleAttribute('aria-current', inRest);
}

let [counted, countedAt, counting] = [null, 0, null];

/** Asks for the numbers of the rail: when the namespace is another one, or something happened and they are older than so. Answers them; null: they cannot be had. */
export async function recount(ms = COUNT_MS) {
  const isOld = counted !== namespace() || Date.now() - countedAt > ms;
  if (!may('overview')) return null;
  if (isOld) {
    [counted, countedAt] = [namespace(), Date.now()];
    counting = get('/overview', { namespace: counted }).then(
      (said) => (snapshot.set(said), said),
      () => null,
    );
  }
  return counting;
}

/** Problems, beside the entries they belong to. */
function counts(said) {
  if (!said) return;
  const problems = {
    approvals: [said.approvals?.n, said.approvals?.at_least],
    lanes: [said.lanes?.filter((lane) => lane.problems?.length > 0).length],
    budgets: [said.closed_budgets?.length],
    workers: [said.workers?.live],
  };
  for (const [name, [n, more]] of Object.entries(problems)) {
    const badge = $(`#rail a[data-s=${name}] .badge`);
    const says = `${count(n)}${more ? '+' : ''}`;
    if (badge.hidden === !n && badge.textContent === says) continue;
    // Another one in its place: one that grew would begin elsewhere.
    const next = badge.cloneNode();
    next.hidden = !n;
    next.textContent = says;
    badge.replaceWith(next);
  }
}

const flip = (word, label) => ({ label, checked: wants(word), run: () => want(word, !wants(word)) });

async function signOut() {
  await act('DELETE', '/sign-in');
  location.assign(to('/sign-in'));
}

async function who() {
  const { version } = await get('').catch(() => ({ version: '' }));
  const { key_name: name, role, via } = me.get();
  const whom = name ? ['signed in as ', h('b', name), ` · ${role}`] : ['no keys: everybody here is ', h('b', role)];
  fill($('#who'), version && `${version} · `, whom);
  menu($('#who'), () => [
    { label: isDark() ? 'Light' : 'Dark', checked: false, run: () => want(isDark() ? 'light' : 'dark', true) },
    ...(me.get().namespace ? [] : [{ label: `Namespace ${namespace()}…`, checked: false, run: () => $('#ns').click() }]),
    { label: 'Times in UTC', checked: wants('utc'), run: () => want('utc', !wants('utc')) },
    flip('compact', 'Compact rows'),
    flip('nokeys', 'No single-key commands'),
    { label: 'Keys', hint: '?', checked: false, run: help },
    { label: 'Interface', checked: false, run: () => location.assign(outer('/docs')) },
    ...(via === 'cookie' ? [{ sep: true }, { label: 'Sign out', checked: false, run: signOut }] : []),
  ]);
}

function namespaces() {
  const button = $('#ns');
  button.append(icon('chevron'));
  const bound = me.get()?.namespace;
  if (bound) {
    button.disabled = true;
    return;
  }
  menu(button, async () => {
    const names = await get('/namespaces').then(
      (said) => said.items,
      () => [namespace()],
    );
    return names.map((name) => ({
      label: name,
      checked: name === namespace(),
      run: () => setQuery({ ns: name === 'default' ? null : name }),
    }));
  });
}

function help() {
  const rows = [...listed()].map(([key, label]) =>
    h(
      'tr',
      h(
        'td',
        key.split(' ').map((one) => h('kbd', one)),
      ),
      h('td', label),
    ),
  );
  sheet({ title: 'Keys', body: h('table.keys', h('tbody', rows)) });
}

/** Fills what the server sent empty. */
export function frame() {
  const focusSearch = searchBox();
  const theme = $('#theme');
  const shown = () => fill(theme, icon(isDark() ? 'sun' : 'moon'));
  theme.addEventListener('click', () => want(isDark() ? 'light' : 'dark', true));
  document.addEventListener('ff-theme', shown);
  shown();
  const pages = Object.entries(LETTERS).map(([key, name]) => [
    `g ${key}`,
    [`Go to ${name}`, () => go(to(name === 'overview' ? '/' : `/${name}`))],
  ]);
  keys({
    '/': ['Find', focusSearch],
    '?': ['These keys', help],
    u: ['Up', () => $('.head .crumb:last-of-type, .head .crumb')?.click()],
    ...Object.fromEntries(pages),
  });
  $('#more').addEventListener('click', () => rest(!$('#rail').classList.contains('open')));
  $('#rail').addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !$('#rail').classList.contains('open')) return;
    event.stopPropagation();
    rest(false);
    $('#more').focus();
  });
  connectionBar();
  if (!me.get()) return;
  for (const el of document.querySelectorAll('.admin')) el.hidden = !may('list_keys');
  namespaces();
  who();
  snapshot.on(counts);
}
