import { loadKits } from "./kits.ts";

/**
 * Callers of each operation, by hand from the specification and its decisions: tests expect them of contracts, of the
 * gateway and of the list of MCP tools must not be read from them. A new operation needs a line here.
 *
 * - `everyone`: agents and people with the scope; `agents+admins`: of people only admins.
 * - `agents`: people get 403, or the status that is named. `people`, `org-admins`: agents get 403.
 * - `public`: nobody needs a token; `public?`: a token tells more.
 * - `operator`: OPERATOR_TOKEN. `monitor`: METRICS_TOKEN, or this machine.
 * - `tool`: agents have it as an MCP tool.
 */
const TABLE = `
# Signing in and tokens: exchanging a credential needs no other one, and guesses are counted by address.
auth.token                   public        -                  POST /v1/auth/token
auth.login                   public        -                  POST /v1/auth/login
auth.me                      everyone      -             tool GET /v1/auth/me
auth.logout                  everyone      -                  POST /v1/auth/logout
auth.password                people        -                  POST /v1/auth/password
auth.start_session           public        -                  POST /v1/auth/session
auth.session                 people        -                  GET /v1/auth/session
auth.renew_session           people        -                  POST /v1/auth/session/renew
auth.end_session             people        -                  DELETE /v1/auth/session
auth.methods                 public        -                  GET /v1/auth/methods
auth.begin_oidc              public        -                  POST /v1/auth/oidc
auth.finish_oidc             public        -                  POST /v1/auth/oidc/session
auth.sign_in_ways            people        -                  GET /v1/auth/ways
auth.begin_totp              people        -                  POST /v1/auth/totp
auth.confirm_totp            people        -                  POST /v1/auth/totp/confirm
auth.remove_totp             people        -                  POST /v1/auth/totp/remove
auth.jwks                    public        -                  GET /.well-known/jwks.json
oauth.api_resource           public        -                  GET /.well-known/oauth-protected-resource
oauth.mcp_resource           public        -                  GET /.well-known/oauth-protected-resource/mcp
oauth.versioned_mcp_resource public        -                  GET /.well-known/oauth-protected-resource/v1/mcp
oauth.server                 public        -                  GET /.well-known/oauth-authorization-server
oauth.register               public        -                  POST /oauth/register
oauth.token                  public        -                  POST /oauth/token
oauth.revoke                 public        -                  POST /oauth/revoke
oauth.device                 public        -                  POST /oauth/device
oauth.read_request           people        -                  POST /v1/oauth/request
oauth.decide                 people        -                  POST /v1/oauth/decision
# Agents, keys, teams: admin; an agent reads itself.
agents.create                everyone      admin              POST /v1/agents
agents.list                  everyone      admin              GET /v1/agents
agents.list_own              people        -                  GET /v1/auth/me/agents
agents.get                   everyone      -             tool GET /v1/agents/{agent_id}
agents.update                everyone      admin              PATCH /v1/agents/{agent_id}
agents.set_status            everyone      admin              PATCH /v1/agents/{agent_id}/status
agents.delete                everyone      admin              DELETE /v1/agents/{agent_id}
agents.rotate_signing_secret everyone      admin              POST /v1/agents/{agent_id}/signing-secret
keys.create                  everyone      admin              POST /v1/agents/{agent_id}/keys
keys.list                    everyone      admin              GET /v1/agents/{agent_id}/keys
keys.update                  everyone      admin              PATCH /v1/agents/{agent_id}/keys/{key_id}
keys.revoke                  everyone      admin              DELETE /v1/agents/{agent_id}/keys/{key_id}
teams.create                 everyone      admin              POST /v1/teams
teams.list                   everyone      admin              GET /v1/teams
teams.delete                 everyone      admin              DELETE /v1/teams/{team_id}
# Devices: the agent itself, its owner or an admin; a person confirms; the device has only its code.
devices.issue                everyone      -                  POST /v1/agents/{agent_id}/device-code
devices.status               everyone      -                  GET /v1/agents/{agent_id}/device-code
devices.claim                public        -                  POST /v1/device-codes:claim
devices.confirm              people        -                  POST /v1/agents/{agent_id}/device-code:confirm
devices.complete             public        -                  POST /v1/device-codes:complete
devices.look_up              public?       -                  GET /v1/device-codes/{code}
sessions.list                everyone      -                  GET /v1/agents/{agent_id}/sessions
sessions.delete              everyone      admin              DELETE /v1/agents/{agent_id}/sessions/{session_id}
sessions.heartbeat           agents        -                  POST /v1/sessions/{session_id}/heartbeat
# People: only an admin who is a person changes accounts.
users.create                 org-admins    admin              POST /v1/users
users.list                   everyone      admin              GET /v1/users
users.update                 org-admins    admin              PATCH /v1/users/{user_id}
users.delete                 org-admins    admin              DELETE /v1/users/{user_id}
audit.list                   everyone      admin              GET /v1/audit
audit.export                 everyone      admin              GET /v1/audit/export
# Events: send publishes. Both who published and who was given an event read it, so reading names no one scope.
events.publish               everyone      send          tool POST /v1/events
events.list                  everyone      -             tool GET /v1/events
events.stream                everyone      -                  GET /v1/events/stream
events.get                   everyone      -             tool GET /v1/events/{event_id}
events.retry                 everyone      admin              POST /v1/events/{event_id}/retry
events.cancel                everyone      send          tool DELETE /v1/events/{event_id}
events.types                 agents+admins receive       tool GET /v1/events/types
events.type                  agents+admins receive            GET /v1/events/types/{type}
schedules.create             everyone      send          tool POST /v1/schedules
schedules.list               everyone      send          tool GET /v1/schedules
schedules.get                everyone      send          tool GET /v1/schedules/{schedule_id}
schedules.update             everyone      send          tool PATCH /v1/schedules/{schedule_id}
schedules.delete             everyone      send          tool DELETE /v1/schedules/{schedule_id}
schedules.run                everyone      send          tool POST /v1/schedules/{schedule_id}:run
schedules.test               everyone      send          tool POST /v1/schedules:test
# Interests and deliveries: receive; what an agent receives is its own, and of people admins see it.
interests.create             agents+admins receive       tool POST /v1/agents/{agent_id}/interests
interests.list               agents+admins receive       tool GET /v1/agents/{agent_id}/interests
interests.get                agents+admins receive            GET /v1/agents/{agent_id}/interests/{id}
interests.update             agents+admins receive            PATCH /v1/agents/{agent_id}/interests/{id}
interests.delete             agents+admins receive       tool DELETE /v1/agents/{agent_id}/interests/{id}
interests.test               agents+admins receive       tool POST /v1/agents/{agent_id}/interests:test
deliveries.poll              agents        receive       tool GET /v1/delivery/poll
deliveries.ack               agents        receive       tool POST /v1/delivery/ack
deliveries.nack              agents        receive       tool POST /v1/delivery/nack
deliveries.next              agents        receive            POST /v1/delivery/next
deliveries.extend            agents        receive       tool POST /v1/delivery/extend
deliveries.stream            agents        receive            GET /v1/delivery/stream
deliveries.stats             agents+admins receive            GET /v1/delivery/stats
deliveries.dead_letters      agents+admins receive       tool GET /v1/delivery/dlq
deliveries.dead_letter_groups agents+admins receive            GET /v1/delivery/dlq/groups
deliveries.replay            agents+admins receive       tool POST /v1/delivery/dlq/{id}/replay
deliveries.replay_many       agents+admins receive            POST /v1/delivery/dlq/replay
deliveries.discard_many      agents+admins receive            POST /v1/delivery/dlq/discard
deliveries.discard           agents+admins receive            DELETE /v1/delivery/dlq/{id}
# Of one agent: for itself, its owner and admins.
deliveries.list              everyone      receive            GET /v1/agents/{agent_id}/deliveries
deliveries.log               everyone      receive            GET /v1/agents/{agent_id}/deliveries/{delivery_id}/log
deliveries.explain           everyone      receive            GET /v1/agents/{agent_id}/reception
deliveries.drain             everyone      -                  POST /v1/agents/{agent_id}/deliveries:drain
deliveries.count_replay      everyone      admin              POST /v1/agents/{agent_id}/replays:count
deliveries.start_replay      everyone      admin              POST /v1/agents/{agent_id}/replays
deliveries.replays           everyone      receive            GET /v1/agents/{agent_id}/replays
deliveries.get_replay        everyone      receive            GET /v1/agents/{agent_id}/replays/{replay_id}
deliveries.cancel_replay     everyone      admin              POST /v1/agents/{agent_id}/replays/{replay_id}:cancel
# Channels.
channels.create              everyone      channel:write tool POST /v1/channels
channels.list                everyone      channel:read  tool GET /v1/channels
channels.get                 everyone      channel:read       GET /v1/channels/{channel_id}
channels.update              everyone      channel:write      PATCH /v1/channels/{channel_id}
channels.delete              everyone      channel:write      DELETE /v1/channels/{channel_id}
channels.add_member          everyone      channel:write tool POST /v1/channels/{channel_id}/members
channels.list_members        everyone      channel:read  tool GET /v1/channels/{channel_id}/members
channels.remove_member       everyone      channel:write      DELETE /v1/channels/{channel_id}/members/{agent_id}
channels.create_feed         everyone      channel:write tool POST /v1/channels/{channel_id}/feeds
channels.list_feeds          everyone      channel:read       GET /v1/channels/{channel_id}/feeds
channels.delete_feed         everyone      channel:write      DELETE /v1/channels/{channel_id}/feeds/{feed_id}
# Ingest: admin registers. A sender has no token: its signature counts, and a wrong one is refused without being counted.
ingest.create_webhook        everyone      admin              POST /v1/ingest/webhooks
ingest.list_webhooks         everyone      admin              GET /v1/ingest/webhooks
ingest.update_webhook        everyone      admin              PATCH /v1/ingest/webhooks/{webhook_id}
ingest.delete_webhook        everyone      admin              DELETE /v1/ingest/webhooks/{webhook_id}
ingest.rotate_webhook        everyone      admin              POST /v1/ingest/webhooks/{webhook_id}:rotate
ingest.test_mapping          everyone      admin              POST /v1/ingest/webhooks:test
ingest.test_webhook          everyone      admin              POST /v1/ingest/webhooks/{webhook_id}:test
ingest.list_requests         everyone      admin              GET /v1/ingest/webhooks/{webhook_id}/requests
ingest.receive               public        -                  POST /w/{tenant_slug}
ingest.receive_from          public        -                  POST /w/{tenant_slug}/{source}
ingest.verify                public        -                  GET /w/{tenant_slug}
ingest.verify_for            public        -                  GET /w/{tenant_slug}/{source}
ingest.validate              public        -                  OPTIONS /w/{tenant_slug}
ingest.validate_for          public        -                  OPTIONS /w/{tenant_slug}/{source}
connectors.create            everyone      admin              POST /v1/ingest/connectors
connectors.list              everyone      admin              GET /v1/ingest/connectors
connectors.get               everyone      admin              GET /v1/ingest/connectors/{connector_id}
connectors.update            everyone      admin              PATCH /v1/ingest/connectors/{connector_id}
connectors.delete            everyone      admin              DELETE /v1/ingest/connectors/{connector_id}
# Memories. Citing needs memory:read; only people who are admins erase, and settle merges.
memories.list                everyone      memory:read   tool GET /v1/memories
memories.create              everyone      memory:write  tool POST /v1/memories
memories.create_batch        everyone      memory:write       POST /v1/memories/batch
memories.get                 everyone      memory:read   tool GET /v1/memories/{id}
memories.update              everyone      memory:write  tool PATCH /v1/memories/{id}
memories.promote             everyone      memory:write  tool POST /v1/memories/{id}/promote
memories.forget              everyone      memory:write  tool POST /v1/memories/{id}/forget
memories.restore             everyone      memory:write  tool POST /v1/memories/{id}/restore
memories.supersede           everyone      memory:write  tool POST /v1/memories/{id}/supersede
memories.history             everyone      memory:read   tool GET /v1/memories/{id}/history
memories.lineage             everyone      memory:read   tool GET /v1/memories/{id}/lineage
memories.search              everyone      memory:read   tool POST /v1/memories/search
memories.cite                everyone      memory:read   tool POST /v1/memories/{id}/cite
memories.citations           everyone      memory:read   tool GET /v1/memories/{id}/citations
memories.health              everyone      memory:read   tool GET /v1/memories/health
memories.activity            everyone      memory:read        GET /v1/agents/{agent_id}/activity
memories.erase               org-admins    memory:write       POST /v1/memories/erase
# By key, an agent's own.
memories.put_by_key          agents        memory:write  tool PUT /v1/memories/keys/{namespace}/{key}
memories.get_by_key          agents        memory:read   tool GET /v1/memories/keys/{namespace}/{key}
memories.delete_by_key       agents        memory:write  tool DELETE /v1/memories/keys/{namespace}/{key}
memories.namespaces          agents        memory:read   tool GET /v1/memories/namespaces
relationships.create         everyone      memory:write  tool POST /v1/memories/{id}/relationships
relationships.list           everyone      memory:read   tool GET /v1/memories/{id}/relationships
relationships.delete         everyone      memory:write       DELETE /v1/memories/{id}/relationships/{rel_id}
relationships.graph          everyone      memory:read   tool GET /v1/memories/{id}/graph
relationships.types          everyone      memory:read   tool GET /v1/relationship-types
merges.propose               everyone      memory:write  tool POST /v1/memories/merge-proposals
merges.list                  everyone      memory:read   tool GET /v1/memories/merge-proposals
merges.get                   everyone      memory:read        GET /v1/memories/merge-proposals/{id}
merges.resolve               org-admins    memory:write       POST /v1/memories/merge-proposals/{id}/resolve
merges.reject                org-admins    memory:write       POST /v1/memories/merge-proposals/{id}/reject
findings.list                agents/400    memory:read   tool GET /v1/memories/findings
findings.browse              people        -                  GET /v1/findings
# Documents and specialists.
documents.upload             everyone      memory:write  tool POST /v1/documents
documents.list               everyone      memory:read   tool GET /v1/documents
documents.get                everyone      memory:read   tool GET /v1/documents/{document_id}
documents.list_chunks        everyone      memory:read   tool GET /v1/documents/{document_id}/chunks
documents.delete             everyone      memory:write  tool DELETE /v1/documents/{document_id}
documents.content            everyone      memory:read        GET /v1/documents/{document_id}/content
documents.retry              everyone      memory:write       POST /v1/documents/{document_id}/retry
documents.search             everyone      memory:read   tool POST /v1/documents/search
specialists.write            everyone      admin              PUT /v1/specialists/{name}
specialists.list             everyone      memory:read   tool GET /v1/specialists
specialists.load             everyone      memory:read   tool POST /v1/specialists/{name}/load
specialists.unload           everyone      memory:read   tool POST /v1/specialists/{name}/unload
specialists.versions         everyone      memory:read        GET /v1/specialists/{name}/versions
# Handoffs and bundles are an agent's: people get 401, and read those of their agents elsewhere.
handoffs.save                agents/401    memory:write  tool POST /v1/handoffs
handoffs.list                agents/401    memory:read   tool GET /v1/handoffs
handoffs.resume              agents/401    memory:read   tool POST /v1/handoffs/resume
handoffs.get                 agents/401    memory:read   tool GET /v1/handoffs/{id}
handoffs.delete              agents/401    memory:write  tool DELETE /v1/handoffs/{id}
handoffs.export              agents/401    memory:read   tool GET /v1/handoffs/{id}/export
handoffs.pin                 agents/401    memory:write  tool POST /v1/handoffs/{id}/pin
handoffs.unpin               agents/401    memory:write  tool POST /v1/handoffs/{id}/unpin
handoffs.list_of_agent       people        -                  GET /v1/agents/{agent_id}/handoffs
handoffs.get_of_agent        people        -                  GET /v1/agents/{agent_id}/handoffs/{id}
bundles.assemble             agents/401    memory:read   tool POST /v1/bundles
bundles.get                  agents/401    memory:read   tool GET /v1/bundles/{id}
bundles.brief                agents/401    memory:read   tool GET /v1/bundles/{id}/brief
bundles.list_of_agent        people        -                  GET /v1/agents/{agent_id}/bundles
bundles.get_of_agent         people        -                  GET /v1/agents/{agent_id}/bundles/{id}
# Processes.
templates.author             everyone      memory:write  tool POST /v1/process-templates
templates.list               everyone      memory:read   tool GET /v1/process-templates
templates.get                everyone      memory:read   tool GET /v1/process-templates/{slug}
runs.create                  everyone      memory:write  tool POST /v1/runs
runs.list                    everyone      memory:read   tool GET /v1/runs
runs.get                     everyone      memory:read   tool GET /v1/runs/{run_id}
runs.position                everyone      memory:read   tool GET /v1/runs/{run_id}/position
runs.close                   everyone      memory:write  tool POST /v1/runs/{run_id}/close
runs.retrospective           everyone      memory:read   tool GET /v1/runs/{run_id}/retrospective
runs.history                 everyone      memory:read   tool GET /v1/runs/{run_id}/history
runs.status_document         everyone      memory:read   tool GET /v1/runs/{run_id}/status-document
runs.start_step              everyone      memory:write  tool POST /v1/runs/{run_id}/steps/start
runs.complete_step           everyone      memory:write  tool POST /v1/runs/{run_id}/steps/complete
runs.skip_step               everyone      memory:write  tool POST /v1/runs/{run_id}/steps/skip
runs.reopen_step             everyone      memory:write  tool POST /v1/runs/{run_id}/steps/reopen
runs.assign_step             everyone      memory:write  tool POST /v1/runs/{run_id}/steps/assign
runs.register_artifact       everyone      memory:write  tool POST /v1/runs/{run_id}/artifacts
runs.list_artifacts          everyone      memory:read   tool GET /v1/runs/{run_id}/artifacts
runs.attach_exemplar         everyone      memory:write  tool POST /v1/runs/{run_id}/exemplars
runs.offer_handoff           everyone      memory:write  tool POST /v1/runs/{run_id}/handoff-offers
runs.list_offers             everyone      memory:read   tool GET /v1/runs/{run_id}/handoff-offers
runs.accept_offer            everyone      memory:write  tool POST /v1/runs/{run_id}/handoff-offers/{offer_id}/accept
runs.decline_offer           everyone      memory:write  tool POST /v1/runs/{run_id}/handoff-offers/{offer_id}/decline
exemplars.create             everyone      memory:write  tool POST /v1/exemplars
exemplars.list               everyone      memory:read   tool GET /v1/exemplars
exemplars.get                everyone      memory:read   tool GET /v1/exemplars/{exemplar_id}
exemplars.rename             everyone      memory:write  tool PATCH /v1/exemplars/{exemplar_id}
exemplars.delete             everyone      memory:write  tool DELETE /v1/exemplars/{exemplar_id}
exemplars.download           people        -                  GET /v1/exemplars/{exemplar_id}/download
exemplars.referrers          everyone      memory:read        GET /v1/exemplars/{exemplar_id}/referrers
projects.list                everyone      memory:read   tool GET /v1/projects
projects.create              everyone      admin              POST /v1/projects
projects.update              everyone      admin              PATCH /v1/projects/{key}
# Outputs: export and e-mail are for people.
outputs.save                 everyone      memory:write  tool POST /v1/outputs
outputs.list                 everyone      memory:read   tool GET /v1/outputs
outputs.get                  everyone      memory:read   tool GET /v1/outputs/{output_id}
outputs.update               everyone      memory:write  tool PATCH /v1/outputs/{output_id}
outputs.delete               everyone      memory:write  tool DELETE /v1/outputs/{output_id}
outputs.list_versions        everyone      memory:read   tool GET /v1/outputs/{output_id}/versions
outputs.get_version          everyone      memory:read   tool GET /v1/outputs/{output_id}/versions/{version_num}
outputs.search               everyone      memory:read   tool POST /v1/outputs/search
outputs.export               people        -                  GET /v1/outputs/{output_id}/export
outputs.email                people        -                  POST /v1/outputs/{output_id}/email
# Approvals: agents ask, people answer. An agent reads its own, whatever its scopes.
approvals.ask                everyone      send          tool POST /v1/approvals
approvals.list               everyone      -             tool GET /v1/approvals
approvals.get                everyone      -             tool GET /v1/approvals/{id}
approvals.evidence           everyone      -                  GET /v1/approvals/{id}/evidence
approvals.receipt            everyone      -                  GET /v1/approvals/{id}/receipt
approvals.cancel             everyone      send               POST /v1/approvals/{id}/cancel
approvals.answer             people        -                  POST /v1/approvals/{id}/answer
# The console's own, and what every caller may know of itself.
live.stats                   people        -                  GET /v1/stats
live.history                 people        -                  GET /v1/stats/history
live.watch                   people        -                  GET /v1/live
onboarding.get               everyone      -             tool GET /v1/onboarding
onboarding.dismiss           everyone      -                  POST /v1/onboarding/dismiss
tenants.limits               everyone      -                  GET /v1/limits
# The operator's.
tenants.create               operator      -                  POST /v1/tenants
tenants.list                 operator      -                  GET /v1/tenants
tenants.usage                operator      -                  GET /v1/tenants/usage
tenants.update               operator      -                  PATCH /v1/tenants/{tenant_id}
tenants.erase                operator      -                  DELETE /v1/tenants/{tenant_id}
tenants.export               operator      -                  POST /v1/tenants/{tenant_id}/export
tenants.export_rows          operator      -                  POST /v1/tenants/{tenant_id}/export/rows
tenants.export_content       operator      -                  POST /v1/tenants/{tenant_id}/export/content
tenants.import               operator      -                  POST /v1/tenants/import
tenants.import_rows          operator      -                  POST /v1/tenants/{tenant_id}/import/rows
tenants.import_content       operator      -                  POST /v1/tenants/{tenant_id}/import/content
nodes.list                   operator      -                  GET /v1/nodes
nodes.installation           operator      -                  GET /v1/installation
nodes.update_installation    operator      -                  PATCH /v1/installation
rotation.read                operator      -                  GET /v1/rotation
rotation.start               operator      -                  POST /v1/rotation
rotation.finish              operator      -                  POST /v1/rotation/finish
# The service itself.
gateway.healthz              public        -                  GET /healthz
gateway.healthz              public        -                  GET /v1/healthz
gateway.readyz               public        -                  GET /readyz
gateway.metrics              monitor       -                  GET /metrics
gateway.openapi              public        -                  GET /openapi.json
gateway.openapi              public        -                  GET /v1/openapi.json
gateway.docs                 public        -                  GET /docs
gateway.llms                 public        -                  GET /llms.txt
gateway.mcp                  everyone      -                  POST /mcp
gateway.mcp                  everyone      -                  POST /v1/mcp
${(await loadKits()).map(({ access = "" }) => access).join("")}`;

export type Who =
  | "everyone"
  | "agents+admins"
  | "agents"
  | "agents/400"
  | "agents/401"
  | "people"
  | "org-admins"
  | "public"
  | "public?"
  | "operator"
  | "monitor";

export interface AccessRow {
  action: string;
  who: Who;
  /** Null: none. */
  scope: string | null;
  isTool: boolean;
  method: string;
  /** With the version segment. */
  path: string;
}

export const ACCESS: AccessRow[] = TABLE.split("\n")
  .filter((line) => line && !line.startsWith("#"))
  .map((line) => {
    const [action, who, scope, ...rest] = line.split(/ +/) as [string, Who, string, ...string[]];
    const isTool = rest[0] === "tool";
    const [method, path] = (isTool ? rest.slice(1) : rest) as [string, string];
    return { action, who, scope: scope === "-" ? null : scope, isTool, method, path };
  });
