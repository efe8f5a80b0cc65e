// Calls of the API. An act has one key for all its tries: a lost reply is asked for again, and nothing is done twice.

import { ROOT, v1 } from './root.js';
import { signal } from './store.js';
import { params } from './url.js';

const TRIES = 4;
const WAIT_MS = 500;
const PATIENCE_MS = 5_000;

/** What a call was refused with; status 0: there was no answer. */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? document.title ?? 'no answer');
    this.status = status;
    Object.assign(this, { code: 'unavailable', title: 'Not connected', detail: this.message, fields: document }, document);
  }
}

/** Whether the same may be answered in a moment: nobody answered, too much was asked at once, or the server is not well. */
export const isPassing = ({ status }) => status === 0 || status === 429 || status >= 500;

/** When the server could not be reached any more; null: it can be. */
export const unreachable = signal(null);

/** A path with its parts encoded: p`/executions/${id}` */
export const p = (parts, ...values) => String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value)));

export const newKey = () => crypto.randomUUID();

const pause = (ms) => new Promise((resume) => setTimeout(resume, ms));

/** No answer came, or only a part of it. */
function lost(error) {
  if (error.name === 'AbortError') throw error;
  if (unreachable.get() === null) unreachable.set(Date.now());
  throw new Problem(0, { detail: 'The server does not answer.' });
}

async function call(path, options) {
  const response = await fetch(v1(path), options).catch(lost);
  if (unreachable.get() !== null) unreachable.set(null);
  if (response.ok) return response;
  const document = await response.json().catch(() => ({ title: response.statusText }));
  if (document.help) document.help = new URL(`.${document.help}`, ROOT).href;
  if (response.status === 401) dispatchEvent(new Event('ff-signed-out'));
  throw new Problem(response.status, document);
}

async function json(response) {
  return response.status === 204 ? null : response.json().catch(lost);
}

const address = (path, query) => {
  const text = params(query).toString();
  return text ? `${path}?${text}` : path;
};

export const get = async (path, query, { signal: until } = {}) =>
  json(await call(address(path, query), { signal: until, headers: { Accept: 'application/json' } }));

/** The response itself, for bytes. */
export const raw = (path, query, { signal: until, headers } = {}) => call(address(path, query), { signal: until, headers });

/** Does something. Tried again under the same key when no answer came or the server asks for it. */
export async function act(method, path, body, { key = newKey() } = {}) {
  const headers = { 'X-FF-Page': '1', 'Idempotency-Key': key };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const options = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  for (let tried = 1; ; tried += 1) {
    try {
      return await json(await call(path, options));
    } catch (problem) {
      const again = problem.status === 0 || problem.retryable === true;
      const wait = problem.retry_after_ms ?? WAIT_MS * 2 ** (tried - 1);
      if (!again || wait > PATIENCE_MS || tried === TRIES) throw problem;
      await pause(wait);
    }
  }
}
