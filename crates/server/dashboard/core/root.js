// Where the application stands: everything is served below it, also when a proxy puts it below a path of its own.

/** This file is `a/{hash}/core/root.js`. */
const UP = '../../../';

export const ROOT = new URL(UP, import.meta.url);

/** The address of an API path, as `/executions`. */
export const v1 = (path) => new URL(`v1${path}`, ROOT).href;

/** Where the first page is: below a path of an application that is the path itself, without a slash behind it. */
const HOME = ROOT.pathname.replace(/(.)\/$/, '$1');

/** The path of a page, as `/executions`, from the root of the server. */
export const outer = (path) => (path === '/' ? HOME : ROOT.pathname + path.slice(1));

/** The path of a page from the root of the application. */
export const inner = (pathname) => {
  if (pathname === HOME) return '/';
  return pathname.startsWith(ROOT.pathname) ? `/${pathname.slice(ROOT.pathname.length)}` : pathname;
};
