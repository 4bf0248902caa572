import type { IncomingMessage } from "node:http";
import { API_KEY_PATTERN } from "../../../../lib/access/api-key.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import {
  FAULTS,
  type Fault,
  type FaultCode,
  mismatch,
  unauthenticated,
} from "../../../../lib/contract/faults.ts";
import { errorAnswer, JSON_TYPE, toFault } from "../answer/respond.ts";
import { maxBodyOf, mediaType, readRaw, unsupported } from "../body/body.ts";
import type { Answer, HttpExchange } from "../http-exchange.ts";
import { descriptionOf } from "./challenge.ts";

/** The media type of token requests (RFC 6749, section 4.4.2). */
export const FORM = "application/x-www-form-urlencoded";
const GRANT = "client_credentials";
const IS_KEY = new RegExp(API_KEY_PATTERN);
const BASIC = /^Basic +([\w+/=-]+)$/i;
const BY_STATUS: Record<number, string> = {
  401: "invalid_client",
  429: "temporarily_unavailable",
  500: "server_error",
  503: "temporarily_unavailable",
};

/** Whether a request is refused in OAuth's form. */
export function isOAuthRequest(op: Operation | undefined, req: IncomingMessage): boolean {
  return op?.oauth !== undefined || isTokenRequest(op, req);
}

/** Whether a request to an operation that also takes JSON is a token request of OAuth 2.0. */
export function isTokenRequest(op: Operation | undefined, req: IncomingMessage): boolean {
  return op?.form !== undefined && mediaType(req) === FORM;
}

/**
 * Reads a token request: the client's secret is the API key, in the form or by HTTP Basic. Unknown fields are
 * ignored, and so is the client's name: the key identifies its owner.
 * @throws Fault validation_failed, authentication_failed, payload_too_large
 */
export async function readTokenRequest({ op, req }: HttpExchange): Promise<Record<string, string>> {
  const fields = await fieldsOf(op, req);
  const grant = fields.get("grant_type");
  if (grant !== GRANT) throw misfit("grant_type", grant, GRANT);
  const { authorization } = req.headers;
  const secret = fields.get("client_secret");
  if (authorization !== undefined && secret !== null)
    throw misfit(
      "client_secret",
      null,
      "the key either in the form or in the header Authorization, not in both",
    );
  const api_key = authorization === undefined ? secret : basicIn(authorization)?.password;
  const [scope, resource] = [fields.get("scope"), fields.get("resource")];
  if (api_key && IS_KEY.test(api_key))
    return { api_key, ...(scope && { scope }), ...(resource && { resource }) };
  const message = "client_secret: expected an API key (ak_live_...), in the form or by HTTP Basic.";
  throw unauthenticated(message);
}

/**
 * Reads a request of OAuth: the fields of its contract. A client's name and secret may also come by HTTP Basic.
 * @throws Fault validation_failed, unsupported_media_type, payload_too_large
 */
export async function readForm({ op, req }: HttpExchange): Promise<Record<string, string>> {
  if (mediaType(req) !== FORM) throw unsupported(mediaType(req), [FORM]);
  const fields = await fieldsOf(op, req);
  const { authorization } = req.headers;
  const { name, password } = (authorization && basicIn(authorization)) || {};
  if (name && !fields.get("client_id")) fields.set("client_id", name);
  if (password && !fields.get("client_secret")) fields.set("client_secret", password);
  const known = Object.keys(op.body ?? {});
  return Object.fromEntries([...fields].filter(([name, value]) => known.includes(name) && value !== ""));
}

async function fieldsOf(op: Operation, req: IncomingMessage): Promise<URLSearchParams> {
  const fields = new URLSearchParams((await readRaw(req, maxBodyOf(op))).toString());
  const resources = fields.getAll("resource").join(" ");
  // RFC 8707 allows several: they are one value here, with spaces between.
  if (resources) fields.set("resource", resources);
  const twice = [...fields.keys()].find((name) => fields.getAll(name).length > 1);
  if (twice) throw misfit(twice, null, "one value, not several");
  return fields;
}

/** Answers a refused request of OAuth (RFC 6749, section 5.2). */
export function oauthRefusal(op: Operation, err: unknown, request_id: string): Answer {
  const fault = toFault(err);
  const named = (fault.data as { oauth?: string } | undefined)?.oauth;
  // A device that polls too early has not failed, but OAuth has no other status for it.
  const status = fault.type === "conflict" ? 400 : FAULTS[fault.type as FaultCode].status;
  const { headers = {} } = errorAnswer(fault, request_id);
  if (status === 401) headers["WWW-Authenticate"] = 'Basic realm="sensorium"';
  const error = named ?? BY_STATUS[status] ?? malformed(op, fault);
  const body = { error, error_description: descriptionOf(fault) };
  return { status, type: JSON_TYPE, body: JSON.stringify(body), headers };
}

function malformed({ oauth = "invalid_request" }: Operation, { data }: Fault): string {
  const { field, value } = (data ?? {}) as Record<string, unknown>;
  return field === "grant_type" && value !== null ? "unsupported_grant_type" : oauth;
}

function misfit(field: string, value: string | null, expected: string): Fault {
  return mismatch(field, value?.slice(0, 200) ?? null, expected, GRANT);
}

/** Returns a client's name and password, which are encoded like a form's fields (RFC 6749, section 2.3.1). */
function basicIn(authorization: string): { name: string; password: string } | undefined {
  const encoded = BASIC.exec(authorization)?.[1];
  if (!encoded) return undefined;
  const [name = "", ...password] = Buffer.from(encoded, "base64").toString().split(":");
  return { name: decoded(name), password: decoded(password.join(":")) };
}

function decoded(text: string): string {
  return new URLSearchParams(`text=${text}`).get("text") ?? "";
}
