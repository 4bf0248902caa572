import { type Operation, withRepresentations } from "../lib/contract/contract.ts";
import { a2aOperations } from "./edge/a2a/a2a.contract.ts";
import { liveOperations } from "./edge/live/live.contract.ts";
import { agentsOperations } from "./identity/agents/agents.contract.ts";
import { auditOperations } from "./identity/audit/audit.contract.ts";
import { authOperations } from "./identity/auth/auth.contract.ts";
import { devicesOperations } from "./identity/devices/devices.contract.ts";
import { sessionsOperations } from "./identity/devices/sessions.contract.ts";
import { keysOperations } from "./identity/keys/keys.contract.ts";
import { consentOperations } from "./identity/oauth/consent.contract.ts";
import { oauthOperations } from "./identity/oauth/oauth.contract.ts";
import { onboardingOperations } from "./identity/onboarding/onboarding.contract.ts";
import { projectsOperations } from "./identity/projects/projects.contract.ts";
import { rotationOperations } from "./identity/rotation/rotation.contract.ts";
import { teamsOperations } from "./identity/teams/teams.contract.ts";
import { movingOperations } from "./identity/tenants/moving.contract.ts";
import { tenantsOperations } from "./identity/tenants/tenants.contract.ts";
import { usersOperations } from "./identity/users/users.contract.ts";
import { nodesOperations } from "./platform/nodes/nodes.contract.ts";
import { systemOperations } from "./platform/system/system.contract.ts";
import { agentBundleOperations } from "./remember/bundles/agent-bundles.contract.ts";
import { bundlesOperations } from "./remember/bundles/bundles.contract.ts";
import { documentsOperations } from "./remember/documents/documents.contract.ts";
import { findingsOperations } from "./remember/findings/findings.contract.ts";
import { eraseMemories } from "./remember/memories/erase.contract.ts";
import { memoryKeysOperations } from "./remember/memories/keys.contract.ts";
import { lifecycleOperations } from "./remember/memories/lifecycle.contract.ts";
import { memoriesOperations } from "./remember/memories/memories.contract.ts";
import { memorySearchOperations } from "./remember/memories/search.contract.ts";
import { usageOperations } from "./remember/memories/usage.contract.ts";
import { mergesOperations } from "./remember/merges/merges.contract.ts";
import { relationshipsOperations } from "./remember/relationships/relationships.contract.ts";
import { specialistsOperations } from "./remember/specialists/specialists.contract.ts";
import { stateOperations } from "./remember/state/state.contract.ts";
import { channelsOperations } from "./sense/channels/channels.contract.ts";
import { connectorsOperations } from "./sense/connectors/connectors.contract.ts";
import { agentDeliveriesOperations } from "./sense/deliveries/agent-deliveries.contract.ts";
import { deadLetterOperations } from "./sense/deliveries/dead-letters.contract.ts";
import { deliveriesOperations } from "./sense/deliveries/deliveries.contract.ts";
import { historyOperations } from "./sense/deliveries/history/history.contract.ts";
import { eventTypesOperations } from "./sense/events/event-types.contract.ts";
import { eventsOperations } from "./sense/events/events.contract.ts";
import { ingestOperations } from "./sense/ingest/receive.contract.ts";
import { interestsOperations } from "./sense/interests/interests.contract.ts";
import { schedulesOperations } from "./sense/schedules/schedules.contract.ts";
import { a2aTasksOperations } from "./work/a2a/a2a-tasks.contract.ts";
import { approvalsOperations } from "./work/approvals/approvals.contract.ts";
import { approvalLinkOperations } from "./work/approvals/links.contract.ts";
import { approvalSlackOperations } from "./work/approvals/slack.contract.ts";
import { exemplarsOperations } from "./work/exemplars/exemplars.contract.ts";
import { agentHandoffOperations } from "./work/handoffs/agent-handoffs.contract.ts";
import { handoffsOperations } from "./work/handoffs/handoffs.contract.ts";
import { outputFilesOperations } from "./work/outputs/files.contract.ts";
import { outputsOperations } from "./work/outputs/outputs.contract.ts";
import { outputSearchOperations } from "./work/outputs/search.contract.ts";
import { artifactOperations } from "./work/runs/artifacts.contract.ts";
import { offerOperations } from "./work/runs/offers.contract.ts";
import { runOperations } from "./work/runs/runs.contract.ts";
import { stepOperations } from "./work/runs/steps.contract.ts";
import { templatesOperations } from "./work/templates/templates.contract.ts";

/** Every operation of the service: the source of routes, OpenAPI, MCP tools and the client. */
export const operations: readonly Operation[] = withRepresentations(
  [
    a2aOperations,
    a2aTasksOperations,
    approvalsOperations,
    approvalLinkOperations,
    approvalSlackOperations,
    agentsOperations,
    auditOperations,
    authOperations,
    bundlesOperations,
    agentBundleOperations,
    channelsOperations,
    connectorsOperations,
    deliveriesOperations,
    agentDeliveriesOperations,
    deadLetterOperations,
    historyOperations,
    devicesOperations,
    sessionsOperations,
    documentsOperations,
    eventsOperations,
    eventTypesOperations,
    exemplarsOperations,
    findingsOperations,
    handoffsOperations,
    agentHandoffOperations,
    ingestOperations,
    interestsOperations,
    keysOperations,
    liveOperations,
    eraseMemories,
    memoriesOperations,
    memoryKeysOperations,
    lifecycleOperations,
    memorySearchOperations,
    usageOperations,
    mergesOperations,
    nodesOperations,
    oauthOperations,
    consentOperations,
    onboardingOperations,
    outputFilesOperations,
    outputsOperations,
    outputSearchOperations,
    projectsOperations,
    relationshipsOperations,
    rotationOperations,
    artifactOperations,
    offerOperations,
    runOperations,
    stepOperations,
    schedulesOperations,
    specialistsOperations,
    stateOperations,
    systemOperations,
    teamsOperations,
    templatesOperations,
    tenantsOperations,
    movingOperations,
    usersOperations,
  ].flat() as unknown as Operation[],
);
