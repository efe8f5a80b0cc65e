// Which item of a list stands beside it.

/** The one that is named, and no other; without a name the one that stood there `before`, while it is there, or else the first. */
export function chosen(items, key, named, before) {
  const has = (wanted) => items.find((item) => key(item) === wanted);
  return named === undefined ? (has(before) ?? items[0]) : has(named);
}
