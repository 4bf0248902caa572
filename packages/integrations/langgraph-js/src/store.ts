import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { type Client, isApiError, type Memory } from "sensorium";
import { matches, matchesAll, metadataFilter } from "./filters.ts";
import { fromText, toText } from "./namespaces.ts";
import { textOf } from "./text.ts";

/** The most that one search gives. */
const MOST_FOUND = 50;

/**
 * A store for LangGraph on a Sensorium server: each item is a memory under a key of the agent whose client it has.
 * Items are searched by words and by meaning, and appear in the console.
 */
export class SensoriumStore extends BaseStore {
  readonly #client: Client;

  constructor(client: Client) {
    super();
    this.#client = client;
  }

  /** Reads run at the same time; a put waits for the operations before it, and those after it wait for the put. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    for (const operation of operations) {
      const isPut = "value" in operation;
      if (isPut) await Promise.all(results);
      const result = this.#run(operation);
      results.push(isPut ? await result : result);
    }
    return (await Promise.all(results)) as OperationResults<Op>;
  }

  #run(operation: Operation): Promise<unknown> {
    if ("value" in operation) return this.#put(operation);
    if ("key" in operation) return this.#get(operation);
    return "namespacePrefix" in operation ? this.#search(operation) : this.#namespaces(operation);
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const found = this.#client.memories.getByKey({ namespace: toText(namespace), key });
    const memory = await orNull(found);
    return memory && itemOf(memory);
  }

  async #put({ namespace, key, value, index }: PutOperation): Promise<void> {
    const address = { namespace: toText(namespace), key };
    if (value === null) await orNull(this.#client.memories.deleteByKey(address));
    else {
      const content = textOf(key, value, index);
      await this.#client.memories.putByKey({ ...address, title: key, content, metadata: value });
    }
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { offset = 0, limit = 10 } = operation;
    const found = await (operation.query ? this.#ranked(operation) : this.#listed(operation));
    return found.slice(offset, offset + limit);
  }

  async #ranked({ namespacePrefix, query = "", filter, offset = 0, limit = 10 }: SearchOperation) {
    const metadata = metadataFilter(filter);
    // Conditions that the service does not know leave out an unknown number.
    const most = filter ? MOST_FOUND : Math.min(MOST_FOUND, offset + limit);
    const where = within(namespacePrefix);
    const { results } = await this.#client.memories.search({
      ...where,
      query,
      limit: most,
      ...(metadata && { metadata }),
    });
    const found = results.filter(({ memory }) => memory.key !== null);
    return found
      .map(({ memory, score }) => ({ ...itemOf(memory), score }))
      .filter(({ value }) => matchesAll(value, filter));
  }

  async #listed({ namespacePrefix, filter, offset = 0, limit = 10 }: SearchOperation) {
    const found: SearchItem[] = [];
    const metadata = metadataFilter(filter);
    const pages = this.#client.memories.list.all({
      ...within(namespacePrefix),
      limit: 200,
      ...(metadata && { metadata: JSON.stringify(metadata) }),
    });
    for await (const memory of pages) {
      if (memory.key !== null && matchesAll(memory.metadata, filter)) found.push(itemOf(memory));
      if (found.length >= offset + limit) break;
    }
    return found;
  }

  async #namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const found = new Map<string, string[]>();
    for (let after: string | null | undefined; after !== null; ) {
      const page = await this.#client.memories.namespaces({ limit: 200, ...(after && { after }) });
      for (const text of page.namespaces) {
        const namespace = fromText(text);
        if (!matchConditions.every((condition) => matches(namespace, condition))) continue;
        const shown = namespace.slice(0, maxDepth);
        found.set(toText(shown), shown);
      }
      after = page.next;
    }
    return [...found.values()].slice(offset, offset + limit);
  }
}

function within(namespacePrefix: string[]) {
  return {
    scope: "agent",
    ...(namespacePrefix.length > 0 && { namespace: toText(namespacePrefix) }),
  } as const;
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error) => {
    if (isApiError(error, "not_found")) return null;
    throw error;
  });
}

function itemOf({ namespace, key, metadata, created_at, updated_at }: Memory): Item {
  return {
    namespace: fromText(namespace ?? ""),
    key: key ?? "",
    value: metadata,
    createdAt: new Date(created_at),
    updatedAt: new Date(updated_at),
  };
}
