// Lanes: those with a problem first, then the deepest; and one of them.

import { get } from '../core/api.js';
import { fill, h } from '../core/dom.js';
import { count, rate } from '../core/format.js';
import { v1 } from '../core/root.js';
import { to } from '../core/router.js';
import { now } from '../core/time.js';
import { again, quiet } from '../ui/again.js';
import { dataTable } from '../ui/data-table.js';
import { open } from '../ui/depth-bar.js';
import { empty } from '../ui/empty.js';
import { happenings, rolled } from '../ui/happened.js';
import { head } from '../ui/head.js';
import { laneColumns } from '../ui/lane-rows.js';
import { laneView } from '../ui/lane-view.js';
import { inPlace } from '../ui/places.js';

const CURVES = 40;
const MINUTE_MS = 60_000;

async function all(ctx) {
  ctx.title('Lanes');
  const happened = happenings();
  let curves = new Map();
  let [said, read, isOld] = [null, null, false];
  let drawnAt = 0;
  const table = dataTable({
    ctx, label: 'Lanes', key: ({ lane_id }) => lane_id, href: ({ lane_id }) => to(`/lanes/${encodeURIComponent(lane_id)}`),
    columns: laneColumns(() => curves, () => Math.max(1, ...said.lanes.map(({ depth }) => open(depth)))),
    empty: () => empty({ says: 'A lane is there as soon as something is submitted to it.', command: `curl -d '{}' '${v1('/submit/demo.greet')}?lane=demo'` }),
  });
  const order = inPlace(({ lane_id }) => lane_id);
  const more = h('p.pager.meta');
  fill(ctx.root, head({ title: 'Lanes' }), table.el, more);
  table.loading(5);

  const draw = () => {
    drawn();
    table.rows(order(said.lanes.map((lane) => ({ ...lane }))));
    const rest = said.more_lanes;
    more.textContent = rest ? `and ${count(rest.lanes)} more lanes: ${count(open(rest.depth))} open, ${rate(rest.throughput)} end` : '';
  };

  async function lines() {
    drawnAt = now();
    isOld = false;
    read = await get('/series', { of: said.lanes.slice(0, CURVES).map(({ lane_id }) => `lane:${lane_id}`), namespace: ctx.ns }, ctx);
    draw();
  }

  /** Lines go on by themselves while nothing happens. */
  function drawn() {
    if (!read) return;
    const { series } = rolled(read, now());
    curves = new Map(series.map(({ of, completed, failed }) => [of.slice(5), completed.map((n, i) => n + failed[i]).slice(0, -1)]));
  }

  await ctx.overview((snapshot) => {
    said = snapshot;
    isOld = happened(said) || isOld;
    draw();
    if (said.lanes.length && isOld && now() - drawnAt > MINUTE_MS) lines().catch(quiet);
  });
}

async function one(ctx, name) {
  ctx.title(name);
  const view = laneView(ctx, ctx.root, name);
  let drawnAt = now();
  ctx.onQuery(view.curves);
  again(ctx, () => {
    if (now() - drawnAt > MINUTE_MS) {
      drawnAt = now();
      view.curves();
    }
    return view.read();
  });
  await view.read();
  await view.curves();
}

export async function page(ctx) {
  if (ctx.params.lane === undefined) await all(ctx);
  else await one(ctx, ctx.params.lane);
}
