import {
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  Type,
} from "typebox";
import type { Scope } from "../access/caller.ts";
import type { FaultCode } from "./faults.ts";
import { type PathIds, pathOf } from "./identifiers.ts";

/**
 * The callers allowed for an operation.
 * - `public`: no token needed. A token is read, and must be valid, only if `identified`. Failures count against the
 *   address (`PUBLIC_FAILURES_PER_MINUTE`).
 * - `operator`: the installation's own token. `monitor`: `METRICS_TOKEN`, or this machine.
 * - `any`: an agent or an org user, with `scope` if given. `people` restricts the users, because the resource belongs
 *   to an agent; the service refuses the others once it knows the owner.
 * - `agent`, `user`, `org_admin`: only such a caller; `otherwise` is the fault for others (human-only operations
 *   answer 403 `forbidden`, agent-scoped ones 401 or 400: api.md "Who calls").
 */
export type Access =
  | { by: "public"; identified?: true }
  | { by: "operator" }
  | { by: "monitor" }
  | { by: "any"; scope?: Scope; people?: "org_admin" }
  | { by: "agent"; scope?: Scope; otherwise?: FaultCode }
  | { by: "user" | "org_admin"; scope?: Scope };

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/**
 * Hints to MCP clients, where the method does not imply them: GET and `reads` only read, POST adds and is not
 * idempotent, other methods change or delete and are idempotent.
 */
export interface ToolHints {
  /** Changes or removes existing data. */
  destructive?: boolean;
  idempotent?: boolean;
  /** Replaces the operation's description if that mentions HTTP. */
  description?: string;
  /** Makes it one of the tools of the preset `core`, listed with these parameters alone; it accepts the others too. */
  core?: readonly string[];
  /**
   * Other names that models give its parameters, by parameter, with its path if it is a field of one:
   * `{ query: ["q"], "payload.next_action": ["next_action"] }`.
   */
  aliases?: Record<string, readonly string[]>;
  /** Values of required parameters, if they are not given. */
  defaults?: Record<string, string | boolean>;
  /** Paths of the answer's fields that a model can use; with a `?`, unless it is false or empty. Default: all. */
  answers?: readonly string[];
  /** The call that reads what this tool's result had to shorten, if calling it again is not how. */
  whole?: string;
}

export function toolHints({ mcp }: Pick<Operation, "mcp">): ToolHints {
  return typeof mcp === "object" ? mcp : {};
}

/** Returns the parameter of each alias, with its path. */
export function pathsOfAliases(op: Pick<Operation, "mcp">): Record<string, string> {
  const aliases = Object.entries(toolHints(op).aliases ?? {});
  return Object.fromEntries(aliases.flatMap(([path, names]) => names.map((name) => [name, path])));
}

/** Where an operation is reached. */
interface RouteSpec<Path extends TProperties, Query extends TProperties> {
  /** The Moleculer action: `<service>.<name>`. Clients, MCP tools and the audit log name the operation after it. */
  action: string;
  /** `POST /agents/{agent_id}/interests`, below the version segment unless `root`. */
  route: `${Method} /${string}`;
  /** Served at the origin (`/w/…`, `/healthz`), not under `/v1`. */
  root?: boolean;
  /** Further paths, with the same placeholders, that lead to it and that the documents leave out. */
  also?: readonly string[];
  /** The parameters of the path, except for those of `PATH_IDS`. */
  path?: Path;
  query?: Query;
  summary: string;
  description?: string;
  /** Offered to agents as an MCP tool, with hints that the method does not imply. */
  mcp?: boolean | ToolHints;
}

interface AccessSpec {
  access: Access;
  /** The 200 answer for a caller without the scope, instead of 403 (spec: Errors, other rules). */
  scopeRefusal?: Record<string, unknown>;
  /** Refuses with a structured 200 answer instead of an HTTP error (spec: Errors, other rules). */
  refusesInBand?: boolean;
  /** A change allowed while the tenant is over its storage quota, because it settles, frees or secures existing data. */
  overQuota?: boolean;
  /** Overrides `isAudited`. */
  audit?: boolean;
  /** Returns a credential that would outlive its caller's: refused to a device or client that a person has approved. */
  outlives?: true;
  /**
   * It checks a credential that is expensive to check, or short: the gateway limits its tries before, by the account whose
   * `email` is in the body, or by the caller.
   */
  tries?: true;
  /** The action gets the value of this cookie of the request in `meta.cookie`. */
  cookie?: string;
  /** The action gets the service's origin as the caller uses it in `meta.origin`. */
  origin?: boolean;
  /** An endpoint for clients of OAuth, which refuses in their form: a malformed request with this error. */
  oauth?: "invalid_request" | "invalid_client_metadata";
}

/** How the gateway reads the body. */
interface BodySpec<Body extends TProperties> {
  body?: Body;
  /** The body is not an object with named fields: it is passed whole under the one name in `body`. */
  wholeBody?: boolean;
  /** The format of the body; `json` when absent. The fields of a `form` are texts; unknown ones are ignored. */
  consumes?: "json" | "cloudevents" | "raw" | "form";
  /** The fields of the request as an OAuth 2.0 form, which the gateway converts to the body, or refuses as OAuth does. */
  form?: TProperties;
  /**
   * Body fields that are too large to travel between nodes: the gateway stores them as blobs, base64 decoded, and the
   * action gets a BlobReference. `byReference` below declares them as the text that callers send.
   */
  byReference?: Record<string, "base64" | "text">;
  /** The most bytes of a text field by reference that the action gets as a text instead. */
  inlineUpTo?: number;
  /** The field by reference that is the whole body of a `text/markdown` request; the others are in the query. */
  textBody?: string;
  /** Largest body in bytes. Default 1 MB. */
  maxBody?: number;
  /** The setting with the maximum bytes of fields by reference, 0 for no limit, instead of `maxBody`. */
  maxBodySetting?: "OUTPUT_BODY_MAX";
}

interface AnswerSpec {
  /** Schema of the answer with 200, if there is no other. */
  answer?: TSchema;
  /** Status → schema of the answer; the highest below 300 is the default. `null`: no body. Without any answer: 204. */
  results?: Record<number, TSchema | null>;
  /** Faults besides those that follow from access, path and inputs (`codesOf`). */
  errors?: FaultCode[];
  /** Media types of a non-JSON answer: the first, or another with `$responseType`. */
  produces?: readonly [string, ...string[]];
  /** Media type of a text that it sometimes answers instead of JSON, with `$responseType`. */
  alsoProduces?: string;
  /** The answer is a file to save, under the name in `Content-Disposition`. */
  attachment?: boolean;
  /** The answer, or its field, that is too large to travel between nodes: the gateway replaces a BlobReference by it. */
  fromBlob?: "answer" | { field: string };
  /**
   * Page size of an operation that answers a bare list of rows with ids: over HTTP as many as `limit`, or its default,
   * else all. The gateway reads them in pages by `offset` and `limit`, as the caller reads the answer. The action may
   * answer a shorter page; its header `X-Total-Count` has the total.
   */
  inPages?: number;
  /**
   * The internal action that continues a text of any length. The operation's action answers the first `TextPart`; the
   * gateway calls this one with the same params and `cursor`, as the caller reads, until `next` is null.
   */
  continuedBy?: string;
  /** The gateway holds the connection open and writes events itself (SSE). */
  stream?: boolean;
  /** The answer contains a secret: a stored idempotent answer is encrypted and short-lived. */
  secret?: boolean;
}

/** How an operation executes, where its method does not tell. */
interface ExecutionSpec {
  /** A POST that only reads, such as a search: without Idempotency-Key, repeatable, and allowed while writes are refused. */
  reads?: boolean;
  /** It leases what it answers: HEAD is not allowed, and a long answer is not stored for an Idempotency-Key. */
  takes?: boolean;
  /** The request may wait long: if the caller disconnects, the service is notified (`request.abandoned`). */
  waits?: boolean;
  /** It frees capacity or keeps work alive: slots and connections are reserved for it, whatever else the node does. */
  reserved?: boolean;
}

interface UpgradeSpec {
  /**
   * Formats of rows (storage/format.ts) that fields of the body need, by their paths (`steps.wait_for`), or the operation
   * itself (`*`): refused by name while a node of the cluster does not know the format.
   */
  needs?: Record<string, number>;
}

interface OperationSpec<Path extends TProperties, Query extends TProperties, Body extends TProperties>
  extends RouteSpec<Path, Query>,
    AccessSpec,
    BodySpec<Body>,
    AnswerSpec,
    ExecutionSpec,
    UpgradeSpec {}

export interface Operation<
  Path extends TProperties = TProperties,
  Query extends TProperties = TProperties,
  Body extends TProperties = TProperties,
> extends OperationSpec<Path, Query, Body> {
  method: Method;
  /** The path with its placeholders, without the method. */
  url: string;
  /** The OpenAPI operationId: the name by which a contract exports it. It must never change. */
  operationId?: string;
  /**
   * Forms in which the resource is read (`withRepresentations`). Fields that the body lacks are read-only: a write ignores
   * them, so that what was read can be written back.
   */
  representations?: readonly TSchema[];
  results: Record<number, TSchema | null>;
  /** Path, query and body in one object: the params of the action. */
  params: TObject<Path & Query & Body>;
}

/**
 * Whether an operation is recorded in the audit log: changes for administrators or people only, and deletions.
 * Contracts add others that cannot be undone or that export data.
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

/** Returns the resource of an action: `memories.create` → `memory`. */
export function resourceOf(action: string): string {
  const [domain = ""] = action.split(".");
  return domain.replace(/ies$/, "y").replace(/s$/, "");
}

/** Whether an operation honours an Idempotency-Key: it has an authenticated caller and changes something. */
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

/** Declares an operation. Validation, types, OpenAPI, MCP tools and the client derive from it. */
export function operation<
  const Route extends `${Method} /${string}`,
  Path extends TProperties = NoFields,
  Query extends TProperties = NoFields,
  Body extends TProperties = NoFields,
>(spec: OperationSpec<Path, Query, Body> & { route: Route }): Operation<PathIds<Route> & Path, Query, Body> {
  const [method, url] = spec.route.split(" ") as [Method, string];
  const path = pathOf(spec.route, spec.path) as PathIds<Route> & Path;
  const given = spec.inlineUpTo === undefined ? BlobReference : InlineOrReference;
  const referenced = Object.keys(spec.byReference ?? {}).map((field) => [field, given]);
  const properties = {
    ...path,
    ...spec.query,
    ...spec.body,
    ...Object.fromEntries(referenced),
  } as PathIds<Route> & Path & Query & Body;
  const { answer, results = answer ? { 200: answer } : { 204: null }, ...rest } = spec;
  const made = { ...rest, results, method, url, path, params: Type.Object(properties) };
  declared.add(made);
  return made;
}

/** All operations, in the order of their declaration. */
const declared = new Set<object>();

/** Returns the operations that a contract exports, in the order of their declaration, named after their exports. */
export function operationsIn(contract: object): Operation[] {
  const names = new Map<object, string>(Object.entries(contract).map(([name, exported]) => [exported, name]));
  return [...declared].flatMap((each) => {
    const operationId = names.get(each);
    return operationId ? [{ ...each, operationId } as Operation] : [];
  });
}

/** Adds to each write of a resource the forms in which reads answer it, but for a secret that is answered once. */
export function withRepresentations(operations: readonly Operation[]): Operation[] {
  const reads = operations.filter(({ method }) => method === "GET");
  const answersOf = ({ results }: Operation) => Object.values(results).filter((result) => result !== null);
  return operations.map((op) => {
    const { body, method, url, results, secret } = op;
    if (!body || !honoursKey(op)) return op;
    const lists = collectionsOf(op, reads)
      .flatMap(answersOf)
      .flatMap((list) => listed(list, body));
    // Other POSTs are actions.
    if (method === "POST" && !(201 in results)) return { ...op, representations: lists };
    const single = method === "POST" ? `${url}/{}` : url.replace(/\{\w+\}$/, "{}");
    const read = reads.filter((each) => each.url.replace(/\{\w+\}$/, "{}") === single).flatMap(answersOf);
    const own = secret ? [] : answersOf(op);
    return { ...op, representations: [...own, ...read, ...lists] };
  });
}

/** Returns the reads of the list that the resource of a write stands in. */
function collectionsOf({ method, url }: Operation, reads: Operation[]): Operation[] {
  const collection = method === "POST" ? url : url.replace(/\/\{\w+\}$/, "");
  return reads.filter((read) => read.url === collection);
}

/** Returns the form of a list's items, and the list's own if a body is such a list. */
function listed(list: TSchema, body: TProperties): TSchema[] {
  const { items, properties = {} } = list as {
    items?: TSchema;
    properties?: Record<string, { items?: TSchema }>;
  };
  if (items) return [items];
  return Object.entries(properties).flatMap(([name, field]) =>
    field.items ? [name in body ? list : field.items] : [],
  );
}

export type ParamsOf<O> = O extends Operation<infer P, infer Q, infer B> ? Static<TObject<P & Q & B>> : never;

/** A part of a text that an operation with `continuedBy` answers. */
export interface TextPart {
  text: string;
  /** The cursor of the next part; null after the last. */
  next: string | null;
}

/** The value of a field by reference in an action: the hash and the size of its bytes. */
export type BlobReference = Static<typeof BlobReference>;
const BlobReference = Type.Object({ hash: Type.String(), size: Type.Integer() });

const InlineOrReference = Type.Union([Type.String(), BlobReference]);

/** Returns the schema of a body field by reference, as callers send it. */
export function byReference<T = BlobReference>(options: Record<string, unknown>) {
  return Type.Unsafe<T>({ type: "string", ...options });
}

/** Returns the schema of an object that documents and clients know by a name. */
export function component<P extends TProperties>(title: string, fields: P, options: TObjectOptions = {}) {
  return Type.Object(fields, { title, ...options });
}

/** Returns `T|null` of the specification: the key is required and may be null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** Returns fields that callers may leave out. */
export function optional<P extends TProperties>(fields: P) {
  return Type.Partial(Type.Object(fields)).properties;
}

export function oneOf<const T extends readonly string[]>(values: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...options });
}
