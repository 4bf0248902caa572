import type { ServiceBroker } from "moleculer";
import { unavailable } from "../../../lib/contract/faults.ts";
import { raiseFormat, readFormat, unknownFormat } from "../../../storage/format.ts";
import type { Runtime } from "../../runtime.ts";

const RETRY_AFTER_SECONDS = 60;

interface RegistryNode {
  id: string;
  available: boolean;
  /** The metadata that `moleculer.config.ts` announces; nothing in versions before formats. */
  metadata?: { format?: number };
}

/**
 * Lets rows of a new format be written when all nodes know it, and ends this node when it does not know those that are
 * there. See docs/decisions/0074-formats.md.
 */
export class Formats {
  readonly #runtime: Pick<Runtime, "store" | "log">;
  /** The highest format of the rows, as this node last read it. */
  #written = 0;

  constructor(runtime: Pick<Runtime, "store" | "log">) {
    this.#runtime = runtime;
  }

  /** Reads the format of the rows. Ends this node, as an operator does, if it is not known here. */
  async follow(): Promise<void> {
    this.#written = await readFormat(this.#runtime.store.connection);
    const reason = unknownFormat(this.#written);
    if (reason === null) return;
    this.#runtime.log.fatal(reason);
    process.kill(process.pid, "SIGINT");
  }

  /**
   * Allows what writes rows of a format.
   *
   * @param what a field or an operation, for the caller
   * @throws Fault service_unavailable while a node does not know the format
   */
  async require(broker: ServiceBroker, { format, what }: { format: number; what: string }): Promise<void> {
    requireAll(broker, format, what);
    if (format <= this.#written) return;
    await raiseFormat(this.#runtime.store.connection, format);
    this.#written = format;
    // A node that joined meanwhile reads it now, or is seen here.
    await broker.broadcast("nodes.format_raised");
    requireAll(broker, format, what);
  }
}

function requireAll(broker: ServiceBroker, format: number, what: string): void {
  const nodes = broker.registry.nodes.toArray() as RegistryNode[];
  const older = nodes.filter(({ available, metadata }) => available && (metadata?.format ?? 0) < format);
  if (older.length === 0) return;
  const names = older.map(({ id }) => id).join(", ");
  throw unavailable(
    `${what} cannot be used yet: nodes of an earlier version do not know it (${names}). Retry when the upgrade is finished.`,
    RETRY_AFTER_SECONDS,
    { nodes: older.map(({ id }) => id) },
  );
}
