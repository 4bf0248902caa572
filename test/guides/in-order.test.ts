/** @needs python: the commands of docs/guides. */
import { guidesSuite } from "../suites/guides.ts";

guidesSuite("in the order of the table of contents", (pages) => pages);
