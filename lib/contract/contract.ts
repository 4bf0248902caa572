import type { Static, TObject, TProperties, TSchema } from "typebox";
import type { Scope } from "../access/caller.ts";
import type { FaultCode } from "./faults.ts";
import { Type } from "./type.ts";

/**
 * Who may call an operation.
 * - `public`: no token is needed, and none is read unless it is `identified`: then whoever sends one is held to it.
 *   Failures of what is `guarded` count against the address (`PUBLIC_FAILURES_PER_MINUTE`).
 *   `operator`: the installation's own token. `monitor`: `METRICS_TOKEN`, or this machine.
 * - `any`: an agent or an org user, with `scope` when it is named. With `people`, of the users only such: what it is
 *   about is an agent's own. The service refuses the others itself, once it knows whose that is.
 * - `agent`, `user`, `org_admin`: only such a caller; `otherwise` is what another caller gets
 *   (human-only operations answer 403 `forbidden`, agent-scoped ones 401 or 400: api.md "Who calls").
 */
export type Access =
  | { by: "public"; identified?: true; guarded?: true }
  | { by: "operator" }
  | { by: "monitor" }
  | { by: "any"; scope?: Scope; people?: "org_admin" }
  | { by: "agent"; scope?: Scope; otherwise?: FaultCode }
  | { by: "user" | "org_admin"; scope?: Scope };

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/**
 * What a client of MCP may take for granted of a tool. By the method: GET and what `reads` only read, POST adds, and
 * may do so twice; others change or delete, and once is as good as twice.
 */
interface ToolHints {
  /** Changes or removes what is there, and not only adds to it. */
  destructive?: boolean;
  idempotent?: boolean;
  /** Instead of the operation's own description, where that speaks of HTTP. */
  description?: string;
}

interface OperationSpec<Path extends TProperties, Query extends TProperties, Body extends TProperties> {
  /** The Moleculer action: `<service>.<name>`. Also the OpenAPI operationId. */
  action: string;
  /** `POST /agents/{agent_id}/interests`, below the version segment unless `root`. */
  route: `${Method} /${string}`;
  /** Stands at the origin (`/w/…`, `/healthz`), not under `/v1`. */
  root?: boolean;
  summary: string;
  description?: string;
  access: Access;
  path?: Path;
  query?: Query;
  body?: Body;
  /** The body is not an object with named fields: it arrives whole under the one name that `body` declares. */
  wholeBody?: boolean;
  /**
   * The fields of the same request as a token request of OAuth 2.0, a form: the gateway makes the body of it
   * (oauth.ts), and refuses it as OAuth has it.
   */
  form?: TProperties;
  /** How the gateway reads the body; `json` when absent. */
  consumes?: "json" | "cloudevents" | "raw";
  /**
   * Fields of the body that are too large to travel between nodes: the gateway keeps them as blobs, base64 decoded, and
   * the action gets a BlobReference. Each is declared as the text that callers send: see `byReference` below.
   */
  byReference?: Record<string, "base64" | "text">;
  /** The field by reference that is the whole body where it comes as `text/markdown`: the others stand in the query. */
  textBody?: string;
  /**
   * The answer, or the one field of it, that is too large to travel between nodes: the action gives a BlobReference in
   * its place, and the gateway puts the text in.
   */
  fromBlob?: "answer" | { field: string };
  /**
   * The body's one field, a list of anything whose items are done each on its own: of a large body the action gets some
   * at a time. It answers an object with one list, whose parts are put together. Without path and query.
   */
  inPieces?: string;
  /**
   * It gives a bare list of rows with ids, and over HTTP all of it where no `limit` is given: the gateway asks the action
   * for so many at a time by `offset` and `limit`, as one message between nodes does not take any number. It may give
   * fewer, and says in the header `X-Total-Count` how many there are.
   */
  inPages?: number;
  /** What a caller without the scope is answered, with 200, where others get 403 (spec: Errors, other rules). */
  scopeRefusal?: Record<string, unknown>;
  /** Largest body in bytes. Default 1 MB. */
  maxBody?: number;
  /** The setting that says how many bytes its fields by reference may have, 0 for any number, instead of `maxBody`. */
  maxBodySetting?: "OUTPUT_BODY_MAX";
  /** Status → schema of the answer; the highest below 300 is the usual one. `null`: no body. */
  results: Record<number, TSchema | null>;
  /** Media types of the answer when it is not JSON: the first, or by `$responseType` another. */
  produces?: readonly [string, ...string[]];
  /** The answer is a file to be saved, under the name in `Content-Disposition`. */
  attachment?: boolean;
  /** Media type of the text that it answers in some cases, with `$responseType`, in place of JSON. */
  alsoProduces?: string;
  /** Faults beyond those every operation can give (validation_failed, authentication_failed, rate_limited, …). */
  errors?: FaultCode[];
  /** The gateway holds the connection open and writes events itself (SSE). */
  stream?: boolean;
  /**
   * A read whose cost follows what the tenant has, not what it answers: a few of a tenant are carried out at once
   * (mixins/heavy.ts). Its action calls no other of these, which would wait for itself.
   */
  heavy?: boolean;
  /** It may hold the request for long: when the caller goes away meanwhile, its service is told (`request.abandoned`). */
  waits?: boolean;
  /**
   * A POST that changes nothing, such as a search: an Idempotency-Key is ignored and no answer is stored, it goes on while
   * nothing can be written, and clients may repeat it.
   */
  reads?: boolean;
  /**
   * A change that goes on while the tenant is over its storage quota: it settles, frees or secures what is there. All others
   * are refused then.
   */
  overQuota?: boolean;
  /** A GET that hands something out or moves a mark: HEAD, which only looks, is not for it. */
  takes?: boolean;
  /** Answers 200 with a structured refusal where others answer an HTTP error (spec: Errors, other rules). */
  refusesInBand?: boolean;
  /** Offered to agents as an MCP tool; with what the method does not say. */
  mcp?: boolean | ToolHints;
  /** Whether it is noted in the audit log, where that does not follow from what it is: see `isAudited`. */
  audit?: boolean;
  /** The answer holds a secret: a stored idempotent answer is encrypted and short-lived. */
  secret?: boolean;
}

export interface Operation<
  Path extends TProperties = TProperties,
  Query extends TProperties = TProperties,
  Body extends TProperties = TProperties,
> extends OperationSpec<Path, Query, Body> {
  method: Method;
  /** The path with its placeholders, without the method. */
  url: string;
  /** Path, query and body in one object: what the action takes. */
  params: TObject<Path & Query & Body>;
}

/**
 * Whether it has to be accounted for who did it: what is for administrators or for people alone and changes something,
 * and what deletes. Contracts say so of others that cannot be undone, or that take something out of the service.
 */
export function isAudited({
  audit,
  access,
  method,
}: Pick<Operation, "audit" | "access" | "method">): boolean {
  if (audit !== undefined) return audit;
  if (method === "GET") return false;
  const isScoped = "scope" in access && access.scope === "admin";
  return method === "DELETE" || isScoped || ["user", "org_admin", "operator"].includes(access.by);
}

/** Whether an operation honours an Idempotency-Key: its caller is known, and it changes something. */
export function honoursKey({
  access,
  method,
  reads,
}: Pick<Operation, "access" | "method" | "reads">): boolean {
  if (access.by === "public" || access.by === "monitor" || reads) return false;
  return method === "POST" || method === "PATCH" || method === "PUT";
}

/** Whether an operation is refused while its caller's tenant is over its storage quota. */
export function isWithinQuota(op: Pick<Operation, "access" | "method" | "reads" | "overQuota">): boolean {
  return honoursKey(op) && op.access.by !== "operator" && !op.overQuota;
}

type NoFields = Record<never, TSchema>;

/** Declares an operation once: validation, types, OpenAPI, MCP tools and the client all derive from it. */
export function operation<
  Path extends TProperties = NoFields,
  Query extends TProperties = NoFields,
  Body extends TProperties = NoFields,
>(spec: OperationSpec<Path, Query, Body>): Operation<Path, Query, Body> {
  const [method, url] = spec.route.split(" ") as [Method, string];
  const referenced = Object.keys(spec.byReference ?? {}).map((field) => [field, BlobReference]);
  const properties = {
    ...spec.path,
    ...spec.query,
    ...spec.body,
    ...Object.fromEntries(referenced),
  } as Path & Query & Body;
  return { ...spec, method, url, params: Type.Object(properties) };
}

export type ParamsOf<O> = O extends Operation<infer P, infer Q, infer B> ? Static<TObject<P & Q & B>> : never;

/** What an action gets of a field that came by reference: where its bytes are, and how many. */
export type BlobReference = Static<typeof BlobReference>;
const BlobReference = Type.Object({ hash: Type.String(), size: Type.Integer() });

/** The schema of a body field that comes by reference, as callers send it. */
export function byReference(options: Record<string, unknown>) {
  return Type.Unsafe<BlobReference>({ type: "string", ...options });
}

/** `T|null` of the specification: the key is there and may be null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

export function oneOf<const T extends readonly string[]>(values: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...options });
}
