import { invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { newUuid } from "../../../lib/ids.ts";
import { requirePublicUrl } from "../../../services/outgoing.ts";
import type { Runtime } from "../../../services/runtime.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { A2aTasks } from "./a2a-tasks.ts";
import { type PushConfigDoc, PushConfigModel, pushConfigPlace } from "./push-configs.model.ts";
import type { OfConfig, OfTask, PushConfigJson, PushSecrets, Side } from "./task.ts";

const MOST_OF_TASK = 10;
const MOST_URL = 2048;
const MOST_SECRET = 4096;
/** Texts that an HTTP header can carry. */
const HEADER = /^[\x20-\x7e]*$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;

/** The caller's operations on the webhooks of their tasks. */
export class PushConfigs {
  readonly #runtime: Runtime;
  readonly #tasks: A2aTasks;
  readonly #rows: TenantCollection<PushConfigDoc>;

  constructor(runtime: Runtime, tasks: A2aTasks) {
    this.#runtime = runtime;
    this.#tasks = tasks;
    this.#rows = runtime.store.collection(PushConfigModel);
  }

  /**
   * Adds a webhook to a task, or replaces the one with the same id: the task's if none is given. It is notified of all
   * changes from now on.
   *
   * @throws Fault not_found, validation_error
   */
  async create(side: Side, config: PushConfigJson): Promise<PushConfigJson> {
    const { taskId: task_id, id: config_id = task_id, url = "", token, authentication } = config;
    const { tenant_id } = side;
    const task = await this.#tasks.expectNotifications({ ...side, _id: task_id });
    await this.check(side, config);
    const _id = idOf(task_id, config_id);
    await this.#requireCapacity(tenant_id, task_id, _id);
    const { secrets, store } = this.#runtime;
    const sealed = secrets.seal(
      JSON.stringify({ token, authentication } satisfies PushSecrets),
      pushConfigPlace(_id),
    );
    const version = { sent_version: task.version, wanted_version: task.version };
    await this.#rows.upsert([
      {
        filter: { _id, tenant_id, task_id },
        update: {
          $set: { config_id, url, sealed, attempts: 0 },
          $setOnInsert: { ...version, created_at: new Date(store.now()) },
        },
      },
    ]);
    await this.#tasks.announceSince({ ...side, _id: task_id }, task.version);
    return present({ task_id, config_id, url }, config);
  }

  /** @throws Fault not_found */
  async get({ config_id, ...of }: OfConfig): Promise<PushConfigJson> {
    const { tenant_id, task_id } = of;
    await this.#tasks.read(of);
    const row = await this.#rows.findOne(tenant_id, { _id: idOf(task_id, config_id) });
    return this.#present(requireFound(row, "push_notification_config", config_id));
  }

  /** @throws Fault not_found for the task */
  async list(of: OfTask): Promise<PushConfigJson[]> {
    const { tenant_id, task_id } = of;
    await this.#tasks.read(of);
    const rows = await this.#rows.find(tenant_id, { task_id }, { sort: { created_at: 1, _id: 1 } });
    return rows.map((row) => this.#present(row));
  }

  /** Deletes a configuration, if there is one. @throws Fault not_found for the task */
  async delete({ config_id, ...of }: OfConfig): Promise<void> {
    await this.#tasks.read(of);
    await this.#rows.delete(of.tenant_id, { _id: idOf(of.task_id, config_id) });
  }

  /** @throws Fault validation_error */
  async check({ tenant_id, caller_id }: Side, config: Omit<PushConfigJson, "taskId">): Promise<void> {
    const { id = "", url = "", token = "", authentication } = config;
    if (id.length > 200) throw invalidValue("id", "id: expected at most 200 characters.");
    if (url.length > MOST_URL) throw invalidValue("url", `url: expected at most ${MOST_URL} characters.`);
    const { scheme, credentials = "" } = authentication ?? { scheme: "Bearer" };
    if (!SCHEME.test(scheme)) {
      throw invalidValue("authentication.scheme", "authentication.scheme: expected a name such as Bearer.");
    }
    for (const [field, value] of Object.entries({ token, "authentication.credentials": credentials })) {
      if (value.length <= MOST_SECRET && HEADER.test(value)) continue;
      throw invalidValue(field, `${field}: expected at most ${MOST_SECRET} printable ASCII characters.`);
    }
    await requirePublicUrl(this.#runtime, { tenant_id, caller: caller_id }, "url", url);
  }

  async #requireCapacity(tenant_id: string, task_id: string, _id: string): Promise<void> {
    const others = await this.#rows.count(tenant_id, { task_id, _id: { $ne: _id } });
    if (others < MOST_OF_TASK) return;
    throw invalidValue(
      "taskId",
      `taskId: the task has ${MOST_OF_TASK} push notification configurations. Delete one first.`,
    );
  }

  #present(row: PushConfigDoc): PushConfigJson {
    return present(row, secretsOf(this.#runtime.secrets, row));
  }
}

export function secretsOf(secrets: SecretBox, { _id, sealed }: PushConfigDoc): PushSecrets {
  return JSON.parse(secrets.open(sealed, pushConfigPlace(_id)));
}

const idOf = (task_id: string, config_id: string) => newUuid(JSON.stringify(["push", task_id, config_id]));

/** Secrets are not shown: the webhook knows them. */
function present(
  { task_id, config_id, url }: Pick<PushConfigDoc, "task_id" | "config_id" | "url">,
  { authentication }: PushSecrets,
): PushConfigJson {
  const shown = authentication && { authentication: { scheme: authentication.scheme } };
  return { id: config_id, taskId: task_id, url, ...shown };
}
