import { Discoverers } from "moleculer";

const CHECK_MS = 250;
/** Shorter than servers of NATS take to restore a route: one that was lost has swallowed a heartbeat. */
const BEAT_MS = 750;

/**
 * Moleculer's discoverer with a check for nodes silent for `heartbeatTimeout` four times a second. The original checks
 * once per `heartbeatTimeout` and so notices a failed node only after up to twice that time.
 *
 * Time for which this process stalled is not counted as silence of others: their heartbeats are there, and not read yet.
 *
 * Calls that nobody answers are given up in two more cases, in which the node is never missed: it was restarted under
 * the same name, or messages of it were lost on the way, as its numbered heartbeats show. Heartbeats of earlier versions
 * have no number.
 */
export class PromptDiscoverer extends Discoverers.Local {
  #checking: NodeJS.Timeout | undefined;
  #checkedAt = 0;
  #beat = 0;
  /** Numbers of the others' last heartbeats. */
  readonly #beats = new Map<string, number>();

  override startHeartbeatTimers(): void {
    super.startHeartbeatTimers();
    clearInterval(this.heartbeatTimer);
    this.heartbeatTimer = setInterval(() => this.beat(), BEAT_MS).unref();
    this.#checkedAt = performance.now();
    this.#checking = setInterval(() => this.checkRemoteNodes(), CHECK_MS).unref();
    // This node has already given up what it missed while it was not connected (connectors/nats.ts).
    this.#beats.clear();
  }

  override stopHeartbeatTimers(): void {
    super.stopHeartbeatTimers();
    clearInterval(this.#checking);
  }

  override checkRemoteNodes(): void {
    const now = performance.now();
    const stalled = now - this.#checkedAt - CHECK_MS;
    this.#checkedAt = now;
    if (stalled > CHECK_MS) this.#forgive(stalled / 1000);
    super.checkRemoteNodes();
  }

  override async sendHeartbeat(): Promise<void> {
    const payload = { cpu: this.localNode?.cpu, beat: ++this.#beat };
    await this.transit
      ?.publish({ type: "HEARTBEAT", target: null, payload } as never)
      .catch((err) => this.logger.error("A heartbeat could not be sent.", err));
  }

  override heartbeatReceived(nodeID: string, payload: { beat?: number }): void {
    const last = this.#beats.get(nodeID);
    const { beat } = payload;
    if (beat !== undefined) this.#beats.set(nodeID, beat);
    const isGap = last !== undefined && beat !== undefined && beat !== last + 1;
    if (isGap && this.registry.nodes.get(nodeID)?.available) this.#giveUp(nodeID, "messages were lost");
    super.heartbeatReceived(nodeID, payload);
  }

  override processRemoteNodeInfo(nodeID: string, payload: { instanceID?: string }) {
    const known: ReturnType<typeof this.registry.nodes.get> | undefined = this.registry.nodes.get(nodeID);
    const isOther = known !== undefined && known.instanceID !== payload.instanceID;
    if (isOther || !known?.available) this.#beats.delete(nodeID);
    if (isOther && known.available) this.#giveUp(nodeID, "it was restarted");
    return super.processRemoteNodeInfo(nodeID, payload);
  }

  #giveUp(nodeID: string, why: string): void {
    this.logger.warn(`Calls to node '${nodeID}' that wait for an answer are given up: ${why}.`);
    this.transit?.removePendingRequestByNodeID(nodeID);
    void this.broker.broadcastLocal("$node.messages_lost", { nodeID });
  }

  #forgive(seconds: number): void {
    for (const node of this.registry.nodes.toArray())
      if (!node.local && node.lastHeartbeatTime) node.lastHeartbeatTime += seconds;
  }
}
