import { readFile } from "node:fs/promises";
import {
  createConnector,
  deleteConnector,
  listConnectors,
  updateConnector,
} from "../../services/sense/connectors/connectors.contract.ts";
import { AdminError, type Target } from "./target.ts";
import { all, type Command, option, type Typed, word } from "./typed.ts";

/**
 * Commands on connectors, which a file describes: a broker's address contains a password that must not be on a command
 * line.
 */
export const CONNECTOR_COMMANDS: Record<string, Command> = {
  "connectors create": {
    takes: "--file FILE",
    does: "Create a connector; FILE contains the JSON body of POST /ingest/connectors",
    run: async (target, typed) => target.call(createConnector, await described(typed)),
  },
  "connectors list": {
    takes: "",
    does: "List the connectors with their state, last error, counts and lag",
    run: (target) => all(target, listConnectors, "connectors"),
  },
  "connectors update": {
    takes: "CONNECTOR_ID --file FILE",
    does: "Change a connector; FILE contains the JSON body of PATCH /ingest/connectors/{id}",
    run: async (target, typed) => change(target, typed, await described(typed)),
  },
  "connectors pause": {
    takes: "CONNECTOR_ID",
    does: "Pause a connector; messages stay at the broker",
    run: (target, typed) => change(target, typed, { paused: true }),
  },
  "connectors resume": {
    takes: "CONNECTOR_ID",
    does: "Resume a paused connector",
    run: (target, typed) => change(target, typed, { paused: false }),
  },
  "connectors delete": {
    takes: "CONNECTOR_ID",
    does: "Delete a connector after its messages in progress",
    run: async (target, typed) => {
      const connector_id = readId(typed);
      await target.call(deleteConnector, { connector_id });
      return { deleted: connector_id };
    },
  },
};

const readId = (typed: Typed) => word(typed, 0, "CONNECTOR_ID");

function change(target: Target, typed: Typed, fields: Record<string, unknown>): Promise<unknown> {
  return target.call(updateConnector, { ...fields, connector_id: readId(typed) });
}

/** @throws AdminError with the file's name but never its content */
async function described(typed: Typed): Promise<Record<string, unknown>> {
  const file = option(typed, "file");
  const text = await readFile(file, "utf8").catch((err: Error) => {
    throw new AdminError(`--file: ${err.message}`);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AdminError(`--file: ${file} does not contain valid JSON.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new AdminError(`--file: ${file} does not contain a JSON object.`);
}
