/** Checkpoints as entries. One has the values that changed; for the others it names the checkpoint that has them. */
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type { Client, StateEntry } from "sensorium";
import { deserialize, read, type Serialized, serialize, unless } from "./entries.ts";
import { checkpointKey, type Place } from "./keys.ts";

/** The value of an entry. */
interface Saved {
  /** Without the values of its channels. */
  checkpoint: Serialized;
  metadata: Serialized;
  /** The checkpoint before it. */
  parent: string | null;
  /** By channel: its value, or the id of the checkpoint that has it. */
  values: Record<string, Serialized>;
  from: Record<string, string>;
}

/** The contents of an entry. */
export interface Loaded {
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata & Record<string, unknown>;
  parent: string | null;
}

/** How many checkpoints it knows the values' places of: threads that run have their last one among these. */
const MOST_KNOWN = 1000;

export class Checkpoints {
  readonly #client: Client;
  readonly #serde: SerializerProtocol;
  /** By namespace and key: for each channel the id of the checkpoint that has its value. */
  readonly #known = new Map<string, Record<string, string>>();

  constructor(client: Client, serde: SerializerProtocol) {
    this.#client = client;
    this.#serde = serde;
  }

  async put(
    place: Place,
    { checkpoint, metadata, parent }: Loaded,
    versions: ChannelVersions,
    about: Record<string, unknown>,
  ): Promise<void> {
    const { channel_values, ...rest } = checkpoint;
    const before = parent === null ? undefined : await this.#placesOf({ ...place, id: parent });
    const saved: Saved = {
      checkpoint: await serialize(this.#serde, rest),
      metadata: await serialize(this.#serde, metadata),
      parent,
      values: {},
      from: {},
    };
    for (const [channel, value] of Object.entries(channel_values)) {
      const from = before?.[channel];
      if (Object.hasOwn(versions, channel) || (parent !== null && from === undefined))
        saved.values[channel] = await serialize(this.#serde, value);
      else if (from !== undefined) saved.from[channel] = from;
    }
    const key = checkpointKey(place);
    const { namespace } = place;
    await this.#client.state.put({ namespace, key, value: JSON.stringify(saved), metadata: about });
    this.#remember(place, saved);
  }

  /** @param others by id, those that other checkpoints named: a list reads each once */
  async load(place: Place, entry: StateEntry, others = new Map<string, Saved>()): Promise<Loaded> {
    const saved = await read<Saved>(this.#client, entry);
    this.#remember(place, saved);
    // Reading backwards does not return to it.
    others.delete(place.id);
    const values = Object.entries(saved.values);
    for (const [channel, id] of Object.entries(saved.from)) {
      const other = others.get(id) ?? (await this.#saved({ ...place, id }));
      if (other) others.set(id, other);
      const value = other?.values[channel];
      if (!value)
        throw new Error(
          `The value of "${channel}" is missing: checkpoint ${id} of ${place.namespace} does not exist.`,
        );
      values.push([channel, value]);
    }
    const channel_values: Checkpoint["channel_values"] = {};
    for (const [channel, value] of values) channel_values[channel] = await deserialize(this.#serde, value);
    const rest = (await deserialize(this.#serde, saved.checkpoint)) as Omit<Checkpoint, "channel_values">;
    const metadata = (await deserialize(this.#serde, saved.metadata)) as Loaded["metadata"];
    return { checkpoint: { ...rest, channel_values }, metadata, parent: saved.parent };
  }

  /** Forgets where the values of a thread are: it was deleted. */
  forget(namespace: string): void {
    for (const name of this.#known.keys()) if (name.startsWith(`${namespace} `)) this.#known.delete(name);
  }

  async #placesOf(place: Place): Promise<Record<string, string> | undefined> {
    const known = this.#known.get(nameOf(place));
    if (known) return known;
    const saved = await this.#saved(place);
    return saved && this.#remember(place, saved);
  }

  async #saved(place: Place): Promise<Saved | undefined> {
    const key = checkpointKey(place);
    const entry = await unless("not_found", this.#client.state.get({ namespace: place.namespace, key }));
    return entry && read<Saved>(this.#client, entry);
  }

  #remember(place: Place, { values, from }: Saved): Record<string, string> {
    const places = { ...from };
    for (const channel of Object.keys(values)) places[channel] = place.id;
    const name = nameOf(place);
    this.#known.delete(name);
    this.#known.set(name, places);
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value as string);
    return places;
  }
}

const nameOf = (place: Place) => `${place.namespace} ${checkpointKey(place)}`;
