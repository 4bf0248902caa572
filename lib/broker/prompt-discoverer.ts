import { Discoverers } from "moleculer";

const CHECK_MS = 250;

/** A node in Moleculer's registry; its types omit the time, in seconds since this process started. */
interface RemoteNode {
  local: boolean;
  lastHeartbeatTime: number | null;
}

/**
 * Moleculer's discoverer with a check for nodes silent for `heartbeatTimeout` four times a second. The original checks
 * once per `heartbeatTimeout` and so notices a failed node only after up to twice that time.
 *
 * Time for which this process stalled is not counted as silence of others: their heartbeats are there, and not read yet.
 */
export class PromptDiscoverer extends Discoverers.Local {
  #checking: NodeJS.Timeout | undefined;
  #checkedAt = 0;

  override startHeartbeatTimers(): void {
    super.startHeartbeatTimers();
    this.#checkedAt = performance.now();
    this.#checking = setInterval(() => this.checkRemoteNodes(), CHECK_MS).unref();
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

  #forgive(seconds: number): void {
    for (const node of this.registry.nodes.toArray() as RemoteNode[])
      if (!node.local && node.lastHeartbeatTime) node.lastHeartbeatTime += seconds;
  }
}
