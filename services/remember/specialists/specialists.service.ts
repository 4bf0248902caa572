import { action, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./specialists.contract.ts";
import { Specialists } from "./specialists.ts";

/** Stores named, versioned preambles that agents load (spec: Specialist). */
export const specialistsService: ServiceFactory = ({ store, log }) => {
  const specialists = new Specialists(store, log);

  return {
    name: "specialists",
    actions: {
      write: action(contract.writeSpecialist, (ctx) => specialists.write(ctx)),
      list: action(contract.listSpecialists, (ctx) => specialists.list(ctx)),
      load: action(contract.loadSpecialist, (ctx) => specialists.load(ctx)),
      unload: action(contract.unloadSpecialist, (ctx) => specialists.unload(ctx)),
      versions: action(contract.listSpecialistVersions, (ctx) => specialists.versions(ctx)),
    },
  };
};
