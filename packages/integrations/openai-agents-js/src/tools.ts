import { MCPServerStreamableHttp } from "@openai/agents-core";
import { type McpOptions, mcpEndpoint } from "sensorium";

/**
 * The tools of a Sensorium server as the SDK's own MCP server, for `mcpServers` of an agent. `connect()` it before the
 * run, and `close()` it after. The list of tools is read once.
 */
export function sensoriumMCP(options: McpOptions = {}): MCPServerStreamableHttp {
  const { url, headers } = mcpEndpoint(options);
  return new MCPServerStreamableHttp({
    name: "sensorium",
    url,
    requestInit: { headers },
    cacheToolsList: true,
  });
}
