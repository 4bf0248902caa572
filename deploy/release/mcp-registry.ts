import { type Manifest, manifestIn } from "./build.ts";

/** The package with `sensorium mcp`, the bridge between clients of the Model Context Protocol and a server. */
export const MCP_PACKAGE = "packages/client";

/** The newest of https://github.com/modelcontextprotocol/static, and what `publisher` of release.yml accepts. */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/**
 * Returns the name in the MCP registry, which the package has to have as `mcpName`. The registry lets a workflow publish
 * below its owner's name only.
 *
 * @param repository owner and name on GitHub, as in GITHUB_REPOSITORY
 */
export function mcpName(repository: string): string {
  return `io.github.${repository.split("/")[0]}/${manifestIn(MCP_PACKAGE).name}`;
}

/**
 * Returns the content of server.json, for the official MCP registry.
 *
 * @param url address of the repository
 */
export function mcpServer(repository: string, url: string): object {
  const { name, version, description } = manifestIn(MCP_PACKAGE) as Manifest & { description: string };
  return {
    $schema: SCHEMA,
    name: mcpName(repository),
    title: "Sensorium",
    description,
    version,
    repository: { url, source: "github", subfolder: MCP_PACKAGE },
    packages: [
      {
        registryType: "npm",
        identifier: name,
        version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "mcp" }],
        environmentVariables: [
          {
            name: "SENSORIUM_URL",
            description: "Address of the Sensorium server",
            placeholder: "http://127.0.0.1:3000",
            isRequired: true,
          },
          {
            name: "SENSORIUM_API_KEY",
            description: "API key of the agent",
            isRequired: true,
            isSecret: true,
          },
        ],
      },
    ],
  };
}
