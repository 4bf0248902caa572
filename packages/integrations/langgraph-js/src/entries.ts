/** Entries of state: texts that only a saver of this format reads. */
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { type Client, isApiError, type StateEntry, type StateListParams } from "sensorium";
import { FORMAT } from "./keys.ts";

/** A value as its serializer made it: the type that it gave, and the bytes as text. */
export type Serialized = [type: string, text: string];

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** JSON stays readable, other bytes become base64. */
export async function serialize(serde: SerializerProtocol, value: unknown): Promise<Serialized> {
  const [type, bytes] = await serde.dumpsTyped(value);
  return [type, type === "json" ? utf8.decode(bytes) : Buffer.from(bytes).toString("base64")];
}

export function deserialize(serde: SerializerProtocol, [type, text]: Serialized): Promise<unknown> {
  return serde.loadsTyped(type, type === "json" ? text : Uint8Array.from(Buffer.from(text, "base64")));
}

/** The entries of a namespace, page after page, as many as are taken. */
export async function* entriesOf(
  client: Client,
  params: StateListParams,
): AsyncGenerator<StateEntry, undefined> {
  const bound = params.order === "desc" ? "before" : "after";
  for (let next = params[bound] ?? null; ; ) {
    const page = await client.state.list({ ...params, ...(next !== null && { [bound]: next }) });
    yield* page.entries;
    if (page.next === null) return;
    next = page.next;
  }
}

/** The value of an entry, parsed; a list leaves long ones out. @throws Error if another kind of program wrote it */
export async function read<T>(client: Client, entry: StateEntry): Promise<T> {
  const { namespace, key, metadata } = entry;
  if (metadata.format !== FORMAT)
    throw new Error(
      `The state ${namespace}/${key} has the format ${metadata.format}, expected ${FORMAT}: another program wrote it.`,
    );
  const value = entry.value ?? (await client.state.get({ namespace, key })).value;
  return JSON.parse(value ?? "null") as T;
}

/** The answer, or undefined if the service refused with this code. */
export async function unless<T>(code: "conflict" | "not_found", answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error) => {
    if (isApiError(error, code)) return undefined;
    throw error;
  });
}
