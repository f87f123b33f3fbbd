// The study page in Firefox.
import { testPagesIn } from "./browser/page_tests.mjs";
import { testScreensIn } from "./browser/screen_tests.mjs";

testPagesIn("firefox");
testScreensIn("firefox");
