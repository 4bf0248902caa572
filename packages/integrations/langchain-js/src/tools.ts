import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { type McpOptions, mcpEndpoint } from "sensorium";

/**
 * LangChain's own MCP client for the tools of a Sensorium server: `getTools()` gives them to agents and graphs. Close
 * it after use.
 */
export function sensoriumMCP(options: McpOptions = {}): MultiServerMCPClient {
  const sensorium = { transport: "http", automaticSSEFallback: false, ...mcpEndpoint(options) } as const;
  return new MultiServerMCPClient({ mcpServers: { sensorium } });
}
