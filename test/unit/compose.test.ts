import { existsSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { BlockList } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { clientAddress } from "../../services/edge/gateway/router.ts";
import { ALL_SETTINGS, readAllSettings } from "../../services/extensions.ts";

const ROOT = join(import.meta.dirname, "../..");
/** js-yaml brings no types. */
const { load } = createRequire(import.meta.url)("js-yaml") as { load(text: string): unknown };
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

interface ComposeService {
  build?: string;
  image?: string;
  environment?: Record<string, string>;
  volumes?: string[];
  depends_on?: object;
  command?: string[];
  hostname?: string;
  ports?: string[];
  configs?: { source: string; target: string }[];
  networks?: { default?: { ipv4_address?: string } };
}

interface Compose {
  configs?: Record<string, { content: string }>;
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
  networks?: { default: { ipam: { config: { subnet: string; ip_range: string }[] } } };
}

const FILES = ["docker-compose.yml", "deploy/docker-compose.cluster.yml"];
/** What the shell gives for `${NAME:?…}`. */
const GIVEN: Record<string, string> = {
  ...{ SECRET_KEY: Buffer.alloc(32).toString("base64"), METRICS_TOKEN: "the-long-metrics-token-of-the-test" },
  ...{ MONGO_PASSWORD: "mongo-password", NATS_PASSWORD: "nats-password", REDIS_PASSWORD: "redis-password" },
  RABBITMQ_PASSWORD: "rabbitmq-password",
};
const filled = (value: string) =>
  value
    .replace(/\$\{(\w+):\?[^}]+\}/g, (_, name) => GIVEN[name] ?? `no ${name} is given`)
    .replace(/\$\{(\w+):-\}/g, (_, name) => GIVEN[name] ?? "");
const ours = ({ services }: Compose) => Object.entries(services).filter(([, { build }]) => build);
const environmentOf = ({ environment = {} }: ComposeService) =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)]));

function isInRange(address: string, range: string): boolean {
  const [network = "", prefix] = range.split("/");
  const list = new BlockList();
  list.addSubnet(network, Number(prefix));
  return list.check(address);
}

describe.each(FILES)("%s", (file) => {
  const compose = load(read(file)) as Compose;

  test("gives the service only settings that there are, with values that they take", () => {
    expect(ours(compose).length).toBeGreaterThan(0);
    for (const [, service] of ours(compose)) {
      const env = environmentOf(service);
      expect(Object.keys(ALL_SETTINGS)).toEqual(expect.arrayContaining(Object.keys(env)));
      expect(() => readAllSettings(env)).not.toThrow();
    }
  });

  test("lets every key that it gives be replaced while nodes run", () => {
    for (const [, service] of ours(compose)) {
      const names = Object.keys(environmentOf(service));
      const fallbacks = names.map((name) => `${name}_FALLBACKS`);
      expect(names).toEqual(expect.arrayContaining(fallbacks.filter((name) => name in ALL_SETTINGS)));
    }
  });

  test("pins the images of others, by their content where a digest is known", () => {
    for (const { build, image } of Object.values(compose.services)) {
      if (build) continue;
      const digest = image?.startsWith("mongodb/mongodb-atlas-local:") ? "" : "@sha256:[0-9a-f]{64}";
      expect(image).toMatch(new RegExp(`^[\\w./-]+:v?\\d[\\w.-]*${digest}$`));
    }
  });

  test("runs our nodes without rights, on a root that they cannot write, with bounded memory", () => {
    for (const [, service] of ours(compose))
      expect(service).toMatchObject({
        ...{ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
        mem_limit: expect.stringMatching(/^\dg$/),
      });
  });

  test("has no password in an argument", () => {
    for (const { command = [] } of Object.values(compose.services))
      expect(String(command)).not.toMatch(/\$|pass/i);
  });

  test("names volumes, files and services that there are", () => {
    for (const { volumes = [], depends_on = [] } of Object.values(compose.services)) {
      for (const [from = ""] of volumes.map((volume) => volume.split(":"))) {
        if (from.startsWith("./")) expect(existsSync(join(ROOT, dirname(file), from))).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(from);
      }
      const others = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(others));
    }
  });
});

describe("the Dockerfile", () => {
  const instructions = read("deploy/Dockerfile")
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n/g, " ")
    .split("\n")
    .flatMap((line) => {
      const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line.trim()) ?? [];
      return name && rest ? [{ name, rest }] : [];
    });
  const all = (name: string) => instructions.flatMap((each) => (each.name === name ? [each.rest] : []));
  const stages = all("FROM").map((from) => / AS (\S+)$/.exec(from)?.[1]);
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));
  const inLast = (name: string) => last.flatMap((each) => (each.name === name ? [each.rest] : []));

  test("with the multilingual embedder is this one, given by whoever builds it, and without rights", () => {
    const lines = read("deploy/multilingual.Dockerfile")
      .split("\n")
      .filter((line) => /^[A-Z]+ /.test(line));
    expect(lines.slice(0, 2)).toEqual(["ARG SERVER", "FROM $SERVER"]);
    expect(lines.at(-1)).toBe("USER node");
  });

  test("builds on pinned images", () => {
    for (const from of all("FROM")) expect(from).toMatch(/^node:24-[\w-]+@sha256:[0-9a-f]{64}( AS \w+)?$/);
  });

  test("copies what there is", () => {
    for (const copy of all("COPY")) {
      const [, stage, from = ""] = /^(?:--from=(\w+) )?(.+) \S+$/.exec(copy) ?? [];
      if (stage) expect(stages).toContain(stage);
      else for (const file of from.split(" ")) expect(existsSync(join(ROOT, file))).toBe(true);
    }
    // The rest of the image comes from this checkout alone.
    expect(read("deploy/Dockerfile.dockerignore").split("\n")).toEqual(
      expect.arrayContaining([".git", "node_modules", "data", ".env", "*.sensorium"]),
    );
  });

  test("contains the packages that a release publishes, and nothing else of the checkout", () => {
    const [pack, install] = [
      "npm run release -- --dry-run --server",
      "node deploy/release/install.ts /packed/npm /app",
    ];
    expect(all("RUN")).toEqual(expect.arrayContaining([`${pack} /packed`, install]));
    expect(inLast("COPY")).toEqual(["--from=packages /app /app"]);
    expect(inLast("WORKDIR")).toEqual(["/app/node_modules/sensorium-server"]);
  });

  test("runs as nobody special, with settings that there are, what npm starts", () => {
    expect(inLast("USER")).toEqual(["node"]);
    const { NODE_ENV, MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_, ...settings } = Object.fromEntries(
      inLast("ENV").flatMap((line) => line.split(" ").map((each) => each.split("="))),
    );
    expect(NODE_ENV).toBe("production");
    expect(readAllSettings(settings)).toMatchObject({ HOST: "0.0.0.0", PORT: 3000, DATA_DIR: "/data" });
    const [start] = inLast("CMD").map((command) => JSON.parse(command));
    const bounds = { MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_ };
    const memory = Object.entries(bounds).map((each) => each.join("="));
    const [command] = read("bin/server.js").split("\n");
    expect(`#!/usr/bin/env -S ${[...memory, ...start].join(" ")}`).toBe(`${command} bin/start.js`);
  });
});

describe("the cluster", () => {
  const compose = load(read("deploy/docker-compose.cluster.yml")) as Compose;
  const nodes = ours(compose);
  const running = (services: string) =>
    nodes.filter(([, service]) => environmentOf(service).SERVICES === services).map(([name]) => name);

  test("is two gateways and two workers, each with a separate folder", () => {
    expect(running("gateway")).toEqual(["gateway-1", "gateway-2"]);
    expect(running("-gateway")).toEqual(["worker-1", "worker-2"]);
    expect(new Set(nodes.flatMap(([, { volumes }]) => volumes)).size).toBe(nodes.length);
  });

  test("has its proxy pass on to the gateways", () => {
    const servers = [...read("deploy/nginx.conf").matchAll(/server ([\w-]+):3000 /g)].map(([, name]) => name);
    expect(servers).toEqual(running("gateway"));
  });

  test("trusts the proxy's own address alone, which no other is given", () => {
    const address = compose.services.proxy?.networks?.default?.ipv4_address as string;
    const [pool] = compose.networks?.default.ipam.config ?? [];
    expect(isInRange(address, pool?.subnet as string)).toBe(true);
    expect(isInRange(address, pool?.ip_range as string)).toBe(false);
    for (const [, service] of nodes) {
      const { TRUST_PROXY } = readAllSettings(environmentOf(service));
      expect(TRUST_PROXY).toEqual([address]);
      const headers = { "x-forwarded-for": "203.0.113.9" };
      const asked = (remoteAddress: string) =>
        clientAddress(TRUST_PROXY)({ headers, socket: { remoteAddress } } as unknown as IncomingMessage);
      expect([asked(address), asked("172.30.77.129")]).toEqual(["203.0.113.9", "172.30.77.129"]);
    }
  });

  test("has its proxy say where a request comes from, whatever the request says", () => {
    const lines = [...read("deploy/nginx.conf").matchAll(/proxy_set_header (\S+) (.+);/g)];
    const headers = Object.fromEntries(lines.map(([, name, value]) => [name, value]));
    expect(headers).toMatchObject({
      ...{ "X-Forwarded-For": "$remote_addr", "X-Forwarded-Proto": "$scheme", Forwarded: '""' },
    });
    for (const value of Object.values(headers))
      expect(value).not.toMatch(/\$proxy_add|\$http_x_|\$http_forwarded/);
  });

  test("passes on to gateways that are ready, and past one that is not", () => {
    const { depends_on } = compose.services.proxy as { depends_on: Record<string, { condition: string }> };
    for (const name of running("gateway")) expect(depends_on[name]?.condition).toBe("service_healthy");
    const nginx = read("deploy/nginx.conf");
    expect(nginx).toMatch(/proxy_next_upstream error timeout http_503;/);
    expect(nginx.match(/server gateway-\d:3000 max_fails=1 fail_timeout=\d+s;/g)).toHaveLength(2);
  });

  test("keeps the data of RabbitMQ, which are named after its host, when the container is replaced", () =>
    expect(compose.services.rabbitmq?.hostname).toBe("rabbitmq"));

  test("opens Prometheus, which has no passwords, only through the proxy", () => {
    expect(compose.services.prometheus?.ports).toBeUndefined();
    expect(compose.services.proxy?.ports).toContain("127.0.0.1:9090:9090");
    const [users] = compose.services.proxy?.configs ?? [];
    expect(read("deploy/nginx.conf")).toContain(`auth_basic_user_file ${users?.target};`);
    const { content = "" } = compose.configs?.[users?.source ?? ""] ?? {};
    expect(filled(content)).toBe(`metrics:{PLAIN}${GIVEN.METRICS_TOKEN}`);
  });

  test("requires credentials everywhere and contains none", () => {
    const [, node] = nodes[0] as [string, ComposeService];
    const passwordOf = (name: string) => new URL(environmentOf(node)[name] as string).password;
    const { mongodb, nats, redis, rabbitmq } = compose.services;
    const fileOf = ({ configs: [file] = [] }: ComposeService = {}) =>
      filled(compose.configs?.[file?.source ?? ""]?.content ?? "");
    expect(passwordOf("MONGO_URL")).toBe(GIVEN.MONGO_PASSWORD);
    expect(environmentOf(mongodb ?? {}).MONGODB_INITDB_ROOT_PASSWORD).toBe(GIVEN.MONGO_PASSWORD);
    const { username } = new URL(environmentOf(node).NATS_URL as string);
    expect(fileOf(nats)).toBe(`authorization {user: ${username}, password: "${GIVEN.NATS_PASSWORD}"}\n`);
    const [, included] = /^include (.*)$/m.exec(read("deploy/nats.conf")) ?? [];
    expect(nats?.configs?.[0]?.target).toBe(`/etc/nats/${included}`);
    expect(fileOf(redis)).toContain(`requirepass ${GIVEN.REDIS_PASSWORD}\n`);
    for (const name of ["NATS", "REDIS"]) expect(passwordOf(`${name}_URL`)).toBe(GIVEN[`${name}_PASSWORD`]);
    expect(redis?.command?.at(-1)).toBe(redis?.configs?.[0]?.target);
    expect(environmentOf(rabbitmq ?? {}).RABBITMQ_DEFAULT_PASS).toBe(GIVEN.RABBITMQ_PASSWORD);
    const text = read("deploy/docker-compose.cluster.yml");
    for (const name of Object.keys(GIVEN)) {
      const uses = text.split(new RegExp(`\\$\\{${name}\\b`)).slice(1);
      expect(uses.length).toBeGreaterThan(0);
      // Required, without a default.
      for (const rest of uses) expect(rest).toMatch(/^:\?/);
    }
    expect(text).not.toMatch(/:\/\/[\w]*:[^$\s/]+@/);
  });

  test("has Prometheus watch every node", () => {
    const { scrape_configs } = load(read("deploy/prometheus.yml")) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = scrape_configs.flatMap((each) => each.static_configs).flatMap((each) => each.targets);
    expect(targets.sort()).toEqual(nodes.map(([name]) => `${name}:3000`).sort());
  });

  test("gives every node what nodes share, and nothing that another does not have", () => {
    const shared = nodes.map(([, service]) => {
      const { SERVICES, DRAIN_SECONDS, ...rest } = environmentOf(service);
      return rest;
    });
    for (const each of shared) expect(each).toEqual(shared[0]);
    expect(Object.keys(shared[0] ?? {})).toEqual(
      expect.arrayContaining(["MONGO_URL", "NATS_URL", "REDIS_URL", "SECRET_KEY"]),
    );
    for (const name of ["MONGO_URL", "NATS_URL", "REDIS_URL"])
      expect(Object.keys(compose.services)).toContain(new URL(shared[0]?.[name] ?? "").hostname);
  });

  test("lets NATS take what nodes send", () =>
    expect(Number(/max_payload: (\d+)MB/.exec(read("deploy/nats.conf"))?.[1])).toBeGreaterThanOrEqual(12));
});
