// The views of the page, in the order of their tabs. A view is {id, title, lead, applies(trace), render(root,
// context)}. The lead is the one sentence that says what to look for. The context is {trace, verdicts, whenChecked,
// place, go}: verdicts[record] is there once that record was checked, whenChecked a promise of all of them, and
// go({record: 17}) moves to a place. render may return a function: it is called with the new context when the place
// changes within the view; without one the view is rendered anew. onKey(key, context), if there is one, says whether it
// used a key that no control has used.
import { attentionView } from "./attention_view.js";
import { exercisesView } from "./exercises_view.js";
import { flowView } from "./flow_view.js";
import { gatesView } from "./gates_view.js";
import { jacobianView } from "./jacobian_view.js";
import { lessonsView } from "./lessons_view.js";
import { memoryView } from "./memory_view.js";
import { nanView } from "./nan_view.js";
import { outerProductsView } from "./outer_products_view.js";
import { startView } from "./start_view.js";
import { tapeView } from "./tape_view.js";

const allButTheStart = [
  nanView, tapeView, attentionView, memoryView, gatesView, flowView, jacobianView, outerProductsView, lessonsView, exercisesView,
];
// Where something is not finite, that comes first.
export const views = () => [nanView, startView(allButTheStart), ...allButTheStart.slice(1)];

// The view of a place that names none: the one that says it shows it (opens(place)), or the first.
export const openingView = (all, place) => all.find((view) => view.opens?.(place)) ?? all[0];
