import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../storage/connection.ts";
import { storeSuite } from "./suites/store.ts";

storeSuite({
  name: "SQLite",
  async open() {
    const DATA_DIR = await mkdtemp(join(tmpdir(), "sensorium-store-"));
    const store = await openStore({ DATA_DIR });
    return { store, stop: () => rm(DATA_DIR, { recursive: true }) };
  },
});
