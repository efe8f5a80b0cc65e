// Where a run stands, whose it is, and what it cost.

import { p } from '../core/api.js';
import { h } from '../core/dom.js';
import { tail } from '../core/format.js';
import { to } from '../core/router.js';
import { asAgo, at, since } from '../core/time.js';
import { usageText } from '../ui/sentence.js';

/** What is known of a run besides its sentence. */
export function factsOf(view) {
  const fact = (name, value) =>
    value != null && value !== '' && h('span', `${name} `, h('b', { title: typeof value === 'string' ? value : null }, value));
  const link = (name, href, label, title = label) => h('span', `${name} `, h('a', { href, title }, label));
  const tag = ([key, value]) => [' ', h('a.tag', { href: to('/executions', { [`tag.${key}`]: value }), title: `${key}=${value}` }, `${key}=${value}`)];
  const tags = Object.entries(view.tags ?? {});
  return [
    link('lane', to(p`/lanes/${view.lane_id}`), view.lane_id),
    fact('priority', view.priority),
    fact('by', view.creator_identity),
    view.flow_id && link('flow', to(p`/flows/${view.flow_id}`), tail(view.flow_id), view.flow_id),
    tags.length > 0 && h('span', 'tags', tags.map(tag)),
    // What grows has its place, and what changes stands last.
    fact('created', [at(view.created_at), ', ', h('span.long', since(view.created_at, undefined, asAgo))]),
    fact('spent', usageText(view.usage)),
  ];
}
