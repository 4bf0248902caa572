import { findAccess, parseOrigin } from "./access.ts";

/** Which tools of a service, and as whom. */
export interface McpOptions {
  /** The service's origin; its addresses with `/v1` or `/mcp` are understood too. Default: as for `createClient`. */
  url?: string;
  /** An agent's API key. Default: as for `createClient`. */
  apiKey?: string;
  /** Presets (`core`, `sense`, `remember`, `work`, `all`), domains and tools, with commas between. Default `core`. */
  tools?: string;
}

/** The address of the tools for clients of the Model Context Protocol, over Streamable HTTP. */
export interface McpEndpoint {
  url: string;
  headers: Record<string, string>;
}

/** Returns where a client of the Model Context Protocol finds the tools. @throws TypeError without a URL or a key */
export function mcpEndpoint(options: McpOptions = {}): McpEndpoint {
  const { url, apiKey } = findAccess(options);
  const query = options.tools ? `?${new URLSearchParams({ tools: options.tools })}` : "";
  return {
    url: `${parseOrigin(url)}/mcp${query}`,
    headers: { authorization: `Bearer ${apiKey}` },
  };
}
