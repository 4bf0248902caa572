import { type Operation, operationsIn, withRepresentations } from "../lib/contract/contract.ts";
import * as a2a from "./edge/a2a/a2a.contract.ts";
import * as live from "./edge/live/live.contract.ts";
import * as agents from "./identity/agents/agents.contract.ts";
import * as audit from "./identity/audit/audit.contract.ts";
import * as auth from "./identity/auth/auth.contract.ts";
import * as jwks from "./identity/auth/jwks.contract.ts";
import * as secondFactor from "./identity/auth/second-factor.contract.ts";
import * as devices from "./identity/devices/devices.contract.ts";
import * as sessions from "./identity/devices/sessions.contract.ts";
import * as keys from "./identity/keys/keys.contract.ts";
import * as consent from "./identity/oauth/consent.contract.ts";
import * as oauth from "./identity/oauth/oauth.contract.ts";
import * as onboarding from "./identity/onboarding/onboarding.contract.ts";
import * as projects from "./identity/projects/projects.contract.ts";
import * as rotation from "./identity/rotation/rotation.contract.ts";
import * as teams from "./identity/teams/teams.contract.ts";
import * as moving from "./identity/tenants/moving.contract.ts";
import * as tenants from "./identity/tenants/tenants.contract.ts";
import * as users from "./identity/users/users.contract.ts";
import * as nodes from "./platform/nodes/nodes.contract.ts";
import * as system from "./platform/system/system.contract.ts";
import * as agentBundle from "./remember/bundles/agent-bundles.contract.ts";
import * as bundles from "./remember/bundles/bundles.contract.ts";
import * as documents from "./remember/documents/documents.contract.ts";
import * as findings from "./remember/findings/findings.contract.ts";
import * as erase from "./remember/memories/erase.contract.ts";
import * as memoryKeys from "./remember/memories/keys.contract.ts";
import * as lifecycle from "./remember/memories/lifecycle.contract.ts";
import * as memories from "./remember/memories/memories.contract.ts";
import * as memorySearch from "./remember/memories/search.contract.ts";
import * as usage from "./remember/memories/usage.contract.ts";
import * as merges from "./remember/merges/merges.contract.ts";
import * as relationships from "./remember/relationships/relationships.contract.ts";
import * as specialists from "./remember/specialists/specialists.contract.ts";
import * as state from "./remember/state/state.contract.ts";
import * as channels from "./sense/channels/channels.contract.ts";
import * as connectors from "./sense/connectors/connectors.contract.ts";
import * as agentDeliveries from "./sense/deliveries/agent-deliveries.contract.ts";
import * as deadLetter from "./sense/deliveries/dead-letters.contract.ts";
import * as deliveries from "./sense/deliveries/deliveries.contract.ts";
import * as history from "./sense/deliveries/history/history.contract.ts";
import * as eventTypes from "./sense/events/event-types.contract.ts";
import * as events from "./sense/events/events.contract.ts";
import * as webhook from "./sense/ingest/ingest.contract.ts";
import * as ingest from "./sense/ingest/receive.contract.ts";
import * as interests from "./sense/interests/interests.contract.ts";
import * as schedules from "./sense/schedules/schedules.contract.ts";
import * as a2aTasks from "./work/a2a/a2a-tasks.contract.ts";
import * as approvals from "./work/approvals/approvals.contract.ts";
import * as approvalLink from "./work/approvals/links.contract.ts";
import * as approvalSlack from "./work/approvals/slack.contract.ts";
import * as exemplars from "./work/exemplars/exemplars.contract.ts";
import * as agentHandoff from "./work/handoffs/agent-handoffs.contract.ts";
import * as handoffs from "./work/handoffs/handoffs.contract.ts";
import * as outputFiles from "./work/outputs/files.contract.ts";
import * as outputs from "./work/outputs/outputs.contract.ts";
import * as outputSearch from "./work/outputs/search.contract.ts";
import * as artifact from "./work/runs/artifacts.contract.ts";
import * as offer from "./work/runs/offers.contract.ts";
import * as run from "./work/runs/runs.contract.ts";
import * as step from "./work/runs/steps.contract.ts";
import * as templates from "./work/templates/templates.contract.ts";

/** Every operation of the service: the source of routes, OpenAPI, MCP tools and the client. */
export const operations: readonly Operation[] = withRepresentations(
  [
    a2a,
    a2aTasks,
    approvals,
    approvalLink,
    approvalSlack,
    agents,
    audit,
    auth,
    secondFactor,
    jwks,
    bundles,
    agentBundle,
    channels,
    connectors,
    deliveries,
    agentDeliveries,
    deadLetter,
    history,
    devices,
    sessions,
    documents,
    events,
    eventTypes,
    exemplars,
    findings,
    handoffs,
    agentHandoff,
    webhook,
    ingest,
    interests,
    keys,
    live,
    erase,
    memories,
    memoryKeys,
    lifecycle,
    memorySearch,
    usage,
    merges,
    nodes,
    oauth,
    consent,
    onboarding,
    outputFiles,
    outputs,
    outputSearch,
    projects,
    relationships,
    rotation,
    artifact,
    offer,
    run,
    step,
    schedules,
    specialists,
    state,
    system,
    teams,
    templates,
    tenants,
    moving,
    users,
  ].flatMap(operationsIn),
);
