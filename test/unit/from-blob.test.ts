import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import { sendFromBlob } from "../../services/gateway/from-blob.ts";
import type { Answer, Insert } from "../../services/gateway/respond.ts";

test.each([
  ["is all of the answer", "", { at: 0, escaped: false }],
  ["stands in the answer", '{"body":""}', { at: 9, escaped: true }],
])("a blob that %s is closed when the caller left while it was opened", async (_, body, place) => {
  const blob = Readable.from([Buffer.from("a text")]);
  const insert: Insert = { hash: "h", size: 6, ...place };
  const answer: Answer & { insert: Insert } = { status: 200, type: "text/plain", body, insert };
  const served = Promise.withResolvers<unknown>();
  const server = createServer((_req, res) => {
    const open = async () => {
      request.destroy();
      await once(res, "close");
      return blob;
    };
    const envelope = { request_id: "req_1", allowance: null, last: false };
    sendFromBlob(res, answer, envelope, open).catch(served.resolve);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const request = get({ port, host: "127.0.0.1" }).on("error", () => {});
  try {
    expect(await served.promise).toMatchObject({ code: "ERR_STREAM_PREMATURE_CLOSE" });
    expect(blob.destroyed).toBe(true);
  } finally {
    server.close();
  }
});
