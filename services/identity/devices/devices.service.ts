import { SharedLoop } from "../../../mixins/shared.ts";
import { action, internal, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./devices.contract.ts";
import { Devices } from "./devices.ts";

const SWEEP_MS = 5 * 60_000;

/** Connects an agent's device (spec: Device connection code). */
export const devicesService: ServiceFactory = (runtime) => {
  const devices = new Devices(runtime);
  const sweep = new SharedLoop("sweep", () => devices.removeOld(), SWEEP_MS);

  return {
    name: "devices",
    mixins: [sweep.mixin],
    actions: {
      issue: action(contract.issueDeviceCode, (ctx) => devices.issue(ctx)),
      status: action(contract.getDeviceCodeStatus, (ctx) => devices.status(ctx)),
      claim: action(contract.claimDeviceCode, (ctx) => devices.claim(ctx)),
      confirm: action(contract.confirmDeviceCode, (ctx) => devices.confirm(ctx)),
      complete: action(contract.completeDeviceCode, (ctx) => devices.complete(ctx)),
      look_up: action(contract.lookUpDeviceCode, (ctx) => devices.lookUp(ctx)),

      /** Counts a try of the caller's address. @throws Fault rate_limited when none is left */
      take_try: internal<{ purpose: "code" | "client" }>((ctx) => devices.takeTry(ctx, ctx.params.purpose)),
    },
  };
};
