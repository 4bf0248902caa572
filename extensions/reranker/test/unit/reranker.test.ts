import type { ServerResponse } from "node:http";
import { afterAll, expect, test } from "@jest/globals";
import { serving } from "../../../../test/support/serving.ts";
import { HttpReranker } from "../../reranker.ts";

type Body = { documents?: string[] };

let answer: (body: Body, res: ServerResponse) => void;
const { url, close } = await serving(async (req, res) => {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  answer(JSON.parse(Buffer.concat(parts).toString()), res);
});
afterAll(close);

const newReranker = () => new HttpReranker({ url, model: null, apiKey: null, timeoutMs: 60_000 });

test("an answer that does not end is read no further than 4 MB", async () => {
  const part = Buffer.alloc(65_536, " ");
  answer = (_, res) => {
    const write = () => {
      while (!res.destroyed && res.write(part));
    };
    res.on("drain", write);
    write();
  };
  await expect(newReranker().rate("lantern", ["a", "b"])).rejects.toThrow("it has more than 4000000 bytes");
});

test("a refused request does not change the form of another at the same time", async () => {
  const reranker = newReranker();
  let refuse: () => void = () => {};
  const asked = Promise.withResolvers<void>();
  answer = ({ documents }, res) => {
    if (documents?.[0] === "bad") return res.writeHead(400).end();
    if (documents) {
      const results = documents.map((_, index) => ({ index, relevance_score: 0.5 }));
      return res.end(JSON.stringify({ results }));
    }
    refuse = () => res.writeHead(422).end();
    asked.resolve();
  };
  const refused = expect(reranker.rate("lantern", ["bad", "b"])).rejects.toThrow("422");
  await asked.promise;
  expect(await reranker.rate("lantern", ["a", "b"])).toEqual([0.5, 0.5]);
  refuse();
  await refused;
});
