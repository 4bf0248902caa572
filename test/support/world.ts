import { words } from "./words.ts";

/** A second place for the HTTP tests. */
export interface World {
  name: string;
  /** In the report, after the name of a file. */
  on: string;
  budgetSeconds: number;
  /** How many files run at a time, if not as many as jest's configuration says. */
  atOnce?: number;
  /** Names in test/support/needs.ts. */
  needs: string[];
  /** The files of a short form: `npm test` runs the cluster's, `npm run test:all` FerretDB's. */
  short: string[];
  /** Why files of test/http are not run there, and which; those of extensions say so themselves (`@alone`). */
  alone: Record<string, string[]>;
}

/**
 * The HTTP tests run a second time with `SENSORIUM_TEST_WORLD=cluster`: each server is then a gateway and a worker over
 * NATS, on MongoDB (test/support/clustered.ts), and the shared ones are started once for all files. Only what can differ there is repeated: calls between nodes, queues
 * with an owner, events, streams and limits across nodes, concurrent writes of a real MongoDB. Of each domain the
 * file with its main flows is; look-ups, counts and pages are the same for both drivers (test/suites/store).
 */
export const CLUSTER: World = {
  ...{ name: "cluster", on: "a cluster", budgetSeconds: 1200, needs: ["mongodb", "nats"] },
  short: ["delivery", "events", "fan-out", "live", "memories", "runs", "sse"],
  alone: {
    "several nodes already": words`
      alerts clock-nodes connectors-nodes failover missing-services nats nats-away
      nodes redis rolling-upgrade rolling-upgrade-balancer routing-nodes several-nodes`,
    "MongoDB already": ["backup-cluster", "mongo-lost"],
    "starts one node in either world": ["days", "outputs-large", "retention"],
    "the store, the index or the start of one process": words`
      admin backup device-times disk-space drain erased-bytes first-start loaded oauth-times
      rotation search-recovery server-package start`,
    "the gateway's own, without the services behind it": words`
      browser-sessions challenges edge idempotency limits mcp-bridge mcp-conformance
      oauth-mcp unknown-keys who-may-call`,
    "a client: the same operations are tried by others": words`
      cli cli-agent cli-errors cli-events cli-login client client-listen client-package mcp-agents snippets`,
    "sign-in and keys: identity.test.ts covers a worker": words`
      credentials`,
    "state of a single node: nats.test.ts covers a worker": ["observability"],
    "nodes share counts later: store.usage.test.ts covers two nodes": ["delivery-logs", "storage-quota"],
    "queues within one process; several-nodes.test.ts has two workers": words`
      fair-documents fairness unread-streams`,
    "memory of one process, and rows written while it is stopped": ["list-memory", "list-memory-mongo"],
    "connectors-nodes.test.ts has two workers": ["connectors"],
    "several-nodes.test.ts has two workers; the rest is one worker's": ["push", "push-dns"],
    "a kill between two writes, whose order is the same; failover.test.ts kills a worker": ["crashes"],
    "rules within one service, and who sees what": words`
      documents-access enrichment map-again memories-lifecycle memory-erasure memory-paths
      outputs-search runs-contract webhook-cloudevents webhook-signatures`,
    "filters, order and pages: test/suites/store": ["memories-list"],
    "rendering and mail, of one process": ["outputs-files"],
  },
};

/**
 * The same nodes on FerretDB, a second server that speaks MongoDB's protocol: `npm run test:all` runs a short form, which
 * has each kind of statement, `npm test -- ferretdb` all that it can show (docs/decisions/0007-mongodb-stand-in.md).
 */
export const FERRETDB: World = {
  ...{ name: "ferretdb", on: "a cluster with FerretDB", budgetSeconds: 2400 },
  // It writes one at a time.
  atOnce: 1,
  needs: ["ferretdb", "nats"],
  short: words`
    agents bundles dlq-many documents events memories-supersede memory-keys merges oauth tenants
    webhooks`,
  alone: {
    "hundreds of writes at once, or megabytes: it reads whole collections and writes one at a time": words`
      outputs specialists torture`,
    "the pace of sweeps, which a slow record delays": ["shared-work"],
  },
};
