import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { type Conversation, memoryOf, readConversations } from "../../bench/lib/conversations.ts";
import { meanQuality, quality } from "../../bench/lib/retrieval.ts";
import { ownFolder } from "../support/own-folder.ts";

const TEN = "abcdefghij".split("");

test.each([
  ["all of it first", ["a", "b"], { recall5: 1, recall10: 1, ndcg10: 1, hit10: 1 }],
  ["none of it", ["x"], { recall5: 0, recall10: 0, ndcg10: 0, hit10: 0 }],
  ["half of it, sixth", ["f", "x"], { recall5: 0, recall10: 0.5, hit10: 1 }],
  ["the second only", ["b"], { recall5: 1, recall10: 1, ndcg10: 1 / Math.log2(3), hit10: 1 }],
])("the quality of a list that has %s", (_, wanted, expected) =>
  expect(quality(TEN, new Set(wanted))).toMatchObject(expected),
);

test("what is not among the first ten does not count", () =>
  expect(quality([...TEN, "late"], new Set(["late"]))).toMatchObject({ recall10: 0, hit10: 0 }));

test("the mean is over questions, whatever they ask for", () => {
  const [all, half] = [quality(TEN, new Set(["a"])), quality(TEN, new Set(["a", "x"]))];
  expect(meanQuality([all, half])).toMatchObject({ recall10: 0.75, hit10: 1 });
});

const CONVERSATION: Conversation = {
  id: "c",
  turns: [
    { id: "1", speaker: "Ada", text: "Look!", session: 2, date: "12:05 am on 8 May, 2023", caption: "a cat" },
  ],
  questions: [],
};

test("a turn becomes a memory with its speaker, conversation and time", () =>
  expect(memoryOf(CONVERSATION, CONVERSATION.turns[0] as Conversation["turns"][0])).toMatchObject({
    ...{ title: "Ada", content: "Look!\n[a cat]", source_id: "c/2" },
    freshness_date: "2023-05-08T00:05:00.000Z",
  }));

test.each([
  ["7:40 pm on 18 March, 2024", "2024-03-18T19:40:00.000Z"],
  ["2024-03-18T19:40:00Z", "2024-03-18T19:40:00.000Z"],
  ["some day", null],
  [undefined, null],
])("the time %j", (date, expected) => {
  const turn = { id: "1", speaker: "Ada", text: "", session: 1, ...(date !== undefined && { date }) };
  expect(memoryOf(CONVERSATION, turn).freshness_date).toBe(expected);
});

test("reads conversations, gzipped or not, and refuses what is none", async () => {
  const file = join(await ownFolder(), "file");
  const read = (content: string | Buffer) => {
    writeFileSync(file, content);
    return readConversations(file);
  };
  const text = JSON.stringify([CONVERSATION]);
  expect(read(text)).toEqual([CONVERSATION]);
  expect(read(gzipSync(text))).toEqual([CONVERSATION]);
  expect(() => read('{"turns":[]}')).toThrow(/is not a list of conversations/);
});
