// The study page in Firefox.
import { testPagesIn } from "./browser/page_tests.mjs";
import { testPlacesIn } from "./browser/place_tests.mjs";
import { testScreensIn } from "./browser/screen_tests.mjs";
import { startSession } from "./browser/session.mjs";
import { testVerdictsIn } from "./browser/verdict_tests.mjs";

const session = startSession("firefox");
testPagesIn(session);
testPlacesIn(session);
testVerdictsIn(session);
testScreensIn(session);
