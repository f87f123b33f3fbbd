// The rules by the name of their op. A rule is {vjp, forward?, jacobian?, size?}: functions of a call (see trace.js).
import { attentionRules } from "./rules_attention.js";
import { elementwiseRules } from "./rules_elementwise.js";
import { indexingRules } from "./rules_indexing.js";
import { lossRules } from "./rules_losses.js";
import { productRules } from "./rules_products.js";
import { recurrentRules } from "./rules_recurrent.js";
import { reductionRules } from "./rules_reductions.js";
import { rowRules } from "./rules_rows.js";
import { shapeRules } from "./rules_shapes.js";

/**
 * All rules. vjp(call) gives the vector-Jacobian product of each input, an array of its shape, or null for none: a
 * second derivation of what the op's backward function computes, in double precision. size(call) is there where the
 * sums of a product can cancel: how large the numbers are that it adds.
 */
export const rules = () => ({
  ...attentionRules, ...elementwiseRules, ...indexingRules, ...lossRules, ...productRules, ...recurrentRules,
  ...reductionRules, ...rowRules, ...shapeRules,
});

let known = null;

/** The rule of a call; null for the op of a user, whose formulas nobody else knows. */
export function ruleOf(op, attributes = {}) {
  known ??= rules();
  return Object.hasOwn(known, op) && !attributes.custom ? known[op] : null;
}
