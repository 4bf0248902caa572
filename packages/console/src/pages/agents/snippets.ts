/** Programs that receive and acknowledge an agent's deliveries, without a package to install. */

export interface Snippet {
  key: "mcp" | "typescript" | "python" | "curl";
  label: string;
  /** Where it goes, or how to run it. */
  hint: string;
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

const python = (origin: string) => `import json, os
from urllib.request import Request, urlopen

def call(path, body=None):
    headers = {
        "Authorization": "Bearer " + os.environ["SENSORIUM_API_KEY"],
        "Content-Type": "application/json",
    }
    data = None if body is None else json.dumps(body).encode()
    return json.load(urlopen(Request("${origin}/v1" + path, data, headers)))

while True:
    for delivery in call("/delivery/poll?wait=30")["deliveries"]:
        event = delivery["payload"]
        print(event["type"], event.get("data"), flush=True)
        call("/delivery/ack", {"delivery_ids": [delivery["id"]]})
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

/** @param origin of the service, such as https://sensorium.example.com */
export function snippetsFor(origin: string, apiKey: string): Snippet[] {
  const withKey = "The key is read from SENSORIUM_API_KEY.";
  return [
    {
      key: "mcp",
      label: "MCP",
      hint:
        "Configuration of an MCP client, such as .mcp.json of Claude Code. Coding tools have plugins, too: " +
        "docs/guides/coding-tools.md in the repository.",
      text: mcp(origin, apiKey),
    },
    {
      key: "typescript",
      label: "TypeScript",
      hint: `Node 20 or newer. ${withKey}`,
      text: typescript(origin),
    },
    { key: "python", label: "Python", hint: `Python 3, no packages. ${withKey}`, text: python(origin) },
    { key: "curl", label: "curl", hint: "In a shell.", text: curl(origin, apiKey) },
  ];
}
