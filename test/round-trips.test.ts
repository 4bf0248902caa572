/** @needs mongodb: how often the record is asked, counted by the driver's own monitoring of commands. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type CommandStartedEvent, MongoClient } from "mongodb";
import { newId } from "../lib/ids.ts";
import { agentsService } from "../services/identity/agents/agents.service.ts";
import { teamsService } from "../services/identity/teams/teams.service.ts";
import { TenantModel } from "../services/identity/tenants/tenants.model.ts";
import { tenantsService } from "../services/identity/tenants/tenants.service.ts";
import { channelsService } from "../services/sense/channels/channels.service.ts";
import { deliveriesService } from "../services/sense/deliveries/deliveries.service.ts";
import { eventsService } from "../services/sense/events/events.service.ts";
import { interestsService } from "../services/sense/interests/interests.service.ts";
import { startServices } from "./support/node.ts";
import { ownFolder } from "./support/own-folder.ts";
import { settle } from "./support/settle.ts";
import { useMongo } from "./support/use.ts";

const SERVICES = [
  ...[agentsService, channelsService, deliveriesService, eventsService],
  ...[interestsService, teamsService, tenantsService],
];
const EVENTS = 60;
const AGENTS = 5;
const PAGE = 100;
const tenant_id = "tn_counted";
const mongo = await useMongo();

("url" in mongo ? describe : describe.skip)("round trips to the record", () => {
  const url = "url" in mongo ? mongo.url : "";
  /** A connection that is not counted. */
  const client = new MongoClient(url);
  const agent_ids: string[] = [];
  /** `<command> <collection>` of every command for the tenant; sweeps, which look across tenants, name none. */
  let commands: string[] = [];
  let node: Awaited<ReturnType<typeof startServices>>;

  beforeAll(async () => {
    const MONGO_URL = `${url}${url.includes("?") ? "&" : "?"}monitorCommands=true`;
    const SECRET_KEY = Buffer.alloc(32, 7).toString("base64");
    node = await startServices(await ownFolder(), SERVICES, { env: { MONGO_URL, SECRET_KEY } });
    node.runtime.store.connection.getClient().on("commandStarted", (event: CommandStartedEvent) => {
      if (JSON.stringify(event.command).includes(tenant_id))
        commands.push(`${event.commandName} ${event.command[event.commandName]}`);
    });
    const tenants = node.runtime.store.collection(TenantModel);
    const [slug, status, at] = ["counted", "active", new Date()] as const;
    const row = { _id: tenant_id, tenant_id, slug, name: slug, status, routing_version: 1 };
    await tenants.insert({ ...row, created_at: at, updated_at: at });
    for (let n = 0; n < AGENTS; n++) agent_ids.push(await newReceiver());
    await counted(publish);
    await counted(() => poll(agent_ids[0] as string));
  });
  afterAll(async () => {
    await node?.stop();
    await client.close();
  });

  // biome-ignore lint/suspicious/noExplicitAny: tests assert on shapes that the type checker cannot know
  function call(agent_id: string, action: string, params: object): Promise<any> {
    const caller = {
      ...{ kind: "agent", agent_id, team_id: null, key_id: "key_1", tenant_id },
      ...{ scopes: ["admin"], token_id: "jti", expires_at: Number.MAX_SAFE_INTEGER },
    };
    return node.broker.call(action, params, { meta: { caller, request_id: newId("req") } });
  }

  async function newReceiver(): Promise<string> {
    const { id } = await call("ag_admin", "agents.create", { name: "counted", delivery_mode: "poll" });
    await call(id, "interests.create", { agent_id: id, event_type: "com.counted" });
    return id;
  }

  let published = 0;
  const publish = () =>
    call("ag_admin", "events.publish", {
      event: { specversion: "1.0", id: `counted-${published++}`, type: "com.counted", source: "/counted" },
    });
  const poll = async (agent_id: string): Promise<string[]> => {
    const { deliveries } = JSON.parse(await call(agent_id, "deliveries.poll", { limit: PAGE }));
    return deliveries.map(({ id }: { id: string }) => id);
  };

  /** Returns the commands sent to MongoDB by the work, fan-out included. */
  async function counted(work: () => Promise<unknown>): Promise<string[]> {
    commands = [];
    await work();
    const waiting = () => client.db().collection("events").countDocuments({ fanned_out_at: null });
    await settle(async () => (await waiting()) === 0);
    return commands.toSorted();
  }

  test("publishes of a moment take one; their fan-out three, however many events and receivers", async () => {
    const asked = await settle(async () => {
      const commands = await counted(() => Promise.all(Array.from({ length: EVENTS }, publish)));
      // On a busy machine the sweep may come upon them first, and look again.
      return !commands.includes("find events") && commands;
    });
    expect(asked).toEqual(["find tenants", "insert deliveries", "insert events", "update events"]);
  });

  test("a poll takes three at most, however much there is", async () => {
    let ids: string[] = [];
    const asked = await counted(async () => {
      ids = await poll(agent_ids[1] as string);
    });
    expect(ids).toHaveLength(Math.min(published, PAGE));
    expect(asked).toEqual(["find agents", "find deliveries", "update deliveries"]);
  });

  test("an ack of a whole page takes one", async () => {
    const ids = await poll(agent_ids[2] as string);
    const asked = await counted(() => call(agent_ids[2] as string, "deliveries.ack", { delivery_ids: ids }));
    expect(asked).toEqual(["update deliveries"]);
  });

  test("the next page, with the acknowledgement of the last one, takes both of its statements", async () => {
    const agent_id = agent_ids[3] as string;
    const ids = await poll(agent_id);
    await counted(publish);
    const asked = await counted(() =>
      call(agent_id, "deliveries.next", { ack: { delivery_ids: ids }, limit: PAGE }),
    );
    expect(asked).toEqual(["find deliveries", "update deliveries", "update deliveries"]);
  });

  test("a poll that waits in vain takes one", async () => {
    const agent_id = await newReceiver();
    const wait = () => call(agent_id, "deliveries.poll", { limit: PAGE, wait: 1 });
    await settle(async () => {
      const asked = await counted(wait);
      // The regular look for lost wake-ups may fall into it, which all that wait share.
      return asked.join() === "find deliveries";
    });
  });

  test("a publish that is known takes three: to find out, to name the first, and to compare them", async () => {
    published--;
    expect(await counted(publish)).toEqual(["find events", "find events", "insert events"]);
  });
});
