import type { ServiceBroker } from "moleculer";
import { hostOf } from "../../../connectors/address-guard.ts";
import { type Outcome, outcomeOf, PushSender } from "../../../connectors/push-sender.ts";
import { backOff, retryDelay } from "../../../lib/queue/backoff.ts";
import { place, Queue, type Queued } from "../../../mixins/queue.ts";
import { metrics } from "../../../observability/metrics.ts";
import { activeTenants } from "../../../services/identity/tenants/find-tenants.ts";
import type { Runtime } from "../../../services/runtime.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type A2aTaskDoc, A2aTaskModel } from "./a2a-tasks.model.ts";
import { type PushConfigDoc, PushConfigModel } from "./push-configs.model.ts";
import { secretsOf } from "./push-configs.ts";

const TIMEOUT_MS = 15_000;
/** Limits of notifications in progress: on this node, of one tenant, and of one host of it. */
const IN_WORK = { capacity: 256, perTenant: 64, perCaller: 8 };
/** About a day, by the steps of `retryDelay`. */
const MOST_ATTEMPTS = 50;
/** However long the webhook asks to wait: the queue takes later ones for due. */
const LONGEST_SECONDS = 3600;
const SUSPENDED_MS = 60_000;

type Config = Queued<PushConfigDoc>;

/**
 * Posts the tasks that have changed to their webhooks. A change queues its task in the same write; from there each
 * webhook is queued on its own, so that none waits for another. It gets the task as it is then: changes that a slow one
 * has missed arrive as one.
 */
export class Notifier {
  readonly #runtime: Runtime;
  readonly #broker: ServiceBroker;
  readonly #next: () => void;
  readonly #tasks: TenantCollection<A2aTaskDoc>;
  readonly #configs: TenantCollection<PushConfigDoc>;
  readonly #changed: Queue<A2aTaskDoc>;
  readonly #due: Queue<PushConfigDoc>;
  readonly #ending = new AbortController();
  readonly #sender: PushSender;

  /** @param next called when this node may begin another notification */
  constructor(runtime: Runtime, broker: ServiceBroker, next: () => void) {
    const { store, resolver, config } = runtime;
    this.#runtime = runtime;
    this.#broker = broker;
    this.#next = next;
    this.#tasks = store.collection(A2aTaskModel);
    this.#configs = store.collection(PushConfigModel);
    this.#changed = new Queue(this.#tasks, store.now, IN_WORK);
    this.#due = new Queue(this.#configs, store.now, IN_WORK);
    const allowPrivate = config.PUSH_ALLOW_PRIVATE;
    this.#sender = new PushSender({ resolver, allowPrivate, timeoutMs: TIMEOUT_MS });
  }

  async reclaim(): Promise<void> {
    await this.#changed.reclaim();
    await this.#due.reclaim();
  }

  /** Aborts what is in progress; it begins again after the next start. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all([this.#changed.ended(), this.#due.ended()]);
    await this.#sender.close();
  }

  /** Takes one step; returns false if there is nothing to do, or this node is at its limit. */
  async work(): Promise<boolean> {
    if (this.#ending.signal.aborted) return false;
    const failed = (err: unknown) =>
      this.#broker.logger.warn({ err }, "a2a_tasks: a change is repeated later");
    const some = await this.#changed.begin((task) => this.#queueConfigs(task).catch(failed), this.#next);
    return (await this.#due.begin((config) => this.#hold(config), this.#next)) || some;
  }

  /** If this ends early, the lease does too, and it is repeated. */
  async #queueConfigs({ _id, tenant_id, version, queue }: Queued<A2aTaskDoc>): Promise<void> {
    await this.#configs.updateMany(tenant_id, { task_id: _id }, { $max: { wanted_version: version } });
    const idle = await this.#configs.find(tenant_id, { task_id: _id, queue: { $exists: false } });
    for (const config of idle) {
      const $set = { queue: place(tenant_id, this.#now(), hostOf(config.url)) };
      await this.#configs.update(tenant_id, { _id: config._id, queue: { $exists: false } }, { $set });
    }
    await this.#tasks.update(tenant_id, { _id, queue }, { $unset: { queue: 1 } });
  }

  #hold(config: Config): Promise<void> {
    const failed = async (held: Config, err: unknown) => {
      this.#warn(held, "a notification failed and will be retried", err);
      const attempts = held.attempts + 1;
      await this.#due.release(held, this.#now() + backOff(attempts) * 1000, { attempts });
    };
    return this.#due
      .hold(config, (held) => this.#notify(held), failed)
      .catch((err) => this.#warn(config, "a notification is repeated when its lease ends", err));
  }

  async #notify(config: Config): Promise<void> {
    const { tenant_id, task_id } = config;
    const task = await this.#tasks.findOne(tenant_id, { _id: task_id });
    if (!task || task.version <= config.sent_version || !(await this.#isCallerActive(task))) {
      return this.#finish(config, task?.version ?? config.wanted_version);
    }
    if ((await activeTenants(this.#broker, [config])).size === 0) {
      await this.#due.release(config, this.#now() + SUSPENDED_MS);
      return;
    }
    const outcome = await this.#post(config, task);
    metrics.pushAttempts.inc({ outcome: outcome.do });
    await this.#settle(config, task.version, outcome);
  }

  async #post(config: Config, { task_json, caller_id }: A2aTaskDoc): Promise<Outcome> {
    const { history: _, ...task } = JSON.parse(task_json);
    const { token, authentication } = secretsOf(this.#runtime.secrets, config);
    const credentials = authentication?.credentials;
    const headers = {
      "Content-Type": "application/a2a+json",
      ...(credentials && { Authorization: `${authentication.scheme} ${credentials}` }),
      ...(token && { "X-A2A-Notification-Token": token }),
    };
    const result = await this.#sender.post({
      share: { tenant_id: config.tenant_id, caller: caller_id },
      url: config.url,
      content: { headers, body: Buffer.from(JSON.stringify({ task })) },
      signal: this.#ending.signal,
    });
    return outcomeOf(result);
  }

  async #settle(config: Config, version: number, outcome: Outcome): Promise<void> {
    const attempts = config.attempts + 1;
    if (outcome.do === "acknowledge") return this.#finish(config, version);
    if (outcome.do === "release") return void (await this.#due.release(config, this.#now()));
    if (outcome.do === "stop") {
      return void (await this.#configs.delete(config.tenant_id, { _id: config._id }));
    }
    if (attempts >= MOST_ATTEMPTS) {
      this.#warn(config, "a webhook misses a change of its task: it failed too often", outcome.reason);
      return this.#finish(config, version);
    }
    const seconds = (outcome.do === "retry" && outcome.delay_seconds) || retryDelay(attempts);
    const due = this.#now() + Math.min(seconds, LONGEST_SECONDS) * 1000;
    await this.#due.release(config, due, { attempts });
  }

  /** Takes it from the queue, unless the task has changed meanwhile. */
  async #finish(config: Config, sent_version: number): Promise<void> {
    const { tenant_id, _id, queue } = config;
    const known = { _id, queue, wanted_version: { $lte: sent_version } };
    const $set = { sent_version, attempts: 0 };
    const done = await this.#configs.update(tenant_id, known, { $set, $unset: { queue: 1 } });
    if (!done) await this.#due.release(config, this.#now(), $set);
  }

  /** A disabled caller learns no more of their tasks. */
  async #isCallerActive({ tenant_id, caller_id }: A2aTaskDoc): Promise<boolean> {
    const user_ids = [caller_id];
    if (caller_id.startsWith("usr_")) {
      return (await this.#broker.call<unknown[], object>("users.of_tokens", { user_ids })).length > 0;
    }
    const params = { tenant_id, agent_ids: [caller_id] };
    const [agent] = await this.#broker.call<{ status: string }[], object>("agents.get_many", params);
    return agent?.status === "active";
  }

  #now(): number {
    return this.#runtime.store.now();
  }

  #warn({ _id, task_id }: PushConfigDoc, message: string, err: unknown): void {
    this.#broker.logger.warn({ err, task_id, config: _id }, `a2a_tasks: ${message}`);
  }
}
