/** Ways to connect an agent: settings of MCP clients, and programs that receive and acknowledge its deliveries. */

export interface Snippet {
  key: "mcp-sign-in" | "mcp" | "typescript" | "python" | "curl";
  label: string;
  /** Where it goes, or how to run it. */
  hint: string;
  /** A page of this server that says more. */
  more?: { label: string; to: string };
  text: string;
}

const mcp = (origin: string, apiKey: string) =>
  JSON.stringify(
    {
      mcpServers: {
        sensorium: { type: "http", url: `${origin}/mcp`, headers: { Authorization: `Bearer ${apiKey}` } },
      },
    },
    null,
    2,
  );

const typescript = (origin: string) => `const url = "${origin}/v1";
const headers = {
  authorization: \`Bearer \${process.env.SENSORIUM_API_KEY}\`,
  "content-type": "application/json",
};

for (;;) {
  const answer = await fetch(\`\${url}/delivery/poll?wait=30\`, { headers });
  if (!answer.ok) throw new Error(await answer.text());
  const { deliveries } = await answer.json();
  for (const { id, payload } of deliveries) {
    console.log(payload.type, payload.data);
    const body = JSON.stringify({ delivery_ids: [id] });
    await fetch(\`\${url}/delivery/ack\`, { method: "POST", headers, body });
  }
}
`;

const python = (origin: string) => `from sensorium import Delivery, Sensorium

def handle(delivery: Delivery) -> None:
    print(delivery.type, delivery.data, flush=True)

# Acknowledges a delivery when handle returns; it is retried when handle raises.
with Sensorium("${origin}") as client:
    client.listen(handle)
`;

const curl = (origin: string, apiKey: string) => `export SENSORIUM_API_KEY=${apiKey}

# Receive: each delivery has an id and, as payload, the event.
curl -s -H "Authorization: Bearer $SENSORIUM_API_KEY" \\
  "${origin}/v1/delivery/poll?wait=30"

# Acknowledge by the id of the delivery.
curl -s -H "Authorization: Bearer $SENSORIUM_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"delivery_ids": ["dlv_…"]}' "${origin}/v1/delivery/ack"
`;

/**
 * Returns the ways that there are; without a key, those that need none.
 *
 * @param origin of the service, such as https://sensorium.example.com
 */
export function snippetsFor(origin: string, apiKey?: string): Snippet[] {
  const signingIn: Snippet = {
    key: "mcp-sign-in",
    label: "MCP without a key",
    hint: "For MCP clients with OAuth, such as Claude Code: you approve them in this console.",
    text: `claude mcp add --transport http sensorium ${origin}/mcp\n`,
  };
  if (!apiKey) return [signingIn];
  const API = { label: "All operations", to: "/docs" };
  const withKey = "The key is read from SENSORIUM_API_KEY.";
  return [
    {
      key: "mcp",
      label: "MCP",
      hint: "Configuration of an MCP client, such as .mcp.json of Claude Code. Coding tools have plugins, too.",
      more: { label: "What agents can do", to: "/llms.txt" },
      text: mcp(origin, apiKey),
    },
    signingIn,
    {
      key: "typescript",
      label: "TypeScript",
      hint: `Node 20 or newer. ${withKey}`,
      more: API,
      text: typescript(origin),
    },
    {
      key: "python",
      label: "Python",
      hint: `pip install ./packages/python in a checkout of Sensorium. ${withKey}`,
      text: python(origin),
    },
    { key: "curl", label: "curl", hint: "In a shell.", more: API, text: curl(origin, apiKey) },
  ];
}
