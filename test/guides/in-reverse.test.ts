/** @needs python: the commands of docs/guides. */
import { guidesSuite } from "../suites/guides.ts";

guidesSuite("in reverse order", (pages) => pages.toReversed());
