// The study page in Chromium.
import { testPagesIn } from "./browser/page_tests.mjs";
import { testScreensIn } from "./browser/screen_tests.mjs";

testPagesIn("chrome");
testScreensIn("chrome");
