/** @needs helm: the chart, as helm renders it and kubeconform checks it. `npm run chart` writes the golden files. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { CHART, GOLDEN, helm, render, template, VALUES } from "../support/chart.ts";
import { hasChartTools, KUBECONFORM, KUBERNETES, schemasOf } from "../support/chart-tools.ts";
import { startChild } from "../support/child.ts";
import { ownFolder } from "../support/own-folder.ts";

const check = hasChartTools() ? test : test.skip;

/** Of the Prometheus Operator, whose kinds are no part of Kubernetes. */
const OPERATOR = ["ServiceMonitor", "PrometheusRule"];

const scratch = await ownFolder();

describe.each(Object.keys(VALUES))("the chart with %s values", (name) => {
  check("renders what its golden file says (else: npm run chart)", async () =>
    expect(await render(name)).toBe(await readFile(join(GOLDEN, `${name}.yaml`), "utf8")),
  );

  check.each(KUBERNETES)("is valid for Kubernetes %s, without unknown fields", async (version) => {
    const file = join(GOLDEN, `${name}.yaml`);
    const args = [
      ...["-strict", "-summary", "-skip"],
      OPERATOR.join(),
      "-schema-location",
      schemasOf(version),
      file,
    ];
    const { code, output } = await run(KUBECONFORM, args);
    const skipped = name === "full" ? OPERATOR.length : 0;
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`Invalid: 0, Errors: 0, Skipped: ${skipped}`),
    ]);
  });
});

check("kubeconform refuses what Kubernetes would", async () => {
  const wrong = (await readFile(join(GOLDEN, "default.yaml"), "utf8")).replace("maxSurge: 1", "maxSuerge: 1");
  const file = join(scratch, "wrong.yaml");
  await writeFile(file, wrong);
  const { code, output } = await run(KUBECONFORM, [
    ...["-strict", "-schema-location", schemasOf("1.37"), file],
  ]);
  expect([code, output]).toEqual([1, expect.stringContaining("maxSuerge")]);
});

check("passes helm lint", async () =>
  expect(await helm("lint", "--strict", CHART)).toMatchObject({ code: 0 }),
);

test("its page shows values, and explains each", async () => {
  expect(await shownValues()).not.toHaveLength(0);
  const { properties } = JSON.parse(await readFile(join(CHART, "values.schema.json"), "utf8"));
  const page = await readFile(join(CHART, "README.md"), "utf8");
  const explained = page
    .split("\n")
    .flatMap((line) => [...(/^\| (`.*?) \|/.exec(line)?.[1]?.matchAll(/`(\w+)/g) ?? [])]);
  const names = Object.keys(properties).filter((name) => name !== "global");
  expect(explained.map(([, name]) => name)).toEqual(expect.arrayContaining(names));
});

check("renders the values that its page shows, and their groups of workers", async () => {
  const groups: string[][] = [];
  for (const values of await shownValues()) {
    const file = join(scratch, "shown.yaml");
    await writeFile(file, values);
    const { code, output } = await template("sensorium", "--values", file);
    expect([code, output]).toEqual([0, expect.any(String)]);
    const names = output.matchAll(/^kind: Deployment\nmetadata:\n {2}name: (\S+)$/gm);
    groups.push([...names].map(([, name]) => name as string).sort());
  }
  expect(groups).toContainEqual(
    ["gateway", "worker-rest", "worker-search"].map((name) => `sensorium-${name}`),
  );
});

async function shownValues(): Promise<string[]> {
  const page = await readFile(join(CHART, "README.md"), "utf8");
  return [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, values]) => values as string);
}

describe("a variable of another secret", () => {
  const ref = "{secretKeyRef: {name: mongodb, key: url}}";

  check("replaces the key of existingSecret", async () => {
    const file = join(scratch, "variable.yaml");
    await writeFile(
      file,
      `settings: {LOG_LEVEL: null}\nextraEnv: [{name: MONGO_URL, valueFrom: ${ref}}, {name: LOG_LEVEL, value: warn}]\n`,
    );
    const { code, output } = await template("x", "--values", file);
    expect(code).toBe(0);
    expect(output).not.toContain("key: MONGO_URL");
    expect(output.match(/name: MONGO_URL/g)).toHaveLength(output.match(/^ +env:$/gm)?.length as number);
  });

  check.each([
    ["an address", `mongodb: {url: "mongodb://m"}\nextraEnv: [{name: MONGO_URL, valueFrom: ${ref}}]`],
    ["a setting", `settings: {LOG_LEVEL: warn}\nextraEnv: [{name: LOG_LEVEL, value: info}]`],
    ["a false setting", `settings: {OUTPUT_EXPORT: false}\nextraEnv: [{name: OUTPUT_EXPORT, value: "true"}]`],
    ["itself", `extraEnv: [{name: A, value: a}, {name: A, value: b}]`],
  ])("does not compete with %s", async (_what, values) => {
    const file = join(scratch, "twice.yaml");
    await writeFile(file, values);
    const { code, output } = await template("x", "--values", file);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/extraEnv sets \w+, which other values set too/),
    ]);
  });
});

describe("values that mean what they look like", () => {
  check.each([
    ["a number", "settings.EVENT_RETENTION_DAYS=7", 'name: EVENT_RETENTION_DAYS\n              value: "7"'],
    ["a label", "podLabels.build=1048576", 'build: "1048576"'],
    ["a selector", "nodeSelector.dedicated=true", 'dedicated: "true"'],
    ["an annotation", "service.annotations.idle=3600000", 'idle: "3600000"'],
    ["replicas", "worker.replicas=3", "replicas: 3"],
    ["seconds", "migration.timeoutSeconds=3600", "activeDeadlineSeconds: 3600"],
    ["a share", "settings.OTEL_TRACES_SAMPLER_ARG=0.25", 'value: "0.25"'],
    ["certificates in a secret", "caCertificates.secret=tls", "secretName: tls"],
  ])("%s, as text and as it is", async (_what, set, rendered) => {
    for (const flag of ["--set", "--set-string"]) {
      const { code, output } = await template("x", flag, set);
      expect([code, output]).toEqual([0, expect.stringContaining(rendered)]);
    }
  });

  check("null takes out what another file set", async () => {
    const file = join(scratch, "given.yaml");
    await writeFile(
      file,
      "settings: {LOG_LEVEL: warn}\npodLabels: {tier: core}\nnodeSelector: {arch: arm64}\n",
    );
    const without = ["settings.LOG_LEVEL=null", "podLabels.tier=null", "nodeSelector.arch=null"];
    const { code, output } = await template(
      "x",
      "--values",
      file,
      ...without.flatMap((set) => ["--set", set]),
    );
    expect(code).toBe(0);
    expect(output).not.toMatch(/LOG_LEVEL|tier:|nodeSelector:|arch:|null/);
  });
});

describe("values that cannot work are refused", () => {
  check.each([
    ["a misspelt value", ["gatway.replicas=3"], /gatway/],
    ["a misspelt setting", ["settings.RATE_LIMIT=3"], /RATE_LIMIT/],
    ["a setting outside its bounds", ["settings.DEDUPE_DAYS=0"], /DEDUPE_DAYS/],
    ["a setting that the chart decides", ["settings.PORT=3001"], /PORT/],
    ["a secret among the settings", ["settings.OPERATOR_TOKEN=x"], /OPERATOR_TOKEN/],
    ["a password in an address", ["nats.url=nats://user:secret@nats:4222"], /nats/],
    ["an unknown service", ["workers.all.services={evnts}"], /services/],
    ["names with and without -", ["workers.all.services={-gateway,events}"], /services/],
    [
      "a service no node runs",
      ["workers.all.services={-gateway,-events}"],
      /no group of workers runs events/,
    ],
    [
      "a gateway among workers",
      ["workers.all.services={-events}"],
      /workers\.all\.services runs the gateway/,
    ],
    ["no worker", ["workers.all=null"], /workers|no group/],
    ["an annotation with parts", ["podAnnotations.a.b=c"], /podAnnotations/],
    ["everybody as a peer", ["networkPolicy.peers=null", "networkPolicy.peers={}"], /peers/],
    ["a label of a peer that is no text", ["networkPolicy.peers[0].podSelector.matchLabels.a=1"], /peers/],
    ["a comma that is not escaped", ["settings.TRUST_PROXY=10.0.7.9,10.0.7.10"], /has no value|additional/i],
    ["no secret", ["existingSecret="], /existingSecret/],
    ["certificates twice", ["caCertificates.secret=a", "caCertificates.configMap=b"], /caCertificates/],
    ["a variable that the chart decides", ["extraEnv[0].name=PORT", "extraEnv[0].value=a"], /extraEnv/],
    ["a secret in the values", ["extraEnv[0].name=SECRET_KEY", "extraEnv[0].value=a"], /extraEnv/],
    ["a number as a variable", ["extraEnv[0].name=A", "extraEnv[0].value=1"], /extraEnv/],
    ["variables of nothing that there is", ["extraEnvFrom[0].secret.name=a"], /extraEnvFrom/],
    ["a volume", ["extraVolumes[0].name=data", "extraVolumes[0].emptyDir.sizeLimit=1Gi"], /extraVolumes/],
    ["a mount", ["extraVolumeMounts[0].name=a", "extraVolumeMounts[0].mountPath=/data"], /extraVolumeMounts/],
    ["a migration without time", ["migration.timeoutSeconds=0"], /timeoutSeconds/],
    ["no volume for DATA_DIR", ["worker.data=null", "worker.data.emptyDir=null"], /data/],
    ["a share above all", ["settings.OTEL_TRACES_SAMPLER_ARG=2"], /OTEL_TRACES_SAMPLER_ARG/],
    ["an interval without a unit", ["serviceMonitor.interval=15"], /interval/],
    ["a monitor that reaches no worker", ["serviceMonitor.enabled=true"], /needs networkPolicy\.monitoring/],
  ])("%s", async (_what, sets, message) => {
    const { code, output } = await template("x", ...sets.flatMap((set) => ["--set", set]));
    expect([code, output]).toEqual([1, expect.stringMatching(message)]);
  });
});

async function run(command: string, args: string[]) {
  const child = await startChild(command, args);
  const { code } = await child.exited;
  return { code, output: child.output() };
}
