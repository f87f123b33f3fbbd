// The study page in Chromium.
import { testPagesIn } from "./browser/page_tests.mjs";

testPagesIn("chrome");
