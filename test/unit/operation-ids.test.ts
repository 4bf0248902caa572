import { expect, test } from "@jest/globals";
import { openApiDocument } from "../../docs/generate/openapi/openapi.ts";
import { operations } from "../../services/contracts.ts";
import * as channels from "../../services/sense/channels/channels.contract.ts";
import { loadKits } from "../support/kits.ts";

type Described = { operationId: string; "x-action": string };
type Paths = Record<string, Record<string, Described>>;
type Document = { paths: Paths; webhooks: Paths };

const document = openApiDocument(operations) as unknown as Document;
const idsOf = ({ paths, webhooks }: Document) =>
  Object.entries({ ...paths, ...webhooks }).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => [`${method} ${path}`, operationId] as const),
  );
const ids = idsOf(document).map(([, id]) => id);
const words = (id: string) => id.split(/(?=[A-Z])/).map((word) => word.toLowerCase());

/** Beginnings of an id. */
const VERBS = [
  ..."accept ack add answer ask assemble assign attach author begin browse cancel".split(" "),
  ..."change check cite claim close complete confirm count create decide decline".split(" "),
  ..."delete discard dismiss download drain email end erase explain export extend".split(" "),
  ..."finish forget get import issue list load log look nack offer pin poll".split(" "),
  ..."promote propose publish push put read receive register reject remove rename".split(" "),
  ..."renew reopen replay resolve restore resume retry revoke rotate run save".split(" "),
  ...["search", "send", "set", "skip", "start", "stream", "supersede", "test", "unload", "unpin", "update"],
  ...["upload", "validate", "verify", "write"],
  ...(await loadKits()).flatMap(({ verbs = [] }) => verbs),
];

/** Words of more than four letters that TypeScript or Python keep, and that begin with a lower case letter. */
const KEPT =
  /^(await|break|catch|class|const|continue|debugger|default|delete|except|export|extends|finally|function|global|import|lambda|nonlocal|raise|return|super|switch|throw|typeof|while|yield)$/;

test("each operation has an id in camel case that is a name in TypeScript and Python", () => {
  expect(ids.length).toBe(operations.length + 1);
  expect(ids.filter((id) => !/^[a-z]+([A-Z0-9][a-z0-9]*)+$/.test(id) || KEPT.test(id))).toEqual([]);
});

test("ids begin with a verb, and have a word for what it acts on", () => {
  expect(ids.filter((id) => !VERBS.includes(words(id)[0] as string) || words(id).length < 2)).toEqual([]);
  const used = new Set(ids.map((id) => words(id)[0]));
  expect(VERBS.filter((verb) => !used.has(verb))).toEqual([]);
});

test("no two ids differ only by case or by underscores", () => {
  const spelt = Map.groupBy(ids, (id) => id.toLowerCase());
  expect([...spelt.values()].filter((same) => same.length > 1)).toEqual([]);
});

test("ids depend on nothing but their own contracts", () => {
  const reversed = openApiDocument(operations.toReversed()) as unknown as Document;
  expect(Object.fromEntries(idsOf(reversed))).toEqual(Object.fromEntries(idsOf(document)));
});

test("each operation names its action, under which clients, tools and the audit log know it", () => {
  const named = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, op]) => `${method} ${path} ${op["x-action"]}`),
  );
  const declared = operations.map(
    ({ method, url, root, action }) => `${method.toLowerCase()} ${root ? "" : "/v1"}${url} ${action}`,
  );
  expect(named.toSorted()).toEqual(declared.toSorted());
});

test("an id is the name by which the contract exports the operation", () => {
  const { action } = channels.addChannelMember;
  expect(operations.find((op) => op.action === action)?.operationId).toBe("addChannelMember");
});
