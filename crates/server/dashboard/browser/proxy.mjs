// A way to a server that fails as networks do: connections are cut in the middle of a message, say nothing any more, or are refused.
import { once } from 'node:events';
import net from 'node:net';

/** Passes on what comes for `target` (a URL) and remembers what was asked for. */
export async function proxy(target) {
  const { hostname: host, port } = new URL(target);
  const open = new Set();
  const asked = [];
  let room = Infinity;
  let down = false;
  let cuts = 0;

  const server = net.createServer((client) => {
    if (down) {
      client.destroy();
      return;
    }
    const way = { client, upstream: net.connect(Number(port), host), left: room, stalled: false };
    const { upstream } = way;
    open.add(way);
    const end = () => {
      open.delete(way);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => {
      for (const [, method, path] of bytes.toString('latin1').matchAll(/^([A-Z]+) (\S+) HTTP\/1\.1\r$/gm)) asked.push(`${method} ${path}`);
      if (!way.stalled) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (way.stalled) return;
      if (bytes.length <= way.left) {
        way.left -= bytes.length;
        client.write(bytes);
        return;
      }
      // What was written arrives, and nothing after it.
      cuts += 1;
      client.end(bytes.subarray(0, way.left));
      way.stalled = true;
      upstream.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  // A test that failed leaves it behind.
  server.unref();
  await once(server, 'listening');

  const cut = () => {
    for (const { client, upstream } of open) for (const socket of [client, upstream]) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked,
    get cuts() {
      return cuts;
    },
    /** Connections that are open. */
    get open() {
      return open.size;
    },
    cut,
    /** Every connection, those that are open too, ends after so many more bytes of answers. */
    cutAfter(bytes) {
      room = bytes;
      for (const way of open) way.left = bytes;
    },
    /** Connections that are open stay so, and nothing comes through them any more; new ones are as ever. */
    stall() {
      for (const way of open) way.stalled = true;
    },
    /** As if the machine were gone, or as if it were back. */
    down(is = true) {
      down = is;
      if (is) cut();
    },
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
