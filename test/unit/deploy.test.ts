import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { SETTINGS } from "../../config.ts";
import { exposition, startProcessMetrics } from "../../observability/metrics.ts";
import { parse } from "../../packages/client/cli/parse.ts";
import { work } from "../../packages/client/cli/work.ts";
import { ALL_SETTINGS, readAllSettings } from "../../services/extensions.ts";
import { serviceFactories } from "../../services/index.ts";

const ROOT = join(import.meta.dirname, "../..");
/** js-yaml brings no types. */
const yaml = createRequire(import.meta.url)("js-yaml") as {
  load(text: string): unknown;
  loadAll(text: string): unknown[];
};
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

const { HOST, PORT } = readAllSettings({ HOST: "0.0.0.0" });
const secrets = Object.entries(SETTINGS)
  .filter(([, setting]) => "secret" in setting && setting.secret)
  .map(([name]) => name);
const GIVEN: Record<string, string> = {
  ...{ MONGO_URL: "mongodb://mongodb/sensorium", NATS_URL: "nats://nats:4222" },
  ...{ REDIS_URL: "redis://redis:6379", SMTP_URL: "smtp://mail" },
  SECRET_KEY: Buffer.alloc(32).toString("base64"),
  SECRET_KEY_FALLBACKS: Buffer.alloc(32, 1).toString("base64"),
};
const SECRET = "a secret of enough characters for all";
const STOP_SECONDS = readAllSettings({}).SHUTDOWN_SECONDS;
/** The last word of what the image starts. */
const [started] = /(?<=")[^"]+(?="\]\s*$)/.exec(read("deploy/Dockerfile")) ?? [];

/** Fields of a Kubernetes object that tests look at. */
interface Manifest {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another
  spec: any;
}
interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string; optional?: boolean } };
}

const namesOf = ({ name }: { name: string }) => name;
const manifestsOf = (name: string) =>
  (yaml.loadAll(read(`deploy/helm/golden/${name}.yaml`)) as (Manifest | null)[]).filter((each) => !!each);

test("workers are started with options that the command line has, and may take their grace period to stop", () => {
  const unit = read("deploy/sensorium-work.service");
  const { spec } = (yaml.load(read("deploy/work.yaml")) as Manifest).spec.template;
  const [, stop] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  const [, start = ""] = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit) ?? [];
  for (const [[program, name, ...args], seconds] of [
    [start.split(" "), Number(stop)],
    [spec.containers[0].command as string[], spec.terminationGracePeriodSeconds],
  ] as const) {
    expect([program, name]).toEqual(["sensorium", "work"]);
    const { values, words } = parse("work", work, args);
    expect(words).toEqual(["node", "/srv/job.mjs"]);
    expect(Number.parseInt(values.grace as string, 10)).toBeLessThan(seconds);
  }
});

test("the chart, the image and the packages have one version", () => {
  const { version } = JSON.parse(read("package.json"));
  const chart = yaml.load(read("deploy/helm/sensorium/Chart.yaml")) as Record<string, string>;
  expect(chart).toMatchObject({ version, appVersion: version });
  for (const file of globSync("packages/{*,integrations/*}/package.json", { cwd: ROOT }))
    expect([file, JSON.parse(read(file)).version]).toEqual([file, version]);
  for (const file of globSync("packages/{*,integrations/*}/pyproject.toml", { cwd: ROOT }))
    expect([file, /^version = "(.*)"$/m.exec(read(file))?.[1]]).toEqual([file, version]);
});

describe.each(["default", "full"])("the chart with %s values", (name) => {
  const manifests = manifestsOf(name);
  const { extraEnv } = yaml.load(read("deploy/helm/golden/full.values.yaml")) as { extraEnv: Variable[] };
  /** Variables that are no settings, or from another secret. */
  const others = name === "full" ? ["NODE_EXTRA_CA_CERTS", ...extraEnv.map(namesOf)] : [];
  const ofKind = (kind: string) => manifests.filter((each) => each.kind === kind);
  const pods = [...ofKind("Deployment"), ...ofKind("Job")].map(({ spec }) => spec.template.spec);
  const containers = pods.flatMap((pod) => pod.containers);
  const nodes = ofKind("Deployment").map(({ spec }) => spec.template.spec);
  const variablesOf = ({ env }: { env: Variable[] }) => env.filter((each) => !others.includes(each.name));
  const settingsOf = (container: { env: Variable[] }) =>
    Object.fromEntries(
      variablesOf(container).map(({ name, value }) => [name, value ?? GIVEN[name] ?? SECRET]),
    );

  test("sets only settings that there are, each once, to values that they take", () => {
    expect(containers.length).toBeGreaterThan(2);
    for (const container of containers) {
      const names = variablesOf(container).map((variable) => variable.name);
      expect(Object.keys(ALL_SETTINGS)).toEqual(expect.arrayContaining(names));
      expect(names).toEqual([...new Set(names)]);
      expect(readAllSettings(settingsOf(container))).toMatchObject({ HOST, PORT });
    }
  });

  test("takes from the secret what is secret, under its own name, and has all of it", () => {
    for (const container of containers) {
      const names = variablesOf(container).map((variable) => variable.name);
      expect([...names, ...others]).toEqual(expect.arrayContaining(secrets));
      for (const { name, value, valueFrom } of variablesOf(container)) {
        if (valueFrom) expect(secrets).toContain(name);
        if (valueFrom) expect(valueFrom.secretKeyRef.key).toBe(name);
        else if (secrets.includes(name)) expect(value).not.toContain("@");
      }
    }
  });

  test("runs every service on some node, and the gateway on its own", () => {
    const all = Object.keys(serviceFactories);
    const running = nodes.map(({ containers: [container] }) => {
      const { SERVICES } = readAllSettings(settingsOf(container));
      const left = SERVICES.map((service) => service.replace(/^-/, ""));
      return SERVICES[0]?.startsWith("-") ? all.filter((service) => !left.includes(service)) : SERVICES;
    });
    expect(new Set(running.flat())).toEqual(new Set(all));
    expect(running.filter((services) => services.includes("gateway"))).toEqual([["gateway"]]);
  });

  test("opens and asks the port of the settings", () => {
    for (const [container] of nodes.map(({ containers }) => containers)) {
      expect(container.ports).toEqual([{ name: "http", containerPort: PORT }]);
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
      expect(probes.map(({ httpGet }) => httpGet)).toEqual(
        ["/healthz", "/healthz", "/readyz"].map((path) => ({ path, port: "http" })),
      );
    }
    for (const { spec } of ofKind("Service"))
      expect(spec.ports).toEqual([{ name: "http", port: PORT, targetPort: "http" }]);
    for (const { spec } of ofKind("NetworkPolicy"))
      for (const { ports } of spec.ingress ?? []) expect(ports).toEqual([{ port: "http" }]);
  });

  test("lets nodes out only to peers that are named", () => {
    const policies = ofKind("NetworkPolicy").filter(({ spec }) => spec.policyTypes.includes("Egress"));
    expect(policies.length).toBeGreaterThan(0);
    for (const { spec } of policies)
      for (const rule of spec.egress) expect(rule.to.length).toBeGreaterThan(0);
  });

  test("gives a node the time to drain and to stop", () => {
    for (const { containers, terminationGracePeriodSeconds } of nodes) {
      const { DRAIN_SECONDS } = readAllSettings(settingsOf(containers[0]));
      expect(terminationGracePeriodSeconds).toBeGreaterThan(DRAIN_SECONDS + STOP_SECONDS);
    }
  });

  test("runs without rights, on a root that it cannot write, with data where the settings say", () => {
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
      });
      for (const container of pod.containers) {
        const { capabilities, ...rights } = container.securityContext;
        expect(capabilities).toEqual({ drop: ["ALL"] });
        expect(rights).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
        const { DATA_DIR } = readAllSettings(settingsOf(container));
        expect(container.volumeMounts[0]).toEqual({ name: "data", mountPath: DATA_DIR });
        const { requests, limits } = container.resources;
        for (const each of [requests.cpu, requests.memory, requests["ephemeral-storage"], limits.memory])
          expect(each).toEqual(expect.any(String));
      }
    }
  });

  test("mounts volumes that there are, each of one kind, and bounds those on the machine's disk", () => {
    for (const { volumes, containers } of pods) {
      for (const { name: _, ...kinds } of volumes) expect(Object.keys(kinds)).toHaveLength(1);
      for (const { emptyDir } of volumes) if (emptyDir) expect(emptyDir.sizeLimit).toMatch(/^\d+[MG]i$/);
      for (const { volumeMounts } of containers)
        expect(volumeMounts.map(namesOf)).toEqual(volumes.map(namesOf));
    }
  });

  test("gives Node the certificates of a private authority, if it is named", () => {
    for (const { volumes, containers } of pods) {
      const given = (containers[0].env as Variable[]).find((each) => each.name === "NODE_EXTRA_CA_CERTS");
      const { mountPath } = containers[0].volumeMounts.find((each: Variable) => each.name === "ca") ?? {};
      const { configMap } = volumes.find((each: Variable) => each.name === "ca") ?? {};
      if (name === "full") expect(given?.value).toBe(`${mountPath}/${configMap.items[0].path}`);
      else expect([given, mountPath, configMap]).toEqual([undefined, undefined, undefined]);
    }
  });

  test("has the metrics of all nodes read, with a token that they accept, for the job of the rules", () => {
    const [monitor] = ofKind("ServiceMonitor");
    if (name === "default") return expect(monitor).toBeUndefined();
    const service = ofKind("Service").find(({ metadata }) => metadata.name.endsWith("-metrics"));
    expect(service?.metadata.labels).toMatchObject(monitor?.spec.selector.matchLabels);
    for (const { spec } of ofKind("Deployment"))
      expect(spec.template.metadata.labels).toMatchObject(service?.spec.selector);
    const [endpoint] = monitor?.spec.endpoints ?? [];
    expect(endpoint).toMatchObject({ port: "http", path: "/metrics" });
    expect(secrets).toContain(endpoint.authorization.credentials.key);
    expect(endpoint.relabelings).toContainEqual({ targetLabel: "job", replacement: "sensorium" });
  });

  test("has the rules that the cluster's Prometheus has", () => {
    const [rule] = ofKind("PrometheusRule");
    expect(rule?.spec).toEqual(name === "full" ? yaml.load(read("deploy/prometheus-alerts.yml")) : undefined);
  });

  test("migrates by what the image starts, before nodes of the release start", () => {
    const [job] = ofKind("Job") as [Manifest & { metadata: { annotations: Record<string, string> } }];
    expect(job.spec.template.spec.containers[0].command).toEqual(["node", started, "--migrate"]);
    expect(job.metadata.annotations["helm.sh/hook"]).toBe("pre-install,pre-upgrade");
    // Helm waits 300 s unless told otherwise, and leaves a job that takes longer behind.
    if (name === "default") expect(job.spec.activeDeadlineSeconds).toBeLessThan(300);
  });

  test("keeps all nodes but one of each kind through a disruption", () => {
    const budgets = ofKind("PodDisruptionBudget");
    expect(budgets.map(({ spec }) => spec.selector)).toEqual(
      ofKind("Deployment").map(({ spec }) => spec.selector),
    );
    for (const { spec } of budgets) expect(spec.maxUnavailable).toBe(1);
  });

  test("scales by metrics that nodes have", async () => {
    const scalers = ofKind("HorizontalPodAutoscaler");
    expect(scalers).toHaveLength(name === "full" ? 2 : 0);
    const named = scalers.flatMap(({ spec }) => spec.metrics).flatMap(({ pods }) => pods?.metric.name ?? []);
    expect(await metricNames()).toEqual(expect.arrayContaining(named));
    for (const { spec } of scalers) {
      const target = ofKind("Deployment").find(({ metadata }) => metadata.name === spec.scaleTargetRef.name);
      expect(target?.spec.replicas).toBeUndefined();
    }
  });
});

/** The metrics of `/metrics`, without the suffixes of their series. */
async function metricNames(): Promise<string[]> {
  return [...(await exposition()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string);
}
startProcessMetrics();

test("prometheus-adapter serves the metrics of the values, from series that nodes have", async () => {
  const { rules } = yaml.load(read("deploy/helm/prometheus-adapter.yaml")) as {
    rules: { custom: { seriesQuery: string; metricsQuery: string; name?: { as: string } }[] };
  };
  const names = await metricNames();
  const served = rules.custom.map(({ seriesQuery, name }) => name?.as ?? seriesQuery.replace(/\{.*/, ""));
  const { gateway, worker } = yaml.load(read("deploy/helm/sensorium/values.yaml")) as Record<
    string,
    { autoscaling: { podMetrics: Record<string, string> } }
  >;
  const wanted = [gateway, worker].flatMap((each) => Object.keys(each?.autoscaling.podMetrics ?? {}));
  expect(wanted.length).toBeGreaterThan(1);
  expect(served.sort()).toEqual(wanted.sort());
  for (const { seriesQuery, metricsQuery } of rules.custom)
    for (const [series] of `${seriesQuery} ${metricsQuery}`.matchAll(/(sensorium|nodejs)_\w+/g))
      expect(names).toContain(series.replace(/_(sum|count|bucket)$/, ""));
});

describe("files around the service", () => {
  interface Service {
    ports: string[];
    healthcheck: { test: string[] };
    stop_grace_period: string;
    environment: Record<string, string>;
  }
  const servicesOf = (file: string) =>
    (yaml.load(read(file)) as { services: Record<string, Service> }).services;
  test("docker-compose.yml publishes the port of the settings", () => {
    const services = servicesOf("docker-compose.yml");
    expect(services.sensorium?.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`]);
  });

  test("nginx listens on it, and passes on to it", () => {
    const nginx = read("deploy/nginx.conf");
    const ports = [...nginx.matchAll(/gateway-\d:(\d+)/g), ...nginx.matchAll(/127\.0\.0\.1:(\d+)/g)];
    expect(ports.length).toBeGreaterThan(1);
    for (const [, port] of ports) expect(Number(port)).toBe(PORT);
    expect(nginx).toContain(`listen ${PORT};`);
  });

  test("the cluster's proxy publishes it, and asks itself whether gateways are ready", () => {
    const services = servicesOf("deploy/docker-compose.cluster.yml");
    expect(services.proxy?.ports).toContain(`127.0.0.1:${PORT}:${PORT}`);
    expect(services.proxy?.healthcheck.test.at(-1)).toBe(`http://127.0.0.1:${PORT}/readyz`);
  });

  test("the cluster's nodes have the time to drain and to stop", () => {
    const services = servicesOf("deploy/docker-compose.cluster.yml");
    const nodes = Object.values(services).filter(({ environment }) => environment?.SERVICES);
    expect(nodes).toHaveLength(4);
    for (const { stop_grace_period, environment } of nodes) {
      const drain = Number(environment.DRAIN_SECONDS ?? 0);
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(drain + STOP_SECONDS);
    }
  });

  test("the systemd unit sets only settings that there are, and leaves the time to stop", () => {
    const unit = read("deploy/sensorium.service");
    const given = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    expect(given.length).toBeGreaterThan(0);
    expect(Object.keys(ALL_SETTINGS)).toEqual(expect.arrayContaining(given.map(([name]) => name)));
    expect(() => readAllSettings(Object.fromEntries(given))).not.toThrow();
    // Mentioned in comments, for the operator to add.
    for (const [name] of unit.matchAll(/\b[A-Z]+(_[A-Z]+)+\b/g))
      expect(Object.keys(ALL_SETTINGS)).toContain(name);
    expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1])).toBeGreaterThan(STOP_SECONDS);
  });
});
