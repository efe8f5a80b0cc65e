// Sign-in: the key goes to the server once, and comes back as a cookie that no script can read.

import { fill, h } from '../core/dom.js';
import { act } from '../core/api.js';
import { outer, ROOT } from '../core/root.js';
import { logo } from '../ui/icons.js';

/** Where to go on: a path of this application, and nothing else somebody may have put into the address. */
function next(query) {
  const asked = new URL(query.get('next') ?? ROOT.pathname, location.origin);
  return asked.origin === location.origin && asked.pathname.startsWith(ROOT.pathname) ? asked.pathname + asked.search : ROOT.pathname;
}

export function page(ctx) {
  ctx.title('Sign in');
  const input = h('input', {
    type: 'password',
    id: 'key',
    name: 'key',
    required: true,
    autocomplete: 'current-password',
    spellcheck: 'false',
    placeholder: 'ff_…',
  });
  const said = h('p.hue.h-red', { role: 'alert' });
  const button = h('button.btn.primary', 'Sign in');
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    fill(said);
    try {
      await act('POST', '/sign-in', { key: input.value.trim() });
      location.assign(next(ctx.query));
    } catch (problem) {
      fill(said, problem.status === 401 ? 'No key is like that: it is another one, was revoked, or is over.' : problem.detail);
      button.disabled = false;
      input.select();
    }
  };
  ctx.root.append(
    h(
      'form.signin.card',
      { onsubmit: submit },
      h('h1.row', { tabindex: '-1' }, logo(), 'FlowFabric'),
      h('div.field', h('label', { for: 'key' }, 'Key'), input),
      said,
      button,
      h('p.meta', 'An administrator makes keys with ', h('code', 'ff key create'), '. ', h('a', { href: outer('/docs') }, 'Interface')),
    ),
  );
  input.focus();
}
