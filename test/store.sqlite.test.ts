import { storeSuite } from "./suites/store.ts";
import { ownStore } from "./support/own-store.ts";

storeSuite({ name: "SQLite", open: () => ownStore() });
