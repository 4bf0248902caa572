import { beforeEach, describe, expect, test } from "@jest/globals";
import { type Delivery, Ledger, ReceiverRecord, type SentEvent } from "../rounds/lib/ledger.ts";
import { prove, type StoredEvent } from "../rounds/lib/proof.ts";
import { seeded } from "../rounds/lib/random.ts";

let ledger: Ledger;
let polling: ReceiverRecord;
let event: SentEvent;
let stored: StoredEvent;

beforeEach(() => {
  ledger = new Ledger();
  polling = new ReceiverRecord("polling", "poll", ({ type }) => type === "com.example.order");
  ledger.receivers.push(polling);
  event = ledger.newEvent("r1", "order", "x");
  ledger.answered(event, { event_id: "evt_1", status: "accepted" });
  stored = {
    ...{ event_id: "evt_1", state: "matched", payload: event },
    receivers: [
      {
        ...{ delivery_id: "dlv_1", receiver: "polling", state: "acknowledged" },
        timeline: ["matched", "handed_out", "acknowledged"].map((what) => ({ at: "", what })),
      },
    ],
  };
});

/** Returns the nth attempt of dlv_1, leased at `at` ms for 2 s. */
function handOut(attempt_count: number, at: number): Delivery {
  const lease_expires_at = new Date(at + 2000).toISOString();
  return { id: "dlv_1", event_id: "evt_1", payload: event, attempt_count, lease_expires_at };
}

function receive(attempt: number, at: number): void {
  ledger.find(...polling.receive(handOut(attempt, at), at));
}

function acknowledge(counted: number, at: number): void {
  polling.acknowledging(["dlv_1"]);
  ledger.find(...polling.acknowledge(["dlv_1"], counted, at));
}

test("what went well has no findings", () => {
  receive(1, 0);
  acknowledge(1, 10);
  acknowledge(0, 20);
  const name = ledger.newName("r1");
  ledger.make(name, "ch_1");
  expect(prove(ledger, [stored], [{ name, id: "ch_1" }])).toEqual([]);
});

test("an expected redelivery has no findings", () => {
  receive(1, 0);
  receive(2, 2000);
  polling.giveBack(handOut(2, 2000));
  receive(3, 2100);
  polling.acknowledging(["dlv_1"]);
  polling.acknowledgeLost(["dlv_1"]);
  receive(4, 4100);
  acknowledge(1, 4200);
  expect(prove(ledger, [stored])).toEqual([]);
  expect(polling.repeats).toBe(3);
});

test.each([
  ["young lease", 1000, []],
  ["lease that was in the store", 3000, ["polling: dlv_1, attempts 1 and 1 are one attempt that came twice"]],
])("a killed process may have forgotten a %s", (_, at, findings) => {
  receive(1, 0);
  ledger.killed(at, at + 500);
  receive(1, at + 600);
  acknowledge(1, at + 700);
  expect(prove(ledger, [stored])).toEqual(findings);
});

test("of two acknowledgements at a time either may count, whichever is answered first", () => {
  receive(1, 0);
  polling.acknowledging(["dlv_1"]);
  polling.acknowledging(["dlv_1"]);
  ledger.find(...polling.acknowledge(["dlv_1"], 0, 10));
  ledger.find(...polling.acknowledge(["dlv_1"], 1, 20));
  expect(prove(ledger, [stored])).toEqual([]);
});

test("an event that got no answer may be there", () => {
  const unanswered = ledger.newEvent("r1", "notice", "");
  receive(1, 0);
  acknowledge(1, 10);
  const extra = { ...stored, event_id: "evt_2", payload: unanswered, receivers: [] };
  expect(prove(ledger, [stored])).toEqual([]);
  expect(prove(ledger, [stored, extra])).toEqual([]);
});

describe("is found", () => {
  const wrong: [string, RegExp, () => StoredEvent[]][] = [
    ["an event that is lost", /accepted as evt_1 and is lost/, () => []],
    ["an event with another id", /accepted as evt_1 and is evt_9/, () => [{ ...stored, event_id: "evt_9" }]],
    ["an event that is stored twice", /stored twice/, () => [stored, stored]],
    ["an event never sent", /never sent/, () => [stored, { ...stored, payload: { ...event, id: "?" } }]],
    ["a changed event", /not what was sent/, () => [{ ...stored, payload: { ...event, source: "/" } }]],
    ["an event that waits for its fan-out", /is accepted, not/, () => [{ ...stored, state: "accepted" }]],
    ["a missing delivery", /has 0 deliveries/, () => [{ ...stored, receivers: [] }]],
    ["two deliveries", /has 2/, () => [{ ...stored, receivers: [...stored.receivers, ...stored.receivers] }]],
    ["a delivery that is left", /is pending at the end/, () => [withRow({ state: "pending" })]],
    ["a delivery that never arrived", /never arrived/, () => [withRow({ delivery_id: "dlv_2" })]],
    [
      "an attempt after the acknowledgement",
      /delivered after it was acknowledged/,
      () => [withRow({ timeline: ["acknowledged", "handed_out"].map((what) => ({ at: "", what })) })],
    ],
  ];
  test.each(wrong)("%s", (_, finding, given) => {
    receive(1, 0);
    acknowledge(1, 10);
    expect(prove(ledger, given()).join("\n")).toMatch(finding);
  });

  const withRow = (change: object): StoredEvent => ({
    ...stored,
    receivers: stored.receivers.map((row) => ({ ...row, ...change })),
  });

  const settled = (again: () => void) => () => {
    acknowledge(1, 10);
    again();
  };
  const received = (again: () => void) => () => {
    again();
    acknowledge(1, 2010);
  };
  const steps: [string, RegExp, () => void][] = [
    ["what comes after an answered acknowledgement", /came again after/, settled(() => receive(2, 2500))],
    ["an acknowledgement that counts again", /counted 1, expected 0/, settled(() => acknowledge(1, 20))],
    ["an acknowledgement that counts nothing", /counted 0, expected 1 to 1/, () => acknowledge(0, 10)],
    ["two leases at once", /leased at once/, received(() => receive(2, 1999))],
    ["an attempt that comes twice", /came twice/, received(() => receive(1, 2000))],
    [
      "two ids for one event",
      /is evt_1 and evt_2/,
      () => ledger.answered(event, { event_id: "evt_2", status: "duplicate" }),
    ],
    ["a refusal", /answered with/, () => ledger.answered(event, { status: "rejected" })],
  ];
  test.each(steps)("%s", (_, finding, happens) => {
    receive(1, 0);
    happens();
    expect(prove(ledger, [stored]).join("\n")).toMatch(finding);
  });

  const channels: [string, RegExp, { name: string; id: string }[]][] = [
    ["a channel that is lost", /made as ch_1 and is $/m, []],
    ["a channel that is twice", /is ch_1 and ch_2/, ["ch_1", "ch_2"].map((id) => ({ name: "made", id }))],
    ["a channel with another id", /made as ch_1 and is ch_2/, [{ name: "made", id: "ch_2" }]],
    ["a channel that nobody asked for", /"?other"? was not made/, [{ name: "other", id: "ch_3" }]],
  ];
  test.each(channels)("%s", (_, finding, given) => {
    ledger.make("made", "ch_1");
    expect(prove(ledger, [stored], given).join("\n")).toMatch(finding);
  });

  test("what its receiver does not want", () => {
    event.type = "com.example.notice";
    receive(1, 0);
    expect(ledger.findings.join("\n")).toMatch(/does not want/);
  });
});

test("the same seed makes the same choices", () => {
  const [one, two, other] = [seeded(7), seeded(7), seeded(8)].map((random) =>
    Array.from({ length: 20 }, () => random.int(0, 1e6)),
  );
  expect(one).toEqual(two);
  expect(one).not.toEqual(other);
});
