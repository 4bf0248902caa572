import { describe, expect, test } from "@jest/globals";
import { parseTrace, unsynced } from "../support/strace.ts";

const SOCKET = "21<TCP:[127.0.0.1:3000->127.0.0.1:5000]>";
const WAL = "18</data/x.db-wal>";

const read = `10 1.001 read(${SOCKET}, "POST /v1/events x-request-id: req-1", 65536) = 300`;
const written = `11 1.002 pwrite64(${WAL}, "evt-1 and more"..., 4096, 56) = 4096`;
const synced = [
  `11 1.003 fdatasync(${WAL} <unfinished ...>`,
  `10 1.004 epoll_pwait(13</x>, [], 1024, 0) = 0`,
];
const over = "11 1.005 <... fdatasync resumed>) = 0";
const failed = "11 1.005 <... fdatasync resumed>) = -1 EIO (Input/output error)";
const answered = `10 1.006 write(${SOCKET}, "HTTP/1.1 202 X-Request-Id: req-1", 200) = 200`;

const exchange = {
  request: "x-request-id: req-1",
  answer: "X-Request-Id: req-1",
  row: "evt-1",
  file: "x.db-wal",
};
const elsewhere = (line: string) => line.replace(WAL, "19</data/other>");
const verdict = (...lines: string[]) => unsynced(parseTrace(lines.join("\n")), exchange);

test("a call that is interrupted is one call", () => {
  const calls = parseTrace([...synced, over].join("\n"));
  expect(calls).toEqual([
    { thread: 11, name: "fdatasync", args: WAL, result: "0", begun: 0, ended: 2 },
    { thread: 10, name: "epoll_pwait", args: "13</x>, [], 1024, 0", result: "0", begun: 1, ended: 1 },
  ]);
});

test("signals, exits and what never ended are passed over", () => {
  const lines = [
    "10 1.0 --- SIGTERM {si_signo=SIGTERM} ---",
    "10 1.1 +++ exited with 0 +++",
    synced[0] as string,
    "",
  ];
  expect(parseTrace(lines.join("\n"))).toEqual([]);
});

test("an answer after a sync is durable", () => {
  expect(verdict(read, written, ...synced, over, answered)).toBeUndefined();
});

describe("an answer is not durable", () => {
  test.each([
    ["without a sync", [read, written, answered], "no sync"],
    ["when the sync begins before the write", [read, ...synced, written, over, answered], "no sync"],
    ["when the sync is over after it", [read, written, ...synced, answered, over], "no sync"],
    ["when the sync fails", [read, written, ...synced, failed, answered], "no sync"],
    [
      "when the sync is of another file",
      [read, written, ...[...synced, over].map(elsewhere), answered],
      "no sync",
    ],
    [
      "when its row is written before the request",
      [written, read, ...synced, over, answered],
      "was not written",
    ],
    ["when it is never sent", [read, written, ...synced, over], "no answer"],
    ["when the request is not in the trace", [written, ...synced, over, answered], "no read"],
  ])("%s", (_, lines, missing) => {
    expect(verdict(...lines)).toContain(missing);
  });
});
