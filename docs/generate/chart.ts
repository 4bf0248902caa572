import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SETTINGS } from "../../config.ts";
import { ALL_SETTINGS } from "../../services/extensions.ts";
import { serviceFactories } from "../../services/index.ts";

export const CHART = join(import.meta.dirname, "../../deploy/helm/sensorium");

interface Row {
  kind: string;
  means: string;
  secret?: boolean;
  min?: number;
  max?: number;
  oneOf?: readonly string[];
}

const ALL = ALL_SETTINGS as Record<string, Row>;

/** Settings with a separate value in the chart: each node's address and folder, and what the pod's kind decides. */
export const OF_THE_CHART = ["HOST", "PORT", "DATA_DIR", "SERVICES", "DRAIN_SECONDS"];
/** Secret settings that may be given without a password. */
const ADDRESSES = { mongodb: "MONGO_URL", nats: "NATS_URL", redis: "REDIS_URL" } as const;

/** Returns the files of the Helm chart that repeat what the code declares: settings, secret ones too, and services. */
export function chartFiles(): Record<string, string> {
  const names = Object.keys(serviceFactories);
  const schema = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8"));
  const secrets = Object.entries(ALL).flatMap(([name, { secret }]) => (secret ? [name] : []));
  const settings = Object.entries(ALL).filter(
    ([name, { secret }]) => !secret && !OF_THE_CHART.includes(name),
  );
  Object.assign(schema.definitions, {
    ...Object.fromEntries(Object.entries(ADDRESSES).map(([part, name]) => [part, addressOf(name)])),
    service: { enum: names },
    otherThan: { enum: names.map((name) => `-${name}`) },
    variable: variableOf(secrets),
    settings: {
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(settings.map(([name, row]) => [name, schemaOf(row)])),
    },
  });
  return {
    "secrets.txt": `${secrets.sort().join("\n")}\n`,
    "services.txt": `${names.join("\n")}\n`,
    "values.schema.json": `${JSON.stringify(schema, null, 2)}\n`,
  };
}

/** The address in the values, which anyone who may read the release can read, has no password. */
function addressOf(name: (typeof ADDRESSES)[keyof typeof ADDRESSES]) {
  const url = { type: "string", not: { pattern: "://[^/?]*@" }, description: SETTINGS[name].means };
  return { type: "object", additionalProperties: false, properties: { url } };
}

/** An entry of `extraEnv`: none that the chart decides, and no secret in the values. */
function variableOf(secrets: string[]) {
  const secret = { properties: { name: { enum: secrets } }, required: ["name"] };
  return {
    ...{ type: "object", additionalProperties: false, required: ["name"] },
    properties: {
      name: {
        type: "string",
        pattern: "^[A-Za-z_][A-Za-z0-9_.-]*$",
        not: { enum: [...OF_THE_CHART, "NODE_EXTRA_CA_CERTS"] },
      },
      value: { type: "string" },
      valueFrom: { type: "object" },
    },
    anyOf: [{ not: secret }, { required: ["valueFrom"] }],
  };
}

/** A setting, or null for none. Numbers and booleans may be texts, as `--set-string` and templates make them. */
function schemaOf({ kind, means: description, min, max, oneOf }: Row) {
  const none = { type: "null" };
  if (kind === "integer" || kind === "number") {
    const text = { type: "string", pattern: kind === "integer" ? "^-?[0-9]+$" : "^[0-9.e-]+$" };
    return { anyOf: [{ type: kind, minimum: min, maximum: max }, text, none], description };
  }
  if (kind === "boolean") return { enum: [true, false, "true", "false", null], description };
  if (oneOf) return { enum: [...oneOf, null], description };
  return { type: ["string", "integer", "null"], description };
}
