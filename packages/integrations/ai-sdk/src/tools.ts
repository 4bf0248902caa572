import { createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { type McpOptions, mcpEndpoint } from "sensorium";

/**
 * Connects the SDK's own MCP client to the tools of a Sensorium server: `tools()` gives them to `generateText` and
 * `streamText`. Close it after use.
 */
export function sensoriumMCP(options: McpOptions = {}): Promise<MCPClient> {
  return createMCPClient({ transport: { type: "http", ...mcpEndpoint(options) } });
}
