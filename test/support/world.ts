/**
 * The HTTP tests run a second time with `AFFERENT_TEST_WORLD=cluster`: each server is then a gateway and a worker over
 * NATS, on MongoDB (test/support/clustered.ts).
 */
export const CLUSTER = {
  name: "cluster",
  files: /^test\/http\//,
  budgetSeconds: 1800,
  needs: ["mongodb", "nats"],
  /** The files that are not run a second time, and why. */
  alone: {
    admin: "the command line without a server works on the embedded store",
    backup: "copies the embedded store",
    edge: "the gateway's own, without the services behind it",
    "client-package": "how the package is built",
    cli: "a client: the same operations are tried by others",
    "cli-agent": "a client: the same operations are tried by others",
    "cli-events": "a client: the same operations are tried by others",
    "device-times": "changes the store of one process",
    "erased-bytes": "reads the files of one process's data directory",
    "first-start": "what is in one process's data directory",
    guides: "the commands of somebody who starts one process",
    "guides-python": "a client: the same operations are tried by others",
    idempotency: "the gateway's own, without the services behind it",
    limits: "the gateway's own, without the services behind it",
    observability: "what one node says of itself; nats.test.ts asks a worker",
    "rolling-upgrade": "several nodes already",
    "disk-space": "the disk of the embedded store",
    "storage-quota":
      "each node sees what others have counted some seconds later; store.usage.test.ts asks two",
    loaded: "what one process loads at its start",
    readme: "the commands of somebody who starts one process",
    "search-another-model": "starts a second time on a record that goes with its cluster",
    start: "how one process starts and ends",
    affinity: "several nodes already",
    "delivery.mongodb": "MongoDB already",
    "events.mongodb": "MongoDB already",
    "kept-exactly.mongodb": "MongoDB already",
    failover: "several nodes already",
    "mongo-lost": "MongoDB already",
    nats: "several nodes already",
    "nats-paused": "several nodes already",
    nodes: "several nodes already",
    "push-nodes": "several nodes already",
    redis: "several nodes already",
    "several-nodes": "several nodes already",
    "connectors-nodes": "several nodes already",
  } as Record<string, string>,
};
