import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./exemplars.contract.ts";
import { Exemplars } from "./exemplars.ts";

/** Stores whole reference documents, verbatim (spec: Exemplar). */
export const exemplarsService: ServiceFactory = ({ store, blobs }) => {
  const exemplars = new Exemplars(store, blobs);

  return {
    name: "exemplars",
    actions: {
      create: action(contract.createExemplar, (ctx) => exemplars.create(ctx)),
      list: action(contract.listExemplars, (ctx) => exemplars.list(ctx)),
      get: action(contract.getExemplar, (ctx) => exemplars.get(ctx)),
      rename: action(contract.renameExemplar, (ctx) => exemplars.rename(ctx)),
      delete: action(contract.deleteExemplar, (ctx) => exemplars.delete(ctx)),
      download: action(contract.downloadExemplar, (ctx) => exemplars.download(ctx)),
      referrers: action(contract.listExemplarReferrers, async (ctx) => ({
        referrers: await exemplars.referrers(ctx),
      })),

      exists: idempotent<{ tenant_id: string; exemplar_id: string }>(({ params }) =>
        exemplars.exists(params.tenant_id, params.exemplar_id),
      ),
    },
  };
};
