import { beforeEach, describe, expect, test } from "@jest/globals";
import { type Delivery, Ledger, ReceiverRecord, type SentEvent } from "../rounds/lib/ledger.ts";
import type { Listed } from "../rounds/lib/make.ts";
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
  expect(prove(ledger, [stored], [{ name }])).toEqual([]);
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

  const ended = { name: "made", isEnded: true };
  const things: [string, RegExp, Listed[]][] = [
    ["a thing that is lost", /^made was made, and is there 0 times$/m, []],
    ["a thing that is twice", /^made was made, and is there 2 times$/m, [ended, ended]],
    ["a thing that is open again", /^made was ended, and is open$/m, [{ name: "made", isEnded: false }]],
    ["a thing that nobody asked for", /^other is there, and was never made$/m, [ended, { name: "other" }]],
  ];
  test.each(things)("%s", (_, finding, given) => {
    ledger.make("made", "run_1");
    ledger.ended.add("made");
    expect(prove(ledger, [stored], given).join("\n")).toMatch(finding);
  });

  test.each([
    ["sent when the first was answered, and given before that was acknowledged", 30, 20, 25, true],
    ["sent before the first was answered", 5, 20, 25, false],
    ["given when the first had been acknowledged", 30, 40, 35, false],
  ])("of two events with one key the second, %s", (_, sent, came, settled, isFound) => {
    const ordering = new ReceiverRecord("ordering", "poll", () => true, true);
    ledger.receivers.push(ordering);
    for (const [i, at] of [0, sent].entries()) {
      const each = ledger.newEvent("r1", "notice", "x");
      const { id } = each;
      ledger.sent.set(id, { ...each, data: { ...each.data, key: "k" } });
      ledger.sentAt.set(id, at);
      ledger.answeredAt.set(id, at + 10);
      ordering.receive({ ...handOut(1, 0), id: `dlv_${i}`, payload: each }, i * came);
      ordering.settling.set(`dlv_${i}`, settled + i);
    }
    const found = prove(ledger, [stored]).filter((finding) => /came before/.test(finding));
    expect(found).toHaveLength(isFound ? 1 : 0);
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
