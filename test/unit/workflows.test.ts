import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".github/workflows");
/** js-yaml brings no types. */
const { load } = createRequire(import.meta.url)("js-yaml") as { load(text: string): unknown };
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

type Step = { uses?: string; run?: string; with?: Record<string, unknown> };
interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<
    string,
    {
      needs?: string | string[];
      permissions?: Record<string, string>;
      "timeout-minutes": number;
      steps: Step[];
    }
  >;
}

describe.each(readdirSync(FOLDER))("%s", (file) => {
  const text = read(`.github/workflows/${file}`);
  const { permissions, jobs } = load(text) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test("reads the code and no more, unless a job says otherwise, and ends in time", () => {
    expect(permissions).toEqual({ contents: "read" });
    for (const job of Object.values(jobs)) expect(job["timeout-minutes"]).toBeLessThanOrEqual(180);
  });

  test("leaves no token in a checkout, and installs without scripts, except to test", () => {
    for (const { uses = "", with: inputs } of steps)
      if (uses.startsWith("actions/checkout@")) expect(inputs?.["persist-credentials"]).toBe(false);
    for (const { run = "" } of steps) expect(run).not.toMatch(/npm ci(?! --ignore-scripts)/);
  });

  test("uses no stored secret", () => expect(text).not.toMatch(/secrets\./));

  test("runs what there is, and no text of others as a command", () => {
    for (const { run = "" } of steps) {
      expect(run).not.toContain("${{");
      for (const [path] of run.matchAll(/(?<![\w/])(\.ci|deploy|bin)\/[\w./-]+/g))
        expect(() => readdirSync(join(ROOT, path, ".."))).not.toThrow();
    }
  });
});

describe("a release", () => {
  const { jobs } = load(read(".github/workflows/release.yml")) as Workflow;
  const runs = (job: string) => jobs[job]?.steps.map(({ run }) => run ?? "").join("\n") ?? "";

  const neededBy = (name: string): string[] => {
    const direct = [jobs[name]?.needs ?? []].flat();
    return [...direct, ...direct.flatMap(neededBy)];
  };

  test("publishes nothing that is not checked, and announces what is published", () => {
    expect(runs("check")).toMatch(/\.ci\/run\nnpm run test:all/);
    const others = Object.keys(jobs).filter((name) => name !== "check");
    for (const name of others)
      expect([name, neededBy(name)]).toEqual([name, expect.arrayContaining(["check"])]);
    const needed = ["image", "pack", "packages", "chart"].map((job) => jobs[job]?.needs);
    expect(needed).toEqual(["check", "check", "pack", ["image", "sign"]]);
    expect(new Set(neededBy("notes"))).toEqual(new Set(Object.keys(jobs).filter((name) => name !== "notes")));
  });

  test("publishes all packages that the release script packs", () => {
    expect(runs("pack")).toContain("npm run release -- --dry-run");
    const { with: artifact } = jobs.pack?.steps.at(-1) ?? {};
    expect(artifact?.path).toBe("packed");
    expect(runs("packages")).toMatch(
      /for file in packed\/npm\/\*\.tgz; do\n\s*npm publish "\.\/\$file" .*--provenance/,
    );
  });

  test("lets no script of a dependency run where something is published", () => {
    expect(runs("packages")).toMatch(/npm publish .*--ignore-scripts/);
    expect(jobs.packages?.permissions).toEqual({ "id-token": "write" });
    for (const [name, { permissions }] of Object.entries(jobs))
      if (permissions?.packages) expect(runs(name)).not.toMatch(/npm (ci|install)/);
  });

  test("runs no code of a checkout or a dependency with an identity", () => {
    const identified = Object.keys(jobs).filter((name) => jobs[name]?.permissions?.["id-token"]);
    expect(identified.sort()).toEqual(["mcp-registry", "packages", "sign", "wheels"]);
    for (const name of identified) {
      const lines = jobs[name]?.steps.map(({ uses = "", run = "" }) => `${uses} ${run}`).join("\n");
      expect([name, lines]).toEqual([
        name,
        expect.not.stringMatching(/actions\/checkout|npm (ci|install|run|exec)|node |npx /),
      ]);
    }
  });

  test("installs tools at exact versions", () => {
    const all = Object.keys(jobs).map(runs).join("\n");
    const tools = [...all.matchAll(/go install (\S+)/g)].map(([, tool]) => tool);
    expect(tools.length).toBeGreaterThan(1);
    for (const tool of tools) expect(tool).toMatch(/@v\d+\.\d+\.\d+$/);
    expect(all).not.toMatch(/curl|wget|@latest/);
  });

  test("packages the chart with the helm that it is tested with, for the image that was built", () => {
    const tested = /helm\.sh\/\S+@v[\d.]+/.exec(read("test/support/chart-tools.ts"))?.[0];
    expect(runs("chart")).toContain(`go install ${tested}`);
    const values = read("deploy/helm/sensorium/values.yaml");
    const patterns = [...runs("chart").matchAll(/s\|(\^[^|]+\$)\|/g)].map(([, pattern]) => pattern as string);
    expect(patterns).toHaveLength(2);
    for (const pattern of patterns)
      expect(values.match(new RegExp(pattern.replaceAll('\\"', '"'), "gm"))).toHaveLength(1);
  });
});
