// Executions as rows of a list.

import { h } from '../core/dom.js';
import { costOf, count, duration, tail } from '../core/format.js';
import { to } from '../core/router.js';
import { at, since } from '../core/time.js';
import { hue, stateText, stateWord } from './state-mark.js';
import { why, whyCell } from './why.js';

const none = () => h('span.ink3', '–');

/** What it has taken: since the attempt began, while one runs. */
function took(view) {
  const isOver = view.started_at && view.completed_at;
  return isOver || view.public_state === 'active' ? since(view.started_at, view.completed_at) : none();
}

const line = (view) =>
  why(view) || `${view.lane_id}${view.completed_at && view.started_at ? ` · took ${duration(view.completed_at - view.started_at)}` : ''}`;

/** For `dataTable`. */
export const columns = [
  {
    id: 'state',
    head: 'State',
    width: '154px',
    phone: 'mark',
    flash: true,
    cell: (view) => stateText(view.public_state, stateWord(view)),
  },
  {
    id: 'kind',
    head: 'Kind',
    width: '216px',
    phone: 'title',
    cell: (view) =>
      h('span.named', { title: view.execution_kind }, h('span.cut', view.execution_kind), h('span.mono', tail(view.execution_id))),
  },
  { id: 'why', head: 'What it does, or why it waits', cell: (view) => h('span.ink2', whyCell(view)) },
  {
    id: 'line',
    head: 'Where it stands',
    desk: 'none',
    phone: 'line',
    cell: (view) => [h(`span.hue.h-${hue(view.public_state)}`, stateWord(view)), ` · ${line(view)}`],
  },
  { id: 'lane', head: 'Lane', wide: true, width: '84px', cell: (view) => h('span.ink2', { title: view.lane_id }, view.lane_id) },
  { id: 'try', head: 'Try', wide: true, num: true, width: '46px', cell: (view) => count(view.attempt_count) },
  {
    id: 'cost',
    head: 'Cost',
    wide: true,
    num: true,
    width: '72px',
    phone: 'end',
    cell: (view) => costOf(view.usage) ?? [h('span.ink3.desk-only', '–'), h('span.ink2.phone-only', view.lane_id)],
  },
  { id: 'created', head: 'Created', num: true, width: '96px', phone: 'top', cell: (view) => h('span.ink2', at(view.created_at)) },
  { id: 'took', head: 'Took', num: true, width: '86px', cell: (view) => took(view) },
];

export const key = (view) => view.execution_id;
export const href = (view) => to(`/executions/${encodeURIComponent(view.execution_id)}`);
