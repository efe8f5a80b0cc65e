// Keys: who may what, and the secret that signs tokens.

import { h } from '../core/dom.js';
import { act, get, p } from '../core/api.js';
import { duration } from '../core/format.js';
import { me } from '../core/role.js';
import { age, asAgo, at, now } from '../core/time.js';
import { actButton, confirm } from '../ui/act.js';
import { copyButton, empty, part } from '../ui/empty.js';
import { dataTable } from '../ui/data-table.js';
import { head } from '../ui/head.js';
import { sheet } from '../ui/sheet.js';

const ROLES = {
  reader: 'sees everything but bytes',
  submitter: 'submits, and reads bytes',
  worker: 'claims work and does it',
  operator: 'decides, holds, replays',
  admin: 'makes keys',
};
const DAY_MS = 86_400_000;
const GRACE_MS = 86_400_000;
const SECRET_BYTES = 32;
const PAGE = 200;

const labelled = (id, label, control) => h('div.field', h('label', { for: id }, label), control);

/** A new key is shown once: what is stored only recognises it. */
function showKey({ key, name }) {
  sheet({
    title: `Key of ${name}`,
    body: [h('p', 'It is shown this once. Whoever has it is ', h('b', name), '.'), h('p.row', h('code.grow.secret', key), copyButton(key))],
  });
}

async function create(load) {
  const name = h('input', { id: 'key-name', required: true, maxlength: '256', placeholder: 'ci@acme' });
  const role = h(
    'select',
    { id: 'key-role' },
    Object.entries(ROLES).map(([one, says]) => h('option', { value: one, selected: one === 'submitter' }, `${one}: ${says}`)),
  );
  const bound = me.get().namespace;
  const namespace = h('input', { id: 'key-ns', value: bound ?? '', placeholder: 'all of them', disabled: Boolean(bound) });
  const days = h('input', { id: 'key-days', type: 'number', min: '1', max: '3650', placeholder: 'never' });
  const made = await confirm({
    title: 'New key',
    label: 'Make it',
    hue: 'primary',
    busy: 'Making…',
    body: [
      labelled('key-name', 'Name: histories and approvals say it', name),
      labelled('key-role', 'Role', role),
      labelled('key-ns', 'Namespace', namespace),
      labelled('key-days', 'Ends after so many days', days),
    ],
    run: (key) =>
      act(
        'POST',
        '/admin/keys',
        {
          name: name.value.trim(),
          role: role.value,
          ...(namespace.value.trim() && { namespace: namespace.value.trim() }),
          ...(days.value && { expires_at: Math.round(now() + Number(days.value) * DAY_MS) }),
        },
        { key },
      ),
  });
  if (!made) return;
  showKey(made);
  await load();
}

/** A secret made here and kept by the server alone. */
function rotation() {
  const hex = (bytes) => [...crypto.getRandomValues(new Uint8Array(bytes))].map((n) => n.toString(16).padStart(2, '0')).join('');
  return { new_kid: `page-${hex(6)}`, new_secret_hex: hex(SECRET_BYTES), grace_ms: GRACE_MS };
}

const rotating = {
  title: 'Rotate the signing secret',
  label: 'Rotate',
  hue: 'red',
  body: [
    h(
      'p',
      `New tokens are signed with a new secret. Those that are out stay valid for ${duration(GRACE_MS)}; then they are worth nothing.`,
    ),
  ],
};

export async function page(ctx) {
  ctx.title('Keys');
  let rotated = null;
  const load = async () => {
    const all = [];
    let cursor;
    do {
      const reply = await get('/admin/keys', { limit: PAGE, cursor }, ctx);
      all.push(...reply.items);
      cursor = reply.next;
    } while (cursor);
    return all;
  };
  const place = h('div');
  const again = () =>
    part(place, load, (items) => {
      table.rows(items);
      return table.el;
    });
  const revoke = (view) =>
    actButton({
      op: 'revoke_key',
      label: 'Revoke…',
      hue: 'red small',
      ask: {
        title: `Revoke the key of ${view.name}?`,
        label: 'Revoke',
        busy: 'Revoking…',
        body: [h('p', 'It is worth nothing within five seconds, everywhere. Pages that were signed in with it are signed out.')],
        run: (key) => act('DELETE', p`/admin/keys/${view.name}`, undefined, { key }),
      },
      done: () => {
        again();
        return `The key of ${view.name} is revoked.`;
      },
    });
  const table = dataTable({
    ctx,
    label: 'Keys',
    key: (view) => view.name,
    columns: [
      { id: 'name', head: 'Name', phone: 'title', cell: (view) => h('b', { title: view.name }, view.name) },
      { id: 'role', head: 'Role', width: '110px', phone: 'line', cell: (view) => view.role },
      { id: 'ns', head: 'Namespace', width: '150px', cell: (view) => view.namespace ?? h('span.ink3', 'all') },
      { id: 'made', head: 'Made', num: true, width: '120px', cell: (view) => h('span.ink2', at(view.created_at)) },
      {
        id: 'used',
        head: 'Last used',
        num: true,
        width: '120px',
        phone: 'top',
        cell: (view) => (view.last_used_at ? h('span.ink2', age(view.last_used_at, asAgo)) : h('span.ink3', 'not seen')),
      },
      {
        id: 'ends',
        head: 'Ends',
        num: true,
        width: '120px',
        cell: (view) =>
          view.expires_at
            ? h('span', { class: view.expires_at < now() ? 'hue h-red' : 'ink2' }, at(view.expires_at))
            : h('span.ink3', 'never'),
      },
      { id: 'act', head: '', num: true, width: '110px', phone: 'end', cell: revoke },
    ],
    empty: () =>
      empty({
        says: 'There are no keys: whoever reaches this server may do everything. It answers on this machine only.',
        command: 'ff key create --role admin li',
      }),
  });
  const rotate = actButton({
    op: 'rotate_waitpoint_secret',
    label: 'Rotate…',
    ask: { ...rotating, run: (key) => act('POST', '/admin/rotate-waitpoint-secret', (rotated ??= rotation()), { key }) },
    done: () => {
      rotated = null;
      return 'Tokens are signed with a new secret.';
    },
  });
  ctx.root.append(
    head({
      title: 'Keys',
      acts: [actButton({ op: 'create_key', label: 'New key', icon: 'plus', hue: 'primary', run: () => create(again) })],
    }),
    place,
  );
  await again();
  if (!rotate) return;
  const says = h('div.grow', h('h2', 'Signing secret'), h('p.ink2', 'Signs the tokens of waitpoints and callbacks, and cursors.'));
  ctx.root.append(h('section.page.spaced', h('div.card.item', says, rotate)));
}
