import { afterAll, beforeAll, describe } from "@jest/globals";
import { firstAgent, type TestAgent } from "./agents.ts";
import { startMongo } from "./mongo.ts";
import { type Nodes, startNodes } from "./nodes.ts";

/** Set-up of tests on several nodes, made in `beforeAll`. */
interface OnNodes {
  /** Of the record. */
  url: string;
  nodes: Nodes;
  /** The first agent of the first start, through the gateway. */
  admin: TestAgent;
}

interface Conditions {
  workers: number;
  isHere?: boolean;
  /** Puts something between the nodes and their record, and gives its address there. */
  through?: (url: string) => Promise<string>;
}

/** Tests on a gateway and so many workers, with these settings, over a separate NATS; skipped without a MongoDB or another need. */
export async function onNodes(
  what: string,
  nodes: number | Conditions,
  settings: Record<string, string>,
  define: (on: OnNodes) => void,
): Promise<void> {
  const {
    workers,
    isHere = true,
    through = async (url) => url,
  }: Conditions = typeof nodes === "number" ? { workers: nodes } : nodes;
  const mongo = await startMongo();
  const url = "url" in mongo ? mongo.url : "";
  (url && isHere ? describe : describe.skip)(what, () => {
    const on = { url, nodes: {} as Nodes, admin: {} as TestAgent };
    beforeAll(async () => {
      Object.assign(
        on.nodes,
        await startNodes(await through(url), workers, { RATE_LIMIT_PER_MINUTE: "0", ...settings }),
      );
      Object.assign(on.admin, await firstAgent(on.nodes.gateway));
    });
    // Things that the tests opened close after the nodes that use them, and the record last.
    afterAll(() => on.nodes.stop?.());
    define(on);
    afterAll(async () => "url" in mongo && mongo.stop());
  });
}
