import { createHmac, randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { type Answer, type Api, api } from "./http.ts";
import { once } from "./once.ts";
import { ok } from "./tenancy.ts";

const { expect } = once("expect") as typeof import("expect");

/** A registration as its admin got it. */
export type Registration = { id: string; url: string; signing_secret: string };

type Headers = Record<string, string>;

const GITHUB = { entity: "header:X-GitHub-Event", action: "/action", subject: "/repository/full_name" };

export async function register(admin: Api, fields: object = {}): Promise<Registration> {
  return ok(
    await admin.post("/ingest/webhooks", { name: "GitHub", source: "github", mapping: GITHUB, ...fields }),
  );
}

/** A registration for what `order` makes. */
export const SHOP = { name: "Shop", source: "shop", mapping: { entity: "order", action: "/what" } };

export const order = (fields: object = {}) => JSON.stringify({ what: "paid", ...fields });

/** Posts a body unchanged. */
export function deliver(url: string, body: string, headers: Headers): Promise<Answer> {
  return api({ url: "" }).post(url, body, headers);
}

/** Sends a body signed by the service's own scheme. */
export function send(hook: Registration, body: string, headers: Headers = {}): Promise<Answer> {
  return deliver(hook.url, body, serviceHeaders(hook.signing_secret, body, headers));
}

/** The event that a webhook was accepted as, as an admin sees it. */
export async function acceptedEvent(admin: Api, { status, body }: Answer) {
  expect({ status, body }).toEqual({
    status: 202,
    body: { event_id: expect.stringMatching(/^evt_/), status: "accepted" },
  });
  return ok(await admin.get(`/events/${body.event_id}`));
}

export function hexSignature(secret: string, body: string | Buffer): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** Headers that are the service's own. */
export function serviceHeaders(secret: string, body: string, more: Headers = {}): Headers {
  return { "X-Service-Signature": hexSignature(secret, body), ...more };
}

/** Headers as GitHub sends them. */
export function githubHeaders(secret: string, body: string, name: string): Headers {
  return {
    "User-Agent": "GitHub-Hookshot/044aadd",
    "X-GitHub-Delivery": randomUUID(),
    "X-GitHub-Event": name,
    "X-Hub-Signature-256": `sha256=${hexSignature(secret, body)}`,
  };
}

/** Headers as the library of Standard Webhooks makes them. */
export function standardHeaders(
  secret: string,
  body: string,
  at = new Date(),
  id: string = randomUUID(),
): Headers {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}
