// The study page in Firefox.
import { testPagesIn } from "./browser/page_tests.mjs";

testPagesIn("firefox");
