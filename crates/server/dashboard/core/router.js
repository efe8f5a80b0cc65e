// The URL is the state: every way to another page, or another view of this one, goes through it.

import { me } from './role.js';
import { inner, outer } from './root.js';
import { params, route, withQuery } from './url.js';

let show = () => {};

/** Which page is shown. */
export const here = () => route(inner(location.pathname)) ?? route('/');

/** Whose namespace the page shows. */
export const namespace = () => new URLSearchParams(location.search).get('ns') ?? me.get()?.namespace ?? 'default';

/** The address of a page, in the namespace that is looked at. */
export function to(path, query = {}) {
  const ns = new URLSearchParams(location.search).get('ns');
  const text = params({ ...(ns && { ns }), ...query }).toString();
  return text ? `${outer(path)}?${text}` : outer(path);
}

/** Remembers where the page stands, for whoever comes back to it. */
function mark() {
  const focus = document.activeElement?.closest('[data-key]')?.dataset.key;
  history.replaceState({ y: scrollY, focus }, '');
}

export function go(href, { replace = false } = {}) {
  const url = new URL(href, location.href);
  if (replace) history.replaceState(history.state, '', url);
  else {
    mark();
    history.pushState(null, '', url);
  }
  show(null);
}

/** Changes parameters of this page and keeps the others. */
export const setQuery = (changes, options) => go(location.pathname + withQuery(location.search, changes), options);

function clicked(event) {
  const link = event.target.closest?.('a[href]');
  const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute('download')) return;
  const url = new URL(link.href);
  // A place on this page is no other page.
  if (link.getAttribute('href').startsWith('#')) {
    event.preventDefault();
    document.getElementById(url.hash.slice(1))?.focus();
    return;
  }
  if (url.origin !== location.origin || !route(inner(url.pathname))) return;
  event.preventDefault();
  go(url);
}

/** Calls `shown(state)` now and at every change of the address; `state` says where a page stood that is come back to. */
export function start(shown) {
  show = shown;
  history.scrollRestoration = 'manual';
  document.addEventListener('click', clicked);
  addEventListener('popstate', (event) => show(event.state));
  show(history.state);
}
