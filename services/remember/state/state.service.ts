import { SharedLoop } from "../../../mixins/shared.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { put, putMany } from "./put.ts";
import * as contract from "./state.contract.ts";
import { type EraseState, State } from "./state.ts";

const SWEEP_MS = 60_000;
const FAILED = "state: expired entries could not be deleted; the next sweep retries";

/** Keeps what programs around agents must find again exactly, under keys. */
export const stateService: ServiceFactory = ({ store }) => {
  const state = new State(store);
  const sweep = new SharedLoop("sweep", () => state.sweep(), SWEEP_MS, FAILED);

  return {
    name: "state",
    mixins: [sweep.mixin],
    actions: {
      put: action(contract.putState, async (ctx) => {
        const { entry, isNew } = await put(state, ctx);
        if (!isNew) ctx.meta.$statusCode = 200;
        return entry;
      }),
      put_many: action(contract.putManyState, (ctx) => putMany(state, ctx)),
      get: action(contract.getState, (ctx) => state.get(ctx)),
      delete: action(contract.deleteState, (ctx) => state.delete(ctx)),
      list: action(contract.listState, (ctx) => state.list(ctx)),
      clear: action(contract.clearState, (ctx) => state.clear(ctx)),
      namespaces: action(contract.listStateNamespaces, (ctx) => state.namespaces(ctx)),

      erase: idempotent<EraseState>((ctx) => state.erase(ctx)),
    },
  };
};
