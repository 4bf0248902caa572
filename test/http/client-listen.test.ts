import { afterAll, describe, expect, jest, test } from "@jest/globals";
import {
  type Client,
  createClient,
  type DeliveryEvent,
  GiveUp,
  type Listener,
  RetryLater,
} from "../../packages/client/index.ts";
import { atEnd } from "../support/own-folder.ts";
import { startProxy } from "../support/proxy.ts";
import { settle } from "../support/settle.ts";
import { useShared } from "../support/use.ts";

const listeners: Listener[] = [];

const server = await useShared();
const network = await startProxy(Number(new URL(server.root).port));
atEnd(network.stop);
const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
afterAll(() => Promise.all(listeners.map((listener) => listener.stop())));

/** Creates an agent subscribed to one event type, and a client for it. */
async function receiver(type: string, more: { visibility_timeout_seconds?: number } = {}) {
  const { id } = await admin.agents.create({ name: type, delivery_mode: "sse", ...more });
  const { key } = await admin.keys.create({ agent_id: id, scopes: ["receive"] });
  const client = createClient({ url: server.url, apiKey: key });
  await client.interests.create({ agent_id: id, event_type: type });
  return { id, client, key };
}

const publish = (type: string, n = 0) => admin.publish({ type, source: "urn:test", data: { n } });

function listen(...[client, handler, options]: [Client, ...Parameters<Client["listen"]>]): Listener {
  const listener = client.listen(handler, options);
  listeners.push(listener);
  return listener;
}

/** Resolves when nothing is left to be delivered. */
const settled = (client: Client) =>
  settle(async () => {
    const { pending, in_flight, waiting } = await client.deliveries.stats();
    return pending + in_flight + waiting === 0;
  });

test("warns on the console of a failing handler, unless it is given `onProblem`", async () => {
  const warned = jest.spyOn(console, "warn").mockImplementation(() => {});
  const { client } = await receiver("com.warned");
  const failure = new Error("The till is shut");
  const listener = listen(client, (_, { delivery }) => {
    if (delivery.attempt_count === 1) throw failure;
  });
  await publish("com.warned");
  await settle(() => warned.mock.calls.length > 0);
  await settled(client);
  await listener.stop();
  expect(warned.mock.calls).toEqual([["sensorium:", expect.stringContaining("Error: The till is shut")]]);
  warned.mockRestore();
});

describe.each(["stream", "poll"] as const)("by %s", (by) => {
  test("a handler's log is kept with its delivery, returned or thrown: its end, the last that it gave", async () => {
    const type = `com.logged.${by}`;
    const { id: agent_id, client } = await receiver(type);
    const logs = new Map<string, string | null>();
    const read = async (delivery_id: string) =>
      logs.set(delivery_id, (await client.deliveries.log({ agent_id, delivery_id })).log);
    const handled: string[] = [];
    const listener = listen(
      client,
      ({ data }, { delivery, log }) => {
        const { n } = data as { n: number };
        handled[n] = delivery.id;
        if (n === 0) return;
        log("replaced");
        log(`${"x".repeat(20_000)}😀${"y".repeat(n === 1 ? 16_383 : 3)}`);
        if (n === 2) throw new GiveUp("hopeless");
      },
      { by, onProblem: () => {} },
    );
    for (const n of [0, 1, 2]) await publish(type, n);
    await settle(async () => (await client.deliveries.stats()).dead === 1);
    await settled(client);
    await listener.stop();
    for (const id of handled) await read(id);
    const answer = handled.map((id) => logs.get(id));
    expect(answer).toEqual([null, `\ufffd${"y".repeat(16_383)}`, `${"x".repeat(16_379)}😀yyy`]);
  });

  test("events with separators of lines in their data are handled like others", async () => {
    const { client } = await receiver(`com.separated.${by}`);
    const texts = ["one\u2028two", "three\u2029four", "five\u0085six", "seven"];
    const seen: unknown[] = [];
    const listener = listen(client, ({ data }) => void seen.push(data), { by });
    for (const text of texts)
      await admin.publish({ type: `com.separated.${by}`, source: "urn:test", data: { text } });
    await settle(() => seen.length >= texts.length);
    await listener.stop();
    expect(seen).toEqual(texts.map((text) => ({ text })));
  });

  test("each event is handled, at most `concurrency` at a time, and acknowledged", async () => {
    const { client } = await receiver(`com.many.${by}`);
    const seen: number[] = [];
    let running = 0;
    let most = 0;
    const handler = async (event: { data?: unknown }) => {
      most = Math.max(most, ++running);
      // The first waits for company: there are more than enough.
      await settle(() => most > 1);
      seen.push((event.data as { n: number }).n);
      running--;
    };
    const listener = listen(client, handler, { by, concurrency: 4 });
    await Promise.all(Array.from({ length: 20 }, (_, n) => publish(`com.many.${by}`, n)));
    await settle(() => seen.length >= 20);
    await listener.stop();
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
    await settled(client);
  });

  test("rejects the event of a failing handler with its reason and retry delay", async () => {
    const { client } = await receiver(`com.failing.${by}`);
    const attempts: number[] = [];
    const problems: unknown[] = [];
    const handler = (_: unknown, { delivery }: { delivery: DeliveryEvent }) => {
      attempts.push(delivery.attempt_count);
      if (delivery.attempt_count === 1) throw new RetryLater("not yet", 0);
    };
    const listener = listen(client, handler, { by, onProblem: (problem) => problems.push(problem) });
    const { event_id } = await publish(`com.failing.${by}`);
    await settled(client);
    await settle(() => attempts.length === 2);
    await listener.stop();
    expect(attempts).toEqual([1, 2]);
    expect(problems).toMatchObject([{ message: "not yet" }]);
    const { receivers } = await admin.events.get({ event_id });
    expect(receivers?.[0]?.timeline.map(({ reason }) => reason)).toContain("not yet");
  });

  test("what a handler gives up is a dead letter at once", async () => {
    const { client } = await receiver(`com.hopeless.${by}`);
    const handler = () => {
      throw new GiveUp("it has no lines");
    };
    const listener = listen(client, handler, { by, onProblem: () => {} });
    const { event_id } = await publish(`com.hopeless.${by}`);
    await settle(async () => (await client.deliveries.deadLetters()).items.length === 1);
    await listener.stop();
    const expected = [{ event_id, dlq_reason: "it has no lines", attempt_count: 1 }];
    expect((await client.deliveries.deadLetters()).items).toMatchObject(expected);
  });

  test("a handler may take longer than the lease", async () => {
    const { client } = await receiver(`com.slow.${by}`, { visibility_timeout_seconds: 6 });
    const attempts: DeliveryEvent[] = [];
    const { promise: slow, resolve: release } = Promise.withResolvers<void>();
    const handler = async (_: unknown, { delivery }: { delivery: DeliveryEvent }) => {
      attempts.push(delivery);
      await slow;
    };
    const listener = listen(client, handler, { by, concurrency: 2 });
    await publish(`com.slow.${by}`);
    const [first] = await settle(() => attempts.length > 0 && attempts);
    // Past the end of the lease it came with, by more than the sweep that would give it out again needs.
    const past = Date.parse((first as DeliveryEvent).lease_expires_at) + 1500;
    await settle(() => Date.now() > past);
    release();
    await settled(client);
    await listener.stop();
    expect(attempts.map(({ attempt_count }) => attempt_count)).toEqual([1]);
  });

  test("stopping receives nothing more, and waits for running handlers", async () => {
    const { client } = await receiver(`com.stopped.${by}`);
    const started: string[] = [];
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const handler = async (event: { id: string }) => {
      started.push(event.id);
      await held;
    };
    const listener = listen(client, handler, { by });
    await publish(`com.stopped.${by}`);
    await settle(() => started.length === 1);
    const stopped = listener.stop();
    await publish(`com.stopped.${by}`);
    release();
    await stopped;
    expect(started).toHaveLength(1);
    // The next poll gets the second one, on its first attempt.
    const { deliveries } = await client.deliveries.poll({ wait: 30 });
    expect(deliveries).toMatchObject([{ attempt_count: 1 }]);
  });
});

test("a server that goes away is waited for, by stream and by poll", async () => {
  const seen: string[] = [];
  const problems: unknown[] = [];
  const receivers = await Promise.all(
    (["stream", "poll"] as const).map(async (by) => {
      const { key } = await receiver(`com.away.${by}`);
      const client = createClient({ url: `http://127.0.0.1:${network.port}`, apiKey: key });
      const listener = listen(client, ({ type }) => seen.push(type), {
        by,
        onProblem: (problem) => problems.push(problem),
      });
      return { client, listener, type: `com.away.${by}` };
    }),
  );
  const publishAll = () => Promise.all(receivers.map(({ type }) => publish(type)));
  await publishAll();
  await settle(() => seen.length === 2);
  network.cut();
  await settle(() => problems.length > 0);
  await publishAll();
  network.mend();
  await settle(() => seen.length === 4);
  expect(seen.toSorted()).toEqual(receivers.flatMap(({ type }) => [type, type]).toSorted());
  for (const { client, listener } of receivers) {
    await listener.stop();
    await settled(client);
  }
});

describe("a listener that polls", () => {
  /** A client whose deliveries' requests are noted, with what they acknowledge; `broken` ones never get an answer. */
  async function noted(type: string) {
    const { client, key } = await receiver(type);
    const requests: { path: string; acknowledged: number }[] = [];
    const broken: string[] = [];
    const noting: typeof fetch = async (url, init) => {
      const path = new URL(String(url)).pathname.split("/delivery/")[1];
      const { ack, delivery_ids } = JSON.parse((init?.body as string) ?? "{}");
      const ids: string[] = ack?.delivery_ids ?? delivery_ids ?? [];
      if (path) requests.push({ path, acknowledged: ids.length });
      if (path !== "next" || !ids.some((id) => broken.includes(id))) return fetch(url, init);
      const gone = new AbortController();
      const lost = fetch(url, { ...init, signal: gone.signal }).catch(() => {});
      await settled(client);
      gone.abort();
      await lost;
      throw new TypeError("the answer was lost");
    };
    const own = createClient({ url: server.url, apiKey: key, fetch: noting });
    return { client, own, requests, broken };
  }

  test("acknowledges by the request for the next", async () => {
    const { client, own, requests } = await noted("com.next.one");
    for (let n = 0; n < 5; n++) await publish("com.next.one", n);
    await settle(async () => (await client.deliveries.stats()).pending === 5);
    const seen: unknown[] = [];
    const listener = listen(own, ({ id }) => seen.push(id), { by: "poll" });
    await settled(client);
    // The last of them waits.
    expect(requests).toEqual([0, 1, 1, 1, 1, 1].map((acknowledged) => ({ path: "next", acknowledged })));
    await listener.stop();
  });

  test("acknowledges at once what ends while a request waits", async () => {
    const { client, own, requests } = await noted("com.next.two");
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const listener = listen(own, () => held, { by: "poll", concurrency: 2 });
    await publish("com.next.two");
    // The handler runs, and the second request waits.
    await settle(() => requests.length === 2);
    release();
    await settled(client);
    expect(requests.at(-1)).toEqual({ path: "ack", acknowledged: 1 });
    await listener.stop();
  });

  test("acknowledges again if the answer is lost", async () => {
    const { client, own, requests, broken } = await noted("com.next.lost");
    const seen: string[] = [];
    const problems: unknown[] = [];
    const handler: Parameters<Client["listen"]>[0] = (_, { delivery }) => {
      seen.push(delivery.id);
      broken.push(delivery.id);
    };
    const listener = listen(own, handler, { by: "poll", onProblem: (problem) => problems.push(problem) });
    await publish("com.next.lost");
    await settle(() => requests.some(({ path }) => path === "ack"));
    await listener.stop();
    await settled(client);
    expect(problems).toMatchObject([{ message: expect.stringContaining("the answer was lost") }]);
    expect(seen).toHaveLength(1);
  });

  test("a last handler's event is acknowledged when it is stopped", async () => {
    const { client, own } = await noted("com.next.last");
    const listener = listen(own, () => void listener.stop(), { by: "poll" });
    await publish("com.next.last");
    await listener.done;
    expect(await client.deliveries.stats()).toMatchObject({ pending: 0, in_flight: 0 });
  });
});

test("aborts and abandons a handler that exceeds the time to stop", async () => {
  const { client } = await receiver("com.stuck");
  let told = false;
  const handler = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    signal.addEventListener("abort", () => {
      told = true;
    });
    await new Promise(() => {});
  };
  const listener = listen(client, handler);
  await publish("com.stuck");
  await settle(async () => (await client.deliveries.stats()).in_flight === 1);
  await listener.stop(1);
  expect(told).toBe(true);
  // Its stream is closed, so the delivery is ready again.
  expect((await client.deliveries.poll({ wait: 30 })).count).toBe(1);
});

test("a permanent refusal ends it", async () => {
  const { id } = await admin.agents.create({ name: "deaf", delivery_mode: "sse" });
  const { key } = await admin.keys.create({ agent_id: id, scopes: ["send"] });
  const listener = listen(createClient({ url: server.url, apiKey: key }), () => {});
  await expect(listener.done).rejects.toMatchObject({ code: "insufficient_scope" });
});
