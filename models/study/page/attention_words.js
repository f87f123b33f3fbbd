// The words of the queries and keys of an attention, where these are rows of x: the tokens of a text, the facts of a
// story.
import { isInMemory } from "./memory_calls.js";

// {queries, keys: lists of words, or null}. Fewer queries than keys are the last rows.
export const wordsOfAttention = (trace, { record, queries, keys }) => {
  const names = trace.nodes.find((node) => node.leaf && node.row_names)?.row_names;
  const areRows = names?.length === keys && !isInMemory(trace, trace.records[record].scope);
  if (!areRows) return { queries: null, keys: null };
  return { queries: queries <= keys ? names.slice(-queries) : null, keys: names };
};
