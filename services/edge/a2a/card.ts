import { INFO } from "../gateway/openapi/components.ts";

/** The public part of an agent. */
export interface Shown {
  name: string;
  description: string | null;
}

/** Returns an agent's card as JSON of A2A 1.0. */
export function makeCard({ name, description }: Shown, url: string) {
  const purpose = description || `Messages to ${name}.`;
  return {
    name,
    description: purpose,
    version: INFO.version,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: "Bearer", description: "A token with the scope send." } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ["text/plain", "application/json"],
    defaultOutputModes: ["text/plain", "text/markdown"],
    skills: [{ id: "messages", name, description: purpose, tags: ["messages"] }],
  };
}
