import { agentsService } from "./agents/agents.service.ts";
import { auditService } from "./audit/audit.service.ts";
import { authService } from "./auth/auth.service.ts";
import { blobsService } from "./blobs/blobs.service.ts";
import { bundlesService } from "./bundles/bundles.service.ts";
import { channelsService } from "./channels/channels.service.ts";
import { connectorsService } from "./connectors/connectors.service.ts";
import { deliveriesService } from "./deliveries/deliveries.service.ts";
import { devicesService } from "./devices/devices.service.ts";
import { sessionsService } from "./devices/sessions.service.ts";
import { documentsService } from "./documents/documents.service.ts";
import { eventsService } from "./events/events.service.ts";
import { exemplarsService } from "./exemplars/exemplars.service.ts";
import { findingsService } from "./findings/findings.service.ts";
import { gatewayService } from "./gateway/gateway.service.ts";
import { handoffsService } from "./handoffs/handoffs.service.ts";
import { idempotencyService } from "./idempotency/idempotency.service.ts";
import { ingestService } from "./ingest/ingest.service.ts";
import { interestsService } from "./interests/interests.service.ts";
import { keysService } from "./keys/keys.service.ts";
import { liveService } from "./live/live.service.ts";
import { memoriesService } from "./memories/memories.service.ts";
import { mergesService } from "./merges/merges.service.ts";
import { onboardingService } from "./onboarding/onboarding.service.ts";
import { outputsService } from "./outputs/outputs.service.ts";
import { projectsService } from "./projects/projects.service.ts";
import { pushService } from "./push/push.service.ts";
import { relationshipsService } from "./relationships/relationships.service.ts";
import { runsService } from "./runs/runs.service.ts";
import type { ServiceFactory } from "./runtime.ts";
import { searchService } from "./search/search.service.ts";
import { specialistsService } from "./specialists/specialists.service.ts";
import { teamsService } from "./teams/teams.service.ts";
import { templatesService } from "./templates/templates.service.ts";
import { tenantsService } from "./tenants/tenants.service.ts";
import { usersService } from "./users/users.service.ts";

/** Every service by its name, which is what `SERVICES` lists. */
export const serviceFactories: Record<string, ServiceFactory> = {
  agents: agentsService,
  audit: auditService,
  auth: authService,
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
  gateway: gatewayService,
  handoffs: handoffsService,
  idempotency: idempotencyService,
  ingest: ingestService,
  interests: interestsService,
  keys: keysService,
  live: liveService,
  memories: memoriesService,
  merges: mergesService,
  onboarding: onboardingService,
  outputs: outputsService,
  projects: projectsService,
  push: pushService,
  relationships: relationshipsService,
  runs: runsService,
  search: searchService,
  sessions: sessionsService,
  specialists: specialistsService,
  teams: teamsService,
  templates: templatesService,
  tenants: tenantsService,
  users: usersService,
};
