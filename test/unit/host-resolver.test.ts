import { promises as dns, type LookupAddress } from "node:dns";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { HostResolver, makeLookup } from "../../connectors/host-resolver.ts";
import { FairQueue } from "../../lib/queue/fair-queue.ts";
import { type NameServer, startNameServer } from "../support/dns.ts";
import { settle } from "../support/settle.ts";

const HERE = [{ address: "127.0.0.1", family: 4 }];
const who = (tenant_id: string) => ({ tenant_id, caller: "agent" });

let server: NameServer;
let queue: FairQueue;
let resolver: HostResolver;
const newResolver = (timeoutMs = 30_000) => new HostResolver({ servers: [server.address], timeoutMs, queue });
beforeEach(async () => {
  server = await startNameServer();
  queue = new FairQueue({ capacity: 0, reserve: 16, perTenant: 12, maxWaiting: 100 });
  resolver = newResolver();
});
afterEach(() => server.stop());

describe("a host resolver", () => {
  test("asks the name servers, and keeps what they answer", async () => {
    expect(await resolver.resolve("here.example", who("tn_a"))).toEqual(HERE);
    const asked = server.asked.length;
    expect(await resolver.resolve("HERE.example.", who("tn_b"))).toEqual(HERE);
    expect(server.asked).toHaveLength(asked);
  });

  test("asks nobody for addresses and for this machine", async () => {
    expect(await resolver.resolve("192.0.2.7", who("tn_a"))).toEqual([{ address: "192.0.2.7", family: 4 }]);
    expect(await resolver.resolve("::1", who("tn_a"))).toEqual([{ address: "::1", family: 6 }]);
    expect(await resolver.resolve("localhost", who("tn_a"))).toEqual(HERE);
    expect(server.asked).toEqual([]);
  });

  test("says that there is no such name", () =>
    expect(resolver.resolve("nowhere.invalid", who("tn_a"))).rejects.toMatchObject({ code: "ENOTFOUND" }));

  test("finds a tenant's host while names of another tenant are not answered", async () => {
    resolver = newResolver(2000);
    const silent = Array.from({ length: 12 }, (_, i) =>
      resolver.resolve(`silent-${i}.example`, who("tn_a")).catch(({ code }) => code),
    );
    await settle(() => queue.inUse === 12);
    expect(await resolver.resolve("here.example", who("tn_b"))).toEqual(HERE);
    expect(queue.waiting).toBe(9);
    expect(new Set(await Promise.all(silent))).toEqual(new Set(["ETIMEOUT"]));
  });

  test("asks once for a name that several want at once, and not soon again when nobody answers", async () => {
    resolver = newResolver(300);
    const both = await Promise.all(
      ["tn_a", "tn_b"].map((tenant) =>
        resolver.resolve("silent.example", who(tenant)).catch(({ code }) => code),
      ),
    );
    expect(both).toEqual(["ETIMEOUT", "ETIMEOUT"]);
    const asked = server.asked.length;
    await expect(resolver.resolve("silent.example", who("tn_a"))).rejects.toMatchObject({ code: "ETIMEOUT" });
    expect(server.asked).toHaveLength(asked);
  });
});

describe("the system is asked for names that the servers do not know", () => {
  const answers = new Map<string, PromiseWithResolvers<LookupAddress[]>>();
  let lookup: jest.SpiedFunction<typeof dns.lookup>;
  beforeEach(() => {
    queue = new FairQueue({ capacity: 0, reserve: 1024, perTenant: 256, perCaller: 128, maxWaiting: 1000 });
    resolver = newResolver();
    answers.clear();
    lookup = jest.spyOn(dns, "lookup").mockImplementation(((name: string) => {
      const answer = Promise.withResolvers<LookupAddress[]>();
      answers.set(name, answer);
      return answer.promise;
    }) as never);
  });
  afterEach(() => lookup.mockRestore());

  const unknown = (name: string) => `nowhere.${name}`;
  const ask = (name: string, tenant: string) =>
    resolver.resolve(unknown(name), who(tenant)).catch(({ code }) => code);

  test("for two at once, one of a tenant; others look up hosts meanwhile", async () => {
    const asked = [ask("a1", "tn_a"), ask("a2", "tn_a"), ask("b1", "tn_b"), ask("c1", "tn_c")];
    await settle(() => queue.waiting > 0 && answers.size === 2 && queue.inUse === 256);
    expect([...answers.keys()].filter((name) => name.includes(".a"))).toHaveLength(1);
    expect(await resolver.resolve("here.example", who("tn_a"))).toEqual(HERE);
    for (let left = asked.length; left > 0; left--) {
      const [name, { resolve }] = await settle(() => [...answers][0]);
      answers.delete(name);
      resolve(HERE);
    }
    expect(await Promise.all(asked)).toEqual([HERE, HERE, HERE, HERE]);
    expect(queue.inUse).toBe(0);
  });

  test("what the servers answered is the error if it does not know them either", async () => {
    const asked = ask("nobody", "tn_a");
    await settle(() => answers.size === 1);
    answers.get(unknown("nobody"))?.reject(Object.assign(new Error("no"), { code: "EAI_AGAIN" }));
    expect(await asked).toBe("ENOTFOUND");
  });
});

test("a socket is given all addresses, or the first, as it asks", () => {
  const lookup = makeLookup([...HERE, { address: "::1", family: 6 }]);
  const given: unknown[] = [];
  lookup("any.example", {}, (...answer) => given.push(answer));
  lookup("any.example", { all: true }, (...answer) => given.push(answer));
  expect(given).toEqual([
    [null, "127.0.0.1", 4],
    [null, [...HERE, { address: "::1", family: 6 }]],
  ]);
});
