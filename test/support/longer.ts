import { words } from "./words.ts";

/**
 * Files that only `npm run test:all` runs, and why a change can do without them before that: by the beginning of their
 * path. Naming a file or its suite runs it, too.
 */
const LONGER: Record<string, string[]> = {
  "several nodes and lost parts: `nats`, `nodes`, `redis` and the files on a cluster stay": words`
    test/http/backup-cluster test/http/clock-nodes test/http/connectors-nodes test/http/failover
    test/http/missing-services test/http/mongo-lost test/http/nats-
    test/http/operator-nodes test/http/push-idle test/http/rolling-upgrade test/http/rotation
    test/http/routing-nodes test/http/search-owners
    test/http/several-nodes test/http/shared-work test/nats. test/owners test/redis
    test/round-trips test/two-owners`,
  "kills at one place each: test/rounds kills at all of them": words`
    test/http/crashes test/http/search-recovery test/store.crash`,
  "shares and memory under load: `fairness` stays": words`
    test/http/fair-documents extensions/export/test/http/fair-exports test/http/list-memory test/http/loaded
    test/http/many-requests test/http/storage-quota test/http/torture test/http/unread-streams`,
  "other people's programs and packages as installed, which only a change of ours towards them can break": words`
    packages/integrations/ packages/mongoose-sqlite/test/packed test/command/alert-rules
    test/command/atlas-check test/command/chart test/command/recall test/http/alerts test/http/client-package
    extensions/multilingual/test/http/ extensions/reranker/test/http/ extensions/tracing/test/http/
    test/http/server-package test/integrations test/release/ test/store.ferretdb test/store.standin
    test/tools/`,
  "clocks that are set, disks that fill or lose bytes, and files of hundreds of megabytes": words`
    test/http/device-times test/http/disk-space test/http/erased-bytes test/http/oauth-times
    test/http/outputs-large test/http/push-dns test/store.damage`,
  "how the console feels: what its pages show and do stays": words`
    test/browser/dialogs test/browser/duplicates test/browser/knowledge-pages test/browser/meanwhile
    test/browser/places test/browser/reading test/browser/shortcuts test/browser/traffic test/browser/upkeep`,
  "the same again in another order, or for longer": words`
    test/browser/day test/command/suite test/guides/cluster test/guides/move test/guides/operators-day
    test/guides/in-reverse test/rounds/cluster test/http/move.mongodb test/rounds/faults test/rounds/order
    test/store.property`,
};

const beginnings = Object.values(LONGER).flat();

export const isLonger = (file: string): boolean => beginnings.some((beginning) => file.startsWith(beginning));

/** @throws Error if a beginning names no file */
export function checkLonger(all: string[]): void {
  const isThere = (beginning: string) => all.some((file) => file.startsWith(beginning));
  // Any extension may be gone.
  const stale = beginnings.filter((each) => !each.startsWith("extensions/") && !isThere(each));
  if (stale.length > 0)
    throw new Error(`test/support/longer.ts names ${stale.join(", ")}, which does not exist`);
}
