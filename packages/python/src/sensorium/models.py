# Written by `npm run openapi` from the contracts: change those.
from __future__ import annotations

from typing import Any, Literal, Union

from pydantic import Field

from ._model import Model


class A2aTask(Model):
    id: str
    agent_id: str
    context_id: str
    """Groups the tasks of a conversation."""
    state: Union[Literal["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_REJECTED", "TASK_STATE_CANCELED"], str]
    """State, as A2A names it."""
    task: dict[str, Any]
    """The task in the JSON of A2A 1.0: `status`, `history` and `artifacts`."""
    created_at: str
    updated_at: str


class Activity(Model):
    kind: Literal["cite"]
    memory_id: str
    own: bool
    """The memory is the agent's own; the citation does not affect ranking."""
    originating_query_id: Union[str, None]
    at: str


class Agent(Model):
    id: str
    tenant_id: str
    name: str
    """Display name."""
    status: Union[Literal["active", "inactive"], str]
    delivery_mode: Union[Literal["poll", "push", "sse"], str]
    description: Union[str, None]
    delivery_endpoint: Union[str, None]
    push_format: Union[Literal["structured", "binary"], str]
    """CloudEvents mode of pushes. `structured` (default): the body is the whole event. `binary`: the body is its
    data, and `ce-…` headers contain its attributes. An event whose attributes do not fit into headers (over 8 KB,
    or enriched) is always pushed in structured mode."""
    a2a: bool
    """Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there has its name
    and description, and is public. Default: false."""
    team_id: Union[str, None]
    owner_user_id: Union[str, None]
    visibility_timeout_seconds: Union[int, None]
    retry_budget: Union[int, None]
    retry_delays_seconds: Union[list[int], None]
    max_in_flight: Union[int, None]
    max_per_minute: Union[int, None]
    push_stopped: bool
    """Pushes stopped because the endpoint returned 410 Gone. Set `delivery_endpoint` to resume them."""
    created_at: str
    updated_at: str
    delivery: Union[DeliveryHealth, None] = None


class AgentCatalog(Model):
    specVersion: Literal["0.9"]
    host: AgentCatalogHost
    entries: list[CatalogEntry]


class AgentCatalogHost(Model):
    displayName: str
    documentationUrl: str


class AgentDelivery(Model):
    id: str
    """Id of the delivery, not of its event."""
    status: Union[Literal["ready", "in_flight", "waiting", "acknowledged", "dead", "discarded"], str]
    """`ready`: not leased yet. `in_flight`: leased. `waiting`: will be retried. `dead`: a dead letter. `discarded`:
    removed by a person, or as a dead letter."""
    event: Union[AgentDeliveryEvent, None]
    attempt_count: int
    next_attempt_at: Union[str, None]
    last_error: Union[AgentDeliveryLastError, None]
    created_at: str
    timeline: list[AgentDeliveryTimelineItem]
    """Oldest first; the latest 20."""


class AgentDeliveryEvent(Model):
    """Null if the event is no longer kept."""

    event_id: str
    type: str
    source: str
    subject: Union[str, None]


class AgentDeliveryLastError(Model):
    at: str
    reason: str


class AgentDeliveryTimelineItem(Model):
    at: str
    what: str
    reason: Union[str, None] = None


class AgentsCreateResult(Model):
    id: str
    tenant_id: str
    name: str
    """Display name."""
    status: Union[Literal["active", "inactive"], str]
    delivery_mode: Union[Literal["poll", "push", "sse"], str]
    description: Union[str, None]
    delivery_endpoint: Union[str, None]
    push_format: Union[Literal["structured", "binary"], str]
    """CloudEvents mode of pushes. `structured` (default): the body is the whole event. `binary`: the body is its
    data, and `ce-…` headers contain its attributes. An event whose attributes do not fit into headers (over 8 KB,
    or enriched) is always pushed in structured mode."""
    a2a: bool
    """Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there has its name
    and description, and is public. Default: false."""
    team_id: Union[str, None]
    owner_user_id: Union[str, None]
    visibility_timeout_seconds: Union[int, None]
    retry_budget: Union[int, None]
    retry_delays_seconds: Union[list[int], None]
    max_in_flight: Union[int, None]
    max_per_minute: Union[int, None]
    push_stopped: bool
    """Pushes stopped because the endpoint returned 410 Gone. Set `delivery_endpoint` to resume them."""
    created_at: str
    updated_at: str
    delivery: Union[DeliveryHealth, None] = None
    signing_secret: str
    """Secret that signs pushes (Standard Webhooks). Shown only once."""


class AgentsListOwnResult(Model):
    agents: list[Agent]
    total: int


class AgentsListResult(Model):
    agents: list[Agent]
    total: int


class AgentsRotateSigningSecretResult(Model):
    signing_secret: str
    """Secret that signs pushes (Standard Webhooks). Shown only once."""
    previous_ends_at: str


class Approval(Model):
    id: str
    tenant_id: str
    agent_id: Union[str, None]
    user_id: Union[str, None]
    status: Union[Literal["open", "answered", "expired", "canceled"], str]
    """`expired`: the deadline passed without an answer."""
    title: str
    """What is asked, in a line."""
    question: str
    """The question, in Markdown."""
    choices: list[str]
    text_allowed: bool
    evidence: list[DigestedEvidence]
    run_id: Union[str, None]
    step_key: Union[str, None]
    subject: Union[str, None]
    assignees: list[str]
    deadline_at: str
    on_deadline: str
    """The choice that is the answer at the deadline, or `expired`."""
    escalate_to: list[str]
    escalate_at: Union[str, None]
    escalated_at: Union[str, None]
    choice: Union[str, None]
    text: Union[str, None]
    answered_by_user_id: Union[str, None]
    answered_by_slack_user: Union[str, None]
    answered_by: Union[Union[Literal["signed_in", "link", "slack", "deadline"], str], None]
    settled_at: Union[str, None]
    created_at: str


class ApprovalLink(Model):
    title: str
    """What is asked, in a line."""
    question: str
    """The question, in Markdown."""
    choice: str
    """One of the choices."""
    text_allowed: bool
    evidence: list[DigestedEvidence]
    deadline_at: str


class ApprovalsAnswerLinkResult(Model):
    title: str
    """What is asked, in a line."""
    choice: str
    """One of the choices."""


class ApprovalsEvidenceResult(Model):
    evidence: list[EvidenceCard]


class ApprovalsListResult(Model):
    approvals: list[Approval]
    next: Union[str, None]


class ApprovalsReceiptResult(Model):
    id: str
    receipt: str


class Audience(Model):
    regions: list[str]
    """Regions."""
    industries: list[str]
    """Industries."""
    product_lines: list[str]
    """Product lines."""
    segments: list[str]
    """Customer segments."""


class AuditEntry(Model):
    id: str
    at: str
    action: str
    actor_kind: Union[Literal["agent", "user", "operator", "service"], str]
    actor_id: Union[str, None]
    resource_type: Union[str, None]
    resource_id: Union[str, None]
    outcome: Union[Literal["begun", "done", "refused", "failed"], str]
    """`begun`: still running, or interrupted with an unknown outcome."""
    error: Union[str, None]
    request_id: Union[str, None]
    ip: Union[str, None]
    details: dict[str, Any]
    """Ids, counts, decisions and field names; never content."""


class AuditListResult(Model):
    entries: list[AuditEntry]
    next_cursor: Union[str, None]


class AuthBeginOidcResult(Model):
    url: str
    """The provider's page."""


class AuthBeginTotpResult(Model):
    secret: str
    """The secret in base32."""
    uri: str
    """The same as an address, for a QR code."""


class AuthConfirmTotpResult(Model):
    recovery_codes: list[str]


class AuthEndSessionResult(Model):
    sign_out_url: Union[str, None]


class AuthJwksResult(Model):
    keys: list[AuthJwksResultKeysItem]


class AuthJwksResultKeysItem(Model):
    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str
    kid: str
    use: Literal["sig"]
    alg: Literal["ES256"]


class AuthLoginResult(Model):
    access_token: str
    """A JWT (ES256), valid for one hour."""
    token_type: Literal["Bearer"]
    expires_at: str
    user: AuthLoginResultUser


class AuthLoginResultUser(Model):
    id: str
    display_name: str
    """Display name."""
    role: Union[Literal["admin", "member"], str]
    tenant_id: str


class AuthMeResult(Model):
    kind: Union[Literal["agent", "user"], str]
    agent: Union[Agent, None] = None
    user: Union[AuthMeResultUser, None] = None
    tenant: AuthMeResultTenant
    scopes: list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]]
    expires_at: Union[str, None]


class AuthMeResultTenant(Model):
    id: str
    slug: str
    name: str
    """Display name."""


class AuthMeResultUser(Model):
    id: str
    display_name: str
    """Display name."""
    role: Union[Literal["admin", "member"], str]
    tenant_id: str
    email: str
    """E-mail address, used to sign in."""


class AuthMethodsResult(Model):
    password: bool
    """By an e-mail address and a password."""
    oidc: Union[AuthMethodsResultOidc, None]


class AuthMethodsResultOidc(Model):
    """By an identity provider."""

    name: str
    """The provider's name."""


class AuthPasswordResult(Model):
    access_token: str
    """A JWT (ES256), valid for one hour."""
    token_type: Literal["Bearer"]
    expires_at: str
    user: AuthPasswordResultUser


class AuthPasswordResultUser(Model):
    id: str
    display_name: str
    """Display name."""
    role: Union[Literal["admin", "member"], str]
    tenant_id: str


class AuthSignInWaysResult(Model):
    password: bool
    """Whether the account has a password."""
    totp: Union[AuthSignInWaysResultTotp, None]
    identity: Union[AuthSignInWaysResultIdentity, None]


class AuthSignInWaysResultIdentity(Model):
    """The identity that signs this person in."""

    issuer: str
    """The identity provider."""
    linked_at: str


class AuthSignInWaysResultTotp(Model):
    since: str
    recovery_codes_left: int
    """Recovery codes that were not used."""


class AuthTokenResult(Model):
    access_token: str
    """A JWT (ES256), valid for one hour."""
    token_type: Literal["Bearer"]
    expires_at: str
    expires_in: int
    """Seconds until `expires_at`."""
    scope: str
    """The scopes of the token."""
    agent: AuthTokenResultAgent


class AuthTokenResultAgent(Model):
    id: str
    name: str
    """Display name."""
    team: Union[str, None]
    tenant_id: str


class AuthorizationRequest(Model):
    client: AuthorizationRequestClient
    redirect_to: Union[str, None]
    redirect_kind: Union[Union[Literal["computer", "app", "site"], str], None]
    user_code: Union[str, None]
    resource: str
    """What the client wants to use."""
    scopes: list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]]
    """Requested scopes that the person may grant."""
    refusal: Union[AuthorizationRequestRefusal, None]


class AuthorizationRequestClient(Model):
    id: str
    """The client's id: registered, or the URL of its metadata document."""
    name: str
    """As the client calls itself."""
    uri: Union[str, None]
    host: Union[str, None]


class AuthorizationRequestRefusal(Model):
    error: str
    error_description: str
    redirect_uri: str
    """Reports it to the client."""


class BrowserSession(Model):
    user: BrowserSessionUser
    tenant: BrowserSessionTenant
    expires_at: str
    csrf_token: str
    """For the header X-CSRF-Token of requests that change state."""


class BrowserSessionTenant(Model):
    id: str
    slug: str
    name: str
    """Display name."""


class BrowserSessionUser(Model):
    id: str
    display_name: str
    """Display name."""
    role: Union[Literal["admin", "member"], str]
    tenant_id: str
    email: str
    """E-mail address, used to sign in."""


class Bundle(Model):
    id: str
    query: Union[str, None]
    items: list[BundleItemsItem]
    """By rank."""
    rendered_brief: str
    """Markdown; text by others is fenced."""
    degraded: bool
    """A source was unavailable."""
    degraded_reasons: list[str]
    weights_version: str
    """The version of the ranking weights."""
    created_at: str


class BundleForPeople(Model):
    id: str
    query: Union[str, None]
    items: list[BundleForPeopleItemsItem]
    """By rank."""
    rendered_brief: Union[str, None]
    degraded: bool
    """A source was unavailable."""
    degraded_reasons: list[str]
    weights_version: str
    """The version of the ranking weights."""
    created_at: str
    agent_id: str


class BundleForPeopleItemsItem(Model):
    kind: Union[Literal["memory", "output", "handoff"], str]
    item_id: str
    title: str
    score: float
    source: str
    """How it was found."""
    why: str
    rank: int
    """1 is the best of all kinds."""


class BundleItemsItem(Model):
    kind: Union[Literal["memory", "output", "handoff"], str]
    item_id: str
    title: str
    score: float
    source: str
    """How it was found."""
    why: str
    rank: int
    """1 is the best of all kinds."""


class BundlesListOfAgentResult(Model):
    bundles: list[ListedBundle]
    next_cursor: Union[str, None]


class CatalogEntry(Model):
    identifier: str
    """Id of the agent, or of the entry that continues the catalogue."""
    type: Union[Literal["application/a2a-agent-card+json", "application/ai-catalog+json"], str]
    """An agent card, or the rest of the catalogue."""
    url: str
    """Address of the card, or of the rest."""
    displayName: str
    description: Union[str, None] = None
    """What the agent is for, if that is known."""
    updatedAt: Union[str, None] = None


class Channel(Model):
    id: str
    name: str
    """Display name."""
    description: Union[str, None]
    created_at: str
    updated_at: str


class ChannelsListFeedsResult(Model):
    feeds: list[Feed]
    total: int


class ChannelsListMembersResult(Model):
    members: list[Member]
    total: int


class ChannelsListResult(Model):
    channels: list[Channel]
    total: int


class Chunk(Model):
    chunk_id: str
    document_id: str
    page_number: Union[int, None]
    char_offset: int
    """Its start in the document's text."""
    char_length: int
    """Its length in the document's text."""
    chunk_index: int
    text: str
    """The text there. If it begins within a table, the table's header goes before it."""
    created_at: str


class Citation(Model):
    document_id: str
    document_name: str
    page: Union[int, None]
    snippet: str
    source_id: str
    confidence: Union[float, None]
    version: Union[int, None]
    freshness: CitationFreshness


class CitationFreshness(Model):
    stale: bool
    """The document was superseded or deleted since."""
    stale_since: Union[str, None]


class CloudEvent(Model):
    """A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters
    and digits, their values are strings without control characters, booleans or 32-bit integers."""

    specversion: Literal["1.0"]
    """Version of CloudEvents."""
    id: str
    """Deduplication key, unique within the tenant."""
    source: str
    """Producing system."""
    type: str
    """Event type in reverse-DNS form, such as `com.example.order.created`."""
    subject: Union[str, None] = None
    """What the event is about."""
    time: Union[str, None] = None
    """When the event happened (RFC 3339)."""
    datacontenttype: Union[str, None] = None
    """Media type of `data`."""
    dataschema: Union[str, None] = None
    """Schema of `data`."""
    notbefore: Union[str, None] = None
    """Not to be delivered before this time (RFC 3339), at most 366 days ahead."""
    data: Union[Any, None] = None
    """Any JSON. Numbers are stored as doubles: send integers beyond 2^53 as strings."""
    data_base64: Union[str, None] = None
    """Binary data in base64, instead of `data`."""


class Connector(Model):
    id: str
    name: str
    """Display name."""
    kind: Union[Literal["amqp091", "amqp10"], str]
    """Protocol of the broker. `amqp091`: RabbitMQ. `amqp10`: Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ's
    plugin."""
    url: str
    """Address of the broker, without credentials and query."""
    queue: Union[str, None]
    address: Union[str, None]
    source: str
    """Name of the sender: the second part of the event type, and the end of the webhook's URL."""
    mapping: ConnectorMapping
    """Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an application property
    (AMQP 1.0)."""
    prefetch: int
    """Maximum unacknowledged messages per node."""
    paused: bool
    """Whether the connector is paused."""
    state: Union[Literal["connecting", "consuming", "paused", "retrying", "failed"], str]
    last_error: Union[str, None]
    last_error_at: Union[str, None]
    counts: ConnectorCounts
    lag: Union[int, None]
    created_at: str
    updated_at: str


class ConnectorCounts(Model):
    received: int
    """Messages received, repetitions included."""
    accepted: int
    """Messages accepted as new events; redelivered duplicates do not count."""
    duplicates: int
    """Messages whose id an event has already."""
    differing_duplicates: int
    """Duplicates whose source or content differs from the first event's. They were not stored: choose an `id` that
    identifies the event."""
    mapping_errors: int
    """Messages that could not be mapped and were dead-lettered."""


class ConnectorMapping(Model):
    """Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an application property
    (AMQP 1.0)."""

    entity: str
    """Third part of the event type."""
    action: str
    """Fourth part of the event type."""
    id: Union[Union[str, None], None] = None
    subject: Union[Union[str, None], None] = None
    data: Union[Union[str, None], None] = None


class ConnectorsListResult(Model):
    connectors: list[Connector]
    total: int


class DeadLetter(Model):
    id: str
    """Id of the delivery, not of its event."""
    event_id: Union[str, None]
    agent_id: Union[str, None]
    payload: Any
    """The whole CloudEvent, or the input that could not be mapped."""
    attempt_count: int
    dlq_reason: str
    created_at: str
    dead_lettered_at: str
    source: Union[str, None]


class Deleted(Model):
    id: str
    erased_at: str
    erased: dict[str, int]
    """Rows by kind."""
    storage: Union[Literal["rewritten", "overwritten", "deleted"], str]
    """How the bytes were removed from the store's files. `rewritten`: the files were rewritten without them.
    `overwritten`: in place; fragments of rows that SQLite moved earlier, about one in a thousand, may remain in
    unused parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may keep them until the
    space is reused."""
    backups_until: Union[str, None]
    receipt: str
    """A JWS of the service (`/.well-known/jwks.json`)."""


class DeliveriesAckResult(Model):
    acknowledged: int
    unknown_ids: Union[list[str], None] = None
    """Those that name no delivery of the agent. Absent if there are none."""


class DeliveriesDeadLetterGroupsResult(Model):
    groups: list[DeliveriesDeadLetterGroupsResultGroupsItem]
    """At most 100."""
    total: int
    """Dead letters of all groups."""
    more: bool


class DeliveriesDeadLetterGroupsResultGroupsItem(Model):
    cause: str
    """The reason without what differs."""
    dlq_reason: str
    """The latest reason."""
    count: int
    agents: int
    """Number of agents."""
    latest_at: str


class DeliveriesDeadLettersResult(Model):
    items: list[DeadLetter]
    count: int
    """Number of dead letters on this page."""
    next_cursor: Union[str, None]


class DeliveriesDiscardManyResult(Model):
    status: Union[Literal["accepted", "dry_run"], str]
    count: int
    """Dead letters selected."""
    groups: list[DeliveriesDiscardManyResultGroupsItem]
    more: bool
    """Whether others are left: repeat the request."""


class DeliveriesDiscardManyResultGroupsItem(Model):
    dlq_reason: str
    count: int


class DeliveriesDrainResult(Model):
    discarded: int
    in_flight: int
    """Deliveries in flight, which were kept."""
    before: str
    """Pass this to discard those left, and no later ones."""
    more: bool


class DeliveriesExtendResult(Model):
    extended: int


class DeliveriesListResult(Model):
    deliveries: list[AgentDelivery]
    next_cursor: Union[str, None]


class DeliveriesNackResult(Model):
    nacked: int
    """Deliveries rejected."""
    dead_lettered: int
    """Those dead-lettered, as their retry budget was spent or `dead_letter` was set."""


class DeliveriesNextResult(Model):
    deliveries: list[DeliveryEvent]
    count: int
    acknowledged: int
    nacked: int
    """Deliveries rejected."""
    dead_lettered: int
    """Those dead-lettered, as their retry budget was spent or `dead_letter` was set."""


class DeliveriesPollResult(Model):
    deliveries: list[DeliveryEvent]
    count: int


class DeliveriesReplayManyResult(Model):
    status: Union[Literal["accepted", "dry_run"], str]
    count: int
    """Dead letters selected."""
    groups: list[DeliveriesReplayManyResultGroupsItem]
    more: bool
    """Whether others are left: repeat the request."""


class DeliveriesReplayManyResultGroupsItem(Model):
    dlq_reason: str
    count: int


class DeliveriesReplayResult(Model):
    id: str
    """Id of the delivery, not of its event."""
    status: Union[Literal["accepted", "dry_run"], str]
    receivers: Union[list[str], None] = None
    """On a dry run: the agents that would receive the event."""


class DeliveriesReplaysResult(Model):
    replays: list[Replay]
    next: Union[str, None]


class DeliveriesStatsResult(Model):
    pending: int
    """Neither acknowledged nor dead-lettered."""
    in_flight: int
    """Pending deliveries that are leased."""
    waiting: int
    """Pending deliveries that wait for a retry, or for an earlier one of their ordering key."""
    dead: int
    """Dead letters."""
    oldest_age_seconds: Union[float, None]
    limited_by: Union[Union[Union[Literal["max_in_flight", "max_per_minute"], str], None], None] = None
    agents: Union[list[DeliveriesStatsResultAgentsItem], None] = None
    total: Union[int, None] = None
    """Agents of the tenant."""


class DeliveriesStatsResultAgentsItem(Model):
    agent_id: str
    pending: int
    """Neither acknowledged nor dead-lettered."""
    in_flight: int
    """Pending deliveries that are leased."""
    waiting: int
    """Pending deliveries that wait for a retry, or for an earlier one of their ordering key."""
    dead: int
    """Dead letters."""
    oldest_age_seconds: Union[float, None]
    limited_by: Union[Union[Union[Literal["max_in_flight", "max_per_minute"], str], None], None] = None


class DeliveryEvent(Model):
    id: str
    """Id of the delivery, not of its event."""
    event_id: str
    payload: dict[str, Any]
    """The whole CloudEvent."""
    attempt_count: int
    """Delivery attempts so far, from 1."""
    created_at: str
    lease: str
    """Identifies this attempt. Pass it when you reject or extend the delivery."""
    lease_expires_at: str
    matched: Matched
    """The agent's interests and the channel feeds that matched the event."""
    replay_id: Union[str, None] = None
    """Present if a replay of history delivers it."""


class DeliveryHealth(Model):
    state: Union[Literal["ok", "quiet", "unmatched", "unsubscribed", "behind", "failing", "stuck", "unreachable"], str]
    """`unreachable`: its endpoint cannot be reached, or answered 410 Gone. `stuck`: a delivery has been pending for
    `late_after_seconds`, and none was acknowledged in that time. `failing`: it has dead letters of the last 24
    hours. `behind`: it acknowledges, but a delivery has been pending for that long. `unsubscribed`: it has a key
    with the scope `receive`, but no interests and is in no channel with feeds. `unmatched`: one of its interests
    has matched no event. Both after `STUCK_AFTER_SECONDS`. `quiet`: not seen for 24 hours, and nothing is
    pending. `ok`: none of these. The first of this list that applies is shown. All but the last two need
    attention."""
    late_after_seconds: float
    """Age from which a pending delivery is late: `STUCK_AFTER_SECONDS` (5 minutes) or its lease. For an agent that
    polls or streams also twice its usual absence: it did not ask for deliveries for as long on two of the last 14
    days."""
    reason: Union[str, None]
    pending: int
    """Neither acknowledged nor dead-lettered."""
    in_flight: int
    """Pending deliveries that are leased."""
    waiting: int
    """Pending deliveries that wait for a retry, or for an earlier one of their ordering key."""
    dead: int
    """Dead letters."""
    oldest_age_seconds: Union[float, None]
    limited_by: Union[Union[Literal["max_in_flight", "max_per_minute"], str], None]
    success_rate: Union[float, None]
    last_acknowledged_at: Union[str, None]
    last_seen_at: Union[str, None]
    last_error: Union[DeliveryHealthLastError, None]


class DeliveryHealthLastError(Model):
    """The last attempt that failed or was returned with a reason, or the last failure to reach its endpoint."""

    at: str
    reason: str


class DeliveryLog(Model):
    log: Union[str, None]
    logged_at: Union[str, None]


class DemoDeleteResult(Model):
    tenant_id: Union[str, None]
    erased: int
    """Number of erased rows."""


class DemoGetResult(Model):
    tenant: Union[DemoTenant, None]
    own: bool
    """The caller's organisation is itself a demonstration."""


class DemoPart(Model):
    what: str
    url: str
    """Its page in the console."""


class DemoTenant(Model):
    id: str
    slug: str
    name: str


class Demonstration(Model):
    tenant: DemoTenant
    url: str
    """Address of the console."""
    person: DemonstrationPerson
    """Signs in to the console as its admin."""
    made: list[DemoPart]


class DemonstrationPerson(Model):
    """Signs in to the console as its admin."""

    email: str
    password: str


class DevicesClaimResult(Model):
    claim_id: str


class DevicesCompleteResult(Model):
    session_id: str
    agent_id: str
    api_key: str
    access_token: str
    """A JWT (ES256), valid for one hour."""
    expires_at: str
    server_now: str


class DevicesConfirmResult(Model):
    state: Union[Literal["approved", "denied"], str]
    confirmed_at: str


class DevicesIssueResult(Model):
    user_code: str
    """Device code: four characters, a hyphen, four characters. Case and hyphen do not matter."""
    expires_at: str
    server_now: str
    verification_uri: str
    verification_uri_complete: str


class DevicesLookUpResult(Model):
    agent_id: str
    scopes: Union[list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]], None] = None
    """Scopes of the device's key, at most the caller's. Default: the caller's except `admin`."""


class DevicesStatusResult(Model):
    state: Literal["waiting"]
    user_code: str
    """Device code: four characters, a hyphen, four characters. Case and hyphen do not matter."""
    expires_at: str
    server_now: str
    scopes: list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]]
    """Scopes of the device's key, at most the caller's. Default: the caller's except `admin`."""


class DigestedEvidence(Model):
    kind: Union[Literal["event", "memory", "output", "document", "link"], str]
    """What it is."""
    id: str
    """Its id; the address of a `link`: http or https."""
    sha256: Union[str, None]


class Document(Model):
    document_id: str
    filename: str
    mime_type: str
    """Media type of the file, in any case, with or without `charset`: `application/pdf`,
    `application/vnd.openxmlformats-officedocument.wordprocessingml.document`,
    `application/vnd.openxmlformats-officedocument.presentationml.presentation`,
    `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, `text/html`, `text/markdown`,
    `text/plain`, `text/csv`, `text/tab-separated-values`, `application/json`, `application/jsonl`,
    `application/x-ndjson`, `message/rfc822`. With `DOCUMENT_CONVERTER_URL`, others that the converter reads."""
    status: Union[Literal["queued", "chunking", "embedding", "stored", "failed", "superseded"], str]
    error: Union[str, None]
    byte_size: int
    chunk_count: int
    sensitivity: Union[Literal["public", "internal", "confidential", "restricted"], str]
    """Who can read the document. `public` and `internal`: the whole tenant. `confidential` and `restricted`: the
    uploader and its team. Levels with the same readers differ only as a label."""
    audience: Audience
    subject: Union[str, None]
    version_num: int
    """Its version among the documents of this name."""
    superseded_by: Union[str, None]
    agent_id: Union[str, None]
    user_id: Union[str, None]
    team_id: Union[str, None]
    created_at: str
    ingested_at: Union[str, None]
    ingestion_source_id: str
    ingestion_source_name: str


class DocumentDetail(Model):
    document_id: str
    filename: str
    mime_type: str
    """Media type of the file, in any case, with or without `charset`: `application/pdf`,
    `application/vnd.openxmlformats-officedocument.wordprocessingml.document`,
    `application/vnd.openxmlformats-officedocument.presentationml.presentation`,
    `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, `text/html`, `text/markdown`,
    `text/plain`, `text/csv`, `text/tab-separated-values`, `application/json`, `application/jsonl`,
    `application/x-ndjson`, `message/rfc822`. With `DOCUMENT_CONVERTER_URL`, others that the converter reads."""
    status: Union[Literal["queued", "chunking", "embedding", "stored", "failed", "superseded"], str]
    error: Union[str, None]
    byte_size: int
    chunk_count: int
    sensitivity: Union[Literal["public", "internal", "confidential", "restricted"], str]
    """Who can read the document. `public` and `internal`: the whole tenant. `confidential` and `restricted`: the
    uploader and its team. Levels with the same readers differ only as a label."""
    audience: Audience
    subject: Union[str, None]
    version_num: int
    """Its version among the documents of this name."""
    superseded_by: Union[str, None]
    agent_id: Union[str, None]
    user_id: Union[str, None]
    team_id: Union[str, None]
    created_at: str
    ingested_at: Union[str, None]
    ingestion_source_id: str
    ingestion_source_name: str
    losses: list[Loss]
    """What the file shows that is not in its text: pictures without a description, scanned pages, embedded objects,
    unreadable attachments, and where the encoding was guessed. At most 100 kinds and places are listed."""


class DocumentsDeleteResult(Model):
    deleted: bool
    document_id: Union[str, None] = None
    error_code: Union[str, None] = None


class DocumentsListChunksResult(Model):
    chunks: list[Chunk]
    total: int


class DocumentsListResult(Model):
    documents: list[Document]
    total: int
    next_cursor: Union[str, None]


class DocumentsSearchResult(Model):
    results: list[DocumentsSearchResultResultsItem]
    total_candidates: int
    sources_contributed: list[str]
    no_match: bool
    """No passage reaches the minimum score."""
    degraded: bool
    degraded_reasons: list[str]
    plan: Union[dict[str, Any], None] = None


class DocumentsSearchResultResultsItem(Model):
    chunk: Chunk
    document: Document
    score: float
    sources: DocumentsSearchResultResultsItemSources


class DocumentsSearchResultResultsItemSources(Model):
    vector: Union[float, None] = None
    bm25: Union[float, None] = None


class DocumentsUploadResult(Model):
    accepted: bool
    document_id: Union[str, None] = None
    status: Union[Union[Literal["queued", "chunking", "embedding", "stored", "failed", "superseded"], str], None] = None
    existing: Union[bool, None] = None
    """The source had this file already: it is not stored again."""
    sensitivity: Union[Union[Literal["public", "internal", "confidential", "restricted"], str], None] = None
    """Who can read the document. `public` and `internal`: the whole tenant. `confidential` and `restricted`: the
    uploader and its team. Levels with the same readers differ only as a label."""
    audience: Union[Audience, None] = None
    subject: Union[Union[str, None], None] = None
    kept: Union[list[str], None] = None
    """Fields of the request that were not applied: an earlier upload of the same file is narrower there."""
    error_code: Union[str, None] = None


class ErasedMemories(Model):
    """Rows by kind; bundles and handoffs count if they named an erased memory."""

    memories: int
    documents: int
    chunks: int
    vectors: Union[int, None] = None
    relationships: int
    citations: int
    merge_proposals: int
    findings: int
    bundles: int
    handoffs: int
    state_entries: Union[int, None] = None
    a2a_tasks: Union[int, None] = None
    schedules: Union[int, None] = None


class EventReceiver(Model):
    delivery_id: str
    agent_id: str
    state: str
    attempt_count: int
    matched: EventReceiverMatched
    timeline: list[TimelineEntry]


class EventReceiverMatched(Model):
    interest_ids: list[str]
    feed_ids: list[str]


class EventSummary(Model):
    event_id: str
    """Id that the service gave the event."""
    state: Union[Literal["accepted", "waiting", "matched", "parked"], str]
    """How far its matching is. `waiting`: for its `notbefore`. `matched`: compared with all interests and feeds.
    `parked`: matching failed five times; an admin can retry it."""
    accepted_at: str
    waits_until: Union[str, None]
    matched_at: Union[str, None]
    matched_count: Union[int, None]
    duplicate_sources: int
    """Number of events with the same id from other sources."""
    publisher_id: Union[str, None]
    payload: CloudEvent
    """A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters
    and digits, their values are strings without control characters, booleans or 32-bit integers."""


class EventTypeListener(Model):
    agent_id: str
    interest_ids: list[str]
    feed_ids: list[str]


class EventTypeSummary(Model):
    type: str
    sources: list[EventTypeSummarySourcesItem]
    """The first 10 sources that published it, the latest first."""
    first_seen_at: str
    last_seen_at: str
    count: int
    """Events accepted since `first_seen_at`."""
    listeners: int
    """Active agents with an interest, or in a channel with a feed, that matches the type; 1000 stands for more, too.
    A filter may still exclude an event."""


class EventTypeSummarySourcesItem(Model):
    source: str
    last_seen_at: str


class EventsGetResult(Model):
    event_id: str
    """Id that the service gave the event."""
    state: Union[Literal["accepted", "waiting", "matched", "parked"], str]
    """How far its matching is. `waiting`: for its `notbefore`. `matched`: compared with all interests and feeds.
    `parked`: matching failed five times; an admin can retry it."""
    accepted_at: str
    waits_until: Union[str, None]
    matched_at: Union[str, None]
    matched_count: Union[int, None]
    duplicate_sources: int
    """Number of events with the same id from other sources."""
    publisher_id: Union[str, None]
    payload: CloudEvent
    """A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters
    and digits, their values are strings without control characters, booleans or 32-bit integers."""
    outcome: Union[Literal["dead", "pending", "done", "none"], str]
    """`dead`: at least one of its deliveries is a dead letter, or it is parked. Otherwise `pending`: it is not
    matched yet, or at least one of its deliveries is pending. `none`: it matched no agent and has no deliveries.
    `done`: each delivery was acknowledged or discarded."""
    deliveries: EventsGetResultDeliveries
    """Number of its deliveries by state, without discarded ones."""
    park_reason: Union[str, None]
    timeline: list[TimelineEntry]
    receivers: Union[list[EventReceiver], None] = None
    """For admins: the first 1,000 receivers."""


class EventsGetResultDeliveries(Model):
    """Number of its deliveries by state, without discarded ones."""

    pending: int
    acknowledged: int
    dlq: int


class EventsListResult(Model):
    events: list[ListedEvent]
    next_cursor: Union[str, None]


class EventsTypeResult(Model):
    type: str
    sources: list[EventsTypeResultSourcesItem]
    """The first 10 sources that published it, the latest first."""
    first_seen_at: str
    last_seen_at: str
    count: int
    """Events accepted since `first_seen_at`."""
    listeners: int
    """Active agents with an interest, or in a channel with a feed, that matches the type; 1000 stands for more, too.
    A filter may still exclude an event."""
    listening: list[EventTypeListener]
    """Agents that listen, with what matches the type."""
    last_event: Union[EventSummary, None]


class EventsTypeResultSourcesItem(Model):
    source: str
    last_seen_at: str


class EventsTypesResult(Model):
    types: list[EventTypeSummary]
    next: Union[str, None]


class EvidenceCard(Model):
    kind: Union[Literal["event", "memory", "output", "document", "link"], str]
    """What it is."""
    id: str
    """Its id; the address of a `link`: http or https."""
    sha256: Union[str, None]
    state: Union[Union[Literal["unchanged", "changed", "superseded", "forgotten", "unavailable"], str], None]
    title: Union[str, None]
    text: Union[str, None]
    current: Union[EvidenceNow, None]


class EvidenceNow(Model):
    """Its present text, if that differs and `text` is older."""

    id: str
    title: str
    text: str


class Exemplar(Model):
    id: str
    display_name: str
    """Display name."""
    original_filename: str
    media_type: Union[Literal["text/markdown", "text/plain"], str]
    byte_size: int
    extraction_status: Union[Literal["ready", "processing", "failed"], str]
    extracted_text: Union[str, None]
    extraction_error: Union[str, None]
    created_at: str
    updated_at: str


class ExemplarReferrer(Model):
    resource_type: Union[Literal["run", "process_template"], str]
    resource_id: str
    """Id of the run, or slug of the template."""


class ExemplarsReferrersResult(Model):
    referrers: list[ExemplarReferrer]


class Feed(Model):
    id: str
    channel_id: str
    event_type_glob: str
    """Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`,
    and at most 32 `?` and `[...]`."""
    filter_expression: Union[str, None]
    created_at: str
    warnings: Union[list[str], None] = None
    """Only on creation and change: why it is likely to match nothing, as the latest events show. Absent without
    reason."""


class Finding(Model):
    seq: int
    """Its position in the tenant's sequence."""
    memory_id: str
    title: str
    summary: str
    """The start of its content."""
    type: Union[Literal["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"], str]
    """Kind of knowledge."""
    importance: float
    confidence: float
    origin: Union[Literal["promoted", "created"], str]
    """Promoted to the institution, or written with that scope directly."""
    from_scope: Union[Union[Literal["agent", "team", "institutional"], str], None]
    recorded_at: str
    by_agent_id: Union[str, None]


class FindingsBrowseResult(Model):
    findings: list[Finding]
    next_cursor: Union[str, None]


class FindingsListResult(Model):
    findings: list[Finding]
    cursor: FindingsListResultCursor
    rendered_brief: str
    """Markdown; text by others is fenced."""
    cold_start: bool
    """The agent had no cursor."""
    more_available: bool


class FindingsListResultCursor(Model):
    previous_seq: int
    """The agent's previous cursor; 0 if it had none."""
    current_seq: int
    """The new cursor; without `mark_read`, the end of this page."""
    marked_read: bool


class GatewayHealthzResult(Model):
    status: Literal["ok"]


class GatewayReadyzResult(Model):
    status: Literal["ready"]
    checks: dict[str, str]


class Handoff(Model):
    id: str
    agent_id: str
    name: str
    """Name of the handoff, unique per agent."""
    summary: str
    payload: HandoffPayload
    """State of the work. Other fields are kept and appear in the brief."""
    citations: list[HandoffCitationsItem]
    artifacts: list[str]
    origin_client: Union[str, None]
    scope: Union[Literal["agent"], str]
    version_num: int
    """Increases with every save."""
    pinned_at: Union[str, None]
    last_resumed_at: Union[str, None]
    expires_at: str
    """Time at which it expires, unless it is pinned."""
    created_at: str
    updated_at: str
    """When it was last saved."""
    bundle_id: Union[str, None]


class HandoffCitationsItem(Model):
    memory_id: str
    title: str
    """The memory's title at the time of saving; empty if it could not be read."""


class HandoffDecision(Model):
    title: str
    """The decision."""
    rationale: Union[Union[str, None], None] = None


class HandoffForPeople(Model):
    id: str
    agent_id: str
    name: str
    """Name of the handoff, unique per agent."""
    summary: str
    payload: HandoffForPeoplePayload
    """State of the work. Other fields are kept and appear in the brief."""
    citations: list[HandoffForPeopleCitationsItem]
    artifacts: list[str]
    origin_client: Union[str, None]
    scope: Union[Literal["agent"], str]
    version_num: int
    """Increases with every save."""
    pinned_at: Union[str, None]
    last_resumed_at: Union[str, None]
    expires_at: str
    """Time at which it expires, unless it is pinned."""
    created_at: str
    updated_at: str
    """When it was last saved."""
    bundle_id: Union[str, None]
    brief: str
    """Markdown: what a successor gets when it resumes the handoff."""


class HandoffForPeopleCitationsItem(Model):
    memory_id: str
    title: str
    """The memory's title at the time of saving; empty if it could not be read."""


class HandoffForPeoplePayload(Model):
    """State of the work. Other fields are kept and appear in the brief."""

    completed: Union[Union[Union[str, list[str]], None], None] = None
    remaining: Union[Union[Union[str, list[str]], None], None] = None
    blockers: Union[Union[Union[str, list[str]], None], None] = None
    decisions: Union[Union[list[HandoffDecision], None], None] = None
    rejected_options: Union[Union[list[Union[str, HandoffDecision]], None], None] = None
    next_action: Union[Union[Union[str, list[str]], None], None] = None
    context_notes: Union[Union[Union[str, list[str]], None], None] = None


class HandoffOffer(Model):
    id: str
    run_id: str
    step_key: str
    """Key of the step."""
    handoff_id: Union[str, None]
    note: Union[str, None]
    status: Union[Literal["open", "accepted", "declined"], str]
    offered_by: HandoffOfferOfferedBy
    decided_by: Union[HandoffOfferDecidedBy, None]
    created_at: str
    decided_at: Union[str, None]


class HandoffOfferDecidedBy(Model):
    actor_kind: Union[Literal["agent", "user", "event", "deadline"], str]
    """`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id."""
    actor_id: str


class HandoffOfferOfferedBy(Model):
    actor_kind: Union[Literal["agent", "user", "event", "deadline"], str]
    """`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id."""
    actor_id: str


class HandoffPayload(Model):
    """State of the work. Other fields are kept and appear in the brief."""

    completed: Union[Union[Union[str, list[str]], None], None] = None
    remaining: Union[Union[Union[str, list[str]], None], None] = None
    blockers: Union[Union[Union[str, list[str]], None], None] = None
    decisions: Union[Union[list[HandoffDecision], None], None] = None
    rejected_options: Union[Union[list[Union[str, HandoffDecision]], None], None] = None
    next_action: Union[Union[Union[str, list[str]], None], None] = None
    context_notes: Union[Union[Union[str, list[str]], None], None] = None


class HandoffsListOfAgentResult(Model):
    handoffs: list[ListedHandoff]
    next_cursor: Union[str, None]


class IngestCreateWebhookResult(Model):
    id: str
    name: str
    """Display name."""
    source: str
    """Name of the sender: the second part of the event type, and the end of the webhook's URL."""
    mapping: Union[Mapping, Union[Literal["cloudevents", "bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"], str]]
    signature: Union[Union[WebhookSignature, Union[Literal["bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"], str]], None]
    url: str
    last_request: Union[WebhookRequest, None]
    created_at: str
    updated_at: str
    signing_secret: str
    """Secret that signs the webhook's requests. Shown only once."""


class IngestListRequestsResult(Model):
    requests: list[WebhookRequest]


class IngestListWebhooksResult(Model):
    webhooks: list[Webhook]
    total: int


class IngestRotateWebhookResult(Model):
    signing_secret: str
    """Secret that signs the webhook's requests. Shown only once."""
    previous_ends_at: str


class IngestTestMappingResult(Model):
    event: Union[CloudEvent, None]
    error: Union[str, None]


class IngestTestWebhookResult(Model):
    event: Union[CloudEvent, None]
    error: Union[str, None]


class IngestValidateForResult(Model):
    allowed_origin: Union[str, None]
    allowed_rate: Union[str, None]


class IngestValidateResult(Model):
    allowed_origin: Union[str, None]
    allowed_rate: Union[str, None]


class Installation(Model):
    maintenance: Union[InstallationMaintenance, None]
    log_level: Union[Union[Literal["trace", "debug", "info", "warn", "error", "fatal"], str], None]
    nodes: list[InstallationNodesItem]


class InstallationKeys(Model):
    secret_key: InstallationKeysSecretKey
    signing_keys: list[InstallationKeysSigningKeysItem]


class InstallationKeysSecretKey(Model):
    active: str
    """Id of the key that encrypts stored secrets: a fingerprint."""
    kept_in: Union[Literal["file", "settings"], str]
    """`file`: this operation replaces the key. `settings`: replace `SECRET_KEY` on every node."""
    fallbacks: list[str]
    """Ids of the keys that decrypt only."""
    in_use: list[str]
    """Ids of the fallbacks that stored secrets may still be encrypted with. The others can be removed."""
    left: dict[str, int]
    """Rows whose secrets are yet to be encrypted with the active key, by collection."""
    nodes: dict[str, list[str]]
    """Ids of the keys of each node, the active one first."""


class InstallationKeysSigningKeysItem(Model):
    kid: str
    state: Union[Literal["published", "signing", "verifying"], str]
    """`published`: in the JWKS, signs from `signs_at`. `verifying`: until `ends_at`."""
    signs_at: str
    ends_at: Union[str, None]


class InstallationMaintenance(Model):
    """Null: reads and writes are served."""

    reason: Union[str, None]
    since: str


class InstallationNodesItem(Model):
    node: str
    applied: bool
    """False: the node did not answer, and follows within 30 s; or it is lost or stopped, or of a version that does
    not follow. A node that is gone is listed for 10 minutes."""


class Interest(Model):
    id: str
    agent_id: str
    event_type: str
    """Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`,
    and at most 32 `?` and `[...]`."""
    filter_expression: Union[str, None]
    priority: int
    """Delivery priority; 9 is delivered first."""
    enrichment_depth: Union[Literal["none", "shallow", "deep"], str]
    """Adds the receiver's best memories about the event as `payload.enrichment.memories`: `shallow` three with title
    and score, `deep` ten with content. If the search fails or is late, `payload.enrichment.degraded` is true."""
    retry_delays_seconds: Union[list[int], None]
    ordering_key: Union[str, None]
    filter_suspended_until: Union[str, None]
    created_at: str
    updated_at: str
    warnings: Union[list[str], None] = None
    """Only on creation and change: why it is likely to match nothing, as the latest events show. Absent without
    reason."""


class InterestsListResult(Model):
    interests: list[Interest]
    total: int


class InterestsTestResult(Model):
    tested: int
    matched: int
    hints: list[str]
    """Names that the filter reads and none of the tested events of this type has."""
    results: list[InterestsTestResultResultsItem]
    """Newest first."""


class InterestsTestResultResultsItem(Model):
    event_id: str
    type: str
    source: str
    subject: Union[str, None]
    accepted_at: str
    matches: bool
    reason: Union[Literal["match", "type", "filter", "filter_error"], str]
    """`type`: the glob does not match. `filter`: the filter is false. `filter_error`: the filter failed."""
    error: Union[str, None] = None
    """Why the filter failed."""


class KeysCreateResult(Model):
    id: str
    name: Union[str, None]
    prefix: str
    """The first characters of the key."""
    scopes: list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]]
    """Scopes of the key. `admin` includes all others."""
    state: Union[Literal["active", "ended"], str]
    """`ended`: the key of a connection whose approval has ended, because the person was disabled, lost the role or
    the agent, or the agent was deactivated. Connect it again."""
    created_by: Union[str, None]
    requests_per_minute: Union[int, None]
    approved_by: Union[str, None]
    expires_at: Union[str, None]
    last_used_at: Union[str, None]
    created_at: str
    key: str
    """The key itself."""


class KeysListResult(Model):
    keys: list[KeysListResultKeysItem]
    total: int


class KeysListResultKeysItem(Model):
    id: str
    name: Union[str, None]
    prefix: str
    """The first characters of the key."""
    scopes: list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]]
    """Scopes of the key. `admin` includes all others."""
    state: Union[Literal["active", "ended"], str]
    """`ended`: the key of a connection whose approval has ended, because the person was disabled, lost the role or
    the agent, or the agent was deactivated. Connect it again."""
    created_by: Union[str, None]
    requests_per_minute: Union[int, None]
    approved_by: Union[str, None]
    expires_at: Union[str, None]
    last_used_at: Union[str, None]
    created_at: str


class KeysUpdateResult(Model):
    id: str
    name: Union[str, None]
    prefix: str
    """The first characters of the key."""
    scopes: list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]]
    """Scopes of the key. `admin` includes all others."""
    state: Union[Literal["active", "ended"], str]
    """`ended`: the key of a connection whose approval has ended, because the person was disabled, lost the role or
    the agent, or the agent was deactivated. Connect it again."""
    created_by: Union[str, None]
    requests_per_minute: Union[int, None]
    approved_by: Union[str, None]
    expires_at: Union[str, None]
    last_used_at: Union[str, None]
    created_at: str


class Limits(Model):
    requests_per_minute: LimitsRequestsPerMinute
    """Per agent or person, for all of them together, and for signed webhooks."""
    emails_per_hour: Union[int, None]
    storage: Storage
    extensions: list[str]
    """Optional capabilities that run (docs/extensions.md)."""
    largest_bytes: LimitsLargestBytes
    largest_text: int
    """Characters of text that are read from a document."""
    delivery: LimitsDelivery
    """Defaults for agents that set none."""
    kept_days: LimitsKeptDays
    """How long finished items can be read, or deletions undone."""


class LimitsDelivery(Model):
    """Defaults for agents that set none."""

    visibility_timeout_seconds: int
    retry_budget: int
    retry_delays_seconds: list[int]


class LimitsKeptDays(Model):
    """How long finished items can be read, or deletions undone."""

    events: int
    event_ids: int
    acknowledged_deliveries: int
    forgotten_memories: int
    audit: int


class LimitsLargestBytes(Model):
    event: int
    document: int
    output: Union[int, None]


class LimitsRequestsPerMinute(Model):
    """Per agent or person, for all of them together, and for signed webhooks."""

    caller: Union[int, None]
    key: Union[int, None] = None
    """Of the key that the caller has, if it has a limit."""
    tenant: Union[int, None]
    webhooks: Union[int, None]


class ListedBundle(Model):
    id: str
    query: Union[str, None]
    item_count: int
    degraded: bool
    created_at: str


class ListedEvent(Model):
    event_id: str
    """Id that the service gave the event."""
    state: Union[Literal["accepted", "waiting", "matched", "parked"], str]
    """How far its matching is. `waiting`: for its `notbefore`. `matched`: compared with all interests and feeds.
    `parked`: matching failed five times; an admin can retry it."""
    accepted_at: str
    waits_until: Union[str, None]
    matched_at: Union[str, None]
    matched_count: Union[int, None]
    duplicate_sources: int
    """Number of events with the same id from other sources."""
    publisher_id: Union[str, None]
    payload: CloudEvent
    """A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters
    and digits, their values are strings without control characters, booleans or 32-bit integers."""
    outcome: Union[Literal["dead", "pending", "done", "none"], str]
    """`dead`: at least one of its deliveries is a dead letter, or it is parked. Otherwise `pending`: it is not
    matched yet, or at least one of its deliveries is pending. `none`: it matched no agent and has no deliveries.
    `done`: each delivery was acknowledged or discarded."""
    deliveries: ListedEventDeliveries
    """Number of its deliveries by state, without discarded ones."""


class ListedEventDeliveries(Model):
    """Number of its deliveries by state, without discarded ones."""

    pending: int
    acknowledged: int
    dlq: int


class ListedHandoff(Model):
    id: str
    name: str
    """Name of the handoff, unique per agent."""
    summary: str
    """The beginning of the summary."""
    version_num: int
    """Increases with every save."""
    origin_client: Union[str, None]
    pinned_at: Union[str, None]
    last_resumed_at: Union[str, None]
    expires_at: str
    """Time at which it expires, unless it is pinned."""
    updated_at: str
    """When it was last saved."""
    bundle_id: Union[str, None]


class Loss(Model):
    kind: str
    place: str
    """Where in the file."""
    count: int


class Mapping(Model):
    """Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload (`/issue/number`) or a
    header of the delivery (`header:X-GitHub-Event`). The event type is `com.<source>.<entity>.<action>` in lower
    case; each run of characters other than letters, digits, `_` and `-` within a part is replaced by `_`."""

    entity: str
    """Third part of the event type."""
    action: str
    """Fourth part of the event type."""
    id: Union[Union[str, None], None] = None
    subject: Union[Union[str, None], None] = None
    data: Union[Union[str, None], None] = None


class Matched(Model):
    """The agent's interests and the channel feeds that matched the event."""

    interest_ids: list[str]
    feed_ids: list[str]


class Member(Model):
    channel_id: str
    agent_id: str
    joined_at: str


class MemoriesActivityResult(Model):
    agent_id: str
    memory_count: int
    """Its active memories."""
    memory_count_with_usefulness_gt_zero: int
    """Its memories that others have cited."""
    cite_count_30d: int
    """Citations of its memories by others."""
    activity: list[Activity]
    total: int


class MemoriesCitationsResult(Model):
    citations: list[Citation]
    total: int


class MemoriesCreateBatchResult(Model):
    results: list[MemoriesCreateBatchResultResultsItem]


class MemoriesCreateBatchResultResultsItem(Model):
    status: int
    """The response of `POST /memories`."""
    memory: Union[Memory, None] = None
    error: Union[MemoriesCreateBatchResultResultsItemError, None] = None


class MemoriesCreateBatchResultResultsItemError(Model):
    code: str
    message: str
    details: dict[str, Any]


class MemoriesDeleteByKeyResult(Model):
    memory_id: str
    forgotten: bool
    invalid_at: str


class MemoriesEraseResult(Model):
    dry_run: bool
    erased_at: Union[str, None]
    erased: ErasedMemories
    """Rows by kind; bundles and handoffs count if they named an erased memory."""
    storage: Union[Union[Literal["rewritten", "overwritten", "deleted"], str], None]
    backups_until: Union[str, None]
    receipt: Union[str, None]


class MemoriesForgetResult(Model):
    memory_id: str
    forgotten: bool
    invalid_at: str


class MemoriesLineageResult(Model):
    memory_id: str
    merge_lineage: list[MemoriesLineageResultMergeLineageItem]
    """Memories merged into it, directly or indirectly, nearest first."""
    superseded: bool
    """The memory was superseded or merged into another."""
    supersedes_target: Union[str, None]


class MemoriesLineageResultMergeLineageItem(Model):
    loser_memory_id: str
    winner_memory_id: str
    origin: str
    """The origin of the merge."""


class MemoriesListResult(Model):
    memories: list[Memory]
    total: int
    next_cursor: Union[str, None]


class MemoriesNamespacesResult(Model):
    namespaces: list[str]
    next: Union[str, None]


class MemoriesSearchResult(Model):
    results: list[MemoriesSearchResultResultsItem]
    total_candidates: int
    """Memories that were ranked."""
    sources_contributed: list[str]
    """Legs that contributed to the results."""
    originating_query_id: str
    """Id of this search, to pass when citing a result."""
    no_match: bool
    """No memory matches well enough."""
    degraded: bool
    """A leg of the search failed."""
    degraded_reasons: list[str]
    plan: Union[MemoriesSearchResultPlan, None] = None


class MemoriesSearchResultPlan(Model):
    legs: list[MemoriesSearchResultPlanLegsItem]
    funnel: list[MemoriesSearchResultPlanFunnelItem]
    """Counts per stage, from all readable memories to the results."""
    results: list[MemoriesSearchResultPlanResultsItem]
    """The best candidates, including those below the minimum score or beyond the limit."""
    expect: Union[MemoriesSearchResultPlanExpect, None] = None
    """The outcome for the memory named by `expect`."""


class MemoriesSearchResultPlanExpect(Model):
    """The outcome for the memory named by `expect`."""

    id: str
    found: bool
    stage: str
    reason: str


class MemoriesSearchResultPlanFunnelItem(Model):
    stage: str
    in_: int = Field(alias="in")
    out: int


class MemoriesSearchResultPlanLegsItem(Model):
    name: str
    candidates: int
    ms: float


class MemoriesSearchResultPlanResultsItem(Model):
    memory_id: str
    title: Union[str, None]
    vector: Union[float, None]
    bm25: Union[float, None]
    fused: float
    """The score of the content alone."""
    relevance: Union[float, None] = None
    """Its relevance by the reranker, if that rated it."""
    confidence: float
    recency: float
    final: float
    """The score."""
    through: Union[str, None] = None
    """The name that it shares with a better result, or the type of its relationship with one, if only that leads to
    it."""


class MemoriesSearchResultResultsItem(Model):
    memory: Memory
    score: float
    """Relevance."""
    sources: MemoriesSearchResultResultsItemSources
    """The score of each leg."""
    superseded: bool
    valid: MemoriesSearchResultResultsItemValid
    """When it holds; `until` is exclusive, and null without an end."""
    match: Union[Literal["likely", "possible"], str]
    """`likely`: it probably answers the query. `possible`: it is the best there is, and may not."""
    through: Union[str, None] = None
    """The name that it shares with a better result, or the type of its relationship with one, if only that leads to
    it."""


class MemoriesSearchResultResultsItemSources(Model):
    """The score of each leg."""

    vector: Union[float, None] = None
    """Similarity in meaning."""
    bm25: Union[float, None] = None
    """Similarity in words."""


class MemoriesSearchResultResultsItemValid(Model):
    """When it holds; `until` is exclusive, and null without an end."""

    from_: str = Field(alias="from")
    until: Union[str, None]


class MemoriesSupersedeResult(Model):
    memory_id: str
    superseded_by: str
    invalid_at: str


class Memory(Model):
    id: str
    tenant_id: str
    agent_id: Union[str, None]
    user_id: Union[str, None]
    scope: Union[Literal["agent", "team", "institutional"], str]
    """Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can only be widened."""
    team_id: Union[str, None]
    type: Union[Literal["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"], str]
    """Kind of knowledge."""
    status: Union[Literal["active", "forgotten", "superseded", "merged"], str]
    title: str
    """Short summary."""
    content: str
    """Text of the memory."""
    subject: Union[str, None]
    confidence: float
    """How certain it is, from 0 to 1."""
    importance: float
    """How much it matters, from 0 to 1."""
    metadata: dict[str, Any]
    """Free-form data of the caller, at most 64 KB as JSON."""
    source_type: Union[str, None]
    source_id: Union[str, None]
    source_url: Union[str, None]
    source_event_id: Union[str, None]
    freshness_date: Union[str, None]
    expires_at: Union[str, None]
    valid_from: str
    valid_until: Union[str, None]
    project_id: Union[str, None]
    tags: list[str]
    namespace: Union[str, None]
    key: Union[str, None]
    supersedes_id: Union[str, None]
    invalid_at: Union[str, None]
    superseded_by: Union[str, None]
    created_at: str
    updated_at: str
    accessed_at: str


class MemoryHealth(Model):
    duplicate_count: int
    """Pairs proposed for merging."""
    orphan_count: int
    """Active memories without relationships."""
    stale_count: int
    """Memories whose freshness date is over 90 days old."""
    embed_gap_count: Union[int, None]
    """For the whole tenant: memories without an embedding yet, found only by their text. Null if search is
    unavailable."""
    reflection_count: int
    """Memories of the type `reflection`."""
    decay_distribution: dict[str, int]
    """Memories by the time since they were last read."""


class MemoryHistory(Model):
    versions: list[MemoryVersion]


class MemoryVersion(Model):
    id: str
    title: str
    content: str
    status: Union[Literal["active", "forgotten", "superseded", "merged"], str]
    valid: MemoryVersionValid
    """When it holds; `until` is exclusive, and null without an end."""
    recorded_at: str
    agent_id: Union[str, None]
    user_id: Union[str, None]
    reason: Union[str, None]
    superseded_by: Union[str, None]
    superseded_at: Union[str, None]
    corrections: list[MemoryVersionCorrectionsItem]
    """Corrections of its times, newest first."""


class MemoryVersionCorrectionsItem(Model):
    at: str
    valid: MemoryVersionCorrectionsItemValid
    """When it had been said to hold."""
    agent_id: Union[str, None]
    user_id: Union[str, None]
    reason: Union[str, None]


class MemoryVersionCorrectionsItemValid(Model):
    """When it had been said to hold."""

    from_: str = Field(alias="from")
    until: Union[str, None]


class MemoryVersionValid(Model):
    """When it holds; `until` is exclusive, and null without an end."""

    from_: str = Field(alias="from")
    until: Union[str, None]


class MemoryWithUsage(Model):
    id: str
    tenant_id: str
    agent_id: Union[str, None]
    user_id: Union[str, None]
    scope: Union[Literal["agent", "team", "institutional"], str]
    """Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can only be widened."""
    team_id: Union[str, None]
    type: Union[Literal["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"], str]
    """Kind of knowledge."""
    status: Union[Literal["active", "forgotten", "superseded", "merged"], str]
    title: str
    """Short summary."""
    content: str
    """Text of the memory."""
    subject: Union[str, None]
    confidence: float
    """How certain it is, from 0 to 1."""
    importance: float
    """How much it matters, from 0 to 1."""
    metadata: dict[str, Any]
    """Free-form data of the caller, at most 64 KB as JSON."""
    source_type: Union[str, None]
    source_id: Union[str, None]
    source_url: Union[str, None]
    source_event_id: Union[str, None]
    freshness_date: Union[str, None]
    expires_at: Union[str, None]
    valid_from: str
    valid_until: Union[str, None]
    project_id: Union[str, None]
    tags: list[str]
    namespace: Union[str, None]
    key: Union[str, None]
    supersedes_id: Union[str, None]
    invalid_at: Union[str, None]
    superseded_by: Union[str, None]
    created_at: str
    updated_at: str
    accessed_at: str
    usage: Usage


class MergeProposal(Model):
    id: str
    tenant_id: str
    proposer_user_id: Union[str, None]
    proposer_agent_id: Union[str, None]
    memory_a_id: str
    memory_b_id: str
    surviving_memory_id: Union[str, None]
    status: Union[Literal["open", "resolved", "rejected"], str]
    """Status of the proposal."""
    similarity: Union[float, None]
    proposed_at: str
    resolved_at: Union[str, None]
    resolved_by_user_id: Union[str, None]
    resolution_note: Union[str, None]


class MergesListResult(Model):
    merge_proposals: list[MergeProposal]
    total: int
    """Except for org admins: among the tenant's latest 10,000."""


class NodeProblem(Model):
    node: Union[str, None]
    check: str
    severity: Union[Literal["wrong", "note"], str]
    text: str


class NodeReport(Model):
    node: str
    version: str
    """With the commit of its build, if that is known."""
    status: Union[Literal["ready", "not_ready"], str]
    started_at: str
    services: list[str]
    checks: dict[str, str]
    """As `/readyz` answers."""
    clock: NodeReportClock
    disk: Union[NodeReportDisk, None]
    memory_bytes: int
    links: NodeReportLinks
    """Other nodes that are available or lost, circuit breakers by state, and whether NATS and Redis are connected;
    null if they are not used."""
    indexes: NodeReportIndexes
    queues: NodeReportQueues
    modes: NodeReportModes


class NodeReportClock(Model):
    at: str
    """This machine's clock."""
    error_seconds: float
    """How far the node's knowledge of the record's time may be wrong."""


class NodeReportDisk(Model):
    """Of `DATA_DIR`: the store, or the node's search index. Null if it cannot be read."""

    free_bytes: float
    total_bytes: float


class NodeReportIndexes(Model):
    without_vector: float
    """Search entries that wait for a vector."""


class NodeReportLinks(Model):
    """Other nodes that are available or lost, circuit breakers by state, and whether NATS and Redis are connected;
    null if they are not used."""

    peers: dict[str, float]
    breakers: dict[str, float]
    nats_connected: Union[bool, None]
    redis: Union[bool, None]


class NodeReportModes(Model):
    maintenance: bool
    log_level: str


class NodeReportQueues(Model):
    fan_out: float
    """Events in memory that are being fanned out."""
    waiting: dict[str, float]
    """Units of work that wait for a resource, if any do."""


class NodesListResult(Model):
    ok: bool
    """Whether no problem is `wrong`."""
    problems: list[NodeProblem]
    ages: NodesListResultAges
    """Age of the oldest event that is due for fan-out, and how late the most overdue delivery is whose lease or wait
    has ended. Null without one."""
    nodes: list[NodeReport]


class NodesListResultAges(Model):
    """Age of the oldest event that is due for fan-out, and how late the most overdue delivery is whose lease or wait
    has ended. Null without one."""

    fan_out_seconds: Union[float, None]
    delivery_seconds: Union[float, None]


class OauthDecideResult(Model):
    redirect_uri: Union[str, None]


class OnboardingGuidance(Model):
    dismissed_at: Union[str, None]
    all_complete: bool
    personalized: bool
    """False for an agent without an owner: the guidance is then general, without steps."""
    completed_steps: int
    total_steps: int
    steps: list[OnboardingGuidanceStepsItem]
    next_action: Union[OnboardingGuidanceNextAction, None]


class OnboardingGuidanceNextAction(Model):
    key: Union[Literal["connect_agent", "declare_interest", "publish_event", "acknowledge_delivery", "create_memory", "search_memory", "save_handoff", "complete_run"], str]
    ccode: Union[Literal["Connect", "Capture", "Consult", "Continue", "Complete"], str]
    title: str
    suggested_prompt: str
    """A prompt to give to an agent."""


class OnboardingGuidanceStepsItem(Model):
    key: Union[Literal["connect_agent", "declare_interest", "publish_event", "acknowledge_delivery", "create_memory", "search_memory", "save_handoff", "complete_run"], str]
    status: Union[Literal["todo", "done"], str]
    source: Union[Literal["derived"], str]
    """Derived from the data of the organisation."""


class Output(Model):
    id: str
    tenant_id: str
    agent_id: Union[str, None]
    user_id: Union[str, None]
    project_id: Union[str, None]
    scope: Union[Literal["agent", "team", "institutional"], str]
    """Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). Set by the first save;
    default `agent`."""
    team_id: Union[str, None]
    title: str
    slug: str
    source_type: Union[str, None]
    bucket: str
    """The storage of the text."""
    object_key: str
    content_hash: str
    """SHA-256 of the text in hex."""
    byte_size: int
    content_type: str
    metadata: dict[str, Any]
    tags: list[str]
    derived_from_ids: list[str]
    references_ids: list[str]
    supersedes_ids: list[str]
    superseded_by: Union[str, None]
    current_version_num: int
    created_at: str
    updated_at: str
    process_run_id: Union[str, None]
    body: Union[str, None]


class OutputVersion(Model):
    id: str
    output_id: str
    version_num: int
    title: str
    content_hash: str
    byte_size: int
    content_type: str
    change_note: Union[str, None]
    authored_by_agent_id: Union[str, None]
    authored_by_user_id: Union[str, None]
    authored_by_specialist_id: Union[str, None]
    created_at: str
    body: Union[str, None]


class OutputsEmailResult(Model):
    status: Union[Literal["sent"], str]
    to: str


class OutputsListResult(Model):
    outputs: list[Output]
    total: int
    next_cursor: Union[str, None]


class OutputsListVersionsResult(Model):
    versions: list[OutputVersion]


class OutputsSearchResult(Model):
    results: list[OutputsSearchResultResultsItem]
    total_candidates: int
    """Matching outputs, including those beyond the limit."""
    no_match: bool
    degraded: bool
    degraded_reasons: list[str]


class OutputsSearchResultResultsItem(Model):
    kind: Union[Literal["output"], str]
    output: Output
    score: float
    """Relevance, from 0 to 1."""
    passage: str
    """The passage that matches best."""
    superseded: bool


class OutputsUpdateResult(Model):
    id: str
    project_id: Union[str, None]
    tags: list[str]


class Pointer(Model):
    uri: Union[Union[str, None], None] = None
    provider: Union[Union[str, None], None] = None
    native_id: Union[Union[str, None], None] = None
    display_name: Union[Union[str, None], None] = None


class Position(Model):
    run: Run
    my_next: Union[PositionStep, None]
    ready_steps: list[PositionStep]
    """Steps that can be worked on: ready or in progress."""
    blocked_steps: list[PositionStep]
    last_completed: Union[PositionLastCompleted, None]
    stale_steps: list[PositionStep]


class PositionLastCompleted(Model):
    step_key: str
    """Key of the step."""
    actor_kind: Union[Literal["agent", "user", "event", "deadline"], str]
    """`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id."""
    actor_id: str
    at: str
    handoff_offer_id: Union[str, None]


class PositionStep(Model):
    step_key: str
    """Key of the step."""
    title: str
    role: Union[str, None]
    assigned_user_id: Union[str, None]
    status: Union[Literal["blocked", "ready", "in_progress", "completed", "skipped"], str]
    """`ready`: all of its dependencies are completed or skipped. `blocked`: some are not."""
    completion_mode: Union[Literal["attestation", "handoff_accepted"], str]
    why_ready: Union[str, None]
    completion_criteria: list[PositionStepCompletionCriteriaItem]
    waiting_on: list[str]
    ordinal: int
    ready_at: Union[str, None]
    in_progress_since: Union[str, None]
    waiting_since: Union[str, None]
    deadline_at: Union[str, None]
    stale_since: Union[str, None]
    stale_reason: Union[str, None]
    open_attempts: list[PositionStepOpenAttemptsItem]


class PositionStepCompletionCriteriaItem(Model):
    key: str
    """Its key."""
    description: str
    """What must be true."""


class PositionStepOpenAttemptsItem(Model):
    actor_kind: Union[Literal["agent", "user", "event", "deadline"], str]
    """`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id."""
    actor_id: str
    started_at: str


class ProcessTemplate(Model):
    id: str
    name: str
    """Display name."""
    slug: str
    """Slug of the template; its versions share it."""
    description: Union[str, None]
    goal_template: Union[str, None]
    version_num: int
    steps: list[TemplateStep]
    created_at: str


class Project(Model):
    id: str
    tenant_id: str
    key: str
    """Key of the project, passed to other operations as `project_id`. Letters, digits, `.`, `_` and `-`; not a UUID.
    Immutable."""
    name: str
    """Display name."""
    status: Union[Literal["active", "completed", "archived"], str]
    """Status of the project."""
    target_date: Union[str, None]
    created_from_backfill: bool
    """Created automatically for existing resources that named it."""
    created_at: str
    updated_at: str


class ProjectsListResult(Model):
    projects: list[Project]
    total: int


class PublishResult(Model):
    event_id: str
    """Id that the service gave the event."""
    status: Union[Literal["accepted", "duplicate"], str]
    """`duplicate`: an event with this `id` exists, and `event_id` is its id."""
    differs: Union[bool, None] = None
    """True for a duplicate whose source or content differs from the first event's, apart from the time: it was not
    stored. Otherwise absent."""
    warnings: Union[list[str], None] = None
    """What looks like a slip in its type. Otherwise absent."""


class RecentEvent(Model):
    event_id: str
    type: str
    source: str
    subject: Union[str, None]
    outcome: Union[Literal["dead", "pending", "done", "none"], str]
    """`dead`: at least one of its deliveries is a dead letter, or it is parked. Otherwise `pending`: it is not
    matched yet, or at least one of its deliveries is pending. `none`: it matched no agent and has no deliveries.
    `done`: each delivery was acknowledged or discarded."""
    deliveries: RecentEventDeliveries
    """Number of its deliveries by state, without discarded ones."""
    accepted_at: str


class RecentEventDeliveries(Model):
    """Number of its deliveries by state, without discarded ones."""

    pending: int
    acknowledged: int
    dlq: int


class Reception(Model):
    reasons: list[ReceptionReasonsItem]
    """What applies, the most important first."""
    event: Union[ReceptionEvent, None]
    delivery: Union[AgentDelivery, None]
    subscriptions: list[ReceptionSubscriptionsItem]
    more: bool
    """Whether there are more subscriptions."""
    health: DeliveryHealth
    limits: ReceptionLimits


class ReceptionEvent(Model):
    event_id: str
    type: str
    source: str
    subject: Union[str, None]
    accepted_at: str


class ReceptionLimits(Model):
    visibility_timeout_seconds: int
    """Of each lease."""
    retry_budget: int
    """Attempts before a delivery is dead-lettered."""
    max_in_flight: Union[int, None]
    max_per_minute: Union[int, None]
    requests_per_minute: Union[int, None]


class ReceptionReasonsItem(Model):
    reason: Union[Literal["inactive", "unsubscribed", "no_event", "not_matched_yet", "excluded", "no_match", "suspended", "later", "pending", "limited", "in_flight", "waiting", "held", "acknowledged", "dead", "discarded", "not_delivered", "health"], str]
    text: str


class ReceptionSubscriptionsItem(Model):
    id: str
    kind: Union[Literal["interest", "feed"], str]
    channel_id: Union[str, None]
    event_type: str
    filter_expression: Union[str, None]
    reason: Union[Union[Literal["match", "type", "filter", "filter_error", "suspended", "later"], str], None]
    error: Union[str, None]
    suspended_until: Union[str, None]
    unmatched_since: Union[str, None]


class RejectedEvent(Model):
    """The error of one event of a batch."""

    status: Literal["rejected"]
    error: RejectedEventError


class RejectedEventError(Model):
    code: str
    message: str
    details: dict[str, Any]


class Relationship(Model):
    id: str
    tenant_id: str
    source_memory_id: str
    target_memory_id: str
    relationship_type: str
    """One of the types listed by `GET /relationship-types`. New types may be added."""
    strength: float
    """Strength; 1 is strongest."""
    metadata: Union[dict[str, Any], None]
    created_at: str


class RelationshipType(Model):
    name: str
    """One of the types listed by `GET /relationship-types`. New types may be added."""
    description: str
    inverse: Union[str, None]


class RelationshipsGraphResult(Model):
    nodes: list[Memory]
    """The memory itself, then the nearest first."""
    edges: list[Relationship]
    truncated: bool
    """There are more than 200 memories or 1,000 edges."""


class RelationshipsListResult(Model):
    relationships: list[Relationship]
    count: int
    """Number of results."""


class RelationshipsTypesResult(Model):
    relationship_types: list[RelationshipType]
    reserved: list[str]
    """Only the service sets these."""
    total: int


class Replay(Model):
    id: str
    agent_id: str
    interest_id: Union[str, None]
    from_: Union[str, None] = Field(alias="from")
    from_event: Union[str, None]
    until: str
    again: bool
    """Also deliver events that the agent has acknowledged, or whose deliveries are dead letters or were discarded.
    Default: false, only events that it never had."""
    per_minute: int
    """Maximum deliveries a minute."""
    state: Union[Literal["running", "completed", "cancelled", "failed"], str]
    waiting_for: Union[Union[Literal["inactive", "pending", "storage_quota", "error"], str], None]
    error: Union[str, None]
    reached: Union[str, None]
    examined: int
    """Events of the range examined so far."""
    matched: int
    """Examined events that match."""
    delivered: int
    """Deliveries created. The agent had the other matching events, or they are pending."""
    created_by: str
    created_at: str
    ended_at: Union[str, None]


class ReplayCount(Model):
    examined: int
    matched: int
    """Events that match."""
    deliverable: int
    """Deliveries that the replay would create."""
    more: bool
    """Whether the range has more events, which are not counted."""


class Run(Model):
    id: str
    goal: str
    """What the run must achieve."""
    project_id: Union[str, None]
    status: Union[Literal["active", "completed", "closed"], str]
    initiated_by: RunInitiatedBy
    template_id: Union[str, None]
    created_at: str
    updated_at: str
    success_criteria: list[str]
    """Conditions under which the goal is achieved."""
    values: dict[str, Union[str, float, bool]]
    """At most 50 texts, numbers and truth values, which filters of steps read as `run.values.<name>`."""
    ambiguity_score: Union[float, None]
    ambiguity_notes: list[RunAmbiguityNotesItem]
    exemplar_ids: list[str]
    outcome: Union[Union[Literal["achieved", "partially_achieved", "abandoned"], str], None]
    closed_by_user_id: Union[str, None]
    close_note: Union[str, None]
    closed_at: Union[str, None]
    steps: list[RunStep]


class RunAction(Model):
    kind: Union[Literal["created", "step_started", "criterion_attested", "step_completed", "step_skipped", "step_deadline_passed", "step_reopened", "step_assigned", "handoff_offered", "handoff_accepted", "handoff_declined", "closed"], str]
    step_key: Union[str, None]
    title: Union[str, None]
    actor_kind: Union[Literal["agent", "user", "event", "deadline"], str]
    """`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id."""
    actor_id: str
    at: str
    notes: Union[str, None]
    criterion_key: Union[str, None]
    event: Union[StepEvent, None]
    assigned_user_id: Union[str, None]
    artifacts: list[RunActionArtifactsItem]


class RunActionArtifactsItem(Model):
    display_name: Union[str, None]


class RunAmbiguityNotesItem(Model):
    dimension: str
    """Aspect."""
    score: Union[Union[float, None], None] = None
    min: Union[Union[float, None], None] = None
    status: Union[Union[str, None], None] = None
    note: Union[Union[str, None], None] = None


class RunArtifact(Model):
    id: str
    run_id: str
    step_record_id: Union[str, None]
    kind: str
    """Kind of artifact, as the run's steps expect it."""
    pointer: Pointer
    snapshot_object_key: Union[str, None]
    content_hash: Union[str, None]
    byte_size: Union[int, None]
    mime_type: Union[str, None]
    snapshotted_at: Union[str, None]
    created_at: str
    updated_at: str


class RunInitiatedBy(Model):
    id: str
    display_name: str


class RunStep(Model):
    id: str
    step_key: str
    """Key of the step."""
    ordinal: int
    """Its position among the steps, from 1."""
    title: str
    role: Union[str, None]
    specialist_name: Union[str, None]
    instructions: Union[str, None]
    depends_on: list[str]
    completion_criteria: list[RunStepCompletionCriteriaItem]
    completion_mode: Union[Literal["attestation", "handoff_accepted"], str]
    """`handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer."""
    expected_artifact_kinds: list[str]
    reference_pointer: Union[Pointer, None]
    reference_note: Union[str, None]
    due_in_seconds: Union[int, None]
    deadline_seconds: Union[int, None]
    on_deadline: Union[Literal["notify", "skip", "abandon"], str]
    """What happens at the deadline, besides the event `service.run.step_deadline_passed`. `notify`: nothing. `skip`:
    the step is skipped. `abandon`: the run is closed as `abandoned`."""
    wait_for: Union[StepWait, None]
    assigned_user_id: Union[str, None]
    status: Union[Literal["blocked", "ready", "in_progress", "completed", "skipped"], str]
    """`ready`: all of its dependencies are completed or skipped. `blocked`: some are not."""
    attested_criteria: list[str]
    """Keys of the criteria that were attested."""
    waiting_since: Union[str, None]
    deadline_at: Union[str, None]


class RunStepCompletionCriteriaItem(Model):
    key: str
    """Its key."""
    description: str
    """What must be true."""


class RunWithAttempts(Model):
    id: str
    goal: str
    """What the run must achieve."""
    project_id: Union[str, None]
    status: Union[Literal["active", "completed", "closed"], str]
    initiated_by: RunWithAttemptsInitiatedBy
    template_id: Union[str, None]
    created_at: str
    updated_at: str
    success_criteria: list[str]
    """Conditions under which the goal is achieved."""
    values: dict[str, Union[str, float, bool]]
    """At most 50 texts, numbers and truth values, which filters of steps read as `run.values.<name>`."""
    ambiguity_score: Union[float, None]
    ambiguity_notes: list[RunWithAttemptsAmbiguityNotesItem]
    exemplar_ids: list[str]
    outcome: Union[Union[Literal["achieved", "partially_achieved", "abandoned"], str], None]
    closed_by_user_id: Union[str, None]
    close_note: Union[str, None]
    closed_at: Union[str, None]
    steps: list[RunWithAttemptsStepsItem]


class RunWithAttemptsAmbiguityNotesItem(Model):
    dimension: str
    """Aspect."""
    score: Union[Union[float, None], None] = None
    min: Union[Union[float, None], None] = None
    status: Union[Union[str, None], None] = None
    note: Union[Union[str, None], None] = None


class RunWithAttemptsInitiatedBy(Model):
    id: str
    display_name: str


class RunWithAttemptsStepsItem(Model):
    id: str
    step_key: str
    """Key of the step."""
    ordinal: int
    """Its position among the steps, from 1."""
    title: str
    role: Union[str, None]
    specialist_name: Union[str, None]
    instructions: Union[str, None]
    depends_on: list[str]
    completion_criteria: list[RunWithAttemptsStepsItemCompletionCriteriaItem]
    completion_mode: Union[Literal["attestation", "handoff_accepted"], str]
    """`handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer."""
    expected_artifact_kinds: list[str]
    reference_pointer: Union[Pointer, None]
    reference_note: Union[str, None]
    due_in_seconds: Union[int, None]
    deadline_seconds: Union[int, None]
    on_deadline: Union[Literal["notify", "skip", "abandon"], str]
    """What happens at the deadline, besides the event `service.run.step_deadline_passed`. `notify`: nothing. `skip`:
    the step is skipped. `abandon`: the run is closed as `abandoned`."""
    wait_for: Union[StepWait, None]
    assigned_user_id: Union[str, None]
    status: Union[Literal["blocked", "ready", "in_progress", "completed", "skipped"], str]
    """`ready`: all of its dependencies are completed or skipped. `blocked`: some are not."""
    attested_criteria: list[str]
    """Keys of the criteria that were attested."""
    waiting_since: Union[str, None]
    deadline_at: Union[str, None]
    attempts: list[StepAttempt]


class RunWithAttemptsStepsItemCompletionCriteriaItem(Model):
    key: str
    """Its key."""
    description: str
    """What must be true."""


class RunsAcceptOfferResult(Model):
    offer: HandoffOffer
    completed_step: RunStep
    attempt: Union[StepAttempt, None]
    run_completed: bool


class RunsAssignStepResult(Model):
    run_id: str
    run_goal: str
    assigned_step: RunStep


class RunsAttachExemplarResult(Model):
    run_id: str
    exemplar_ids: list[str]


class RunsCompleteStepResult(Model):
    run_id: str
    completed_step_key: Union[str, None]
    completed_step: RunStep
    attested_criteria: list[str]
    """Keys of the criteria that this call attested: without a `criterion_key`, all that were left."""
    newly_ready_steps: list[PositionStep]
    run_completed: bool


class RunsHistoryResult(Model):
    items: list[RunsHistoryResultItemsItem]
    actions: Union[list[RunAction], None] = None
    """In order."""


class RunsHistoryResultItemsItem(Model):
    step_key: str
    """Key of the step."""
    title: str
    role: Union[str, None]
    ordinal: int
    actor_kind: Union[Literal["agent", "user", "event", "deadline"], str]
    """`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id."""
    actor_id: str
    at: str
    handoff_offer_id: Union[str, None]
    attested_criteria: list[str]
    """Keys of the criteria that this completion, and attestations before it, attested."""
    event: Union[StepEvent, None]
    reopened_at: Union[str, None]
    artifacts: list[RunsHistoryResultItemsItemArtifactsItem]


class RunsHistoryResultItemsItemArtifactsItem(Model):
    display_name: Union[str, None]


class RunsListArtifactsResult(Model):
    artifacts: list[RunArtifact]
    total: int


class RunsListOffersResult(Model):
    offers: list[HandoffOffer]
    total: int


class RunsReopenStepResult(Model):
    run_id: str
    run_goal: str
    reason: str
    """Reason, shown in the run."""
    record_id: str
    reopened_step: RunStep
    demoted_successors: list[PositionStep]
    notify_only_successors: list[PositionStep]
    run_reactivated: bool


class RunsRetrospectiveResult(Model):
    items: list[RunsRetrospectiveResultItemsItem]


class RunsRetrospectiveResultItemsItem(Model):
    step_key: str
    """Key of the step."""
    title: str
    role: Union[str, None]
    status: Union[Literal["blocked", "ready", "in_progress", "completed", "skipped"], str]
    """`ready`: all of its dependencies are completed or skipped. `blocked`: some are not."""
    what_makes_this_done: Union[str, None]
    elapsed_seconds: Union[float, None]
    active_seconds: Union[float, None]


class RunsSkipStepResult(Model):
    run_id: str
    run_goal: str
    reason: str
    """Reason, shown in the run."""
    record_id: str
    skipped_step: RunStep
    newly_ready_steps: list[PositionStep]
    run_completed: bool


class Schedule(Model):
    id: str
    name: str
    """Display name."""
    owner_id: str
    """Agent or user that created it: the publisher of its events."""
    status: Union[Literal["active", "paused", "ended"], str]
    """`ended`: its last tick is over. It is deleted 30 days later."""
    event: ScheduledEvent
    """The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are extension
    attributes."""
    cron: Union[str, None]
    time_zone: str
    """IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks change; one that it
    repeats is due once, or every time if the hour is a range."""
    at: Union[str, None]
    when: str
    """`cron` with `time_zone`, or `at`, in words. An expression without words, such as one with both days, stays as
    it is."""
    on_missed: Union[Literal["skip", "run_once", "run_all"], str]
    """How missed ticks are handled: those that could not be published within a minute, such as when the service was
    down or the owner inactive. `run_once`: the latest is published late. `run_all`: the latest 100 are. `skip`:
    none is."""
    paused: bool
    """While true, nothing is published, and no tick is missed."""
    next_run_at: Union[str, None]
    last_run_at: Union[str, None]
    last_event_id: Union[str, None]
    last_missed_at: Union[str, None]
    last_error: Union[str, None]
    last_error_at: Union[str, None]
    run_count: int
    """Events published."""
    created_at: str
    updated_at: str


class ScheduledEvent(Model):
    """The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are extension
    attributes."""

    type: str
    """Event type in reverse-DNS form, such as `com.example.report.due`."""
    source: Union[str, None] = None
    """Producing system, a URI reference. Default: `sensorium/schedules/` and the schedule's id."""
    subject: Union[str, None] = None
    """What the event is about."""
    datacontenttype: Union[str, None] = None
    """Media type of `data`."""
    dataschema: Union[str, None] = None
    """Schema of `data`."""
    data: Union[Any, None] = None
    """Any JSON."""
    data_base64: Union[str, None] = None
    """Binary data in base64, instead of `data`."""


class SchedulesListResult(Model):
    schedules: list[Schedule]
    total: int


class SchedulesTestResult(Model):
    when: str
    """`cron` with `time_zone`, or `at`, in words. An expression without words, such as one with both days, stays as
    it is."""
    next: list[str]


class Session(Model):
    session_id: str
    state: Union[Literal["active", "idle", "ended"], str]
    """`active`: seen within 24 hours. `ended`: its key was revoked, or its approval has ended, because the person
    who approved it was disabled, lost the role or the agent, the agent was deactivated or the organisation
    suspended: connect it again."""
    client_name: str
    client_version: str
    oauth_client_id: Union[str, None] = None
    """The client of OAuth that a person has approved; absent for a device."""
    approved_by: Union[SessionApprovedBy, None]
    scopes: Union[list[Union[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"], str]], None]
    connected_at: str
    last_activity_at: str


class SessionApprovedBy(Model):
    """The person who approved it; null if that was not recorded."""

    id: str
    name: str
    """Display name."""


class SessionsHeartbeatResult(Model):
    last_seen_at: str
    next_allowed_at: str
    server_now: str


class SessionsListResult(Model):
    sessions: list[Session]


class SlackChannel(Model):
    host: str
    """Host of the incoming webhook."""
    request_url: str
    """The Request URL for the Interactivity settings of the Slack app."""
    assignees: list[str]
    """The assignees that the channel stands for: questions to them are posted, and everybody in the channel may
    answer those. Default: `admins`."""
    last_error: Union[str, None]
    updated_at: str


class Specialist(Model):
    name: str
    """Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`."""
    version_num: int
    system_prompt: str
    """Instructions for the agent that loads it."""
    memory_search_directives: Union[str, None]
    output_format_rules: Union[str, None]
    description: Union[str, None]


class SpecialistNotLoaded(Model):
    error: SpecialistNotLoadedError


class SpecialistNotLoadedError(Model):
    code: str
    """`not_found` or `unavailable`."""


class SpecialistsListResult(Model):
    specialists: list[SpecialistsListResultSpecialistsItem]


class SpecialistsListResultSpecialistsItem(Model):
    name: str
    """Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`."""
    version_num: int
    description: Union[str, None]
    updated_at: str
    loaded: bool
    """The caller has loaded it and not unloaded it."""


class SpecialistsUnloadResult(Model):
    unloaded: bool
    name: str
    """Name of the specialist."""


class SpecialistsVersionsResult(Model):
    versions: list[SpecialistsVersionsResultVersionsItem]
    total: int


class SpecialistsVersionsResultVersionsItem(Model):
    name: str
    """Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`."""
    version_num: int
    system_prompt: str
    """Instructions for the agent that loads it."""
    memory_search_directives: Union[str, None]
    output_format_rules: Union[str, None]
    description: Union[str, None]
    created_at: str


class StateClearResult(Model):
    deleted: int


class StateEntry(Model):
    namespace: str
    key: str
    version: int
    """1 for a new entry; each write adds 1."""
    size: int
    """Length of the value in bytes."""
    value: Union[str, None]
    subject: Union[str, None]
    metadata: dict[str, Any]
    """Free-form data of the caller, at most 64 KB as JSON."""
    created_at: str
    updated_at: str
    expires_at: Union[str, None]


class StateListResult(Model):
    entries: list[StateEntry]
    next: Union[str, None]


class StateNamespacesResult(Model):
    namespaces: list[str]
    next: Union[str, None]


class StatePutManyResult(Model):
    saved: int
    """Number of entries."""


class Stats(Model):
    at: str
    series: StatsSeries
    changes: int
    """Differs after any change of events or deliveries; its value has no other meaning."""
    deliveries: Union[StatsDeliveries, None]
    storage: Union[Storage, None]
    recent: list[RecentEvent]
    """The latest events, newest first, without the service's own."""
    health: StatsHealth


class StatsDeliveries(Model):
    pending: int
    in_flight: int
    waiting: int
    dead: int
    oldest_age_seconds: Union[float, None]


class StatsHealth(Model):
    status: Union[Literal["ready", "not_ready"], str]
    checks: dict[str, str]


class StatsSeries(Model):
    seconds: int
    """Length of each count."""
    published: list[int]
    """Oldest first; the last count is still in progress."""
    delivered: list[int]
    """Delivery attempts, retries included."""
    acknowledged: list[int]
    """Oldest first; the last count is still in progress."""


class StepAttempt(Model):
    id: str
    run_step_id: str
    actor_kind: Union[Literal["agent", "user", "event", "deadline"], str]
    """`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id."""
    actor_id: str
    started_at: str
    ended_at: Union[str, None]
    outcome: Union[Union[Literal["completed", "skipped", "reopened", "closed"], str], None]
    inbound_handoff_id: Union[str, None]
    bundle_id: Union[str, None]
    notes: Union[str, None]
    created_at: str
    warning: Union[str, None]
    specialist: Union[Union[Specialist, StepSpecialistError, None], None] = None
    """The step's specialist as loaded, or why it could not be; null if it has none."""


class StepEvent(Model):
    id: str
    """Its `event_id`."""
    type: str
    source: str
    subject: Union[str, None]


class StepSpecialistError(Model):
    code: Union[Literal["not_found", "unavailable"], str]
    message: str


class StepWait(Model):
    event_type: str
    """Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`,
    and at most 32 `?` and `[...]`."""
    filter_expression: Union[str, None]


class Storage(Model):
    used_bytes: int
    """Storage used, in bytes. Deleted data counts until the next hourly measurement."""
    quota_bytes: Union[int, None]


class Team(Model):
    id: str
    tenant_id: str
    name: str
    """Display name."""
    description: Union[str, None]
    created_at: str


class TeamsDeleteResult(Model):
    id: str
    agents_removed: int
    """Agents that were in the team."""


class TeamsListResult(Model):
    teams: list[Team]
    total: int


class TemplateStep(Model):
    step_key: str
    """Key of the step."""
    ordinal: int
    """Its position among the steps, from 1."""
    title: str
    role: Union[str, None]
    specialist_name: Union[str, None]
    instructions: Union[str, None]
    depends_on: list[str]
    completion_criteria: list[TemplateStepCompletionCriteriaItem]
    completion_mode: Union[Literal["attestation", "handoff_accepted"], str]
    """`handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer."""
    expected_artifact_kinds: list[str]
    reference_pointer: Union[Pointer, None]
    reference_note: Union[str, None]
    due_in_seconds: Union[int, None]
    deadline_seconds: Union[int, None]
    on_deadline: Union[Literal["notify", "skip", "abandon"], str]
    """What happens at the deadline, besides the event `service.run.step_deadline_passed`. `notify`: nothing. `skip`:
    the step is skipped. `abandon`: the run is closed as `abandoned`."""
    wait_for: Union[StepWait, None]


class TemplateStepCompletionCriteriaItem(Model):
    key: str
    """Its key."""
    description: str
    """What must be true."""


class TemplateSummary(Model):
    id: str
    name: str
    """Display name."""
    slug: str
    """Slug of the template; its versions share it."""
    description: Union[str, None]
    goal_template: Union[str, None]
    version_num: int
    step_count: int


class Tenant(Model):
    id: str
    slug: str
    """Name of the tenant in URLs: at most 63 lower-case letters, digits and inner hyphens."""
    name: str
    """Display name."""
    status: Union[Literal["active", "suspended", "importing"], str]
    storage: Storage
    storage_quota_mb: Union[int, None]
    requests_per_minute: Union[int, None]
    created_at: str
    updated_at: str


class TenantUsage(Model):
    id: str
    slug: str
    """Name of the tenant in URLs: at most 63 lower-case letters, digits and inner hyphens."""
    name: str
    """Display name."""
    status: Union[Literal["active", "suspended"], str]
    requests: int
    """With a token or key, refused ones included."""
    events: int
    """Accepted events."""
    deliveries: int
    """Created deliveries."""
    attempts: int
    """Delivery attempts."""
    dead_letters: int
    """Deliveries that became dead letters."""
    searches: int
    """Searches of an index, those for enrichment included."""
    stored_bytes: int
    cpu_ms: int
    """Processor time of all nodes. Each node's is divided by its work for each tenant, which is estimated."""
    cpu_share: float
    """Its part of all tenants' `cpu_ms`."""


class TenantsCreateResult(Model):
    tenant: Tenant
    admin: TenantsCreateResultAdmin
    agent: TenantsCreateResultAgent
    ingest_url: str


class TenantsCreateResultAdmin(Model):
    email: str
    password: str


class TenantsCreateResultAgent(Model):
    id: str
    api_key: str


class TenantsEraseResult(Model):
    tenant_id: str
    erased_at: str
    erased: dict[str, int]
    """Rows by kind."""
    storage: Union[Literal["rewritten", "overwritten", "deleted"], str]
    """How the bytes were removed from the store's files. `rewritten`: the files were rewritten without them.
    `overwritten`: in place; fragments of rows that SQLite moved earlier, about one in a thousand, may remain in
    unused parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may keep them until the
    space is reused."""
    backups_until: Union[str, None]
    receipt: str


class TenantsExportContentResult(Model):
    content: str
    next: Union[int, None]


class TenantsExportResult(Model):
    tenant: TenantsExportResultTenant
    """The tenant, as its export began."""
    collections: list[str]


class TenantsExportResultTenant(Model):
    """The tenant, as its export began."""

    id: str
    """Its id, which it keeps."""
    slug: str
    """Name of the tenant in URLs: at most 63 lower-case letters, digits and inner hyphens."""
    name: str
    """Its name."""
    storage_quota_mb: Union[int, None]
    requests_per_minute: Union[int, None]
    token_version: Union[int, None] = None
    """Connections that were approved in this version of the tenant stand."""
    created_at: str
    """When it was created."""


class TenantsExportRowsResult(Model):
    rows: str
    count: int
    blobs: list[str]
    next: Union[str, None]


class TenantsImportContentResult(Model):
    hash: Union[str, None]


class TenantsImportResult(Model):
    status: str
    slug: str
    done: bool


class TenantsImportRowsResult(Model):
    added: int
    same: int
    left_out: int
    refused: list[TenantsImportRowsResultRefusedItem]
    unset: list[str]


class TenantsImportRowsResultRefusedItem(Model):
    id: str
    reason: str


class TenantsListResult(Model):
    tenants: list[Tenant]
    total: int


class TenantsUsageResult(Model):
    tenants: list[TenantUsage]
    total: int


class TimelineEntry(Model):
    at: str
    what: str
    reason: Union[str, None] = None


class TrafficHistory(Model):
    range: Union[Literal["15m", "1h", "24h", "7d"], str]
    from_: str = Field(alias="from")
    to: str
    step_seconds: int
    """Time of one value: 60, 300 with `24h`, 3600 with `7d`. The first begins at `from`, the last is in progress."""
    series: TrafficHistorySeries
    totals: TrafficHistoryTotals
    """The sums of the series."""
    types: list[str]
    """Types of events in this time, most frequent ones first; at most 100."""


class TrafficHistorySeries(Model):
    published: list[Union[int, None]]
    """Events accepted, without the service's own; with `agent_id`, those that the agent published. Null where
    nothing was recorded."""
    created: list[Union[int, None]]
    """Deliveries created: an event has one for each receiver. Null where nothing was recorded."""
    delivered: list[Union[int, None]]
    """Delivery attempts, retries included. Null where nothing was recorded."""
    acknowledged: list[Union[int, None]]
    """Deliveries acknowledged. Null where nothing was recorded."""
    failed: list[Union[int, None]]
    """Attempts that were rejected, answered with an error, or not acknowledged in time. Null where nothing was
    recorded."""
    dead_lettered: list[Union[int, None]]
    """Deliveries dead-lettered. Null where nothing was recorded."""
    latency_seconds: list[Union[float, None]]
    """Mean time from a delivery's creation to its acknowledgement. Null without any."""


class TrafficHistoryTotals(Model):
    """The sums of the series."""

    published: int
    """Events accepted, without the service's own; with `agent_id`, those that the agent published."""
    created: int
    """Deliveries created: an event has one for each receiver."""
    delivered: int
    """Delivery attempts, retries included."""
    acknowledged: int
    """Deliveries acknowledged."""
    failed: int
    """Attempts that were rejected, answered with an error, or not acknowledged in time."""
    dead_lettered: int
    """Deliveries dead-lettered."""
    latency_seconds: Union[float, None]


class Usage(Model):
    cite_count_30d: int
    """Citations in the last 30 days, including the owner's."""
    last_cited_at: Union[str, None]
    trust: float
    """The lowest confidence of the memory and its lineage: the memories that it superseded, absorbed in a merge or
    was derived from."""


class User(Model):
    id: str
    tenant_id: str
    email: str
    """E-mail address, used to sign in."""
    display_name: str
    """Display name."""
    role: Union[Literal["admin", "member"], str]
    """`admin` has every scope and the actions reserved for people; `member` has every scope except `admin`."""
    status: Union[Literal["active", "disabled"], str]
    sign_in: list[Union[Literal["password", "totp", "oidc"], str]]
    """`totp`: the password needs a code too. `oidc`: linked to an identity of the provider."""
    created_at: str
    updated_at: str


class UsersCreateResult(Model):
    id: str
    tenant_id: str
    email: str
    """E-mail address, used to sign in."""
    display_name: str
    """Display name."""
    role: Union[Literal["admin", "member"], str]
    """`admin` has every scope and the actions reserved for people; `member` has every scope except `admin`."""
    status: Union[Literal["active", "disabled"], str]
    sign_in: list[Union[Literal["password", "totp", "oidc"], str]]
    """`totp`: the password needs a code too. `oidc`: linked to an identity of the provider."""
    created_at: str
    updated_at: str
    password: Union[str, None] = None
    """The generated password, shown only here."""


class UsersListResult(Model):
    users: list[User]
    total: int


class UsersUpdateResult(Model):
    id: str
    tenant_id: str
    email: str
    """E-mail address, used to sign in."""
    display_name: str
    """Display name."""
    role: Union[Literal["admin", "member"], str]
    """`admin` has every scope and the actions reserved for people; `member` has every scope except `admin`."""
    status: Union[Literal["active", "disabled"], str]
    sign_in: list[Union[Literal["password", "totp", "oidc"], str]]
    """`totp`: the password needs a code too. `oidc`: linked to an identity of the provider."""
    created_at: str
    updated_at: str
    password: Union[str, None] = None
    """The generated password, shown only here."""


class Webhook(Model):
    id: str
    name: str
    """Display name."""
    source: str
    """Name of the sender: the second part of the event type, and the end of the webhook's URL."""
    mapping: Union[Mapping, Union[Literal["cloudevents", "bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"], str]]
    signature: Union[Union[WebhookSignature, Union[Literal["bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"], str]], None]
    url: str
    last_request: Union[WebhookRequest, None]
    created_at: str
    updated_at: str


class WebhookRequest(Model):
    request_id: str
    """The `X-Request-Id` of the answer to the sender."""
    at: str
    outcome: Union[Literal["accepted", "duplicate", "dead_lettered", "challenge", "refused"], str]
    """`accepted`, `duplicate`, `dead_lettered`: signed and answered with success. `challenge`: a verification of the
    address by the sender. `refused`: answered with an error, nothing was stored."""
    reason: Union[str, None]
    event_id: Union[str, None]
    dead_letter_id: Union[str, None]
    events: int
    """Events in the request: more than 1 in a batch of CloudEvents."""
    size: int
    """Bytes of the body."""
    signature: Union[str, None]


class WebhookResult(Model):
    event_id: Union[str, None]
    status: Union[Literal["accepted", "duplicate", "dead_lettered"], str]
    differs: Union[bool, None] = None
    """True for a duplicate whose source or content differs from the first event's, apart from the time: it was not
    stored. Otherwise absent."""


class WebhookSignature(Model):
    """How a sender signs that has no preset: an HMAC with the secret's text as the key."""

    scheme: Union[Literal["custom"], str]
    """Always `custom`: senders with a name have presets."""
    header: str
    """Header with the signature, or with several, separated by commas, semicolons or spaces."""
    algorithm: Union[Union[Literal["sha256", "sha512", "sha1"], str], None] = None
    """Hash of the HMAC."""
    encoding: Union[Union[Literal["hex", "base64"], str], None] = None
    """How the HMAC is written."""
    prefix: Union[str, None] = None
    """Text before each signature; others are ignored. Default: none."""
    template: Union[str, None] = None
    """The signed text: `{body}`, and `{timestamp}` as it was sent."""
    timestamp_header: Union[str, None] = None
    """Header with the time, if the template has it: seconds or milliseconds since the epoch, or ISO 8601."""
    timestamp_prefix: Union[str, None] = None
    """Text before the time in its header. Default: none."""
    tolerance_seconds: Union[int, None] = None
    """How far the time may be from the present, either way."""
