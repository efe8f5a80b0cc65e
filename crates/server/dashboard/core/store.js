// A value that says when it changes.

export function signal(value) {
  const watchers = new Set();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const watcher of [...watchers]) watcher(value);
    },
    /** Tells `watcher` the value now and whenever it is set, until `until` is aborted. */
    on(watcher, until) {
      if (until?.aborted) return;
      watchers.add(watcher);
      until?.addEventListener('abort', () => watchers.delete(watcher), { once: true });
      watcher(value);
    },
  };
}
