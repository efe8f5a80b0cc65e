// Lanes as rows, on the overview and on their own page.

import { h } from '../core/dom.js';
import { count, percentFigure, rateFigure } from '../core/format.js';
import { age, now } from '../core/time.js';
import { depthBar, open } from './depth-bar.js';
import { spark } from './spark.js';

const LATE_MS = 600_000;
const PROBLEMS = {
  paused: ['paused', 'grey'], draining: ['draining', 'grey'], disabled: ['disabled', 'grey'],
  no_worker: ['no capable worker', 'amber'], growing: ['falls behind', 'amber'], failing: ['failing', 'red'],
};

/** Whether the oldest of a lane has waited for so long that somebody should know. */
export const isLate = (lane) => Boolean(lane.oldest_eligible_at) && now() - lane.oldest_eligible_at > LATE_MS;

/** What is wrong with a lane, on its wash. */
export const problemTags = (problems = []) => problems.map((problem) => h(`span.tag.h-${PROBLEMS[problem]?.[1] ?? 'grey'}`, PROBLEMS[problem]?.[0] ?? problem));

/** `curves()` are the lanes' lines by name, `most()` the depth of the deepest. */
export const laneColumns = (curves, most) => [
  { id: 'lane', head: 'Lane', phone: 'title', cell: (lane) => [lane.lane_id, h('span.lane-tag', problemTags(lane.problems?.slice(0, 1)))] },
  { id: 'depth', head: 'Depth', width: '15%', phone: 'line', cell: (lane) => depthBar(lane.depth, most()) },
  { id: 'running', head: 'Running', num: true, width: '64px', cell: (lane) => count(lane.depth.active ?? 0) },
  { id: 'waiting', head: 'Waiting', num: true, width: '64px', phone: 'top', cell: (lane) => count(open(lane.depth) - (lane.depth.active ?? 0)) },
  { id: 'oldest', head: 'Oldest', num: true, width: '78px', phone: 'end', cell: (lane) => h('span', { class: isLate(lane) ? 'hue h-amber strong' : '' }, lane.oldest_eligible_at ? age(lane.oldest_eligible_at) : '–') },
  { id: 'ended', head: 'Ended /s', num: true, width: '70px', cell: (lane) => rateFigure(lane.throughput) },
  { id: 'failed', head: 'Failed %', num: true, width: '70px', cell: (lane) => (lane.throughput > 0 ? percentFigure(lane.failed_per_s / lane.throughput) : '–') },
  { id: 'curve', head: '', width: '84px', cell: (lane) => curves().get(lane.lane_id) && spark(curves().get(lane.lane_id), { width: 58, height: 18 }) },
];
