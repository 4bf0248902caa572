/** @needs python: the commands of docs/guides. */
import { guidesSuite } from "../suites/guides.ts";

// README.md is the first page of a new server in test/examples.test.ts.
guidesSuite("in the order of the table of contents", ([_readme, ...guides]) => guides);
