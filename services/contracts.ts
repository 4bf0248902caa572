import { type Operation, operationsIn, withRepresentations } from "../lib/contract/contract.ts";
import { RUNNING } from "./extensions.ts";
import { modulesNamed } from "./modules.ts";

const contracts = [...(await modulesNamed("contract")), ...RUNNING.flatMap((each) => each.contracts ?? [])];

/** Every operation of the service: the source of routes, OpenAPI, MCP tools and the client. */
export const operations: readonly Operation[] = withRepresentations(contracts.flatMap(operationsIn));
