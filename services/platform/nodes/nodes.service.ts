import type { ServiceBroker } from "moleculer";
import { listNodes as nodesOffering } from "../../../lib/broker/every-node.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import type { ModesState } from "../../../observability/modes.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./nodes.contract.ts";
import { InstallationModel } from "./nodes.model.ts";
import { findProblems, reportNode } from "./report.ts";

const ROW = { _id: "modes", tenant_id: "installation" };
/** How soon a node follows that missed a change. */
const FOLLOW_MS = 30_000;
const ANSWER_MS = 5000;
const NONE: ModesState = { maintenance: null, log_level: null };

/** Runs on every node, whatever `SERVICES` says: what the operator sees of nodes, and sets on them. */
export const nodesService: ServiceFactory = (runtime) => {
  const { store, modes, log } = runtime;
  const rows = store.collection(InstallationModel);
  const started_at = new Date().toISOString();

  async function read(): Promise<ModesState> {
    const row = await rows.findOne(ROW.tenant_id, { _id: ROW._id });
    return row ? { maintenance: row.maintenance, log_level: row.log_level } : NONE;
  }

  async function follow(): Promise<false> {
    modes.set(await read());
    return false;
  }

  const loop = new ServiceLoop(follow, FOLLOW_MS, "nodes: the installation's modes could not be read");

  /** Calls every node that has the action; null for those that do not answer. */
  function ask<T>(broker: ServiceBroker, name: string): Promise<{ node: string; answer: T | null }[]> {
    const asked = nodesOffering(broker, name).map(async (nodeID) => {
      const answer = await broker.call<T, object>(name, {}, { nodeID, timeout: ANSWER_MS }).catch((err) => {
        log.warn({ err, of: nodeID }, "a node did not answer");
        return null;
      });
      return { node: nodeID, answer };
    });
    return Promise.all(asked);
  }

  async function present(broker: ServiceBroker) {
    const [state, nodes] = await Promise.all([read(), ask<true>(broker, "nodes.follow")]);
    return { ...state, nodes: nodes.map(({ node, answer }) => ({ node, applied: answer !== null })) };
  }

  async function update(ctx: CallOf<typeof contract.updateInstallation>) {
    const { maintenance, reason, log_level } = ctx.params;
    const now = new Date(store.now());
    const before = (await read()).maintenance;
    const begun = {
      reason: reason === undefined ? (before?.reason ?? null) : reason,
      since: before?.since ?? now.toISOString(),
    };
    const isOn = maintenance ?? before !== null;
    const $set = {
      updated_at: now,
      maintenance: isOn ? begun : null,
      ...(log_level !== undefined && { log_level }),
    };
    const $setOnInsert = log_level === undefined ? { log_level: null } : {};
    await rows.upsert([{ filter: ROW, update: { $set, ...(log_level === undefined && { $setOnInsert }) } }]);
    return present(ctx.broker);
  }

  async function list(broker: ServiceBroker) {
    const [answers, ages] = await Promise.all([
      ask<contract.NodeReport>(broker, "nodes.report"),
      // An older version, or a command without a server, does not have them.
      Promise.all(["events.overdue", "deliveries.overdue"].map((name) => broker.call(name))).catch(() => [
        null,
        null,
      ]),
    ]);
    const nodes = answers.flatMap(({ answer }) => answer ?? []);
    const silent = answers.filter(({ answer }) => answer === null).map(({ node }) => node);
    const [fan_out_seconds, delivery_seconds] = ages as [number | null, number | null];
    const known = new Set(answers.map(({ node }) => node));
    const all = (broker.registry.nodes.toArray() as { id: string; available: boolean }[]).map(({ id }) => id);
    const others = all.filter((id) => !known.has(id));
    const found = { nodes, silent, others, ages: { fan_out_seconds, delivery_seconds } };
    const problems = findProblems(found, store.now());
    return { ok: !problems.some(({ severity }) => severity === "wrong"), problems, ages: found.ages, nodes };
  }

  return {
    name: "nodes",
    mixins: [loop.mixin],
    actions: {
      list: action(contract.listNodes, (ctx) => list(ctx.broker)),
      installation: action(contract.readInstallation, (ctx) => present(ctx.broker)),
      update_installation: action(contract.updateInstallation, update),
      /** Applies what the record says to this node. */
      follow: idempotent<object>(async () => {
        await follow();
        return true;
      }),
      report: idempotent<object>((ctx) => reportNode(runtime, ctx.broker, started_at)),
    },
    // A node that starts during maintenance refuses writes at once.
    started: async () => void (await follow()),
  };
};
