// A trace as a graph of the tensors that have names: what lies between two of them is an edge, and the steps of a loop,
// whose names differ in their number only (h, h_1, h_2), are one group.
import { oncePer } from "./once.js";
import { foldTape } from "./tape_fold.js";
import { isNamed, makerOf, seedsOfLoss } from "./tape_graph.js";

// Ops that only move numbers about, and those that are whole modules.
const movingOps = new Set(["reshape", "transpose", "slice", "split", "concat", "pad", "broadcast_to", "identity"]);
const wholeModules = /^(packed_)?attention$|^gated_memory$|_sequence$/;

// The last records of calls of modules.
const endsOfScopes = ({ records, scopes }) => {
  const ends = new Set(), waiting = [...foldTape(records, scopes).children];
  for (const { last, children = [] } of waiting) {
    if (last !== undefined) ends.add(last);
    waiting.push(...children);
  }
  return ends;
};

const isWalked = oncePer(({ records }) => records.some(({ reached }) => reached));
const isTaken = (trace, record) => record.reached || !isWalked(trace);

// The nodes for which shows(record, node) holds, beside the seeds and the leaves that are no parameters.
const nodesToShow = (trace, shows) => {
  const { nodes, records, seeds } = trace, shown = new Set();
  nodes.forEach(({ leaf, parameter, wants_gradient: wants }, n) => leaf && wants && !parameter && shown.add(n));
  records.forEach((record, index) => {
    if (isTaken(trace, record))
      record.outputs.forEach((n, k) => {
        if ((record.output_gradients[k] || !record.reached) && shows(record, nodes[n], index)) shown.add(n);
      });
  });
  for (const { node } of seeds) shown.add(node);
  return shown;
};

const addTo = (map, key, more) => {
  if (!map.has(key)) map.set(key, new Set());
  for (const one of more) map.get(key).add(one);
};

// For each shown node the shown ones that it is made of, with the records that read them first, and its parameters:
// {links: [{from, to, readers}], parameters: Map of Sets}.
const linksBetween = (trace, shown) => {
  const reachOf = new Map(), links = [], parameters = new Map();
  trace.records.forEach((record, index) => {
    if (!isTaken(trace, record)) return;
    const from = new Map(), own = new Set();
    for (const n of record.inputs) {
      if (shown.has(n)) addTo(from, n, [index]);
      else if (trace.nodes[n].parameter) own.add(n);
      for (const [source, readers] of shown.has(n) ? [] : (reachOf.get(n)?.from ?? [])) addTo(from, source, readers);
      for (const parameter of shown.has(n) ? [] : (reachOf.get(n)?.own ?? [])) own.add(parameter);
    }
    for (const n of record.outputs) {
      if (!shown.has(n)) reachOf.set(n, { from, own });
      else {
        for (const [source, readers] of from) links.push({ from: source, to: n, readers: [...readers] });
        parameters.set(n, own);
      }
    }
  });
  return { links, parameters };
};

const baseOf = (name) => /^(.+?)(_\d+)?$/s.exec(name)[1];

// What the instances of a group have in common.
const keyOfNode = (trace, n) => {
  const record = trace.records[makerOf(trace, n)], node = trace.nodes[n];
  if (!record) return `leaf ${n}`;
  return JSON.stringify([isNamed(node) ? baseOf(node.name) : "", record.op, record.path, record.outputs.indexOf(n)]);
};

const labelOf = (trace, [n, ...others]) => {
  const { op, path } = trace.records[makerOf(trace, n)] ?? {}, { name } = trace.nodes[n];
  if (isNamed(trace.nodes[n])) return others.length > 0 ? baseOf(name) : name;
  return [path?.split("/").at(-1), op].filter(Boolean).join(" ");
};

const groupsOf = (trace, shown) => {
  const groups = new Map(), place = (n) => makerOf(trace, n);
  for (const n of [...shown].sort((a, b) => place(a) - place(b))) {
    const key = keyOfNode(trace, n);
    if (!groups.has(key)) groups.set(key, { nodes: [] });
    groups.get(key).nodes.push(n);
  }
  return [...groups.values()].map((group, index) => ({ ...group, index, label: labelOf(trace, group.nodes) }));
};

// A group that is made of parameters alone shows these.
const withBareParameters = (trace, shown) => {
  const { links, parameters } = linksBetween(trace, shown), made = new Set(links.map(({ to }) => to));
  const isBare = ({ nodes }) => !nodes.some((n) => made.has(n));
  const bare = groupsOf(trace, shown).filter(isBare).flatMap(({ nodes }) => nodes.flatMap((n) => [...(parameters.get(n) ?? [])]));
  return new Set([...shown, ...bare]);
};

const mostGroups = 48;
const waysToShow = (trace) => {
  const ends = endsOfScopes(trace), isMain = ({ op }, node) => isNamed(node) || wholeModules.test(op);
  return [
    { shows: isMain, least: 3 },
    { shows: ({ op }, node) => isNamed(node) || !movingOps.has(op), most: 16 },
    { shows: (record, node, index) => isMain(record, node) || ends.has(index), least: 2 },
    { shows: isMain },
    { shows: () => false, most: Infinity },
  ];
};

// The first way that shows neither too little nor too much.
const chosenGroups = (trace) => {
  for (const { shows, least = 0, most = mostGroups } of waysToShow(trace)) {
    const shown = withBareParameters(trace, nodesToShow(trace, shows)), groups = groupsOf(trace, shown);
    const made = groups.flatMap(({ nodes }) => nodes).filter((n) => !trace.nodes[n].leaf).length;
    if (made >= least && groups.length <= most) return { shown, groups };
  }
  return null;
};

const makeGraph = (trace) => {
  const { shown, groups } = chosenGroups(trace), { links, parameters } = linksBetween(trace, shown);
  const groupOf = new Map(groups.flatMap((group) => group.nodes.map((n) => [n, group])));
  const edges = new Map();
  for (const link of links) {
    const from = groupOf.get(link.from), to = groupOf.get(link.to), key = `${from.index} ${to.index}`;
    // A group that was first made later can lead to this one from the step before only.
    if (!edges.has(key)) edges.set(key, { from, to, isFromBefore: from.index >= to.index, links: [] });
    edges.get(key).links.push(link);
  }
  for (const group of groups)
    group.parameters = [...new Set(group.nodes.flatMap((n) => [...(parameters.get(n) ?? [])]))]
      .filter((n) => trace.nodes[n].shape.length > 1);
  const steps = Math.max(1, ...groups.map(({ nodes }) => nodes.length));
  return { groups, edges: [...edges.values()], steps, ends: seedsOfLoss(trace).map(({ node }) => groupOf.get(node)) };
};

/**
 * {groups: [{index, label, nodes (by step), parameters (matrices that come in on the way to it)}], edges: [{from, to
 * (groups), isFromBefore (from the step before), links: [{from, to (nodes), readers (the records that read from)}]}],
 * steps, ends (the groups of the seeds)}
 */
export const overviewGraph = oncePer(makeGraph);

const instanceAt = ({ nodes }, step) => nodes[Math.min(step, nodes.length - 1)];

/** The links of an edge that belong to a step. */
export const linksAt = ({ from, to, links }, step) => {
  const [end, group] = to.nodes.length > 1 ? ["to", to] : ["from", from];
  return group.nodes.length > 1 ? links.filter((link) => link[end] === instanceAt(group, step)) : links;
};

/** The node of a group that belongs to a step; null for one of the step before that is not there. */
export const nodeAt = ({ group, edges, isBefore }, step) => {
  if (!isBefore) return instanceAt(group, step);
  const before = edges.filter(({ isFromBefore }) => isFromBefore).flatMap((edge) => linksAt(edge, step));
  return before.length > 0 ? Math.max(...before.map(({ from }) => from)) : null;
};
