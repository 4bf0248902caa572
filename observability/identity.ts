import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

/** This process among the nodes: in every log line, in every trace, and on NATS. */
export const identity = {
  /** The name by which other nodes know it. In a container it may be the same after a restart. */
  node: `${hostname().toLowerCase()}-${process.pid}`,
  /** Different after every start. */
  instance: randomUUID(),
};
