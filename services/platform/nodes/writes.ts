import type { Context, ServiceBroker } from "moleculer";
import { noteAnyWrites, noteWrite, onWrite, setComplete } from "../../../storage/activity.ts";
import { event } from "../../runtime.ts";

const EVENT = "records.written";
/** Between two messages of a node; the first is sent at once. */
const PAUSE_MS = 1000;

interface Written {
  collections: string[];
  by: string;
}

/**
 * Tells the other nodes which collections this one has written, so that the owners of background work look for it. A lost
 * message delays that until their next look without being told (`mixins/quiet.ts`).
 */
export function reportWrites(broker: ServiceBroker): () => void {
  const written = new Set<string>();
  let pause: NodeJS.Timeout | undefined;
  const send = () => {
    pause = undefined;
    if (written.size === 0) return;
    const message: Written = { collections: [...written], by: broker.nodeID };
    written.clear();
    pause = setTimeout(send, PAUSE_MS).unref();
    broker.broadcast(EVENT, message).catch(() => {});
  };
  const end = onWrite((collection) => {
    written.add(collection);
    if (pause === undefined) send();
  });
  return () => {
    end();
    clearTimeout(pause);
  };
}

/** A node as Moleculer's registry lists it. */
interface Listed {
  services: { events?: Record<string, unknown> }[];
}

/** Nodes may have come that do not tell, or gone before they told everything. */
function nodesChanged({ broker }: Context): void {
  const nodes = broker.registry.getNodeList({ onlyAvailable: true, withServices: true }) as Listed[];
  setComplete(nodes.every(({ services }) => services.some(({ events }) => events && EVENT in events)));
  noteAnyWrites();
}

/** Messages of other nodes about their writes. */
export const WRITES_OF_OTHERS = {
  [EVENT]: ({ params: { collections, by }, broker }: Context<Written>) => {
    if (by !== broker.nodeID) for (const collection of collections) noteWrite(collection);
  },
  "$node.connected": nodesChanged,
  "$node.disconnected": nodesChanged,
  "$services.changed": nodesChanged,
  // Messages sent while the connection was away are lost.
  "$transporter.connected": event(noteAnyWrites),
};
