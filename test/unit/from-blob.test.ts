import { once } from "node:events";
import { get, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { expect, jest, test } from "@jest/globals";
import { Type } from "typebox";
import { operation } from "../../lib/contract/contract.ts";
import { BlobBroken, sendFromBlob } from "../../services/edge/gateway/answer/from-blob.ts";
import type { Answer, Insert } from "../../services/edge/gateway/http-exchange.ts";
import { action } from "../../services/runtime.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { startGateway } from "../support/gateway.ts";
import { outputTo } from "../support/output.ts";
import { serving } from "../support/serving.ts";

const ENVELOPE = { request_id: "req_1", allowance: null, last: false };

function sendTo(res: ServerResponse, answer: Answer, stream: () => Promise<Readable>): Promise<void> {
  return sendFromBlob(res, answer, ENVELOPE, outputTo(res), "tn_one", { stream } as unknown as Blobs);
}

test.each([
  ["is all of the answer", "", { at: 0, escaped: false }],
  ["stands in the answer", '{"body":""}', { at: 9, escaped: true }],
])("a blob that %s is closed when the caller left while it was opened", async (_, body, place) => {
  const blob = Readable.from([Buffer.from("a text")]);
  const insert: Insert = { hash: "h", size: 6, ...place };
  const answer: Answer = { status: 200, type: "text/plain", body, insert };
  const served = Promise.withResolvers<unknown>();
  const { url, close } = await serving((_req, res) => {
    const stream = async () => {
      request.destroy();
      await once(res, "close");
      return blob;
    };
    sendTo(res, answer, stream).then(served.resolve, served.reject);
  });
  const request = get(url).on("error", () => {});
  try {
    await served.promise;
    expect(blob.destroyed).toBe(true);
  } finally {
    await close();
  }
});

const broken = async function* () {
  yield Buffer.from("a te");
  throw new Error("the disk is gone");
};

const unending = async function* () {
  yield Buffer.from("a te");
  await new Promise(() => {});
};

test.each([
  ["is shorter than it was", () => Readable.from([Buffer.from("a te")]), /has 4 bytes where there were 6/],
  ["cannot be read to its end", () => Readable.from(broken()), /beyond byte 4 of 6/],
])("the connection ends with a blob that %s", async (_, blob, message) => {
  const insert: Insert = { hash: "h", size: 6, at: 0, escaped: false };
  const answer = { status: 200, type: "text/plain", body: "", insert };
  const served = Promise.withResolvers<unknown>();
  const { url, close } = await serving((_req, res) => {
    sendTo(res, answer, async () => blob()).then(served.resolve, served.resolve);
  });
  try {
    await expect(fetch(url).then((answered) => answered.text())).rejects.toThrow();
    const err = await served.promise;
    expect(err).toBeInstanceOf(BlobBroken);
    expect((err as Error).message).toMatch(message);
  } finally {
    await close();
  }
});

test("the gateway continues after a blob that breaks off or a caller who leaves", async () => {
  const read = operation({
    ...{ action: "texts.read", route: "GET /text", summary: "", access: { by: "any" } },
    ...{ results: { 200: Type.String() }, produces: ["text/plain"], fromBlob: "answer" },
  });
  const service = { name: "texts", actions: { read: action(read, () => ({ hash: "h", size: 6 })) } };
  let blob = () => Readable.from(broken());
  const blobs = { stream: async () => blob() } as unknown as Blobs;
  const gateway = await startGateway({ operations: [read], services: [service], blobs });
  const headers = { authorization: "Bearer ann" };
  const logged = jest.spyOn(gateway.broker.logger, "error").mockReturnValue();
  try {
    const text = async () => {
      const answer = await fetch(`${gateway.url}/text`, { headers });
      return answer.text();
    };
    await expect(text()).rejects.toThrow();
    expect(logged).toHaveBeenCalledWith(expect.anything(), "a response was cut off");
    blob = () => Readable.from(unending());
    const request = get(`${gateway.url}/text`, { headers }).on("error", () => {});
    const [response] = await once(request, "response");
    await once(response, "data");
    const closed = new Promise((resolve) => response.on("error", () => {}).once("close", resolve));
    request.destroy();
    await closed;
    blob = () => Readable.from([Buffer.from("a text")]) as never;
    expect(await text()).toBe("a text");
  } finally {
    await gateway.stop();
  }
});
