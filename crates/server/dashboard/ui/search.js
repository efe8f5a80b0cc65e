// Finding: what looks like an id leads to it, anything else becomes a filter of the executions.

import { $, fill, h } from '../core/dom.js';
import { get } from '../core/api.js';
import { may } from '../core/role.js';
import { go, namespace, to } from '../core/router.js';
import { idLike, typed } from '../core/url.js';
import { sheet } from './sheet.js';
import { mark } from './state-mark.js';
import { toast } from './toast.js';

const PAUSE_MS = 150;
const PAGES = { execution: '/executions', flow: '/flows', lane: '/lanes', budget: '/budgets', quota: '/quotas', worker: '/workers' };

/** Where a hit is shown; kinds have no page, so they are a filter. */
const place = (hit) =>
  PAGES[hit.type] ? to(`${PAGES[hit.type]}/${encodeURIComponent(hit.id)}`) : to('/executions', { [hit.type]: hit.id });

async function search(text) {
  const { query, words, id } = typed(text);
  if (id && may('find')) {
    const [hit] = (await get('/find', { q: words[0], namespace: namespace() })).items;
    if (hit) return go(place(hit));
    return toast(`Nothing has the id ${words[0]}.`);
  }
  if (idLike(words[0] ?? '') === 'whole') return go(to(`/executions/${encodeURIComponent(words[0])}`));
  if (words.length > 0) (query.kind ??= []).push(...words);
  return go(to('/executions', query));
}

/** Makes a form find; hits are shown in `list` while one types. */
function finding(form, input, list, left) {
  let timer = null;
  let asked = null;
  // What stands there is of another text, until the answer comes.
  let waits = false;
  let wanted = false;
  const close = () => show([]);
  const show = (links) => {
    [waits, list.inert] = [false, false];
    list.classList.remove('dim');
    fill(list, links);
    if (wanted) list.querySelector('a')?.focus();
    wanted = false;
  };
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    const q = input.value.trim();
    if (q.length < 2 || /[:=\s]/.test(q) || !may('find')) return close();
    try {
      const { items } = await get('/find', { q, namespace: namespace() }, asked);
      show(
        items.map((hit) =>
          h(
            'a',
            { href: place(hit), onclick: () => left() },
            hit.state && mark(hit.state),
            h('span.grow.cut', hit.label),
            h('span.ink3', hit.type),
          ),
        ),
      );
    } catch (problem) {
      if (problem.name !== 'AbortError') close();
    }
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    [waits, list.inert] = [true, true];
    list.classList.add('dim');
    timer = setTimeout(ask, PAUSE_MS);
  });
  form.addEventListener('keydown', (event) => {
    const all = [input, ...list.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape' && form.id) left();
    if (!step) return;
    event.preventDefault();
    wanted = waits && step === 1;
    if (waits) return;
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))].focus();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value;
    clearTimeout(timer);
    asked?.abort();
    left();
    search(text).catch((problem) => toast(problem.detail ?? problem.message, { hue: 'red' }));
  });
}

/** The box on top. */
export function searchBox() {
  const form = $('#search');
  const input = $('input', form);
  const list = h('div.hits');
  form.append(list);
  const left = () => {
    fill(list);
    input.value = '';
    input.blur();
  };
  form.addEventListener('focusout', (event) => form.contains(event.relatedTarget) || setTimeout(() => fill(list), PAUSE_MS));
  finding(form, input, list, left);
  return () => (input.offsetParent ? input.focus() : searchSheet());
}

/** The same on a phone, over the page. */
export function searchSheet() {
  const input = h('input', {
    type: 'search',
    'aria-label': 'Find an id, kind, lane or tag',
    placeholder: 'Find an id, kind, lane, tag...',
    autofocus: true,
  });
  const list = h('div.hits');
  const form = h('form.finder', { role: 'search' }, input, list);
  const shown = sheet({ title: 'Find', body: form });
  finding(form, input, list, () => shown.close());
}
