import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { SENDERS } from "../../lib/webhooks/senders.ts";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import {
  acceptedEvent,
  deliver,
  hexSignature,
  order,
  type Registration,
  register,
  SHOP,
  serviceHeaders,
} from "../support/webhooks.ts";

const server = await useShared();
const world = await makeWorld(server, "handshakes");

const preset = (mapping: string, fields: object = {}) =>
  register(world.admin, { name: mapping, source: mapping, mapping, ...fields });

/** Sends a verification; gives the status, the media type and the text. */
async function ask(url: string, query: Record<string, string>, method = "GET") {
  const response = await fetch(`${url}?${new URLSearchParams(query)}`, { method });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

const text = (challenge: string) => ({ status: 200, type: "text/plain; charset=utf-8", text: challenge });

/** Waits for the outcome of a request in the log. */
const logged = (hook: Registration, expected: object) =>
  settle(async () => {
    const { requests } = ok(await world.admin.get(`/ingest/webhooks/${hook.id}/requests`));
    return requests.some((each: object) =>
      Object.entries(expected).every(([key, value]) => each[key as never] === value),
    );
  });

describe("Meta", () => {
  const subscribe = (token: string) => ({
    ...{ "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": token },
  });

  test("gets its challenge for a secret of the webhook, and no other", async () => {
    for (const hook of [await preset("meta"), await register(world.admin, { ...SHOP, source: "own-meta" })]) {
      const right = hook.signing_secret;
      expect(await ask(hook.url, subscribe(right))).toEqual(text("1158201444"));
      await logged(hook, { outcome: "challenge", reason: null, event_id: null });
      for (const wrong of ["", "meatyhamhock", right.slice(1), `${right}0`])
        expect((await ask(hook.url, subscribe(wrong))).status).toBe(wrong ? 401 : 405);
      const { signing_secret } = ok(await world.admin.post(`/ingest/webhooks/${hook.id}:rotate`, {}));
      for (const secret of [right, signing_secret])
        expect((await ask(hook.url, subscribe(secret))).text).toBe("1158201444");
      expect((await ask(hook.url, { ...subscribe(right), "hub.challenge": "<script>" })).status).toBe(405);
    }
  });

  test("gets the same answer at an address that does not exist, and at that of another sender", async () => {
    const github = await preset("github");
    const answers = [
      `${server.root}/w/nobody/meta`,
      `${server.root}/w/${world.slug}/nothing`,
      github.url,
    ].map(async (url) => {
      const { status, text } = await ask(url, subscribe(github.signing_secret));
      return { status, error: JSON.parse(text).error.message };
    });
    const all = await Promise.all(answers);
    expect(all[0]).toEqual({ status: 401, error: expect.stringMatching(/^The signature does not match/) });
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
  });
});

test("Dropbox and Microsoft Graph get what proves nothing, wherever it is asked", async () => {
  const token = "Validation: Testing client application reachability for subscription Request-Id: 25460";
  for (const url of [(await preset("dropbox")).url, `${server.root}/w/nobody/nothing`]) {
    expect(await ask(url, { challenge: "R50KtVhyyuRu_Wgt" })).toEqual(text("R50KtVhyyuRu_Wgt"));
    expect(await ask(url, { validationToken: token }, "POST")).toEqual(text(token));
    expect((await ask(url, { challenge: "<b>" })).status).toBe(405);
  }
  const { headers } = await fetch(`${server.root}/w/nobody?challenge=a`);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test("X gets the HMAC of its token, at an unknown address by no secret that is used", async () => {
  const { secret } = SENDERS.get("x")?.vector ?? { secret: "" };
  const crc_token = "M2RkODJkZmMtYjlkYi00NmQ4LTk0MGUtM2JjYzkwM2Q4MjQ0";
  const tokenAt = async (url: string) =>
    JSON.parse((await ask(url, { crc_token, nonce: "MTc2OQ" })).text).response_token;
  const hook = await preset("x", { signing_secret: secret });
  expect(await tokenAt(hook.url)).toBe("sha256=nuOBorsdgbYZ2iQ3Jople7HISQu0HH1+gJEUxCLVhes=");
  const own = await register(world.admin, { ...SHOP, source: "own-x" });
  const hmac = createHmac("sha256", own.signing_secret).update(crc_token).digest("base64");
  expect(await tokenAt(own.url)).toBe(`sha256=${hmac}`);
  const short = await register(world.admin, {
    ...SHOP,
    source: "short",
    signing_secret: "only-20-characters-a",
  });
  const decoys = [short.url, `${server.root}/w/nobody/x`, (await preset("github", { source: "hub" })).url];
  for (const url of decoys) {
    const decoy = await tokenAt(url);
    expect(decoy).toMatch(/^sha256=[\w+/]{43}=$/);
    expect(await tokenAt(url)).toBe(decoy);
  }
  const guessed = createHmac("sha256", "only-20-characters-a").update(crc_token).digest("base64");
  expect(await tokenAt(short.url)).not.toBe(`sha256=${guessed}`);
  // The answer is no signature of a delivery.
  const answer = await deliver(own.url, crc_token, {
    "X-Service-Signature": Buffer.from(hmac, "base64").toString("hex"),
  });
  await refused(answer, "authentication_failed");
});

test("Zoom gets the HMAC of its token if its request is signed", async () => {
  const hook = await preset("zoom", { signing_secret: "a-secret-token-of-zoom" });
  const zoom = (payload: object, secret = hook.signing_secret) => {
    const [body, time] = [JSON.stringify(payload), String(Math.floor(Date.now() / 1000))];
    const signature = `v0=${hexSignature(secret, `v0:${time}:${body}`)}`;
    return deliver(hook.url, body, { "x-zm-request-timestamp": time, "x-zm-signature": signature });
  };
  const plainToken = "qgg8vlvZRS6UYooatFL8Aw";
  const validation = { payload: { plainToken }, event_ts: 1654503849680, event: "endpoint.url_validation" };
  expect(await zoom(validation)).toMatchObject({
    status: 200,
    body: { plainToken, encryptedToken: "60eb65893ebb65f29d85eb218d638d1da5323941d21b77778c9093e098f0a58b" },
  });
  expect((await zoom(validation, "another-secret-of-zoom")).status).toBe(401);
  expect(await zoom({ event: "meeting.started", event_ts: 1769851800000 })).toMatchObject({
    status: 200,
    body: undefined,
  });
  const { events } = ok(await world.admin.get("/events?type=com.zoom.meeting.started"));
  expect(events).toHaveLength(1);
});

test("a GET that verifies nothing is refused as before", async () => {
  const { url } = await preset("jira");
  const { status, headers } = await api({ url: "" }).get(url);
  expect([status, headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
});

test("Microsoft Graph's notifications are taken by their secret, which no event contains", async () => {
  const hook = await preset("microsoft_graph");
  const body = (clientState: string) => ({
    value: [{ changeType: "updated", resource: "Users/1/Messages/2", clientState }],
  });
  const send = (payload: object) => deliver(hook.url, JSON.stringify(payload), {});
  const event = await acceptedEvent(world.admin, await send(body(hook.signing_secret)));
  expect(event.payload).toMatchObject({
    type: "com.microsoft_graph.notification.updated",
    data: { value: [{ changeType: "updated", resource: "Users/1/Messages/2" }] },
  });
  expect(JSON.stringify(event)).not.toContain(hook.signing_secret);
  const mixed = { value: [...body(hook.signing_secret).value, ...body("another").value] };
  for (const wrong of [body("another"), mixed, { value: [] }, {}])
    expect((await send(wrong)).status).toBe(401);
});

test("a mapping of one's own takes Microsoft Graph's notifications, and those of no other sender", async () => {
  const mapping = { entity: "mail", action: "/value/0/changeType", subject: "/value/0/resource" };
  const signature = "microsoft_graph";
  const hook = await register(world.admin, { ...SHOP, source: "office", mapping, signature });
  expect(hook).toMatchObject({ mapping, signature });
  const notification = { changeType: "created", resource: "Users/1/Messages/3" };
  const body = JSON.stringify({ value: [{ ...notification, clientState: hook.signing_secret }] });
  const event = await acceptedEvent(world.admin, await deliver(hook.url, body, {}));
  expect(event.payload).toMatchObject({
    ...{ type: "com.office.mail.created", subject: notification.resource },
    data: { value: [notification] },
  });
  expect(JSON.stringify(event)).not.toContain(hook.signing_secret);
  const plain = JSON.stringify({ value: [notification] });
  expect((await deliver(hook.url, plain, serviceHeaders(hook.signing_secret, plain))).status).toBe(401);
  const tried = await world.admin.post(`/ingest/webhooks/${hook.id}:test`, { payload: { value: 7 } });
  expect(ok(tried)).toMatchObject({ event: null, error: expect.stringContaining("/value/0/changeType") });
});

test("Dropbox's notifications, which are all the same, are events unless they are retries", async () => {
  const { vector } = SENDERS.get("dropbox") ?? {};
  const { body = "", headers = {}, secret: signing_secret } = vector ?? {};
  const hook = await preset("dropbox", { source: "files", signing_secret });
  expect((await deliver(hook.url, body, headers)).status).toBe(200);
  const { events } = ok(await world.admin.get("/events?type=com.files.files.changed"));
  expect(events).toHaveLength(1);
});

describe("a custom signature", () => {
  const signature = {
    ...{ scheme: "custom", header: "X-Acme-Signature", algorithm: "sha512", encoding: "base64" },
    prefix: "v1=",
    ...{ template: "{timestamp}.{body}", timestamp_header: "X-Acme-Time", tolerance_seconds: 60 },
  };
  const signed = (secret: string, body: string, at = Date.now()) => {
    const time = new Date(at).toISOString();
    const hmac = createHmac("sha512", secret).update(`${time}.${body}`).digest("base64");
    return { "X-Acme-Signature": `v1=${hmac}`, "X-Acme-Time": time };
  };

  test("is the only one that counts, until it is taken away", async () => {
    const hook = await register(world.admin, { ...SHOP, source: "acme", signature });
    expect(hook).toMatchObject({ signature });
    const body = order({ n: 1 });
    expect((await deliver(hook.url, body, signed(hook.signing_secret, body))).status).toBe(202);
    expect((await deliver(hook.url, body, serviceHeaders(hook.signing_secret, body))).status).toBe(401);
    expect(
      (await deliver(hook.url, body, signed(hook.signing_secret, body, Date.now() - 61_000))).status,
    ).toBe(401);
    expect(
      ok(await world.admin.patch(`/ingest/webhooks/${hook.id}`, { signature: null })).signature,
    ).toBeNull();
    expect((await deliver(hook.url, body, serviceHeaders(hook.signing_secret, body))).status).toBe(202);
  });

  test.each([
    ["scheme", "github", signature],
    ["template", SHOP.mapping, { ...signature, template: "{timestamp}." }],
    ["template", SHOP.mapping, { ...signature, template: "{body}{body}" }],
    ["template", SHOP.mapping, { ...signature, template: "{id}.{timestamp}.{body}" }],
    ["template", SHOP.mapping, { ...signature, template: "{body}" }],
    ["timestamp_header", SHOP.mapping, { ...signature, timestamp_header: undefined }],
  ])("is refused with a wrong %s", async (field, mapping, given) => {
    const answer = await world.admin.post("/ingest/webhooks", { ...SHOP, mapping, signature: given });
    await refused(answer, "validation_error", { field: `signature.${field}` });
  });
});

describe("a compressed body", () => {
  const post = async ({ url }: Registration, body: Uint8Array, headers: Record<string, string>) => {
    const response = await fetch(url, { method: "POST", headers, body });
    return response.status;
  };

  test("is verified and read as it was before it was compressed", async () => {
    const hook = await register(world.admin, { ...SHOP, source: "zipped" });
    const body = order({ note: "n".repeat(5000) });
    const headers = { ...serviceHeaders(hook.signing_secret, body), "Content-Encoding": "gzip" };
    expect(await post(hook, gzipSync(body), headers)).toBe(202);
    const { events } = ok(await world.admin.get("/events?type=com.zipped.order.paid"));
    expect(events).toHaveLength(1);
    expect(await post(hook, Buffer.from(body), headers)).toBe(415);
    expect(await post(hook, gzipSync(Buffer.alloc(2_000_000)), headers)).toBe(415);
    expect(await post(hook, gzipSync(body), { ...headers, "Content-Encoding": "zstd" })).toBe(415);
  });
});
