// The records of a tape, folded by scope: what a list of them shows, and where.

// The scopes of a record, the outermost first.
const scopesAround = (scopes, scope) => {
  const around = [];
  for (let at = scope; at >= 0; at = scopes[at].outer) around.unshift(at);
  return around;
};

const scopeItem = (scope, index, depth) => ({
  kind: "scope",
  key: `${scope}.${index}`,
  scope,
  depth,
  first: index,
  last: index,
  children: [],
});

// A tree of items {kind: "record", index, depth} and {kind: "scope", key, scope, depth, first, last (records),
// children}. A scope that the tape comes back to is an item each time.
export const foldTape = (records, scopes) => {
  const root = { kind: "scope", key: "", scope: -1, depth: 0, first: 0, last: records.length - 1, children: [] };
  const open = [root];
  records.forEach((record, index) => {
    const around = scopesAround(scopes, record.scope);
    let common = 0;
    while (common < around.length && open[common + 1]?.scope === around[common]) ++common;
    open.length = common + 1;
    for (const scope of around.slice(common)) {
      const item = scopeItem(scope, index, open.length);
      open.at(-1).children.push(item);
      open.push(item);
    }
    for (const item of open) item.last = index;
    open.at(-1).children.push({ kind: "record", index, depth: open.length });
  });
  return root;
};

// The keys of the scopes that are open at first: outer ones before inner ones, as long as the list has few rows.
export const openAtFirst = (root, rows = 60) => {
  const open = new Set(),
    waiting = [root];
  let count = 0;
  for (let next = 0; next < waiting.length; ++next) {
    const item = waiting[next];
    if (count + item.children.length > rows && item !== root) continue;
    count += item.children.length;
    open.add(item.key);
    waiting.push(...item.children.filter(({ kind }) => kind === "scope"));
  }
  return open;
};

// The items that can be seen, in order, each with its place among its neighbours: {item, position, count}.
export const visibleItems = (root, open) => {
  const rows = [];
  const add = (items) =>
    items.forEach((item, position) => {
      rows.push({ item, position, count: items.length });
      if (item.kind === "scope" && open.has(item.key)) add(item.children);
    });
  add(root.children);
  return rows;
};

// The row that shows a record: its own, or that of the folded scope around it.
export const rowOfRecord = (rows, record) => {
  const holds = ({ item }) =>
    item.kind === "record" ? item.index === record : item.first <= record && record <= item.last;
  return rows.findLastIndex(holds);
};

// The keys of the scopes around a record.
export const keysAround = (root, record) => {
  const keys = [];
  for (let item = root; item;) {
    item = item.children.find((child) => child.kind === "scope" && child.first <= record && record <= child.last);
    if (item) keys.push(item.key);
  }
  return keys;
};

// The rows {first, end} of equal height that a scrolled window shows, and a few around them.
export const rowsInWindow = (scrolled, height, rowHeight, count, around = 6) => ({
  first: Math.max(0, Math.min(count, Math.floor(scrolled / rowHeight)) - around),
  end: Math.min(count, Math.ceil((scrolled + height) / rowHeight) + around),
});
