import type { Operation } from "../lib/contract.ts";
import { agentsOperations } from "./agents/agents.contract.ts";
import { auditOperations } from "./audit/audit.contract.ts";
import { authOperations } from "./auth/auth.contract.ts";
import { bundlesOperations } from "./bundles/bundles.contract.ts";
import { channelsOperations } from "./channels/channels.contract.ts";
import { connectorsOperations } from "./connectors/connectors.contract.ts";
import { deliveriesOperations } from "./deliveries/deliveries.contract.ts";
import { devicesOperations } from "./devices/devices.contract.ts";
import { sessionsOperations } from "./devices/sessions.contract.ts";
import { documentsOperations } from "./documents/documents.contract.ts";
import { eventsOperations } from "./events/events.contract.ts";
import { exemplarsOperations } from "./exemplars/exemplars.contract.ts";
import { findingsOperations } from "./findings/findings.contract.ts";
import { handoffsOperations } from "./handoffs/handoffs.contract.ts";
import { ingestOperations } from "./ingest/ingest.contract.ts";
import { interestsOperations } from "./interests/interests.contract.ts";
import { keysOperations } from "./keys/keys.contract.ts";
import { liveOperations } from "./live/live.contract.ts";
import { eraseMemories } from "./memories/erase.contract.ts";
import { memoriesOperations } from "./memories/memories.contract.ts";
import { memorySearchOperations } from "./memories/search.contract.ts";
import { usageOperations } from "./memories/usage.contract.ts";
import { mergesOperations } from "./merges/merges.contract.ts";
import { onboardingOperations } from "./onboarding/onboarding.contract.ts";
import { outputFilesOperations } from "./outputs/files.contract.ts";
import { outputsOperations } from "./outputs/outputs.contract.ts";
import { outputSearchOperations } from "./outputs/search.contract.ts";
import { projectsOperations } from "./projects/projects.contract.ts";
import { relationshipsOperations } from "./relationships/relationships.contract.ts";
import { artifactOperations } from "./runs/artifacts.contract.ts";
import { offerOperations } from "./runs/offers.contract.ts";
import { runOperations } from "./runs/runs.contract.ts";
import { stepOperations } from "./runs/steps.contract.ts";
import { specialistsOperations } from "./specialists/specialists.contract.ts";
import { systemOperations } from "./system/system.contract.ts";
import { teamsOperations } from "./teams/teams.contract.ts";
import { templatesOperations } from "./templates/templates.contract.ts";
import { tenantsOperations } from "./tenants/tenants.contract.ts";
import { usersOperations } from "./users/users.contract.ts";

/** Every operation of the service. Routes, OpenAPI, MCP tools and the client are made from this list. */
export const operations: readonly Operation[] = [
  agentsOperations,
  auditOperations,
  authOperations,
  bundlesOperations,
  channelsOperations,
  connectorsOperations,
  deliveriesOperations,
  devicesOperations,
  sessionsOperations,
  documentsOperations,
  eventsOperations,
  exemplarsOperations,
  findingsOperations,
  handoffsOperations,
  ingestOperations,
  interestsOperations,
  keysOperations,
  liveOperations,
  eraseMemories,
  memoriesOperations,
  memorySearchOperations,
  usageOperations,
  mergesOperations,
  onboardingOperations,
  outputFilesOperations,
  outputsOperations,
  outputSearchOperations,
  projectsOperations,
  relationshipsOperations,
  artifactOperations,
  offerOperations,
  runOperations,
  stepOperations,
  specialistsOperations,
  systemOperations,
  teamsOperations,
  templatesOperations,
  tenantsOperations,
  usersOperations,
].flat() as unknown as Operation[];
