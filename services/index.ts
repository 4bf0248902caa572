import type { ServiceFactory } from "./runtime.ts";

/** Loads each service, or those that run together, by its name as listed in `SERVICES`. */
export const serviceFactories: Record<string, () => Promise<ServiceFactory | ServiceFactory[]>> = {
  a2a_tasks: async () => (await import("./work/a2a/a2a-tasks.service.ts")).a2aTasksService,
  agents: async () => (await import("./identity/agents/agents.service.ts")).agentsService,
  approvals: async () => (await import("./work/approvals/approvals.service.ts")).approvalsService,
  audit: async () => (await import("./identity/audit/audit.service.ts")).auditService,
  // The keys of tokens and secrets are replaced where tokens are issued.
  auth: async () => [
    (await import("./identity/auth/auth.service.ts")).authService,
    (await import("./identity/rotation/rotation.service.ts")).rotationService,
  ],
  blobs: async () => (await import("./platform/blobs/blobs.service.ts")).blobsService,
  bundles: async () => (await import("./remember/bundles/bundles.service.ts")).bundlesService,
  channels: async () => (await import("./sense/channels/channels.service.ts")).channelsService,
  connectors: async () => (await import("./sense/connectors/connectors.service.ts")).connectorsService,
  deliveries: async () => (await import("./sense/deliveries/deliveries.service.ts")).deliveriesService,
  devices: async () => (await import("./identity/devices/devices.service.ts")).devicesService,
  documents: async () => (await import("./remember/documents/documents.service.ts")).documentsService,
  events: async () => (await import("./sense/events/events.service.ts")).eventsService,
  exemplars: async () => (await import("./work/exemplars/exemplars.service.ts")).exemplarsService,
  findings: async () => (await import("./remember/findings/findings.service.ts")).findingsService,
  // MCP and A2A are routes of each gateway, in its process.
  gateway: async () => [
    (await import("./edge/gateway/gateway.service.ts")).gatewayService,
    (await import("./edge/mcp/mcp.service.ts")).mcpService,
    (await import("./edge/a2a/a2a.service.ts")).a2aService,
  ],
  handoffs: async () => (await import("./work/handoffs/handoffs.service.ts")).handoffsService,
  idempotency: async () => (await import("./edge/idempotency/idempotency.service.ts")).idempotencyService,
  ingest: async () => (await import("./sense/ingest/ingest.service.ts")).ingestService,
  interests: async () => (await import("./sense/interests/interests.service.ts")).interestsService,
  keys: async () => (await import("./identity/keys/keys.service.ts")).keysService,
  live: async () => (await import("./edge/live/live.service.ts")).liveService,
  memories: async () => (await import("./remember/memories/memories.service.ts")).memoriesService,
  merges: async () => (await import("./remember/merges/merges.service.ts")).mergesService,
  oauth: async () => (await import("./identity/oauth/oauth.service.ts")).oauthService,
  onboarding: async () => (await import("./identity/onboarding/onboarding.service.ts")).onboardingService,
  outputs: async () => (await import("./work/outputs/outputs.service.ts")).outputsService,
  projects: async () => (await import("./identity/projects/projects.service.ts")).projectsService,
  push: async () => (await import("./sense/push/push.service.ts")).pushService,
  relationships: async () =>
    (await import("./remember/relationships/relationships.service.ts")).relationshipsService,
  runs: async () => (await import("./work/runs/runs.service.ts")).runsService,
  schedules: async () => (await import("./sense/schedules/schedules.service.ts")).schedulesService,
  search: async () => (await import("./remember/search/search.service.ts")).searchService,
  sessions: async () => (await import("./identity/devices/sessions.service.ts")).sessionsService,
  specialists: async () => (await import("./remember/specialists/specialists.service.ts")).specialistsService,
  state: async () => (await import("./remember/state/state.service.ts")).stateService,
  teams: async () => (await import("./identity/teams/teams.service.ts")).teamsService,
  templates: async () => (await import("./work/templates/templates.service.ts")).templatesService,
  tenants: async () => (await import("./identity/tenants/tenants.service.ts")).tenantsService,
  users: async () => (await import("./identity/users/users.service.ts")).usersService,
};

/**
 * Services without which nobody signs in, publishes or receives: a node is ready when each is on some node. Others may be
 * missing, as next to nodes of an earlier version after a rollback. Of this list each must be in the release before.
 */
export const CORE_SERVICES = [
  ...["agents", "auth", "blobs", "deliveries", "events", "idempotency", "interests"],
  ...["keys", "teams", "tenants", "users"],
];
