import { Discoverers } from "moleculer";

const LOOK_MS = 250;

/**
 * Moleculer's own discovery of nodes, which looks four times a second for one that has been silent for
 * `heartbeatTimeout`. The original looks once every `heartbeatTimeout`, and so notices a node that died after anything up
 * to twice that; how long one may be silent is the same.
 */
export class PromptDiscoverer extends Discoverers.Local {
  #looking: NodeJS.Timeout | undefined;

  override startHeartbeatTimers(): void {
    super.startHeartbeatTimers();
    this.#looking = setInterval(() => this.checkRemoteNodes(), LOOK_MS).unref();
  }

  override stopHeartbeatTimers(): void {
    super.stopHeartbeatTimers();
    clearInterval(this.#looking);
  }
}
