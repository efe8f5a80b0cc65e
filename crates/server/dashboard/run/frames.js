// What frames say, in blocks: one for each try of a step.

import { h, plain } from '../core/dom.js';
import { bytes } from '../core/format.js';

const decode = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/** Where a frame belongs: its attempt, and the step and try that wrote it, if one did. */
export function placeOf(frame, attempt) {
  const [, key = '', number = ''] = frame.correlation_id?.match(/^(.*)\/(\d+)$/s) ?? [null, frame.correlation_id ?? ''];
  return { attempt, key, number, from: frame.id };
}

/** A block of output: what one try of one step wrote. */
export function block({ attempt, key, number, from }) {
  const note = h('span.meta');
  const body = h('div.out-text');
  const el = h('div.out', key && h('div.row', h('span.tag.mono', key), number > 0 && h('span.meta', `try ${Number(number) + 1}`), note), body);
  return { el, body, note, attempt, key, number, from, to: from, decoder: new TextDecoder(), waiting: '', empty: true };
}

/** Shows one frame in its block; text is kept until the next animation frame. */
export function write(to, frame) {
  const { frame_type: type, payload, payload_type: media = '' } = frame;
  const binary = frame.payload_base64 === undefined ? null : decode(frame.payload_base64);
  const size = binary ? binary.length : JSON.stringify(payload ?? '').length;
  const said = binary && /^text\//.test(media) ? to.decoder.decode(binary, { stream: true }) : typeof payload === 'string' ? payload : null;
  if (said !== null) to.waiting += type === 'log' && !to.empty ? `\n${said}` : said;
  else {
    flush(to);
    const gist = binary ? bytes(size) : JSON.stringify(payload ?? null).slice(0, 80);
    const name = [h('b', type), ' ', h('span.ink3', gist)];
    to.body.append(binary ? h('div', name) : h('details', h('summary', name), h('pre', JSON.stringify(payload ?? null, null, 2))));
  }
  to.to = frame.id;
  to.empty = false;
  return size;
}

export function flush(to) {
  if (to.waiting) to.body.append(plain(to.waiting));
  to.waiting = '';
}
