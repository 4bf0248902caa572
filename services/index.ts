import { gatewayService } from "./edge/gateway/gateway.service.ts";
import { idempotencyService } from "./edge/idempotency/idempotency.service.ts";
import { liveService } from "./edge/live/live.service.ts";
import { mcpService } from "./edge/mcp/mcp.service.ts";
import { RUNNING } from "./extensions.ts";
import type { Hooks } from "./hooks.ts";
import { agentsService } from "./identity/agents/agents.service.ts";
import { auditService } from "./identity/audit/audit.service.ts";
import { authService } from "./identity/auth/auth.service.ts";
import { devicesService } from "./identity/devices/devices.service.ts";
import { sessionsService } from "./identity/devices/sessions.service.ts";
import { keysService } from "./identity/keys/keys.service.ts";
import { oauthService } from "./identity/oauth/oauth.service.ts";
import { onboardingService } from "./identity/onboarding/onboarding.service.ts";
import { projectsService } from "./identity/projects/projects.service.ts";
import { rotationService } from "./identity/rotation/rotation.service.ts";
import { teamsService } from "./identity/teams/teams.service.ts";
import { tenantsService } from "./identity/tenants/tenants.service.ts";
import { usersService } from "./identity/users/users.service.ts";
import { blobsService } from "./platform/blobs/blobs.service.ts";
import { bundlesService } from "./remember/bundles/bundles.service.ts";
import { documentsService } from "./remember/documents/documents.service.ts";
import { findingsService } from "./remember/findings/findings.service.ts";
import { memoriesService } from "./remember/memories/memories.service.ts";
import { mergesService } from "./remember/merges/merges.service.ts";
import { relationshipsService } from "./remember/relationships/relationships.service.ts";
import { searchService } from "./remember/search/search.service.ts";
import { specialistsService } from "./remember/specialists/specialists.service.ts";
import type { Runtime, ServiceFactory } from "./runtime.ts";
import { channelsService } from "./sense/channels/channels.service.ts";
import { connectorsService } from "./sense/connectors/connectors.service.ts";
import { deliveriesService } from "./sense/deliveries/deliveries.service.ts";
import { eventsService } from "./sense/events/events.service.ts";
import { ingestService } from "./sense/ingest/ingest.service.ts";
import { interestsService } from "./sense/interests/interests.service.ts";
import { pushService } from "./sense/push/push.service.ts";
import { schedulesService } from "./sense/schedules/schedules.service.ts";
import { approvalsService } from "./work/approvals/approvals.service.ts";
import { exemplarsService } from "./work/exemplars/exemplars.service.ts";
import { handoffsService } from "./work/handoffs/handoffs.service.ts";
import { outputsService } from "./work/outputs/outputs.service.ts";
import { runsService } from "./work/runs/runs.service.ts";
import { templatesService } from "./work/templates/templates.service.ts";

/** The core's services by their names, as listed in `SERVICES`. */
const core: Record<string, ServiceFactory | ServiceFactory[]> = {
  agents: agentsService,
  approvals: approvalsService,
  audit: auditService,
  // The keys of tokens and secrets are replaced where tokens are issued.
  auth: [authService, rotationService],
  blobs: blobsService,
  bundles: bundlesService,
  channels: channelsService,
  connectors: connectorsService,
  deliveries: deliveriesService,
  devices: devicesService,
  documents: documentsService,
  events: eventsService,
  exemplars: exemplarsService,
  findings: findingsService,
  // MCP is a route of each gateway, in its process.
  gateway: [gatewayService, mcpService],
  handoffs: handoffsService,
  idempotency: idempotencyService,
  ingest: ingestService,
  interests: interestsService,
  keys: keysService,
  live: liveService,
  memories: memoriesService,
  merges: mergesService,
  oauth: oauthService,
  onboarding: onboardingService,
  outputs: outputsService,
  projects: projectsService,
  push: pushService,
  relationships: relationshipsService,
  runs: runsService,
  schedules: schedulesService,
  search: searchService,
  sessions: sessionsService,
  specialists: specialistsService,
  teams: teamsService,
  templates: templatesService,
  tenants: tenantsService,
  users: usersService,
};

/** Parts of the extensions on nodes. */
const running = await Promise.all(RUNNING.map(async ({ run }) => (await run?.()) ?? {}));

/** Every service by its name, as listed in `SERVICES`. */
export const serviceFactories: typeof core = { ...core };
for (const { services = {} } of running)
  for (const [name, added] of Object.entries(services))
    serviceFactories[name] = [serviceFactories[name] ?? [], added].flat();

/** Returns what extensions do for the services of a node. */
export async function hooksOf(runtime: Omit<Runtime, "hooks">): Promise<Hooks> {
  const given: Hooks[] = await Promise.all(running.map(({ hooks }) => hooks?.(runtime) ?? {}));
  const approvalChannels = given.flatMap((each) => each.approvalChannels ?? []);
  const embedders = Object.assign({}, ...given.map((each) => each.embedders));
  const documentReaders = Object.assign({}, ...given.map((each) => each.documentReaders));
  return Object.assign({}, ...given, { approvalChannels, documentReaders, embedders });
}

/**
 * Services without which nobody signs in, publishes or receives: a node is ready when each is on some node. Others may be
 * missing, as next to nodes of an earlier version after a rollback. Of this list each must be in the release before.
 */
export const CORE_SERVICES = [
  ...["agents", "auth", "blobs", "deliveries", "events", "idempotency", "interests"],
  ...["keys", "teams", "tenants", "users"],
];
