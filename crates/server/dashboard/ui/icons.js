// Icons on a 16 grid, drawn by one stroke.

import { s } from '../core/dom.js';

const PATHS = {
  overview: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  executions: 'M2 4h12M2 8h12M2 12h8',
  flows:
    'M5.6 7.1l4.9-2.6M5.6 8.9l4.9 2.6M5.5 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0M14.5 3.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0M14.5 12.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0',
  approvals: 'M2 9.5 4 3.5h8l2 6v3.5H2zM2 9.5h3.5l1 1.8h3l1-1.8H14',
  lanes: 'M2 4.5h11M11 2.5l2 2-2 2M2 8.5h7M2 12h11',
  budgets: 'M14 8A6 6 0 1 1 8 2v6zM10.5 2.6A6 6 0 0 1 13.5 6',
  quotas: 'M3.2 12.5a6 6 0 1 1 9.6 0M8 9l3-3.4',
  workers:
    'M3.5 2.5h9a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-3a1 1 0 0 1 1-1M3.5 8.5h9a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-3a1 1 0 0 1 1-1M5 5h2M5 11h2',
  events: 'M8 1.5v4.2M8 10.3v4.2M1.5 8h4.2M10.3 8h4.2M9.3 8a1.3 1.3 0 1 1-2.6 0 1.3 1.3 0 0 1 2.6 0',
  keys: 'M7.2 10.6a2.9 2.9 0 1 1-1.8-1.8L12.5 2M10.5 4l2 2M12.5 2l1.5 1.5',
  search: 'M11 7a4.2 4.2 0 1 1-8.4 0A4.2 4.2 0 0 1 11 7M10 10l3.5 3.5',
  sun: 'M10.8 8a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  moon: 'M13 9.6A5.6 5.6 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6',
  more: 'M3.6 8a.6.6 0 1 1-1.2 0 .6.6 0 0 1 1.2 0M8.6 8a.6.6 0 1 1-1.2 0 .6.6 0 0 1 1.2 0M13.6 8a.6.6 0 1 1-1.2 0 .6.6 0 0 1 1.2 0',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.2 3.2L13 5',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M4.5 3v10l8-5z',
  replay: 'M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 2.6v3.2h3.2',
  hold: 'M5.5 3.5v9M10.5 3.5v9',
  cancel: 'M4 4l8 8M12 4l-8 8',
  back: 'M10 2.5 4.5 8l5.5 5.5',
  next: 'M6 2.5 11.5 8 6 13.5',
  chevron: 'M4 6l4 4 4-4',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  path: 'M5 12.5H4a2 2 0 0 1 0-4h8a2.5 2.5 0 0 0 0-5h-1M8 12.5a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0M11 3.5a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0',
  filter: 'M2 4h12M4.5 8h7M6.5 12h3',
  link: 'M6 4H3v9h9v-3M9 3h4v4M13 3 7 9',
  down: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10',
};

/** An icon that says nothing to who cannot see it: what it means stands beside it, or is the label of its button. */
export const icon = (name) => s('svg.icon', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, s('path', { d: PATHS[name] }));

/** The sign of the house: threads over and under each other. */
export const logo = () =>
  s(
    'svg.logo',
    { viewBox: '0 0 20 20', 'aria-hidden': 'true' },
    s('path', { d: 'M1 6.5h3M8.5 6.5H19M1 13.5h9.5M15.5 13.5H19', class: 'weft' }),
    s('path', { d: 'M6 1v10.5M6 16v3M13.5 1v3M13.5 9v10', class: 'warp' }),
  );
