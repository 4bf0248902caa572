import { testLists } from "../suites/list-memory.ts";

await testLists();
