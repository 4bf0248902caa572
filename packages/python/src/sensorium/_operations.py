# Written by `npm run openapi` from the contracts: change those.
from ._operation import Operation, Pages

A2A_CARD = Operation(
    method="GET",
    path="/a2a/{agent_id}/.well-known/agent-card.json",
    root=True,
    open=True,
)
A2A_TASKS_GET = Operation(
    method="GET",
    path="/a2a-tasks/{task_id}",
)
A2A_TASKS_UPDATE = Operation(
    method="POST",
    path="/a2a-tasks/{task_id}/status",
)
AGENTS_CREATE = Operation(
    method="POST",
    path="/agents",
)
AGENTS_LIST = Operation(
    method="GET",
    path="/agents",
    pages=Pages(items="agents", by="offset"),
)
AGENTS_LIST_OWN = Operation(
    method="GET",
    path="/auth/me/agents",
    pages=Pages(items="agents", by="offset"),
)
AGENTS_GET = Operation(
    method="GET",
    path="/agents/{agent_id}",
)
AGENTS_UPDATE = Operation(
    method="PATCH",
    path="/agents/{agent_id}",
)
AGENTS_SET_STATUS = Operation(
    method="PATCH",
    path="/agents/{agent_id}/status",
)
AGENTS_DELETE = Operation(
    method="DELETE",
    path="/agents/{agent_id}",
)
AGENTS_ROTATE_SIGNING_SECRET = Operation(
    method="POST",
    path="/agents/{agent_id}/signing-secret",
)
AUDIT_LIST = Operation(
    method="GET",
    path="/audit",
    pages=Pages(items="entries", by="cursor"),
)
AUDIT_EXPORT = Operation(
    method="GET",
    path="/audit/export",
    document=True,
)
AUTH_TOKEN = Operation(
    method="POST",
    path="/auth/token",
    open=True,
)
AUTH_LOGIN = Operation(
    method="POST",
    path="/auth/login",
    open=True,
)
AUTH_ME = Operation(
    method="GET",
    path="/auth/me",
)
AUTH_LOGOUT = Operation(
    method="POST",
    path="/auth/logout",
    repeatable=True,
)
AUTH_PASSWORD = Operation(
    method="POST",
    path="/auth/password",
)
AUTH_START_SESSION = Operation(
    method="POST",
    path="/auth/session",
    open=True,
)
AUTH_SESSION = Operation(
    method="GET",
    path="/auth/session",
)
AUTH_RENEW_SESSION = Operation(
    method="POST",
    path="/auth/session/renew",
)
AUTH_END_SESSION = Operation(
    method="DELETE",
    path="/auth/session",
)
AUTH_METHODS = Operation(
    method="GET",
    path="/auth/methods",
    open=True,
)
AUTH_BEGIN_OIDC = Operation(
    method="POST",
    path="/auth/oidc",
    open=True,
)
AUTH_FINISH_OIDC = Operation(
    method="POST",
    path="/auth/oidc/session",
    open=True,
)
AUTH_SIGN_IN_WAYS = Operation(
    method="GET",
    path="/auth/ways",
)
AUTH_BEGIN_TOTP = Operation(
    method="POST",
    path="/auth/totp",
)
AUTH_CONFIRM_TOTP = Operation(
    method="POST",
    path="/auth/totp/confirm",
)
AUTH_REMOVE_TOTP = Operation(
    method="POST",
    path="/auth/totp/remove",
)
AUTH_JWKS = Operation(
    method="GET",
    path="/.well-known/jwks.json",
    root=True,
    open=True,
)
BUNDLES_ASSEMBLE = Operation(
    method="POST",
    path="/bundles",
)
BUNDLES_GET = Operation(
    method="GET",
    path="/bundles/{id}",
)
BUNDLES_BRIEF = Operation(
    method="GET",
    path="/bundles/{id}/brief",
    document=True,
)
BUNDLES_LIST_OF_AGENT = Operation(
    method="GET",
    path="/agents/{agent_id}/bundles",
    pages=Pages(items="bundles", by="cursor"),
)
BUNDLES_GET_OF_AGENT = Operation(
    method="GET",
    path="/agents/{agent_id}/bundles/{id}",
)
CHANNELS_CREATE = Operation(
    method="POST",
    path="/channels",
)
CHANNELS_LIST = Operation(
    method="GET",
    path="/channels",
    pages=Pages(items="channels", by="offset"),
)
CHANNELS_GET = Operation(
    method="GET",
    path="/channels/{channel_id}",
)
CHANNELS_UPDATE = Operation(
    method="PATCH",
    path="/channels/{channel_id}",
)
CHANNELS_DELETE = Operation(
    method="DELETE",
    path="/channels/{channel_id}",
)
CHANNELS_ADD_MEMBER = Operation(
    method="POST",
    path="/channels/{channel_id}/members",
)
CHANNELS_LIST_MEMBERS = Operation(
    method="GET",
    path="/channels/{channel_id}/members",
    pages=Pages(items="members", by="offset"),
)
CHANNELS_REMOVE_MEMBER = Operation(
    method="DELETE",
    path="/channels/{channel_id}/members/{agent_id}",
)
CHANNELS_CREATE_FEED = Operation(
    method="POST",
    path="/channels/{channel_id}/feeds",
)
CHANNELS_LIST_FEEDS = Operation(
    method="GET",
    path="/channels/{channel_id}/feeds",
    pages=Pages(items="feeds", by="offset"),
)
CHANNELS_DELETE_FEED = Operation(
    method="DELETE",
    path="/channels/{channel_id}/feeds/{feed_id}",
)
CONNECTORS_CREATE = Operation(
    method="POST",
    path="/ingest/connectors",
)
CONNECTORS_LIST = Operation(
    method="GET",
    path="/ingest/connectors",
    pages=Pages(items="connectors", by="offset"),
)
CONNECTORS_GET = Operation(
    method="GET",
    path="/ingest/connectors/{connector_id}",
)
CONNECTORS_UPDATE = Operation(
    method="PATCH",
    path="/ingest/connectors/{connector_id}",
)
CONNECTORS_DELETE = Operation(
    method="DELETE",
    path="/ingest/connectors/{connector_id}",
)
DELIVERIES_POLL = Operation(
    method="GET",
    path="/delivery/poll",
)
DELIVERIES_ACK = Operation(
    method="POST",
    path="/delivery/ack",
    repeatable=True,
)
DELIVERIES_NACK = Operation(
    method="POST",
    path="/delivery/nack",
)
DELIVERIES_EXTEND = Operation(
    method="POST",
    path="/delivery/extend",
    repeatable=True,
)
DELIVERIES_STATS = Operation(
    method="GET",
    path="/delivery/stats",
)
DELIVERIES_LIST = Operation(
    method="GET",
    path="/agents/{agent_id}/deliveries",
    pages=Pages(items="deliveries", by="cursor"),
)
DELIVERIES_DRAIN = Operation(
    method="POST",
    path="/agents/{agent_id}/deliveries:drain",
)
DELIVERIES_DEAD_LETTERS = Operation(
    method="GET",
    path="/delivery/dlq",
    pages=Pages(items="items", by="cursor"),
)
DELIVERIES_DEAD_LETTER_GROUPS = Operation(
    method="GET",
    path="/delivery/dlq/groups",
)
DELIVERIES_REPLAY = Operation(
    method="POST",
    path="/delivery/dlq/{id}/replay",
)
DELIVERIES_REPLAY_MANY = Operation(
    method="POST",
    path="/delivery/dlq/replay",
)
DELIVERIES_DISCARD_MANY = Operation(
    method="POST",
    path="/delivery/dlq/discard",
)
DELIVERIES_DISCARD = Operation(
    method="DELETE",
    path="/delivery/dlq/{id}",
)
DEVICES_ISSUE = Operation(
    method="POST",
    path="/agents/{agent_id}/device-code",
)
DEVICES_STATUS = Operation(
    method="GET",
    path="/agents/{agent_id}/device-code",
)
DEVICES_CLAIM = Operation(
    method="POST",
    path="/device-codes:claim",
    open=True,
)
DEVICES_CONFIRM = Operation(
    method="POST",
    path="/agents/{agent_id}/device-code:confirm",
)
DEVICES_COMPLETE = Operation(
    method="POST",
    path="/device-codes:complete",
    open=True,
)
DEVICES_LOOK_UP = Operation(
    method="GET",
    path="/device-codes/{code}",
    open=True,
)
DOCUMENTS_UPLOAD = Operation(
    method="POST",
    path="/documents",
)
DOCUMENTS_LIST = Operation(
    method="GET",
    path="/documents",
    pages=Pages(items="documents", by="cursor"),
)
DOCUMENTS_GET = Operation(
    method="GET",
    path="/documents/{document_id}",
)
DOCUMENTS_LIST_CHUNKS = Operation(
    method="GET",
    path="/documents/{document_id}/chunks",
    pages=Pages(items="chunks", by="offset"),
)
DOCUMENTS_DELETE = Operation(
    method="DELETE",
    path="/documents/{document_id}",
)
DOCUMENTS_CONTENT = Operation(
    method="GET",
    path="/documents/{document_id}/content",
    document=True,
)
DOCUMENTS_RETRY = Operation(
    method="POST",
    path="/documents/{document_id}/retry",
)
DOCUMENTS_SEARCH = Operation(
    method="POST",
    path="/documents/search",
    repeatable=True,
)
EVENTS_PUBLISH = Operation(
    method="POST",
    path="/events",
    whole="event",
    sends="application/cloudevents+json",
    repeatable=True,
)
EVENTS_LIST = Operation(
    method="GET",
    path="/events",
    pages=Pages(items="events", by="cursor"),
)
EVENTS_GET = Operation(
    method="GET",
    path="/events/{event_id}",
)
EVENTS_RETRY = Operation(
    method="POST",
    path="/events/{event_id}/retry",
)
EVENTS_CANCEL = Operation(
    method="DELETE",
    path="/events/{event_id}",
)
EXEMPLARS_CREATE = Operation(
    method="POST",
    path="/exemplars",
)
EXEMPLARS_LIST = Operation(
    method="GET",
    path="/exemplars",
    pages=Pages(items="", by="offset"),
)
EXEMPLARS_GET = Operation(
    method="GET",
    path="/exemplars/{exemplar_id}",
)
EXEMPLARS_RENAME = Operation(
    method="PATCH",
    path="/exemplars/{exemplar_id}",
)
EXEMPLARS_DELETE = Operation(
    method="DELETE",
    path="/exemplars/{exemplar_id}",
)
EXEMPLARS_DOWNLOAD = Operation(
    method="GET",
    path="/exemplars/{exemplar_id}/download",
    document=True,
)
EXEMPLARS_REFERRERS = Operation(
    method="GET",
    path="/exemplars/{exemplar_id}/referrers",
)
FINDINGS_LIST = Operation(
    method="GET",
    path="/memories/findings",
)
FINDINGS_BROWSE = Operation(
    method="GET",
    path="/findings",
    pages=Pages(items="findings", by="cursor"),
)
GATEWAY_HEALTHZ = Operation(
    method="GET",
    path="/healthz",
    root=True,
    open=True,
)
GATEWAY_READYZ = Operation(
    method="GET",
    path="/readyz",
    root=True,
    open=True,
)
GATEWAY_METRICS = Operation(
    method="GET",
    path="/metrics",
    root=True,
    document=True,
)
GATEWAY_OPENAPI = Operation(
    method="GET",
    path="/openapi.json",
    root=True,
    open=True,
)
GATEWAY_DOCS = Operation(
    method="GET",
    path="/docs",
    root=True,
    open=True,
    document=True,
)
HANDOFFS_SAVE = Operation(
    method="POST",
    path="/handoffs",
)
HANDOFFS_LIST = Operation(
    method="GET",
    path="/handoffs",
    pages=Pages(items="", by="offset"),
)
HANDOFFS_RESUME = Operation(
    method="POST",
    path="/handoffs/resume",
    repeatable=True,
    document=True,
)
HANDOFFS_GET = Operation(
    method="GET",
    path="/handoffs/{id}",
)
HANDOFFS_DELETE = Operation(
    method="DELETE",
    path="/handoffs/{id}",
)
HANDOFFS_EXPORT = Operation(
    method="GET",
    path="/handoffs/{id}/export",
    document=True,
)
HANDOFFS_PIN = Operation(
    method="POST",
    path="/handoffs/{id}/pin",
)
HANDOFFS_UNPIN = Operation(
    method="POST",
    path="/handoffs/{id}/unpin",
)
HANDOFFS_LIST_OF_AGENT = Operation(
    method="GET",
    path="/agents/{agent_id}/handoffs",
    pages=Pages(items="handoffs", by="cursor"),
)
HANDOFFS_GET_OF_AGENT = Operation(
    method="GET",
    path="/agents/{agent_id}/handoffs/{id}",
)
INGEST_CREATE_WEBHOOK = Operation(
    method="POST",
    path="/ingest/webhooks",
)
INGEST_LIST_WEBHOOKS = Operation(
    method="GET",
    path="/ingest/webhooks",
    pages=Pages(items="webhooks", by="offset"),
)
INGEST_UPDATE_WEBHOOK = Operation(
    method="PATCH",
    path="/ingest/webhooks/{webhook_id}",
)
INGEST_DELETE_WEBHOOK = Operation(
    method="DELETE",
    path="/ingest/webhooks/{webhook_id}",
)
INGEST_ROTATE_WEBHOOK = Operation(
    method="POST",
    path="/ingest/webhooks/{webhook_id}:rotate",
)
INGEST_TEST_MAPPING = Operation(
    method="POST",
    path="/ingest/webhooks:test",
    repeatable=True,
)
INGEST_TEST_WEBHOOK = Operation(
    method="POST",
    path="/ingest/webhooks/{webhook_id}:test",
    repeatable=True,
)
INGEST_LIST_REQUESTS = Operation(
    method="GET",
    path="/ingest/webhooks/{webhook_id}/requests",
)
INGEST_RECEIVE = Operation(
    method="POST",
    path="/w/{tenant_slug}",
    root=True,
    sends="application/octet-stream",
    open=True,
)
INGEST_RECEIVE_FROM = Operation(
    method="POST",
    path="/w/{tenant_slug}/{source}",
    root=True,
    sends="application/octet-stream",
    open=True,
)
INGEST_VALIDATE = Operation(
    method="OPTIONS",
    path="/w/{tenant_slug}",
    root=True,
    sends="application/octet-stream",
    open=True,
    repeatable=True,
)
INGEST_VALIDATE_FOR = Operation(
    method="OPTIONS",
    path="/w/{tenant_slug}/{source}",
    root=True,
    sends="application/octet-stream",
    open=True,
    repeatable=True,
)
INTERESTS_CREATE = Operation(
    method="POST",
    path="/agents/{agent_id}/interests",
)
INTERESTS_LIST = Operation(
    method="GET",
    path="/agents/{agent_id}/interests",
    pages=Pages(items="interests", by="offset"),
)
INTERESTS_GET = Operation(
    method="GET",
    path="/agents/{agent_id}/interests/{id}",
)
INTERESTS_UPDATE = Operation(
    method="PATCH",
    path="/agents/{agent_id}/interests/{id}",
)
INTERESTS_DELETE = Operation(
    method="DELETE",
    path="/agents/{agent_id}/interests/{id}",
)
INTERESTS_TEST = Operation(
    method="POST",
    path="/agents/{agent_id}/interests:test",
    query=("include_service",),
    repeatable=True,
)
KEYS_CREATE = Operation(
    method="POST",
    path="/agents/{agent_id}/keys",
)
KEYS_LIST = Operation(
    method="GET",
    path="/agents/{agent_id}/keys",
    pages=Pages(items="keys", by="offset"),
)
KEYS_REVOKE = Operation(
    method="DELETE",
    path="/agents/{agent_id}/keys/{key_id}",
)
LIVE_STATS = Operation(
    method="GET",
    path="/stats",
)
LIVE_HISTORY = Operation(
    method="GET",
    path="/stats/history",
)
MEMORIES_ERASE = Operation(
    method="POST",
    path="/memories/erase",
)
MEMORIES_LIST = Operation(
    method="GET",
    path="/memories",
    pages=Pages(items="memories", by="cursor"),
)
MEMORIES_CREATE = Operation(
    method="POST",
    path="/memories",
)
MEMORIES_CREATE_BATCH = Operation(
    method="POST",
    path="/memories/batch",
)
MEMORIES_GET = Operation(
    method="GET",
    path="/memories/{id}",
)
MEMORIES_UPDATE = Operation(
    method="PATCH",
    path="/memories/{id}",
)
MEMORIES_PUT_BY_KEY = Operation(
    method="PUT",
    path="/memories/keys/{namespace}/{key}",
)
MEMORIES_GET_BY_KEY = Operation(
    method="GET",
    path="/memories/keys/{namespace}/{key}",
)
MEMORIES_DELETE_BY_KEY = Operation(
    method="DELETE",
    path="/memories/keys/{namespace}/{key}",
)
MEMORIES_NAMESPACES = Operation(
    method="GET",
    path="/memories/namespaces",
)
MEMORIES_PROMOTE = Operation(
    method="POST",
    path="/memories/{id}/promote",
)
MEMORIES_FORGET = Operation(
    method="POST",
    path="/memories/{id}/forget",
)
MEMORIES_RESTORE = Operation(
    method="POST",
    path="/memories/{id}/restore",
)
MEMORIES_SUPERSEDE = Operation(
    method="POST",
    path="/memories/{id}/supersede",
)
MEMORIES_LINEAGE = Operation(
    method="GET",
    path="/memories/{id}/lineage",
)
MEMORIES_SEARCH = Operation(
    method="POST",
    path="/memories/search",
    query=("expect",),
    repeatable=True,
)
MEMORIES_CITE = Operation(
    method="POST",
    path="/memories/{id}/cite",
)
MEMORIES_CITATIONS = Operation(
    method="GET",
    path="/memories/{id}/citations",
)
MEMORIES_ACTIVITY = Operation(
    method="GET",
    path="/agents/{agent_id}/activity",
    pages=Pages(items="activity", by="offset"),
)
MEMORIES_HEALTH = Operation(
    method="GET",
    path="/memories/health",
)
MERGES_PROPOSE = Operation(
    method="POST",
    path="/memories/merge-proposals",
)
MERGES_LIST = Operation(
    method="GET",
    path="/memories/merge-proposals",
    pages=Pages(items="merge_proposals", by="offset"),
)
MERGES_GET = Operation(
    method="GET",
    path="/memories/merge-proposals/{id}",
)
MERGES_RESOLVE = Operation(
    method="POST",
    path="/memories/merge-proposals/{id}/resolve",
)
MERGES_REJECT = Operation(
    method="POST",
    path="/memories/merge-proposals/{id}/reject",
)
OAUTH_API_RESOURCE = Operation(
    method="GET",
    path="/.well-known/oauth-protected-resource",
    root=True,
    open=True,
)
OAUTH_MCP_RESOURCE = Operation(
    method="GET",
    path="/.well-known/oauth-protected-resource/mcp",
    root=True,
    open=True,
)
OAUTH_VERSIONED_MCP_RESOURCE = Operation(
    method="GET",
    path="/.well-known/oauth-protected-resource/v1/mcp",
    root=True,
    open=True,
)
OAUTH_SERVER = Operation(
    method="GET",
    path="/.well-known/oauth-authorization-server",
    root=True,
    open=True,
)
OAUTH_REGISTER = Operation(
    method="POST",
    path="/oauth/register",
    root=True,
    whole="metadata",
    open=True,
)
OAUTH_TOKEN = Operation(
    method="POST",
    path="/oauth/token",
    root=True,
    open=True,
)
OAUTH_REVOKE = Operation(
    method="POST",
    path="/oauth/revoke",
    root=True,
    open=True,
)
OAUTH_DEVICE = Operation(
    method="POST",
    path="/oauth/device",
    root=True,
    open=True,
)
OAUTH_READ_REQUEST = Operation(
    method="POST",
    path="/oauth/request",
    repeatable=True,
)
OAUTH_DECIDE = Operation(
    method="POST",
    path="/oauth/decision",
)
ONBOARDING_GET = Operation(
    method="GET",
    path="/onboarding",
)
ONBOARDING_DISMISS = Operation(
    method="POST",
    path="/onboarding/dismiss",
)
OUTPUTS_EXPORT = Operation(
    method="GET",
    path="/outputs/{output_id}/export",
    document=True,
)
OUTPUTS_EMAIL = Operation(
    method="POST",
    path="/outputs/{output_id}/email",
)
OUTPUTS_SAVE = Operation(
    method="POST",
    path="/outputs",
)
OUTPUTS_LIST = Operation(
    method="GET",
    path="/outputs",
    pages=Pages(items="outputs", by="cursor"),
)
OUTPUTS_GET = Operation(
    method="GET",
    path="/outputs/{output_id}",
)
OUTPUTS_UPDATE = Operation(
    method="PATCH",
    path="/outputs/{output_id}",
)
OUTPUTS_DELETE = Operation(
    method="DELETE",
    path="/outputs/{output_id}",
)
OUTPUTS_LIST_VERSIONS = Operation(
    method="GET",
    path="/outputs/{output_id}/versions",
)
OUTPUTS_GET_VERSION = Operation(
    method="GET",
    path="/outputs/{output_id}/versions/{version_num}",
)
OUTPUTS_SEARCH = Operation(
    method="POST",
    path="/outputs/search",
    repeatable=True,
)
PROJECTS_LIST = Operation(
    method="GET",
    path="/projects",
    pages=Pages(items="projects", by="offset"),
)
PROJECTS_CREATE = Operation(
    method="POST",
    path="/projects",
)
PROJECTS_UPDATE = Operation(
    method="PATCH",
    path="/projects/{key}",
)
RELATIONSHIPS_CREATE = Operation(
    method="POST",
    path="/memories/{id}/relationships",
)
RELATIONSHIPS_LIST = Operation(
    method="GET",
    path="/memories/{id}/relationships",
    pages=Pages(items="relationships", by="offset"),
)
RELATIONSHIPS_DELETE = Operation(
    method="DELETE",
    path="/memories/{id}/relationships/{rel_id}",
)
RELATIONSHIPS_GRAPH = Operation(
    method="GET",
    path="/memories/{id}/graph",
)
RELATIONSHIPS_TYPES = Operation(
    method="GET",
    path="/relationship-types",
)
RUNS_REGISTER_ARTIFACT = Operation(
    method="POST",
    path="/runs/{run_id}/artifacts",
)
RUNS_LIST_ARTIFACTS = Operation(
    method="GET",
    path="/runs/{run_id}/artifacts",
    pages=Pages(items="artifacts", by="offset"),
)
RUNS_ATTACH_EXEMPLAR = Operation(
    method="POST",
    path="/runs/{run_id}/exemplars",
)
RUNS_OFFER_HANDOFF = Operation(
    method="POST",
    path="/runs/{run_id}/handoff-offers",
)
RUNS_LIST_OFFERS = Operation(
    method="GET",
    path="/runs/{run_id}/handoff-offers",
)
RUNS_ACCEPT_OFFER = Operation(
    method="POST",
    path="/runs/{run_id}/handoff-offers/{offer_id}/accept",
)
RUNS_DECLINE_OFFER = Operation(
    method="POST",
    path="/runs/{run_id}/handoff-offers/{offer_id}/decline",
)
RUNS_CREATE = Operation(
    method="POST",
    path="/runs",
)
RUNS_LIST = Operation(
    method="GET",
    path="/runs",
    pages=Pages(items="", by="offset"),
)
RUNS_GET = Operation(
    method="GET",
    path="/runs/{run_id}",
)
RUNS_POSITION = Operation(
    method="GET",
    path="/runs/{run_id}/position",
)
RUNS_CLOSE = Operation(
    method="POST",
    path="/runs/{run_id}/close",
)
RUNS_RETROSPECTIVE = Operation(
    method="GET",
    path="/runs/{run_id}/retrospective",
)
RUNS_HISTORY = Operation(
    method="GET",
    path="/runs/{run_id}/history",
)
RUNS_STATUS_DOCUMENT = Operation(
    method="GET",
    path="/runs/{run_id}/status-document",
    document=True,
)
RUNS_START_STEP = Operation(
    method="POST",
    path="/runs/{run_id}/steps/start",
)
RUNS_COMPLETE_STEP = Operation(
    method="POST",
    path="/runs/{run_id}/steps/complete",
)
RUNS_SKIP_STEP = Operation(
    method="POST",
    path="/runs/{run_id}/steps/skip",
)
RUNS_REOPEN_STEP = Operation(
    method="POST",
    path="/runs/{run_id}/steps/reopen",
)
RUNS_ASSIGN_STEP = Operation(
    method="POST",
    path="/runs/{run_id}/steps/assign",
)
SCHEDULES_CREATE = Operation(
    method="POST",
    path="/schedules",
)
SCHEDULES_LIST = Operation(
    method="GET",
    path="/schedules",
    pages=Pages(items="schedules", by="offset"),
)
SCHEDULES_GET = Operation(
    method="GET",
    path="/schedules/{schedule_id}",
)
SCHEDULES_UPDATE = Operation(
    method="PATCH",
    path="/schedules/{schedule_id}",
)
SCHEDULES_DELETE = Operation(
    method="DELETE",
    path="/schedules/{schedule_id}",
)
SCHEDULES_RUN = Operation(
    method="POST",
    path="/schedules/{schedule_id}:run",
)
SCHEDULES_TEST = Operation(
    method="POST",
    path="/schedules:test",
    repeatable=True,
)
SESSIONS_LIST = Operation(
    method="GET",
    path="/agents/{agent_id}/sessions",
)
SESSIONS_DELETE = Operation(
    method="DELETE",
    path="/agents/{agent_id}/sessions/{session_id}",
)
SESSIONS_HEARTBEAT = Operation(
    method="POST",
    path="/sessions/{session_id}/heartbeat",
)
SPECIALISTS_WRITE = Operation(
    method="PUT",
    path="/specialists/{name}",
)
SPECIALISTS_LIST = Operation(
    method="GET",
    path="/specialists",
)
SPECIALISTS_LOAD = Operation(
    method="POST",
    path="/specialists/{name}/load",
)
SPECIALISTS_UNLOAD = Operation(
    method="POST",
    path="/specialists/{name}/unload",
)
SPECIALISTS_VERSIONS = Operation(
    method="GET",
    path="/specialists/{name}/versions",
    pages=Pages(items="versions", by="offset"),
)
STATE_PUT = Operation(
    method="PUT",
    path="/state/{namespace}/{key}",
)
STATE_PUT_MANY = Operation(
    method="POST",
    path="/state/{namespace}",
)
STATE_GET = Operation(
    method="GET",
    path="/state/{namespace}/{key}",
)
STATE_DELETE = Operation(
    method="DELETE",
    path="/state/{namespace}/{key}",
)
STATE_LIST = Operation(
    method="GET",
    path="/state/{namespace}",
)
STATE_CLEAR = Operation(
    method="DELETE",
    path="/state/{namespace}",
)
STATE_NAMESPACES = Operation(
    method="GET",
    path="/state",
)
TEAMS_CREATE = Operation(
    method="POST",
    path="/teams",
)
TEAMS_LIST = Operation(
    method="GET",
    path="/teams",
    pages=Pages(items="teams", by="offset"),
)
TEMPLATES_AUTHOR = Operation(
    method="POST",
    path="/process-templates",
)
TEMPLATES_LIST = Operation(
    method="GET",
    path="/process-templates",
    pages=Pages(items="", by="offset"),
)
TEMPLATES_GET = Operation(
    method="GET",
    path="/process-templates/{slug}",
)
TENANTS_CREATE = Operation(
    method="POST",
    path="/tenants",
)
TENANTS_LIST = Operation(
    method="GET",
    path="/tenants",
    pages=Pages(items="tenants", by="offset"),
)
TENANTS_UPDATE = Operation(
    method="PATCH",
    path="/tenants/{tenant_id}",
)
TENANTS_ERASE = Operation(
    method="DELETE",
    path="/tenants/{tenant_id}",
)
TENANTS_LIMITS = Operation(
    method="GET",
    path="/limits",
)
USERS_CREATE = Operation(
    method="POST",
    path="/users",
)
USERS_LIST = Operation(
    method="GET",
    path="/users",
    pages=Pages(items="users", by="offset"),
)
USERS_UPDATE = Operation(
    method="PATCH",
    path="/users/{user_id}",
)
USERS_DELETE = Operation(
    method="DELETE",
    path="/users/{user_id}",
)
