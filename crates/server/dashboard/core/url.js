// What addresses mean. Nothing here touches the page.

const NAMED = {
  executions: ['executions', 'execution', ['id']],
  flows: ['flows', 'flow', ['id']],
  approvals: ['approvals', 'approvals', ['execution', 'waitpoint']],
  lanes: ['lanes', 'lanes', ['lane']],
  budgets: ['budgets', 'budgets', ['id']],
  quotas: ['quotas', 'quotas', ['id']],
  workers: ['workers', 'workers', ['instance']],
  events: ['events', null, []],
  keys: ['keys', null, []],
  'sign-in': ['sign-in', null, []],
};

/** The module of a path, the entry of the rail it belongs to, and its parts by name; null: not a page. */
export function route(path) {
  const parts = path.split('/').filter(Boolean);
  if (parts.length === 0) return { page: 'overview', section: 'overview', params: {} };
  const [section, ...rest] = parts;
  if (!Object.hasOwn(NAMED, section)) return null;
  const [list, one, names] = NAMED[section];
  if (rest.length === 0) return { page: list, section, params: {} };
  if (!one || rest.length !== names.length) return null;
  try {
    const params = Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(rest[i])]));
    return { page: one, section, params };
  } catch {
    return null;
  }
}

/** `{lane: ['a', 'b'], from: null}` as parameters; what is empty is left out. */
export function params(query = {}) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one != null && one !== '') all.append(name, one);
    }
  }
  return all;
}

/** The search part with these parameters changed; those nobody named are kept. */
export function withQuery(search, changes) {
  const all = new URLSearchParams(search);
  for (const name of Object.keys(changes)) all.delete(name);
  for (const [name, value] of params(changes)) all.append(name, value);
  const text = all.toString();
  return text ? `?${text}` : '';
}

const STATES = [
  'active',
  'resumable',
  'suspended',
  'rate_limited',
  'waiting',
  'delayed',
  'waiting_children',
  'completed',
  'failed',
  'expired',
  'cancelled',
  'skipped',
];
const SPOKEN = { running: 'active', held: 'rate_limited', person: 'suspended', upstream: 'waiting_children' };
const FIELDS = ['lane', 'kind', 'state', 'category', 'cause', 'worker', 'flow'];

/** What was typed into the search: an id, or `kind:x lane:a tenant=acme failed` as a filter, and the words left over. */
export function typed(text) {
  const query = {};
  const words = [];
  const put = (name, value) => (query[name] ??= []).push(value);
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const [, field, value] = word.match(/^([a-z]+):(.+)$/) ?? [];
    const tag = word.match(/^([^=:]+)=(.+)$/);
    const state = SPOKEN[word.toLowerCase()] ?? word.toLowerCase();
    if (field && FIELDS.includes(field)) put(field, field === 'state' ? (SPOKEN[value] ?? value) : value);
    else if (tag) put(`tag.${tag[1]}`, tag[2]);
    else if (STATES.includes(state)) put('state', state);
    else words.push(word);
  }
  return { query, words, id: words.length === 1 && Object.keys(query).length === 0 ? idLike(words[0]) : null };
}

/** A whole id, the first digits of one, or its last eight; null: none of these. */
export function idLike(word) {
  const bare = word.replace(/^(fp:\d+|\{fp:\d+\}):/, '');
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(bare)) return 'whole';
  if (/^[0-9a-f]{8}$/i.test(bare)) return 'tail';
  return /^[0-9a-f]{8}-?[0-9a-f]{2,4}$/i.test(bare) ? 'prefix' : null;
}

/** An id as the server says it; an address may spell it without braces. */
export const canonical = (id) => id.replace(/^fp:(\d+):/, '{fp:$1}:');

/** The name that a title is kept under, other than those that are taken. */
export function viewName(title, taken) {
  const own = title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60) || 'view';
  let name = own;
  for (let n = 2; taken.includes(name); n += 1) name = `${own}-${n}`;
  return name;
}

const SAME = [...FIELDS, 'id', 'ended_from', 'ended_before', 'order'].map((name) => [name, name]);
const ASKED = new Map([['ns', 'namespace'], ['from', 'created_from'], ['to', 'created_before'], ['after', 'cursor'], ...SAME]);

/** The API's query for an address of executions: in its own names, and without what it does not know. */
export function asked(search) {
  const query = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const known = ASKED.get(name);
    if (name.startsWith('tag.')) (query.tag ??= []).push(`${name.slice(4)}=${value}`);
    else if (known) (query[known] ??= []).push(value);
  }
  return query;
}
