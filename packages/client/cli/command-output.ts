import { isApiError } from "../errors.ts";
import type { CloudEvent, DeliveryEvent } from "../generated/types.ts";
import { Interrupted } from "../handler.ts";
import { type Context, text } from "./command.ts";
import { UsageError } from "./usage.ts";

/** Limit of a command's standard output that is saved. */
const MAX_MB = 32;
const MAX_BYTES = MAX_MB * 1_048_576;
/** Names that are their own slugs: the service finds a name again by its slug. */
const NAME = /^[\p{Ll}\p{Lo}\p{M}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{M}\p{N}]+)*$/u;
const LONGEST_NAME = 80;

/** The standard output of a command. */
export class Collected {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_BYTES) this.#chunks.push(chunk);
    else this.#chunks.length = 0;
  }

  /** @throws Error if it is too large */
  toText(): string {
    if (this.#bytes > MAX_BYTES)
      throw new Error(`it has ${this.#bytes.toLocaleString("en")} bytes, more than ${MAX_MB} MB`);
    return Buffer.concat(this.#chunks).toString();
  }
}

/** The work of a command. */
interface Work {
  event: CloudEvent;
  delivery: DeliveryEvent;
  signal: AbortSignal;
}

/** Saves what commands write as versions of one output of the agent. */
export class CommandOutput {
  readonly #context: Context;
  readonly #name: string;
  /** Known once it was found or created. */
  #id: string | undefined;
  /** One save at a time: two first ones would create two outputs. */
  #saving: Promise<unknown> = Promise.resolve();

  constructor(context: Context, name: string) {
    this.#context = context;
    this.#name = name;
  }

  /**
   * Saves a text as the next version; only once for an event, whatever a later attempt has written. An empty text is not
   * saved.
   *
   * @throws Error with the reason if it is not saved; the signal's reason, if that is an interruption
   */
  async save(collected: Collected, work: Work): Promise<void> {
    const saving = this.#saving.then(() => this.#save(collected.toText(), work));
    this.#saving = saving.catch(() => {});
    await saving.catch((error: Error) => {
      // It may be deleted: find it again.
      this.#id = undefined;
      if (error instanceof Interrupted) throw error;
      throw new Error(`the output was not saved: ${error.message}`, { cause: error });
    });
  }

  async #save(body: string, { event: { type }, delivery, signal }: Work): Promise<void> {
    const { client, telling } = this.#context;
    if (body === "") return;
    const { id: delivery_id, event_id, attempt_count, replay_id } = delivery;
    this.#id ??= await this.#find(signal);
    const which =
      this.#id === undefined
        ? { title: this.#name }
        : { output_id: this.#id, change_note: `${type} ${event_id}` };
    const metadata = { event_id, delivery_id, type };
    const saveAs = (idempotencyKey: string) =>
      client.outputs.save({ body, ...which, metadata }, { signal, idempotencyKey });
    // A replay of history has it saved again.
    const key = ["work-output", this.#name, event_id, replay_id].filter(Boolean).join(" ");
    const saved = await saveAs(key).catch((error) => {
      if (isSaved(error)) return null;
      // The answer to an earlier attempt, refused for a reason that may be gone.
      if (isApiError(error) && error.status < 500) return saveAs(`${key} ${attempt_count}`);
      throw error;
    });
    if (!saved) return telling.note(`${type} ${event_id}: its output was saved by an earlier attempt`);
    if (this.#id === undefined && saved.slug !== this.#name)
      telling.note(`Another output is called ${this.#name}: pass --output ${saved.slug} from now on.`);
    this.#id = saved.id;
  }

  async #find(signal: AbortSignal): Promise<string | undefined> {
    try {
      const { versions } = await this.#context.client.outputs.listVersions(
        { output_id: this.#name },
        { signal },
      );
      return versions[0]?.output_id;
    } catch (error) {
      if (isApiError(error, "not_found")) return undefined;
      throw error;
    }
  }
}

/** Whether the key was used by a request that has saved an output, with another text. */
const isSaved = (error: unknown) =>
  isApiError(error, "conflict") && typeof error.details.existing_resource_id === "string";

/** Returns the output that `--output` names, if it does. @throws UsageError */
export function commandOutput(context: Context): CommandOutput | undefined {
  const name = text(context, "output");
  if (name === undefined) return undefined;
  if (!NAME.test(name) || name.length > LONGEST_NAME || name === "search" || name !== name.normalize("NFKC"))
    throw new UsageError(`--output is ${name}: expected lower-case letters, digits and hyphens.`);
  return new CommandOutput(context, name);
}
