// @needs strace
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { type Answer, agentToken, api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { newReceiver } from "../support/receiver.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { parseTrace, unsynced } from "../support/strace.ts";

const TIMES = 2;
/** The embedded store's write-ahead log, and the files that become blobs. */
const LOG = ".db-wal";
const BLOBS = "/blobs.new/";
const BLOB_FOLDER = /\/blobs\/tn_[\w-]+\/[\da-f]{2}>/;
const CALLS =
  "read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,pwrite64,fdatasync,fsync,?rename,?renameat,?renameat2";

const canTrace = await promisify(execFile)("strace", ["-o", "/dev/null", "true"]).then(
  () => true,
  () => false,
);

/** A request that was answered: what its answer must be, and what only its row holds. */
interface Asked {
  kind: string;
  id: string;
  row: string;
  file: string;
  answer: Answer;
  status: number;
}

(canTrace ? test : test.skip)("an answer follows the sync of what it promises", async () => {
  const trace = join(await ownFolder(), "trace");
  const under = ["strace", "-D", "-f", "-ttt", "-yy", "-s", "9000", "-e", `trace=${CALLS}`, "-o", trace];
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" }, under });
  const asked = await askAll(server).finally(() => server.stop());
  for (const { kind, answer, status } of asked)
    expect({ kind, status: answer.status }).toEqual({ kind, status });
  const calls = parseTrace(await readFile(trace, "latin1"));
  const verdicts = asked.map(({ kind, id, row, file }) => {
    const folder = file === BLOBS ? BLOB_FOLDER : undefined;
    const exchange = { request: `x-request-id: ${id}`, answer: `X-Request-Id: ${id}`, row, file, folder };
    return { kind, id, missing: unsynced(calls, exchange) };
  });
  expect(verdicts).toEqual(verdicts.map(({ kind, id }) => ({ kind, id, missing: undefined })));
});

/** Sends one request at a time, each with a unique request id. */
async function askAll(server: TestServer): Promise<Asked[]> {
  const admin = api(server, await agentToken(server, server.credentials.agent.api_key));
  const receiver = await newReceiver(server, admin, "synced", { interests: ["com.example.*"] });
  const asked: Asked[] = [];
  const ask = async (kind: string, n: number, row: string, status: number, call: Call, file = LOG) => {
    const id = `sync-${kind}-${n}`;
    asked.push({ kind, id, row, file, status, answer: await call({ "x-request-id": id }) });
  };
  for (let n = 0; n < TIMES; n++) {
    const [single, batch, last] = [`single-${n}-row`, `batch-${n}-row`, `batch-${n}-last`];
    await ask("single", n, single, 202, (headers) => admin.post("/events", event(single), headers));
    const type = { "content-type": "application/cloudevents-batch+json" };
    await ask("batch", n, last, 202, (headers) =>
      admin.post("/events", [event(batch), event(last)], { ...headers, ...type }),
    );
    const name = `agent-${n}-row`;
    await ask("create", n, name, 201, (headers) => {
      const key = { "idempotency-key": `create-${n}` };
      return admin.post("/agents", { name, delivery_mode: "poll" }, { ...headers, ...key });
    });
    const { body } = await receiver.api.get("/delivery/poll?wait=10&limit=1");
    const [{ id }] = body.deliveries as [{ id: string }];
    const next = (await receiver.api.get("/delivery/poll?wait=10&limit=1")).body.deliveries[0].id as string;
    await ask("next", n, next, 200, (headers) =>
      receiver.api.post("/delivery/next", { ack: { delivery_ids: [next] }, limit: 1 }, headers),
    );
    await ask("ack", n, id, 200, (headers) =>
      receiver.api.post("/delivery/ack", { delivery_ids: [id] }, headers),
    );
    const text = `document-${n}-row`;
    const document = {
      filename: "a.txt",
      mime_type: "text/plain",
      file_content: Buffer.from(text).toString("base64"),
    };
    await ask("document", n, text, 202, (headers) => admin.post("/documents", document, headers), BLOBS);
  }
  return asked;
}

type Call = (headers: Record<string, string>) => Promise<Answer>;

function event(id: string) {
  return { specversion: "1.0", id, type: "com.example.synced", source: "/sync", data: { id } };
}
