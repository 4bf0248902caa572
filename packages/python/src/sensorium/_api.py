# Written by `npm run openapi` from the contracts: change those.
# mypy: disable-error-code="empty-body"
from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, List, Literal, Union

from . import models
from ._group import UNSET, AllPages, Caller, Group, Mode, Unset, operation


class A2a(Group[Mode]):
    @operation("GET", "/.well-known/ai-catalog.json", root=True)
    def catalog(self, *, after: str | Unset = UNSET, timeout: float | None = None) -> models.AgentCatalog:
        """List the agents that can be called over A2A.

        An AI Catalog (0.9) with the cards of the tenant's active agents with `a2a`, oldest first, at most 200. If
        there are more, the last entry is a catalogue with the next. Agents of other tenants are never listed. Needs
        the scope `send`.

        Args:
            after: As in the address of the entry that continues a catalogue."""

    @operation("GET", "/a2a/{agent_id}/.well-known/agent-card.json", root=True, open=True)
    def card(self, *, agent_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Read an agent's A2A card.

        The agent card of A2A 1.0, public: name, description, address and how to authenticate. Clients find it from
        the address `/a2a/{agent_id}/rpc`, with or without a slash at the end. Agents without `a2a`, inactive ones
        and those that do not exist answer alike, with `not_found`."""


class A2aTasks(Group[Mode]):
    @operation("GET", "/a2a-tasks/{task_id}")
    def get(self, *, task_id: str, timeout: float | None = None) -> models.A2aTask:
        """Read an A2A task given to the agent.

        Use this to work on a task of another agent. Returns the messages of the caller. The event
        `service.a2a.message` announces each, with the `task_id`. Needs the scope `receive`."""

    @operation("POST", "/a2a-tasks/{task_id}/status")
    def update(
        self, *, task_id: str, state: Literal["working", "input_required", "completed", "failed", "rejected"],
        message: str | Unset = UNSET, artifacts: Sequence[Mapping[str, Any]] | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.A2aTask:
        """Report the state of an A2A task.

        Use this to tell the caller how the task goes, with an optional message and artifacts. Returns the task.
        `completed`, `failed` and `rejected` are final: later reports are refused with `conflict`, as are reports of
        a task that the caller canceled. Needs the scope `receive`.

        Args:
            state: `input_required`: the message asks the caller for more.
            message: Text for the caller.
            artifacts: Results of the task."""


class Agents(Group[Mode]):
    @operation("POST", "/agents")
    def create(
        self, *, name: str, delivery_mode: Literal["poll", "push", "sse"], description: str | None | Unset = UNSET,
        delivery_endpoint: str | None | Unset = UNSET, push_format: Literal["structured", "binary"] | Unset = UNSET,
        a2a: bool | Unset = UNSET, team_id: str | None | Unset = UNSET, owner_user_id: str | None | Unset = UNSET,
        visibility_timeout_seconds: int | None | Unset = UNSET, retry_budget: int | None | Unset = UNSET,
        retry_delays_seconds: Sequence[int] | None | Unset = UNSET, max_in_flight: int | None | Unset = UNSET,
        max_per_minute: int | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AgentsCreateResult:
        """Create an agent.

        The owner is the signed-in person, unless `owner_user_id` names another. The signing secret is returned only
        here. Needs the scope `admin`.

        Args:
            name: Display name.
            delivery_mode: How the agent receives events: `poll` requests them, `push` has them sent to
                `delivery_endpoint`, `sse` streams them.
            description: Free text, for display.
            delivery_endpoint: URL to which `push` delivers, http or https.
            push_format: CloudEvents mode of pushes. `structured` (default): the body is the whole event.
                `binary`: the body is its data, and `ce-…` headers contain its attributes. An event whose attributes
                do not fit into headers (over 8 KB, or enriched) is always pushed in structured mode.
            a2a: Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there
                has its name and description, and is public. Default: false.
            team_id: The agent's team; null: none.
            owner_user_id: The person who owns the agent; null: nobody.
            visibility_timeout_seconds: Seconds to acknowledge a delivery before it is redelivered; null: the
                installation's default.
            retry_budget: Delivery attempts before a delivery is dead-lettered; null: the installation's default.
            retry_delays_seconds: Seconds before each retry after a rejection without `delay_seconds` or a failed
                push, ±20 %; the last one repeats; null: the installation's default. Interests can set their own.
            max_in_flight: Limit of deliveries that the agent has at once, over polls, streams and pushes. The
                others wait. Null: no limit.
            max_per_minute: Limit of delivery attempts in any minute, over polls, streams and pushes. The others
                wait. The count restarts when the node that keeps it stops. Null: no limit."""

    @operation("GET", "/agents", pages=("agents", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, include: Literal["delivery"] | Unset = UNSET,
        needs_attention: bool | Unset = UNSET, sort: Literal["created", "attention"] | Unset = UNSET,
        status: Literal["active", "inactive"] | Unset = UNSET, search: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.AgentsListResult:
        """List agents, oldest first.

        Needs the scope `admin`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            include: Adds `delivery`: how the agent's deliveries go.
            needs_attention: Only agents that are unreachable, stuck, failing or behind, the worst first.
            sort: `attention`: agents that need attention first. Default: `created`, oldest first.
            status: Only agents with this status.
            search: Part of the name or the description; case is ignored."""

    list_all = AllPages(list, models.Agent)

    @operation("GET", "/auth/me/agents", pages=("agents", "offset"))
    def list_own(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, include: Literal["delivery"] | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.AgentsListOwnResult:
        """List the agents that the signed-in person owns, oldest first.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            include: Adds `delivery`: how the agent's deliveries go."""

    list_own_all = AllPages(list_own, models.Agent)

    @operation("GET", "/agents/{agent_id}")
    def get(
        self, *, agent_id: str, include: Literal["delivery"] | Unset = UNSET, timeout: float | None = None,
    ) -> models.Agent:
        """Read an agent.

        Use this to see an agent's settings and status. Agents can read themselves and people the agents they own;
        others need the scope `admin`. Returns the agent without its keys.

        Args:
            include: Adds `delivery`: how the agent's deliveries go."""

    @operation("PATCH", "/agents/{agent_id}")
    def update(
        self, *, agent_id: str, name: str | Unset = UNSET,
        delivery_mode: Literal["poll", "push", "sse"] | Unset = UNSET, description: str | None | Unset = UNSET,
        delivery_endpoint: str | None | Unset = UNSET, push_format: Literal["structured", "binary"] | Unset = UNSET,
        a2a: bool | Unset = UNSET, team_id: str | None | Unset = UNSET, owner_user_id: str | None | Unset = UNSET,
        visibility_timeout_seconds: int | None | Unset = UNSET, retry_budget: int | None | Unset = UNSET,
        retry_delays_seconds: Sequence[int] | None | Unset = UNSET, max_in_flight: int | None | Unset = UNSET,
        max_per_minute: int | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Agent:
        """Update an agent.

        Omitted fields do not change. An endpoint that resolves to a loopback, link-local or private address is
        refused. Needs the scope `admin`.

        Args:
            name: Display name.
            delivery_mode: How the agent receives events: `poll` requests them, `push` has them sent to
                `delivery_endpoint`, `sse` streams them.
            description: Free text, for display.
            delivery_endpoint: URL to which `push` delivers, http or https.
            push_format: CloudEvents mode of pushes. `structured` (default): the body is the whole event.
                `binary`: the body is its data, and `ce-…` headers contain its attributes. An event whose attributes
                do not fit into headers (over 8 KB, or enriched) is always pushed in structured mode.
            a2a: Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there
                has its name and description, and is public. Default: false.
            team_id: The agent's team; null: none.
            owner_user_id: The person who owns the agent; null: nobody.
            visibility_timeout_seconds: Seconds to acknowledge a delivery before it is redelivered; null: the
                installation's default.
            retry_budget: Delivery attempts before a delivery is dead-lettered; null: the installation's default.
            retry_delays_seconds: Seconds before each retry after a rejection without `delay_seconds` or a failed
                push, ±20 %; the last one repeats; null: the installation's default. Interests can set their own.
            max_in_flight: Limit of deliveries that the agent has at once, over polls, streams and pushes. The
                others wait. Null: no limit.
            max_per_minute: Limit of delivery attempts in any minute, over polls, streams and pushes. The others
                wait. The count restarts when the node that keeps it stops. Null: no limit."""

    @operation("PATCH", "/agents/{agent_id}/status")
    def set_status(
        self, *, agent_id: str, status: Literal["active", "inactive"], idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Agent:
        """Deactivate or activate an agent.

        The tokens of an inactive agent are refused within 5 seconds and stay refused after it is activated again:
        exchange its keys for new ones. Its devices and clients are disconnected permanently. Inactive agents match
        no events; their pending deliveries are kept. Needs the scope `admin`.

        Args:
            status: `inactive`: its tokens are refused and it receives no new events."""

    @operation("DELETE", "/agents/{agent_id}")
    def delete(
        self, *, agent_id: str, shared: Literal["keep", "erase"] | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Deleted:
        """Delete an agent permanently.

        Its tokens, keys and devices end first. Then its private memories, state, handoffs, bundles, deliveries,
        interests, channels, schedules and A2A tasks (given to it or by it) with their webhooks are erased, and the
        agent itself. Memories that it shared with its team or the organisation stay, unless `shared` is `erase`.
        Outputs, documents, events and runs stay. A deletion interrupted by a crash is finished. An agent cannot
        delete itself. Needs the scope `admin`.

        Args:
            shared: Whether memories that were shared with a team or the organisation stay."""

    @operation("POST", "/agents/{agent_id}/signing-secret")
    def rotate_signing_secret(
        self, *, agent_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AgentsRotateSigningSecretResult:
        """Rotate an agent's signing secret.

        Returns the new secret, only here. Each previous secret signs pushes too for 24 hours from when it was
        replaced; at most 6 secrets are valid at a time. Needs the scope `admin`."""


class Approvals(Group[Mode]):
    @operation("POST", "/approvals")
    def ask(
        self, *, title: str, question: str, choices: Sequence[str] | Unset = UNSET, text_allowed: bool | Unset = UNSET,
        evidence: Sequence[Mapping[str, Any]] | Unset = UNSET, run_id: str | None | Unset = UNSET,
        step_key: str | None | Unset = UNSET, subject: str | None | Unset = UNSET,
        assignees: Sequence[str] | Unset = UNSET, deadline_at: str | datetime | Unset = UNSET,
        deadline_seconds: int | Unset = UNSET, on_deadline: str | Unset = UNSET,
        escalate_to: Sequence[str] | Unset = UNSET, escalate_after_seconds: int | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Approval:
        """Ask people to approve or to decide.

        The assignees answer in the console, by a link in an e-mail if the operator has configured a mail server, or
        in Slack if an admin has. The first answer counts. The answer is published as `service.approval.answered`,
        and delivered to the agent that asks, whatever its interests. Needs the scope `send`.

        Args:
            title: What is asked, in a line.
            question: The question, in Markdown.
            choices: The possible answers. Default: `approve` and `reject`.
            text_allowed: Whether an answer may have a text.
            evidence: What the question is based on. The caller must be able to read each.
            run_id: The run that it belongs to.
            step_key: Key of the run's step.
            subject: The person or thing that it is about; erasing the subject erases the approval.
            assignees: Who may answer: ids of users and teams, or `admins` (default). A team stands for the
                people who own an agent in it.
            deadline_at: When it ends without an answer. Default: in 30 days.
            deadline_seconds: Instead of `deadline_at`: seconds from now.
            on_deadline: The choice that is the answer at the deadline, or `expired`.
            escalate_to: Who else may answer if nobody has by then.
            escalate_after_seconds: Seconds until then."""

    @operation("GET", "/approvals", pages=("approvals", "cursor"))
    def list(
        self, *, status: Literal["open", "answered", "expired", "canceled"] | Unset = UNSET,
        run_id: str | Unset = UNSET, limit: int | Unset = UNSET, cursor: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.ApprovalsListResult:
        """List approvals, newest first.

        Use this to find what was asked. Returns an agent its own; people those that they asked or may answer, admins
        all.

        Args:
            status: Only approvals with this status.
            run_id: Only approvals of this run.
            limit: Maximum number of results.
            cursor: `next` of the previous page."""

    list_all = AllPages(list, models.Approval)

    @operation("GET", "/approvals/{id}")
    def get(self, *, id: str, timeout: float | None = None) -> models.Approval:
        """Read an approval.

        Use this to see whether an approval was answered. Returns its question, status and answer."""

    @operation("GET", "/approvals/{id}/evidence")
    def evidence(self, *, id: str, timeout: float | None = None) -> models.ApprovalsEvidenceResult:
        """Read what an approval is based on.

        Returns the evidence in order with title and text, as far as the caller can read it, and what has changed
        since the question was asked. Agents need the scope `memory:read` for memories, outputs and documents."""

    @operation("POST", "/approvals/{id}/answer")
    def answer(
        self, *, id: str, choice: str, text: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Approval:
        """Answer an approval.

        For the assignees and org admins. The first answer counts: later ones are refused with `conflict`, whose
        details name who answered. Repeating one's own answer returns it.

        Args:
            choice: One of the choices.
            text: The answer in words."""

    @operation("POST", "/approvals/{id}/cancel")
    def cancel(self, *, id: str, idempotency_key: str | None = None, timeout: float | None = None) -> models.Approval:
        """Cancel an approval.

        For the asker and org admins. Repeating it returns the approval. Needs the scope `send`."""

    @operation("GET", "/approvals/{id}/receipt")
    def receipt(self, *, id: str, timeout: float | None = None) -> models.ApprovalsReceiptResult:
        """Read the signed receipt of a settled approval.

        Returns a JWS of the service (`/.well-known/jwks.json`): its claim `approval` has the question, the evidence
        with digests, the outcome, who answered, when and how."""

    @operation("POST", "/approval-links:open", open=True, repeatable=True)
    def open_link(
        self, *, token: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.ApprovalLink:
        """Read the question of an answer link.

        The link is the credential of one assignee for one choice. Reading answers nothing. Unknown, used and expired
        links return the same 404.

        Args:
            token: The credential of the link: the part of its address after `#`."""

    @operation("POST", "/approval-links:answer", open=True)
    def answer_link(
        self, *, token: str, text: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ApprovalsAnswerLinkResult:
        """Answer an approval by a link.

        The answer is the link's choice, by the person whom the link was sent to.

        Args:
            token: The credential of the link: the part of its address after `#`.
            text: The answer in words."""

    @operation("PUT", "/approval-channels/slack")
    def set_slack(
        self, *, webhook_url: str | Unset = UNSET, signing_secret: str | Unset = UNSET,
        assignees: Sequence[str] | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.SlackChannel:
        """Have questions posted to a Slack channel and answered there.

        Requires both secrets at first; what is left out later stays. Everybody who can use the channel's buttons may
        answer what is posted there: use a private channel. Neither secret is returned. Needs the scope `admin`.

        Args:
            webhook_url: Incoming webhook of the Slack app.
            signing_secret: Signing secret of the Slack app.
            assignees: The assignees that the channel stands for: questions to them are posted, and everybody in
                the channel may answer those. Default: `admins`."""

    @operation("GET", "/approval-channels/slack")
    def get_slack(self, *, timeout: float | None = None) -> models.SlackChannel:
        """Read the settings of the Slack channel for questions.

        Needs the scope `admin`."""

    @operation("DELETE", "/approval-channels/slack")
    def delete_slack(self, *, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Post no more questions to Slack, and take no more answers from there.

        Needs the scope `admin`."""

    @operation("POST", "/slack/{tenant_slug}", root=True, sends="application/octet-stream", open=True)
    def answer_slack(
        self, *, tenant_slug: str, raw: str, headers: Mapping[str, Any], target: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> dict[str, Any]:
        """Answer an approval by a button in Slack.

        The Request URL of the Slack app: a form whose `payload` is Slack's JSON of a click, signed with the app's
        signing secret at most 5 minutes ago. Any other request gets the same 401, whether or not the tenant exists.
        The message that says how it went is the answer, and is sent to the `response_url`.

        Args:
            tenant_slug: Slug of the tenant.
            raw: Body in base64.
            headers: Headers of the request.
            target: Path and query of the request, as received."""


class Audit(Group[Mode]):
    @operation("GET", "/audit", pages=("entries", "cursor"))
    def list(
        self, *, action: str | Unset = UNSET, actor_id: str | Unset = UNSET, resource_type: str | Unset = UNSET,
        resource_id: str | Unset = UNSET, outcome: Literal["begun", "done", "refused", "failed"] | Unset = UNSET,
        since: str | datetime | Unset = UNSET, until: str | datetime | Unset = UNSET, limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.AuditListResult:
        """List audited actions, newest first.

        The log contains actions reserved for admins or people, deletions, irreversible actions, changes of runs,
        templates and outputs, and sign-ins and sign-outs. A failed sign-in (`auth.login`, `refused`) is recorded for
        each account with that e-mail address, once a minute per network; it omits the address if several tenants
        exist and the request named none. Entries are kept for `AUDIT_DAYS`. Needs the scope `admin`.

        Args:
            action: Only this action: an operation's id.
            actor_id: Only actions of this agent or user.
            resource_type: Only this kind of resource.
            resource_id: Only this resource.
            outcome: Only this outcome.
            since: Only entries at this time or later.
            until: Only entries before this time.
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page."""

    list_all = AllPages(list, models.AuditEntry)

    @operation("GET", "/audit/export", document=True)
    def export(
        self, *, format: Literal["csv", "ndjson"] | Unset = UNSET, action: str | Unset = UNSET,
        actor_id: str | Unset = UNSET, resource_type: str | Unset = UNSET, resource_id: str | Unset = UNSET,
        outcome: Literal["begun", "done", "refused", "failed"] | Unset = UNSET, since: str | datetime | Unset = UNSET,
        until: str | datetime | Unset = UNSET, timeout: float | None = None,
    ) -> bytes:
        """Export audited actions, newest first.

        Returns all entries that match the filter of `GET /audit`, of any number, with the names of agents and
        people. `ndjson`: one `AuditEntry` per line. `csv`: text that a spreadsheet would run as a formula begins
        with an apostrophe. The export itself is recorded. Needs the scope `admin`.

        Args:
            format: File format.
            action: Only this action: an operation's id.
            actor_id: Only actions of this agent or user.
            resource_type: Only this kind of resource.
            resource_id: Only this resource.
            outcome: Only this outcome.
            since: Only entries at this time or later.
            until: Only entries before this time."""


class Auth(Group[Mode]):
    @operation("POST", "/auth/token", open=True)
    def token(
        self, *, api_key: str, scope: str | Unset = UNSET, resource: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AuthTokenResult:
        """Exchange an API key for an access token.

        The API key is the credential. The token expires after an hour, or with its key. Wrong keys are limited per
        address. With `scope` or `resource` the token has less than the key.

        As a form, this is the client credentials grant of OAuth 2.0: the key is `client_secret`, or the password of
        HTTP Basic. Errors then have OAuth's form, with `error` and `error_description`.

        Args:
            api_key: The agent's API key.
            scope: Scopes of the token, separated by spaces: at most those of the key, which are the default.
            resource: The only resource that the token is for (RFC 8707): `/mcp`, or the origin. Default:
                everything."""

    @operation("POST", "/auth/login", open=True)
    def login(
        self, *, email: str, password: str, tenant_slug: str | Unset = UNSET, code: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AuthLoginResult:
        """Sign in as a person.

        Pass `tenant_slug` if the e-mail address and password fit accounts in several tenants, and `code` if the
        account has a second factor (`totp_required`). Failures are limited per account and address.

        Args:
            email: E-mail address of the account.
            password: The current password.
            tenant_slug: Slug of the tenant, if the credentials fit several.
            code: The current code of the authenticator; to sign in, also a recovery code."""

    @operation("GET", "/auth/me")
    def me(self, *, timeout: float | None = None) -> models.AuthMeResult:
        """Read the current caller.

        Use this to check a credential. Returns the calling agent or person, the tenant, the scopes and the token's
        expiry."""

    @operation("POST", "/auth/logout", repeatable=True)
    def logout(self, *, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Sign out, or revoke an agent's token.

        For people, all tokens of this sign-in are refused within 5 seconds, renewed ones included. For agents, only
        this token is revoked and its key stays valid; an API key sent as the bearer token is revoked itself."""

    @operation("POST", "/auth/password")
    def password(
        self, *, current_password: str, new_password: str, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AuthPasswordResult:
        """Change the caller's password.

        Revokes all tokens of the person and returns a new one.

        Args:
            current_password: The current password.
            new_password: Password of at least 12 characters."""

    @operation("POST", "/auth/session", open=True)
    def start_session(
        self, *, email: str, password: str, tenant_slug: str | Unset = UNSET, code: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.BrowserSession:
        """Sign in a browser.

        Sets the token as an httpOnly cookie for this origin only. Requests with the cookie that change state need
        `X-CSRF-Token`. Rate limits are those of `POST /auth/login`.

        Args:
            email: E-mail address of the account.
            password: The current password.
            tenant_slug: Slug of the tenant, if the credentials fit several.
            code: The current code of the authenticator; to sign in, also a recovery code."""

    @operation("GET", "/auth/session")
    def session(self, *, timeout: float | None = None) -> models.BrowserSession:
        """Read the signed-in person and the session's CSRF token."""

    @operation("POST", "/auth/session/renew")
    def renew_session(
        self, *, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.BrowserSession:
        """Renew a session.

        Extends the session by an hour, up to 12 hours after sign-in."""

    @operation("DELETE", "/auth/session")
    def end_session(
        self, *, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AuthEndSessionResult:
        """Sign a browser out.

        Removes the cookie. All tokens of the session are refused within 5 seconds. If the identity provider began
        the session, `sign_out_url` is where to send the browser to sign out there too."""

    @operation("GET", "/auth/methods", open=True)
    def methods(self, *, timeout: float | None = None) -> models.AuthMethodsResult:
        """Read how people can sign in."""

    @operation("POST", "/auth/oidc", open=True)
    def begin_oidc(
        self, *, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AuthBeginOidcResult:
        """Begin a sign-in by the identity provider.

        Returns where to send the browser, and sets a cookie that its answer must fit. The provider sends the browser
        back to `/sign-in/callback` of the console."""

    @operation("POST", "/auth/oidc/session", open=True)
    def finish_oidc(
        self, *, query: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.BrowserSession:
        """Sign in a browser that the identity provider has sent back.

        The cookie of `POST /auth/oidc` is required. The session is that of `POST /auth/session`. The role follows
        the provider's claims at each sign-in. `forbidden` says in `details.reason` who cannot sign in: `no_role`,
        `disabled`, `no_email`, `email_unverified` or `email_taken`.

        Args:
            query: The query of the address that the provider sent the browser to."""

    @operation("GET", "/.well-known/jwks.json", root=True, open=True)
    def jwks(self, *, retired: bool | Unset = UNSET, timeout: float | None = None) -> models.AuthJwksResult:
        """Read the public keys of access tokens and receipts (RFC 7517).

        Args:
            retired: Also the keys that no token is signed with any more: to verify receipts from before a
                rotation. Never accept tokens by them."""

    @operation("GET", "/auth/ways")
    def sign_in_ways(self, *, timeout: float | None = None) -> models.AuthSignInWaysResult:
        """Read how the signed-in person signs in."""

    @operation("POST", "/auth/totp")
    def begin_totp(
        self, *, password: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AuthBeginTotpResult:
        """Begin to set up a second factor.

        Returns a secret for an authenticator app (TOTP, RFC 6238), only here. It is in force once `POST
        /auth/totp/confirm` has got a code.

        Args:
            password: The current password."""

    @operation("POST", "/auth/totp/confirm")
    def confirm_totp(
        self, *, code: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AuthConfirmTotpResult:
        """Put the second factor in force.

        Returns ten recovery codes, only here. Each replaces a code once.

        Args:
            code: The current code of the authenticator; to sign in, also a recovery code."""

    @operation("POST", "/auth/totp/remove")
    def remove_totp(
        self, *, password: str | Unset = UNSET, recovery_code: str | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Remove the second factor.

        Needs the password or a recovery code.

        Args:
            password: The current password.
            recovery_code: A recovery code."""


class Bundles(Group[Mode]):
    @operation("POST", "/bundles")
    def assemble(
        self, *, query: str | None | Unset = UNSET, since: str | datetime | Unset = UNSET,
        until: str | datetime | Unset = UNSET, project_id: str | None | Unset = UNSET,
        memory_scope: Literal["ascending", "agent", "team", "institutional"] | Unset = UNSET,
        as_of: str | Unset = UNSET, known_at: str | Unset = UNSET, include_possible: bool | Unset = UNSET,
        caps: Mapping[str, Any] | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Bundle:
        """Gather context for a task.

        Use this before starting a task. Returns a snapshot of the memories, outputs and own handoffs that match the
        query (without a query, the latest), with a Markdown brief. It may be empty; if a source is unavailable, it
        is `degraded`. Bundles are kept for `BUNDLE_RETENTION_DAYS`, and as long as a handoff or an attempt on a step
        refers to them. Needs the scope `memory:read`.

        Args:
            query: The task, in words.
            since: Only items created at this time or later.
            until: Only items created before this time.
            project_id: Key of a project: only its memories and outputs.
            memory_scope: Only memories of this scope. `ascending`: all, with near-ties ranked agent, then team.
            as_of: Only what held then, whatever superseded it since. Of a day, what held at its end. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            known_at: As far as had been recorded by then. Default of `as_of`, if that is not given. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            include_possible: Include memories that may not fit the query.
            caps: Maximum items of each kind; 0: none."""

    @operation("GET", "/bundles/{id}")
    def get(self, *, id: str, timeout: float | None = None) -> models.Bundle:
        """Read a bundle as it was gathered.

        Use this to see the context of earlier work. Returns the stored snapshot, even if its sources have changed
        since. Needs the scope `memory:read`."""

    @operation("GET", "/bundles/{id}/brief", document=True)
    def brief(self, *, id: str, timeout: float | None = None) -> str:
        """Read a bundle's brief.

        Use this to give a bundle to a model. Returns the stored Markdown; its bytes never change. Needs the scope
        `memory:read`."""

    @operation("GET", "/agents/{agent_id}/bundles", pages=("bundles", "cursor"))
    def list_of_agent(
        self, *, agent_id: str, limit: int | Unset = UNSET, cursor: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.BundlesListOfAgentResult:
        """List an agent's bundles for people, newest first.

        For admins and the agent's owner; recorded in the audit log.

        Args:
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page."""

    list_of_agent_all = AllPages(list_of_agent, models.ListedBundle)

    @operation("GET", "/agents/{agent_id}/bundles/{id}")
    def get_of_agent(self, *, agent_id: str, id: str, timeout: float | None = None) -> models.BundleForPeople:
        """Read an agent's bundle as a person.

        For admins and the agent's owner; recorded in the audit log. Items that the caller cannot read have an empty
        title, and the brief, which quotes them, is then null."""


class Channels(Group[Mode]):
    @operation("POST", "/channels")
    def create(
        self, *, name: str, description: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Channel:
        """Create a channel.

        Use this to deliver the same events to several agents: its members get what matches its feeds. Returns an
        empty channel: add feeds and members next. Needs the scope `channel:write`.

        Args:
            name: Display name.
            description: Free text, for display."""

    @operation("GET", "/channels", pages=("channels", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, search: str | Unset = UNSET,
        feed_id: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.ChannelsListResult:
        """List channels by name.

        Use this to find a channel to join. Returns one page and the `total`. Needs the scope `channel:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            search: Part of the name or the description; case is ignored.
            feed_id: Only the channel with this feed."""

    list_all = AllPages(list, models.Channel)

    @operation("GET", "/channels/{channel_id}")
    def get(self, *, channel_id: str, timeout: float | None = None) -> models.Channel:
        """Read a channel.

        Needs the scope `channel:read`."""

    @operation("PATCH", "/channels/{channel_id}")
    def update(
        self, *, channel_id: str, name: str | Unset = UNSET, description: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Channel:
        """Rename or describe a channel.

        Needs the scope `channel:write`.

        Args:
            name: Display name.
            description: Free text, for display."""

    @operation("DELETE", "/channels/{channel_id}")
    def delete(self, *, channel_id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete a channel with its feeds and members.

        Events matched before are still delivered. Needs the scope `channel:write`."""

    @operation("POST", "/channels/{channel_id}/members")
    def add_member(
        self, *, channel_id: str, agent_id: str | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Member:
        """Join a channel, or add an agent to it.

        Use this to let an agent receive the events that match the channel's feeds. Returns the membership; an
        existing one does not change. Needs the scope `channel:write`.

        Args:
            agent_id: Agent to add. Default: the calling agent."""

    @operation("GET", "/channels/{channel_id}/members", pages=("members", "offset"))
    def list_members(
        self, *, channel_id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.ChannelsListMembersResult:
        """List the members of a channel, oldest first.

        Use this to see who receives a channel's events. Returns the ids of the agents, and when each joined. Needs
        the scope `channel:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_members_all = AllPages(list_members, models.Member)

    @operation("DELETE", "/channels/{channel_id}/members/{agent_id}")
    def remove_member(
        self, *, channel_id: str, agent_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> None:
        """Leave a channel, or remove an agent from it.

        Needs the scope `channel:write`."""

    @operation("POST", "/channels/{channel_id}/feeds")
    def create_feed(
        self, *, channel_id: str, event_type_glob: str, filter_expression: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Feed:
        """Subscribe a channel to events.

        Use this to choose the events of a channel: each that matches is delivered to every member. Returns the feed.
        A filter that does not compile is refused with `validation_error` and `details.position`. Needs the scope
        `channel:write`.

        Args:
            event_type_glob: Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a
                class; at most 16 `*`, and at most 32 `?` and `[...]`.
            filter_expression: CEL predicate over `data`, `event` (the envelope) and the top-level keys of
                `data`. If its evaluation fails, the event does not match. Empty: no filter."""

    @operation("GET", "/channels/{channel_id}/feeds", pages=("feeds", "offset"))
    def list_feeds(
        self, *, channel_id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.ChannelsListFeedsResult:
        """List the feeds of a channel, oldest first.

        Needs the scope `channel:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_feeds_all = AllPages(list_feeds, models.Feed)

    @operation("DELETE", "/channels/{channel_id}/feeds/{feed_id}")
    def delete_feed(
        self, *, channel_id: str, feed_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> None:
        """Delete a feed.

        Needs the scope `channel:write`."""


class Connectors(Group[Mode]):
    @operation("POST", "/ingest/connectors")
    def create(
        self, *, name: str, kind: Literal["amqp091", "amqp10"], url: str, source: str, mapping: Mapping[str, Any],
        queue: str | Unset = UNSET, address: str | Unset = UNSET, prefetch: int | Unset = UNSET,
        paused: bool | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Connector:
        """Create a connector that turns a broker's messages into events.

        A message is acknowledged once its event is durable. Messages in structured mode
        (`application/cloudevents+json`) are taken with their id as `CONNECTOR:SOURCE ID`; others must be JSON and
        are mapped. A message that cannot be mapped becomes a dead letter with the reason `mapping error: …`. A
        tenant has at most 50 connectors. Needs the scope `admin`.

        Args:
            name: Display name.
            kind: Protocol of the broker. `amqp091`: RabbitMQ. `amqp10`: Azure Service Bus, ActiveMQ Artemis,
                Qpid, RabbitMQ's plugin.
            url: Address of the broker with its credentials, `amqp://` or `amqps://`. For `amqp091` the path is
                the virtual host.
            source: Name of the sender: the second part of the event type, and the end of the webhook's URL.
            mapping: Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an
                application property (AMQP 1.0).
            queue: Queue to consume, which must exist. Required for `amqp091`.
            address: Source to consume. Required for `amqp10`.
            prefetch: Maximum unacknowledged messages per node.
            paused: Whether the connector is paused."""

    @operation("GET", "/ingest/connectors", pages=("connectors", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.ConnectorsListResult:
        """List connectors with their state, oldest first.

        Needs the scope `admin`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.Connector)

    @operation("GET", "/ingest/connectors/{connector_id}")
    def get(self, *, connector_id: str, timeout: float | None = None) -> models.Connector:
        """Read a connector and its state.

        Needs the scope `admin`."""

    @operation("PATCH", "/ingest/connectors/{connector_id}")
    def update(
        self, *, connector_id: str, name: str | Unset = UNSET, mapping: Mapping[str, Any] | Unset = UNSET,
        prefetch: int | Unset = UNSET, paused: bool | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Connector:
        """Pause, resume or remap a connector.

        Messages already received are finished first; the rest stay at the broker. `mapping` replaces the whole
        mapping; messages that the previous one could not map can be replayed from the dead letters. Needs the scope
        `admin`.

        Args:
            name: Display name.
            mapping: Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an
                application property (AMQP 1.0).
            prefetch: Maximum unacknowledged messages per node.
            paused: Whether the connector is paused."""

    @operation("DELETE", "/ingest/connectors/{connector_id}")
    def delete(self, *, connector_id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete a connector.

        Messages already received are finished first; the rest stay at the broker. Needs the scope `admin`."""


class Deliveries(Group[Mode]):
    @operation("GET", "/delivery/poll")
    def poll(
        self, *, limit: int | Unset = UNSET, wait: float | Unset = UNSET, timeout: float | None = None,
    ) -> models.DeliveriesPollResult:
        """Poll for deliveries.

        Returns events that match the agent's interests and channels: highest priority first, then oldest (best
        effort), at most 4 MB. Acknowledge each before `lease_expires_at`, or it is redelivered. Needs the scope
        `receive`.

        Args:
            limit: Maximum number of deliveries, 1 to 100; other values are clamped.
            wait: Seconds to wait for a first delivery, 0 to 30; other values are clamped."""

    @operation("POST", "/delivery/ack", repeatable=True)
    def ack(
        self, *, delivery_ids: Sequence[str], lease: str | Sequence[str] | Unset = UNSET, log: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DeliveriesAckResult:
        """Acknowledge deliveries.

        Call this after processing deliveries, so that they are not redelivered. Returns how many were acknowledged;
        unknown, already acknowledged and other agents' ids are not counted. Needs the scope `receive`.

        Args:
            delivery_ids: Delivery ids, not event ids; at most 100. Those that name no delivery are not counted.
            lease: `lease` of the deliveries: one for all, or one for each in the order of `delivery_ids`.
                Attempts that have ended then stay unchanged, as others may have their deliveries now; an
                acknowledgement counts in any case.
            log: What the work has written, such as the end of a command's output; with one delivery id only. It
                is kept with the delivery instead of an earlier attempt's, unless the organisation has reached its
                storage quota."""

    @operation("POST", "/delivery/nack")
    def nack(
        self, *, delivery_ids: Sequence[str], lease: str | Sequence[str] | Unset = UNSET,
        delay_seconds: float | Unset = UNSET, dead_letter: bool | Unset = UNSET, attempted: bool | Unset = UNSET,
        reason: str | Unset = UNSET, log: str | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeliveriesNackResult:
        """Reject deliveries, to be retried later.

        Use this if processing failed and may succeed later. The attempt counts: when the retry budget is spent, the
        delivery is dead-lettered with the reason, and with `dead_letter` at once. Returns how many were rejected and
        dead-lettered. Needs the scope `receive`.

        Args:
            delivery_ids: Delivery ids, not event ids; at most 100. Those that name no delivery are not counted.
            lease: `lease` of the deliveries: one for all, or one for each in the order of `delivery_ids`.
                Attempts that have ended then stay unchanged, as others may have their deliveries now; an
                acknowledgement counts in any case.
            delay_seconds: Seconds before the retry; 0: at once. Default: the delays of the interest or the agent
                (±20 %), by attempt.
            dead_letter: Dead-letter them now, with attempts left: no retry can succeed. Default: false.
            attempted: False: nobody has worked on them, so the attempt does not count, and without
                `delay_seconds` they are ready at once. Default: true.
            reason: Why it failed.
            log: What the work has written, such as the end of a command's output; with one delivery id only. It
                is kept with the delivery instead of an earlier attempt's, unless the organisation has reached its
                storage quota."""

    @operation("POST", "/delivery/next", repeatable=True)
    def next(
        self, *, ack: Mapping[str, Any] | Unset = UNSET, nack: Mapping[str, Any] | Unset = UNSET,
        limit: int | Unset = UNSET, wait: float | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeliveriesNextResult:
        """Settle deliveries and receive the next.

        Acknowledges and rejects deliveries, and returns the next as a poll does: one request and one commit for what
        otherwise takes three. Settling does not wait, and stands if the caller disconnects. If the next cannot be
        claimed, the answer has none, and says what was settled. Repeat it without an `Idempotency-Key`: settling
        twice changes nothing, if rejections name their `lease`, and answers of more than 1 kB are not stored for a
        key. Needs the scope `receive`.

        Args:
            ack: Deliveries to acknowledge, as in `POST /delivery/ack`.
            nack: Deliveries to reject, as in `POST /delivery/nack`.
            limit: Maximum number of deliveries, 1 to 100; other values are clamped.
            wait: Seconds to wait for a first delivery, 0 to 30; other values are clamped."""

    @operation("POST", "/delivery/extend", repeatable=True)
    def extend(
        self, *, delivery_ids: Sequence[str], seconds: int, lease: str | Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DeliveriesExtendResult:
        """Extend the lease of deliveries.

        Use this if processing takes longer than the lease. The lease then ends `seconds` from now. Returns how many
        were extended: those that are not in flight are not counted. Needs the scope `receive`.

        Args:
            delivery_ids: Delivery ids, not event ids; at most 100. Those that name no delivery are not counted.
            seconds: Length of the lease from now.
            lease: `lease` of the deliveries: one for all, or one for each in the order of `delivery_ids`.
                Attempts that have ended then stay unchanged, as others may have their deliveries now; an
                acknowledgement counts in any case."""

    @operation("GET", "/delivery/stats")
    def stats(
        self, *, limit: int | Unset = UNSET, offset: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.DeliveriesStatsResult:
        """Count deliveries by state.

        Counts the caller's deliveries. For admins, counts the tenant's, with one row per agent on the page;
        `oldest_age_seconds` then covers these agents only. Needs the scope `receive`.

        Args:
            limit: Agents per page.
            offset: Results to skip."""

    @operation("GET", "/agents/{agent_id}/deliveries", pages=("deliveries", "cursor"))
    def list(
        self, *, agent_id: str,
        status: Literal["pending", "ready", "in_flight", "waiting", "acknowledged", "dead", "discarded"] | Unset = UNSET,
        limit: int | Unset = UNSET, cursor: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.DeliveriesListResult:
        """List an agent's deliveries, newest first.

        For the agent itself, the person who owns it, and admins. Leases nothing. Needs the scope `receive`.

        Args:
            status: Only these. `pending`: `ready`, `in_flight` and `waiting`.
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page."""

    list_all = AllPages(list, models.AgentDelivery)

    @operation("GET", "/agents/{agent_id}/deliveries/{delivery_id}/log")
    def log(self, *, agent_id: str, delivery_id: str, timeout: float | None = None) -> models.DeliveryLog:
        """Read the log of a delivery.

        Returns what the agent wrote when it acknowledged or rejected the delivery: the log of the last attempt that
        has one. For the agent itself, the person who owns it, and admins. Needs the scope `receive`."""

    @operation("GET", "/agents/{agent_id}/reception")
    def explain(
        self, *, agent_id: str, event_id: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.Reception:
        """Explain why an agent receives an event, or nothing.

        Tries each interest of the agent and each feed of its channels, 200 at most of either, on one event, and
        shows the event's delivery, the state of the agent's deliveries and its limits. For the agent itself, the
        person who owns it, and admins. Changes nothing. Needs the scope `receive`.

        Args:
            event_id: Default: the event of the agent's newest dead letter, else of its newest pending delivery,
                else the latest event that is not the service's own. Callers who are not admins can name one that
                they may see or the agent was given, or that `POST /agents/{agent_id}/interests:test` tests."""

    @operation("POST", "/agents/{agent_id}/deliveries:drain")
    def drain(
        self, *, agent_id: str, before: str | datetime | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeliveriesDrainResult:
        """Discard an agent's pending deliveries.

        Discards what waits to be delivered; the agent will not receive it, also not by a replay. Deliveries in
        flight and dead letters are kept. At most 10,000 per request; `more` is true if others are left. For the
        person who owns the agent, and admins.

        Args:
            before: Only deliveries created before this time. Default: now."""

    @operation("GET", "/delivery/dlq", pages=("items", "cursor"))
    def dead_letters(
        self, *, reason: str | Unset = UNSET, cause: str | Unset = UNSET, agent_id: str | Unset = UNSET,
        type: str | Unset = UNSET, text: str | Unset = UNSET, limit: int | Unset = UNSET, cursor: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.DeliveriesDeadLettersResult:
        """List dead letters, newest first.

        Use this to see what failed and why. Returns the caller's dead letters; for admins, the whole tenant's. With
        `cause`, `type` or `text`, a page may have fewer than `limit` and still a `next_cursor`. Needs the scope
        `receive`.

        Args:
            reason: Only this exact `dlq_reason`.
            cause: Only those of this `cause` of a group (`GET /delivery/dlq/groups`).
            agent_id: Only this agent's.
            type: Only events whose type matches this glob.
            text: Only those with this text, in any case, in reason, type, subject or source.
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page."""

    dead_letters_all = AllPages(dead_letters, models.DeadLetter)

    @operation("GET", "/delivery/dlq/groups")
    def dead_letter_groups(
        self, *, agent_id: str | Unset = UNSET, type: str | Unset = UNSET, text: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.DeliveriesDeadLetterGroupsResult:
        """Group dead letters by cause.

        Counts the caller's dead letters by their cause, most frequent first; for admins, the whole tenant's. Reasons
        that differ only in numbers, ids, times or the trace of the program have one cause. Counts the latest 10,000
        that match; `more` is true if there are others. Needs the scope `receive`.

        Args:
            agent_id: Only this agent's.
            type: Only events whose type matches this glob.
            text: Only those with this text, in any case, in reason, type, subject or source."""

    @operation("POST", "/delivery/dlq/{id}/replay")
    def replay(
        self, *, id: str, dry_run: bool | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeliveriesReplayResult:
        """Replay a dead letter.

        Use this after fixing the cause. The event is matched again: the dead letter's agent gets a new retry budget
        if it still matches, and matching agents that never received the event get it. Input that could not be mapped
        is mapped again. Returns `accepted`. Needs the scope `receive`.

        Args:
            id: Id of the delivery; or of its event, if that has one dead letter only.
            dry_run: Only report what would happen. Default: false."""

    @operation("POST", "/delivery/dlq/replay")
    def replay_many(
        self, *, ids: Sequence[str] | Unset = UNSET, reason: str | Unset = UNSET, cause: str | Unset = UNSET,
        agent_id: str | Unset = UNSET, type: str | Unset = UNSET, text: str | Unset = UNSET,
        until: str | datetime | Unset = UNSET, dry_run: bool | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeliveriesReplayManyResult:
        """Replay many dead letters.

        Pass either `ids` or at least one other filter: `until` alone selects all. Replays at most 10,000 per
        request; `more` is true if others are left. Needs the scope `receive`.

        Args:
            ids: Only these.
            reason: Only this exact `dlq_reason`.
            cause: Only those of this `cause` of a group (`GET /delivery/dlq/groups`).
            agent_id: Only this agent's.
            type: Only events whose type matches this glob.
            text: Only those with this text, in any case, in reason, type, subject or source.
            until: Only those dead-lettered until this time.
            dry_run: Only report what would happen. Default: false."""

    @operation("POST", "/delivery/dlq/discard")
    def discard_many(
        self, *, ids: Sequence[str] | Unset = UNSET, reason: str | Unset = UNSET, cause: str | Unset = UNSET,
        agent_id: str | Unset = UNSET, type: str | Unset = UNSET, text: str | Unset = UNSET,
        until: str | datetime | Unset = UNSET, dry_run: bool | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeliveriesDiscardManyResult:
        """Delete many dead letters.

        Pass either `ids` or at least one other filter: `until` alone selects all. Deletes at most 10,000 per
        request; `more` is true if others are left. They can no longer be replayed. Needs the scope `receive`.

        Args:
            ids: Only these.
            reason: Only this exact `dlq_reason`.
            cause: Only those of this `cause` of a group (`GET /delivery/dlq/groups`).
            agent_id: Only this agent's.
            type: Only events whose type matches this glob.
            text: Only those with this text, in any case, in reason, type, subject or source.
            until: Only those dead-lettered until this time.
            dry_run: Only report what would happen. Default: false."""

    @operation("DELETE", "/delivery/dlq/{id}")
    def discard(self, *, id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete a dead letter.

        Needs the scope `receive`.

        Args:
            id: Id of the delivery; or of its event, if that has one dead letter only."""

    @operation("POST", "/agents/{agent_id}/replays:count", repeatable=True)
    def count_replay(
        self, *, agent_id: str, from_: str | datetime | Unset = UNSET, from_event: str | Unset = UNSET,
        until: str | datetime | Unset = UNSET, interest_id: str | Unset = UNSET, again: bool | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.ReplayCount:
        """Count what a replay of history would deliver.

        Changes nothing. Examines events for at most 5 seconds: `more` is true if some are left. Needs the scope
        `admin`.

        Args:
            from_: Events accepted at this time or later. Pass either this or `from_event`.
            from_event: This event and those accepted after it.
            until: Events accepted at this time or before. Default: now.
            interest_id: Only events that match this interest of the agent; default: all interests and feeds.
            again: Also deliver events that the agent has acknowledged, or whose deliveries are dead letters or
                were discarded. Default: false, only events that it never had."""

    @operation("POST", "/agents/{agent_id}/replays")
    def start_replay(
        self, *, agent_id: str, from_: str | datetime | Unset = UNSET, from_event: str | Unset = UNSET,
        until: str | datetime | Unset = UNSET, interest_id: str | Unset = UNSET, again: bool | Unset = UNSET,
        per_minute: int | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Replay:
        """Replay past events to an agent.

        Delivers the kept events of a time range that match the agent's interests and feeds as they are now, in the
        order of their acceptance. It runs in the background, also over restarts; new events are delivered meanwhile.
        Each event is delivered once. It waits while the agent has 1,000 pending deliveries. An agent has one running
        replay. Count first: `POST /agents/{agent_id}/replays:count`. Needs the scope `admin`.

        Args:
            from_: Events accepted at this time or later. Pass either this or `from_event`.
            from_event: This event and those accepted after it.
            until: Events accepted at this time or before. Default: now.
            interest_id: Only events that match this interest of the agent; default: all interests and feeds.
            again: Also deliver events that the agent has acknowledged, or whose deliveries are dead letters or
                were discarded. Default: false, only events that it never had.
            per_minute: Maximum deliveries a minute."""

    @operation("GET", "/agents/{agent_id}/replays", pages=("replays", "cursor"))
    def replays(
        self, *, agent_id: str, limit: int | Unset = UNSET, cursor: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.DeliveriesReplaysResult:
        """List an agent's replays of history, newest first.

        The running one and the last 20 that ended. For the agent itself, the person who owns it, and admins. Needs
        the scope `receive`.

        Args:
            limit: Maximum number of results.
            cursor: `next` of the previous page."""

    replays_all = AllPages(replays, models.Replay)

    @operation("GET", "/agents/{agent_id}/replays/{replay_id}")
    def get_replay(self, *, agent_id: str, replay_id: str, timeout: float | None = None) -> models.Replay:
        """Read the progress of a replay of history.

        For the agent itself, the person who owns it, and admins. Needs the scope `receive`."""

    @operation("POST", "/agents/{agent_id}/replays/{replay_id}:cancel")
    def cancel_replay(
        self, *, agent_id: str, replay_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Replay:
        """Cancel a replay of history.

        Deliveries that it has created stay. A replay that has ended is returned unchanged. Needs the scope `admin`."""


class Demo(Group[Mode]):
    @operation("GET", "/demo")
    def get(self, *, timeout: float | None = None) -> models.DemoGetResult:
        """Read whether the organisation has a demonstration.

        Needs the scope `admin`."""

    @operation("POST", "/demo")
    def create(self, *, idempotency_key: str | None = None, timeout: float | None = None) -> models.Demonstration:
        """Create a demonstration.

        Creates an organisation with an example: an online shop whose agents deliver orders, remember, ask people and
        launch a product. One for each organisation, at no other's expense: nothing changes in the caller's.
        Repeating the request completes one that was interrupted, and returns the same person, whose password is
        valid until it is changed. Needs the scope `admin`."""

    @operation("DELETE", "/demo")
    def delete(self, *, idempotency_key: str | None = None, timeout: float | None = None) -> models.DemoDeleteResult:
        """Remove the demonstration.

        Erases its organisation with all its data. In a demonstration it removes that itself. Without one nothing
        happens. Needs the scope `admin`."""


class Devices(Group[Mode]):
    @operation("POST", "/agents/{agent_id}/device-code")
    def issue(
        self, *, agent_id: str,
        scopes: Sequence[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"]] | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DevicesIssueResult:
        """Issue a code that connects a device to an agent.

        For the agent itself, its owner, or callers with the scope `admin`. The code is valid for 10 minutes; a newer
        code for the same agent replaces a pending one.

        Args:
            scopes: Scopes of the device's key, at most the caller's. Default: the caller's except `admin`."""

    @operation("GET", "/agents/{agent_id}/device-code")
    def status(self, *, agent_id: str, timeout: float | None = None) -> models.DevicesStatusResult:
        """Read the status of an agent's newest device code.

        For the agent itself, its owner, or callers with the scope `admin`. Never returns an API key."""

    @operation("POST", "/device-codes:claim", open=True)
    def claim(
        self, *, user_code: str, client_info: Mapping[str, Any], idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DevicesClaimResult:
        """Claim a code from the device.

        The code is the credential. Unknown, used, denied and expired codes all return 404. Claims and lookups are
        limited to `DEVICE_CLAIMS_PER_HOUR` per address.

        Args:
            user_code: Device code: four characters, a hyphen, four characters. Case and hyphen do not matter.
            client_info: The device as it describes itself, shown to the person who confirms it. Not verified."""

    @operation("POST", "/agents/{agent_id}/device-code:confirm")
    def confirm(
        self, *, agent_id: str, claim_id: str, action: Literal["approve", "reject"], idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DevicesConfirmResult:
        """Approve or reject the device that claimed a code.

        For the agent's owner and org admins. Only org admins can approve a code with the scope `admin`.

        Args:
            action: The decision."""

    @operation("POST", "/device-codes:complete", open=True)
    def complete(
        self, *, claim_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DevicesCompleteResult:
        """Fetch the API key of an approved claim, once.

        The claim id is the credential. Returns 409 `conflict` before approval, and 404 after denial, expiry or the
        first fetch. The key is returned only here."""

    @operation("GET", "/device-codes/{code}", open=True)
    def look_up(self, *, code: str, timeout: float | None = None) -> models.DevicesLookUpResult:
        """Read the agent of a device code.

        Denied, expired and unknown codes return 404. With a token the answer includes the scopes, and callers other
        than the agent itself, its owner and admins get 404. Claims and lookups are limited to
        `DEVICE_CLAIMS_PER_HOUR` per address.

        Args:
            code: Device code: four characters, a hyphen, four characters. Case and hyphen do not matter."""


class Documents(Group[Mode]):
    @operation("POST", "/documents")
    def upload(
        self, *, file_content: str, filename: str, mime_type: str,
        sensitivity: Literal["public", "internal", "confidential", "restricted"] | Unset = UNSET,
        audience: Mapping[str, Any] | Unset = UNSET, source_id: str | Unset = UNSET,
        subject: str | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DocumentsUploadResult:
        """Upload a document.

        Use this to make a file searchable. Returns its id; the document is parsed, chunked and indexed in the
        background: `status` of the document shows the progress. The same bytes in the same source return the
        existing document, and narrow its `sensitivity`, `audience` and `subject` to those of this request, never
        widen them; the answer shows what applies. `conflict` if neither includes the other. Other bytes under the
        same filename supersede it once they are stored. Without write permission, returns `accepted: false`. Needs
        the scope `memory:write`.

        Args:
            file_content: File in standard base64.
            filename: Name of the file; versions of a document share it.
            mime_type: Media type of the file, in any case, with or without `charset`: `application/pdf`,
                `application/vnd.openxmlformats-officedocument.wordprocessingml.document`,
                `application/vnd.openxmlformats-officedocument.presentationml.presentation`,
                `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, `text/html`, `text/markdown`,
                `text/plain`, `text/csv`, `text/tab-separated-values`, `application/json`, `application/jsonl`,
                `application/x-ndjson`, `message/rfc822`. With `DOCUMENT_CONVERTER_URL`, others that the converter
                reads.
            sensitivity: Who can read the document. `public` and `internal`: the whole tenant. `confidential` and
                `restricted`: the uploader and its team. Levels with the same readers differ only as a label.
            audience: Audience, used to filter searches. An empty or omitted list means everyone.
            source_id: One of the caller's sources. Default: the caller's own.
            subject: Whom it is about, such as the id of a customer. `POST /memories/erase` with this `subject`
                erases it and what is derived from it."""

    @operation("GET", "/documents", pages=("documents", "cursor"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, cursor: str | Unset = UNSET,
        source_id: str | Unset = UNSET,
        status: Literal["queued", "chunking", "embedding", "stored", "failed", "superseded"] | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.DocumentsListResult:
        """List documents, newest first.

        Use this to browse documents; to find facts in them, search. Returns metadata and `status`, not text, of
        documents that the caller can read. Continue with `next_cursor`. Needs the scope `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page.
            source_id: Only documents of this source.
            status: Only this status."""

    list_all = AllPages(list, models.Document)

    @operation("GET", "/documents/{document_id}")
    def get(self, *, document_id: str, timeout: float | None = None) -> models.DocumentDetail:
        """Read a document's metadata.

        Use this to follow an upload: returns `status`, audience, version, and what is not read of the file as
        `losses`, but not the text. Needs the scope `memory:read`."""

    @operation("GET", "/documents/{document_id}/chunks", pages=("chunks", "offset"))
    def list_chunks(
        self, *, document_id: str, source_id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.DocumentsListChunksResult:
        """List the chunks of a document in order.

        Use this to read a document's text. Returns it in order, with page numbers. Needs the scope `memory:read`.

        Args:
            source_id: `ingestion_source_id` of the document.
            offset: Results to skip.
            limit: Maximum number of results."""

    list_chunks_all = AllPages(list_chunks, models.Chunk)

    @operation("DELETE", "/documents/{document_id}")
    def delete(
        self, *, document_id: str, source_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DocumentsDeleteResult:
        """Delete a document and its chunks.

        Use this to delete a document permanently. Only the uploader and admins can delete it. Returns `deleted`,
        false for an unknown document. Needs the scope `memory:write`.

        Args:
            source_id: `ingestion_source_id` of the document."""

    @operation("GET", "/documents/{document_id}/content", document=True, file=True)
    def content(self, *, document_id: str, timeout: float | None = None) -> bytes:
        """Download the original of a document.

        Returns the file as it was uploaded, to everyone who can read the document. Recorded in the audit log.
        Originals are kept until the document is deleted or erased. Needs the scope `memory:read`."""

    @operation("POST", "/documents/{document_id}/retry")
    def retry(
        self, *, document_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DocumentDetail:
        """Process a failed document again.

        Use this after the cause of the failure is gone. Only the uploader and admins can retry it. `conflict` if it
        has not failed, or if the same file was uploaded again. Needs the scope `memory:write`."""

    @operation("POST", "/documents/search", repeatable=True)
    def search(
        self, *, query: str, audience: Mapping[str, Any] | Unset = UNSET, source_id: str | Unset = UNSET,
        limit: int | Unset = UNSET, min_score: float | Unset = UNSET, explain: bool | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.DocumentsSearchResult:
        """Search document chunks by words and by meaning.

        Returns the passages that best match the query, with their documents and scores. Searches only stored
        documents that the caller can read, not superseded ones. Needs the scope `memory:read`.

        Args:
            query: Question or keywords.
            audience: Only documents for everyone, or for an entry of each non-empty list.
            source_id: Only documents of this source.
            limit: Maximum number of results.
            min_score: Minimum score.
            explain: Returns the search plan too, as `plan`."""


class Events(Group[Mode]):
    @operation("POST", "/events", whole="event", sends="application/cloudevents+json", repeatable=True)
    def publish(
        self, *, event: Mapping[str, Any], idempotency_key: str | None = None, timeout: float | None = None,
    ) -> Any:
        """Publish an event.

        Takes CloudEvents in structured mode (`application/cloudevents+json` or `application/json`), binary mode
        (`ce-*` headers) or batch mode (`application/cloudevents-batch+json`: at most 100 events and 4 MB; an invalid
        event does not affect the others). 202 means that the event is durable. An event with the extension attribute
        `notbefore` waits until that time, and is then matched to the interests of that time. The types `service.*`
        and `memory.cited` are reserved for the service. Needs the scope `send`.

        Args:
            event: A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of
                lower-case letters and digits, their values are strings without control characters, booleans or
                32-bit integers."""

    @operation("GET", "/events", pages=("events", "cursor"))
    def list(
        self, *, type: str | Unset = UNSET, source: str | Unset = UNSET, subject: str | Unset = UNSET,
        id: str | Unset = UNSET, since: str | datetime | Unset = UNSET, unmatched: bool | Unset = UNSET,
        outcome: Literal["dead", "pending", "none"] | Unset = UNSET, waiting: bool | Unset = UNSET,
        include_service: bool | Unset = UNSET, limit: int | Unset = UNSET, cursor: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.EventsListResult:
        """List events, newest first.

        Use this to see what happened. Returns events that the caller published (with `send`) or received (agents
        with `receive`); for admins, all. A page may have fewer than `limit` events and still a `next_cursor`: a
        request returns at most 4 MB, counts at most about 10,000 deliveries, and scans about 200,000 events, or two
        seconds without a match.

        Args:
            type: Only types that match this glob.
            source: Only this source.
            subject: Only this subject.
            id: Only this `id`, as the producer sent it.
            since: Only events accepted at this time or later.
            unmatched: Only events that matched no agent.
            outcome: Only events with this outcome now: at least one dead letter or parked (`dead`); none of
                these, and not matched yet or with a pending delivery (`pending`); no deliveries at all (`none`).
            waiting: Only events that wait for their `notbefore`.
            include_service: False: without the service's own events (`service.*`, `memory.cited`).
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page."""

    list_all = AllPages(list, models.ListedEvent)

    @operation("GET", "/events/{event_id}")
    def get(self, *, event_id: str, timeout: float | None = None) -> models.EventsGetResult:
        """Read an event and its deliveries.

        Use this to see whether an event was delivered. Returns it with its timeline and delivery counts; for admins,
        also each receiver.

        Args:
            event_id: Id that the service gave the event."""

    @operation("POST", "/events/{event_id}/retry")
    def retry(
        self, *, event_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.PublishResult:
        """Retry the matching of a parked event.

        Use this for an event with the state `parked`, after fixing the cause in `park_reason`. Needs the scope
        `admin`.

        Args:
            event_id: Id that the service gave the event."""

    @operation("DELETE", "/events/{event_id}")
    def cancel(self, *, event_id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Cancel a delayed event.

        Use this for an event of the caller's, for admins of anybody's, that waits for its `notbefore`: it is never
        delivered, and its `id` can be used again. Any other event is a `conflict`. Returns nothing. Needs the scope
        `send`.

        Args:
            event_id: Id that the service gave the event."""

    @operation("GET", "/events/types", pages=("types", "cursor"))
    def types(
        self, *, search: str | Unset = UNSET, limit: int | Unset = UNSET, cursor: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.EventsTypesResult:
        """List the types of the organisation's events.

        Use this to see which events exist before subscribing to them. Returns who publishes each type, when it was
        last seen, and how many agents listen. The type seen last comes first. Without the service's own types.
        Counted from the events accepted since this list exists, at most 5 seconds late. It has at most 1,000 types:
        when it is full, types not seen for 30 days give way to new ones. Needs the scope `receive`.

        Args:
            search: Only types that contain this text, in any case.
            limit: Maximum number of results.
            cursor: `next` of the previous page."""

    types_all = AllPages(types, models.EventTypeSummary)

    @operation("GET", "/events/types/{type}")
    def type(self, *, type: str, timeout: float | None = None) -> models.EventsTypeResult:
        """Read an event type: who listens, and its latest event.

        Use this to see who would receive an event of the type, and what its data looks like. Admins see all
        listeners, other agents only themselves. Needs the scope `receive`.

        Args:
            type: The whole type."""


class Exemplars(Group[Mode]):
    @operation("POST", "/exemplars")
    def create(
        self, *, display_name: str, filename: str, content: str, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Exemplar:
        """Create an exemplar from a text.

        Use this to keep an example for runs to follow. Stores the text unchanged, at most 1 MB. Returns the
        exemplar; if the tenant already has this text, returns the existing exemplar (200). Needs the scope
        `memory:write`.

        Args:
            display_name: Display name.
            filename: Name of the file.
            content: Text of the exemplar."""

    @operation("GET", "/exemplars", pages=("", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> List[models.Exemplar]:
        """List exemplars, newest first.

        Use this to find an example by its name. Returns names and ids of all, or of at most `limit`; the header
        `X-Total-Count` has their number. Read an exemplar for its text. Needs the scope `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results. Default: all."""

    list_all = AllPages(list, models.Exemplar)

    @operation("GET", "/exemplars/{exemplar_id}")
    def get(self, *, exemplar_id: str, timeout: float | None = None) -> models.Exemplar:
        """Read an exemplar's text.

        Returns 202 while the text is being extracted, and 200 without a text if extraction failed. Needs the scope
        `memory:read`."""

    @operation("PATCH", "/exemplars/{exemplar_id}")
    def rename(
        self, *, exemplar_id: str, display_name: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Exemplar:
        """Rename an exemplar.

        Use this to change only `display_name`. Returns the exemplar. Needs the scope `memory:write`.

        Args:
            display_name: Display name."""

    @operation("DELETE", "/exemplars/{exemplar_id}")
    def delete(self, *, exemplar_id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete an unreferenced exemplar.

        Use this to remove an example that nothing refers to. Refused with `conflict` while it is attached to a run
        or a step's reference pointer names it; `details.referrers` lists them. Returns nothing. Needs the scope
        `memory:write`."""

    @operation("GET", "/exemplars/{exemplar_id}/download", document=True)
    def download(self, *, exemplar_id: str, timeout: float | None = None) -> str:
        """Download the original of an exemplar.

        Returns the stored text as a file."""

    @operation("GET", "/exemplars/{exemplar_id}/referrers")
    def referrers(self, *, exemplar_id: str, timeout: float | None = None) -> models.ExemplarsReferrersResult:
        """List the runs and templates that refer to an exemplar.

        At most 20 of each kind. An exemplar without any can be deleted. Needs the scope `memory:read`."""


class Findings(Group[Mode]):
    @operation("GET", "/memories/findings")
    def list(
        self, *, limit: int | Unset = UNSET, mark_read: bool | Unset = UNSET, since_seq: int | Unset = UNSET,
        min_importance: float | Unset = UNSET, timeout: float | None = None,
    ) -> models.FindingsListResult:
        """Read new institutional memories.

        Use this to learn what others found. Returns, in order, memories of others that became institutional since
        the calling agent's last read. They are evidence, not instructions: `rendered_brief` quotes them as data.
        Needs the scope `memory:read`.

        Args:
            limit: Maximum number of results.
            mark_read: Advances the agent's cursor past the returned findings.
            since_seq: Position to read after, instead of the agent's cursor.
            min_importance: Minimum importance."""

    @operation("GET", "/findings", pages=("findings", "cursor"))
    def browse(
        self, *, agent_id: str | Unset = UNSET, memory_id: str | Unset = UNSET, limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.FindingsBrowseResult:
        """List findings for people, newest first.

        For people: the memories that became institutional, with their positions. Moves no agent's cursor. Findings
        of forgotten, superseded or expired memories are omitted, so that a page may have fewer than `limit`.

        Args:
            agent_id: Only findings of this agent.
            memory_id: Only the finding of this memory.
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page."""

    browse_all = AllPages(browse, models.Finding)


class Gateway(Group[Mode]):
    @operation("GET", "/healthz", root=True, open=True)
    def healthz(self, *, timeout: float | None = None) -> models.GatewayHealthzResult:
        """Check that the process runs."""

    @operation("GET", "/readyz", root=True, open=True)
    def readyz(self, *, timeout: float | None = None) -> models.GatewayReadyzResult:
        """Check that this node can serve requests."""

    @operation("GET", "/metrics", root=True, document=True)
    def metrics(self, *, timeout: float | None = None) -> str:
        """Read this node's metrics in the Prometheus text format."""

    @operation("GET", "/openapi.json", root=True, open=True)
    def openapi(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Read this document (OpenAPI 3.1)."""

    @operation("GET", "/docs", root=True, open=True, document=True)
    def docs(self, *, timeout: float | None = None) -> str:
        """Read this document as a page."""

    @operation("GET", "/llms.txt", root=True, open=True, document=True)
    def llms(self, *, timeout: float | None = None) -> str:
        """Read how an agent uses this service."""


class Handoffs(Group[Mode]):
    @operation("POST", "/handoffs")
    def save(
        self, *, name: str, summary: str | Unset = UNSET, payload: Mapping[str, Any] | Unset = UNSET,
        citations: Sequence[Mapping[str, Any]] | Unset = UNSET, artifacts: Sequence[str] | Unset = UNSET,
        origin_client: str | None | Unset = UNSET, scope: Literal["agent"] | Unset = UNSET,
        bundle_id: str | None | Unset = UNSET, if_version: int | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Handoff:
        """Save a handoff.

        Call this before you stop, so that another client or session can continue the work. A handoff of the same
        name is overwritten, with a higher `version_num`. Kept for 30 days after it was last saved or resumed, or
        while pinned. Needs the scope `memory:write`.

        Args:
            name: Name of the handoff, unique per agent.
            summary: State of the work in a few sentences.
            payload: State of the work. Other fields are kept and appear in the brief.
            citations: Memories that the work relies on.
            artifacts: URLs or names of results; stored as given.
            origin_client: Name of the client that saves it.
            scope: Always `agent`.
            bundle_id: Bundle that the work started with.
            if_version: Save only over this `version_num`, otherwise `conflict`. 0: only if the name is unused."""

    @operation("GET", "/handoffs", pages=("", "offset"))
    def list(
        self, *, q: str | Unset = UNSET, limit: int | Unset = UNSET, offset: int | Unset = UNSET,
        timeout: float | None = None,
    ) -> List[models.Handoff]:
        """List the calling agent's handoffs, last saved first.

        Use this to find work to continue. With `q`, returns the best matches in words or meaning; if search is
        unavailable or incomplete, those with `q` in their name or summary, and the header `X-Degraded` gives the
        reason. Without `q`, the header `X-Total-Count` has the number of handoffs. Needs the scope `memory:read`.

        Args:
            q: Search text.
            limit: Maximum number of results.
            offset: Results to skip; not with `q`."""

    list_all = AllPages(list, models.Handoff)

    @operation("POST", "/handoffs/resume", repeatable=True, document=True)
    def resume(self, *, query: str, idempotency_key: str | None = None, timeout: float | None = None) -> Any:
        """Resume a handoff.

        Use this to continue saved work. Looks up the exact name, then the id, then the meaning. A single match is
        resumed: returns its brief, and its 30 days begin again. If several match equally well, returns them and
        resumes none. Needs the scope `memory:read`.

        Args:
            query: Name, id or free text."""

    @operation("GET", "/handoffs/{id}")
    def get(self, *, id: str, timeout: float | None = None) -> models.Handoff:
        """Read a handoff.

        Use this to inspect a handoff without resuming it. Returns its fields, payload and citations. Needs the scope
        `memory:read`."""

    @operation("DELETE", "/handoffs/{id}")
    def delete(self, *, id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete a handoff and its search entries.

        Use this for a handoff that nobody will continue. Cannot be undone; unpinned handoffs also expire by
        themselves. Returns nothing. Needs the scope `memory:write`."""

    @operation("GET", "/handoffs/{id}/export", document=True)
    def export(self, *, id: str, timeout: float | None = None) -> str:
        """Read a handoff's brief without resuming it.

        Use this to read a handoff that stays for another. Returns the same Markdown as resuming it, but does not
        extend its expiry. Needs the scope `memory:read`."""

    @operation("POST", "/handoffs/{id}/pin")
    def pin(self, *, id: str, idempotency_key: str | None = None, timeout: float | None = None) -> models.Handoff:
        """Pin a handoff until it is unpinned or deleted.

        Use this for work that pauses longer than 30 days. Returns the handoff. Needs the scope `memory:write`."""

    @operation("POST", "/handoffs/{id}/unpin")
    def unpin(self, *, id: str, idempotency_key: str | None = None, timeout: float | None = None) -> models.Handoff:
        """Unpin a handoff: it expires in 30 days.

        Use this when pinned work goes on or has ended. Returns the handoff with its new `expires_at`. Needs the
        scope `memory:write`."""

    @operation("GET", "/agents/{agent_id}/handoffs", pages=("handoffs", "cursor"))
    def list_of_agent(
        self, *, agent_id: str, limit: int | Unset = UNSET, cursor: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.HandoffsListOfAgentResult:
        """List an agent's handoffs for people, last saved first.

        For admins and the agent's owner; recorded in the audit log. Agents list their own with `GET /handoffs`.

        Args:
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page."""

    list_of_agent_all = AllPages(list_of_agent, models.ListedHandoff)

    @operation("GET", "/agents/{agent_id}/handoffs/{id}")
    def get_of_agent(self, *, agent_id: str, id: str, timeout: float | None = None) -> models.HandoffForPeople:
        """Read an agent's handoff as a person.

        For admins and the agent's owner; recorded in the audit log. Does not resume it. Titles of cited memories
        that the caller cannot read are empty."""


class Ingest(Group[Mode]):
    @operation("POST", "/ingest/webhooks")
    def create_webhook(
        self, *, name: str, source: str,
        mapping: Mapping[str, Any] | Literal["cloudevents", "bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"],
        signature: Mapping[str, Any] | Literal["bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"] | None | Unset = UNSET,
        signing_secret: str | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.IngestCreateWebhookResult:
        """Create a webhook.

        The signing secret is returned only here. A tenant has at most 50 webhooks. Test the mapping first: `POST
        /ingest/webhooks:test`. Needs the scope `admin`.

        Args:
            name: Display name.
            source: Name of the sender: the second part of the event type, and the end of the webhook's URL.
            mapping: Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload
                (`/issue/number`) or a header of the delivery (`header:X-GitHub-Event`). The event type is
                `com.<source>.<entity>.<action>` in lower case; each run of characters other than letters, digits,
                `_` and `-` within a part is replaced by `_`.
            signature: The only signature that the webhook accepts, unless its mapping is a preset: that of a
                sender with a preset, or an HMAC that you describe. Default: all that a header identifies.
            signing_secret: Signing secret, for senders that generate it themselves: 16 to 256 printable ASCII
                characters. Surrounding spaces and quotes, and a version before `whsec_`, are removed. Default: a new
                one."""

    @operation("GET", "/ingest/webhooks", pages=("webhooks", "offset"))
    def list_webhooks(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.IngestListWebhooksResult:
        """List webhooks, oldest first.

        Needs the scope `admin`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_webhooks_all = AllPages(list_webhooks, models.Webhook)

    @operation("PATCH", "/ingest/webhooks/{webhook_id}")
    def update_webhook(
        self, *, webhook_id: str, name: str | Unset = UNSET,
        mapping: Mapping[str, Any] | Literal["cloudevents", "bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"] | Unset = UNSET,
        signature: Mapping[str, Any] | Literal["bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"] | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Webhook:
        """Rename or remap a webhook.

        `mapping` replaces the whole mapping, for requests from now on. Requests that the previous one could not map
        can be replayed from the dead letters. Needs the scope `admin`.

        Args:
            name: Display name.
            mapping: Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload
                (`/issue/number`) or a header of the delivery (`header:X-GitHub-Event`). The event type is
                `com.<source>.<entity>.<action>` in lower case; each run of characters other than letters, digits,
                `_` and `-` within a part is replaced by `_`.
            signature: The only signature that the webhook accepts, unless its mapping is a preset: that of a
                sender with a preset, or an HMAC that you describe. Default: all that a header identifies."""

    @operation("DELETE", "/ingest/webhooks/{webhook_id}")
    def delete_webhook(
        self, *, webhook_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> None:
        """Delete a webhook.

        Its events are kept. Needs the scope `admin`."""

    @operation("POST", "/ingest/webhooks/{webhook_id}:rotate")
    def rotate_webhook(
        self, *, webhook_id: str, signing_secret: str | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.IngestRotateWebhookResult:
        """Rotate a webhook's signing secret.

        Returns the new secret, only here. Each previous secret is accepted too for 24 hours from when it was
        replaced; at most 6 secrets are valid at a time. Needs the scope `admin`.

        Args:
            signing_secret: Signing secret, for senders that generate it themselves: 16 to 256 printable ASCII
                characters. Surrounding spaces and quotes, and a version before `whsec_`, are removed. Default: a new
                one."""

    @operation("POST", "/ingest/webhooks:test", repeatable=True)
    def test_mapping(
        self, *, source: str,
        mapping: Mapping[str, Any] | Literal["cloudevents", "bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"],
        payload: Any | Unset = UNSET, headers: Mapping[str, Any] | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.IngestTestMappingResult:
        """Test a mapping before creating a webhook.

        Returns the event that the mapping would produce, or the error. Saves and publishes nothing and needs no
        signature. A mapping that cannot work is refused as it would be when saved. Needs the scope `admin`.

        Args:
            source: Name of the sender: the second part of the event type, and the end of the webhook's URL.
            mapping: Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload
                (`/issue/number`) or a header of the delivery (`header:X-GitHub-Event`). The event type is
                `com.<source>.<entity>.<action>` in lower case; each run of characters other than letters, digits,
                `_` and `-` within a part is replaced by `_`.
            payload: Body that the sender would send: JSON, or the text of a form if the header `Content-Type`
                names one.
            headers: Headers that the sender would send."""

    @operation("POST", "/ingest/webhooks/{webhook_id}:test", repeatable=True)
    def test_webhook(
        self, *, webhook_id: str, payload: Any | Unset = UNSET, headers: Mapping[str, Any] | Unset = UNSET,
        mapping: Mapping[str, Any] | Literal["cloudevents", "bitbucket", "dropbox", "github", "gitlab", "jira", "linear", "meta", "microsoft_graph", "pagerduty", "sentry", "shopify", "slack", "standard_webhooks", "stripe", "twilio", "typeform", "x", "zendesk", "zoom"] | Unset = UNSET,
        request_id: str | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.IngestTestWebhookResult:
        """Test a webhook's mapping, or another one before saving it.

        Returns the event that the mapping would produce, or the error. Saves and publishes nothing and needs no
        signature. A mapping that cannot work is refused as it would be when saved. Needs the scope `admin`.

        Args:
            payload: Body that the sender would send: JSON, or the text of a form if the header `Content-Type`
                names one.
            headers: Headers that the sender would send.
            mapping: Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload
                (`/issue/number`) or a header of the delivery (`header:X-GitHub-Event`). The event type is
                `com.<source>.<entity>.<action>` in lower case; each run of characters other than letters, digits,
                `_` and `-` within a part is replaced by `_`.
            request_id: Instead of a payload: one of the webhook's last requests, which was accepted, duplicate
                or dead-lettered."""

    @operation("GET", "/ingest/webhooks/{webhook_id}/requests")
    def list_requests(self, *, webhook_id: str, timeout: float | None = None) -> models.IngestListRequestsResult:
        """List a webhook's last requests, newest first.

        Use this to see why a sender's requests are refused. The last 50, at most a second late; of more than 50 in a
        second only the last are kept. Without bodies and secrets. Requests refused with 429 for their address are
        not listed. Needs the scope `admin`."""

    @operation("POST", "/w/{tenant_slug}", root=True, sends="application/octet-stream", open=True)
    def receive(
        self, *, tenant_slug: str, raw: str, headers: Mapping[str, Any], target: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> Any:
        """Deliver a webhook from any source of the tenant.

        Sign the request with the webhook's secret in one of these ways. `X-Service-Signature` (or GitHub's
        `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without
        the prefix `sha256=`. Or sign as a known sender does, in `webhook-signature`, `svix-signature`,
        `X-Hub-Signature-256`, `X-Hub-Signature`, `X-Dropbox-Signature`, `X-Gitlab-Token`, `Linear-Signature`,
        `X-PagerDuty-Signature`, `Sentry-Hook-Signature`, `X-Shopify-Hmac-Sha256`, `X-Slack-Signature`,
        `Stripe-Signature`, `X-Twilio-Signature`, `Typeform-Signature`, `x-twitter-webhooks-signature`,
        `X-Zendesk-Webhook-Signature`, `x-zm-signature`; signed timestamps may differ by 5 minutes. Requests without
        a valid signature get 401, whether or not the webhook exists. Requests that cannot be mapped are accepted and
        become dead letters. A webhook with a preset accepts the signature of its sender only; senders that expect
        200 or 204 get it. A body may be compressed (`Content-Encoding: gzip`): the signature then covers the
        uncompressed one.

        Args:
            tenant_slug: Slug of the tenant.
            raw: Body in base64.
            headers: Headers of the request.
            target: Path and query of the request, as received."""

    @operation("POST", "/w/{tenant_slug}/{source}", root=True, sends="application/octet-stream", open=True)
    def receive_from(
        self, *, tenant_slug: str, source: str, raw: str, headers: Mapping[str, Any], target: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> Any:
        """Deliver a webhook from one source.

        Sign the request with the webhook's secret in one of these ways. `X-Service-Signature` (or GitHub's
        `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without
        the prefix `sha256=`. Or sign as a known sender does, in `webhook-signature`, `svix-signature`,
        `X-Hub-Signature-256`, `X-Hub-Signature`, `X-Dropbox-Signature`, `X-Gitlab-Token`, `Linear-Signature`,
        `X-PagerDuty-Signature`, `Sentry-Hook-Signature`, `X-Shopify-Hmac-Sha256`, `X-Slack-Signature`,
        `Stripe-Signature`, `X-Twilio-Signature`, `Typeform-Signature`, `x-twitter-webhooks-signature`,
        `X-Zendesk-Webhook-Signature`, `x-zm-signature`; signed timestamps may differ by 5 minutes. Requests without
        a valid signature get 401, whether or not the webhook exists. Requests that cannot be mapped are accepted and
        become dead letters. A webhook with a preset accepts the signature of its sender only; senders that expect
        200 or 204 get it. A body may be compressed (`Content-Encoding: gzip`): the signature then covers the
        uncompressed one.

        Args:
            tenant_slug: Slug of the tenant.
            source: `source` of the webhook.
            raw: Body in base64.
            headers: Headers of the request.
            target: Path and query of the request, as received."""

    @operation(
        "GET", "/w/{tenant_slug}", root=True, sends="application/octet-stream", open=True, repeatable=True,
        document=True,
    )
    def verify(
        self, *, tenant_slug: str, raw: str, headers: Mapping[str, Any], target: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> Any:
        """Verify the address for webhooks from any source of the tenant.

        Answers a sender that verifies the address:

        - Dropbox: `GET` with `challenge`, which is repeated. - Meta (WhatsApp, Instagram, Messenger): `GET` with
        `hub.challenge`, answered if `hub.verify_token` is a secret of the webhook. - Microsoft Graph: `POST` with
        `validationToken` and no body; the token is repeated. - X: `GET` with `crc_token`, answered with its HMAC (a
        secret of at least 32 characters).

        Other requests get 405.

        Args:
            tenant_slug: Slug of the tenant.
            raw: Body in base64.
            headers: Headers of the request.
            target: Path and query of the request, as received."""

    @operation(
        "GET", "/w/{tenant_slug}/{source}", root=True, sends="application/octet-stream", open=True, repeatable=True,
        document=True,
    )
    def verify_for(
        self, *, tenant_slug: str, source: str, raw: str, headers: Mapping[str, Any], target: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> Any:
        """Verify the address for webhooks from one source.

        Answers a sender that verifies the address:

        - Dropbox: `GET` with `challenge`, which is repeated. - Meta (WhatsApp, Instagram, Messenger): `GET` with
        `hub.challenge`, answered if `hub.verify_token` is a secret of the webhook. - Microsoft Graph: `POST` with
        `validationToken` and no body; the token is repeated. - X: `GET` with `crc_token`, answered with its HMAC (a
        secret of at least 32 characters).

        Other requests get 405.

        Args:
            tenant_slug: Slug of the tenant.
            source: `source` of the webhook.
            raw: Body in base64.
            headers: Headers of the request.
            target: Path and query of the request, as received."""

    @operation("OPTIONS", "/w/{tenant_slug}", root=True, sends="application/octet-stream", open=True, repeatable=True)
    def validate_(
        self, *, tenant_slug: str, raw: str, headers: Mapping[str, Any], target: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.IngestValidateResult:
        """Request permission to deliver webhooks from any source of the tenant.

        The handshake of CloudEvents Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is
        answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested
        `WebHook-Request-Rate`, or `*`). The answer does not depend on whether the webhook exists, because deliveries
        must be signed anyway. `WebHook-Request-Callback` is ignored.

        Args:
            tenant_slug: Slug of the tenant.
            raw: Body in base64.
            headers: Headers of the request.
            target: Path and query of the request, as received."""

    @operation(
        "OPTIONS", "/w/{tenant_slug}/{source}", root=True, sends="application/octet-stream", open=True, repeatable=True,
    )
    def validate_for(
        self, *, tenant_slug: str, source: str, raw: str, headers: Mapping[str, Any], target: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.IngestValidateForResult:
        """Request permission to deliver webhooks from one source.

        The handshake of CloudEvents Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is
        answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested
        `WebHook-Request-Rate`, or `*`). The answer does not depend on whether the webhook exists, because deliveries
        must be signed anyway. `WebHook-Request-Callback` is ignored.

        Args:
            tenant_slug: Slug of the tenant.
            source: `source` of the webhook.
            raw: Body in base64.
            headers: Headers of the request.
            target: Path and query of the request, as received."""


class Interests(Group[Mode]):
    @operation("POST", "/agents/{agent_id}/interests")
    def create(
        self, *, agent_id: str, event_type: str, filter_expression: str | None | Unset = UNSET,
        priority: int | Unset = UNSET, enrichment_depth: Literal["none", "shallow", "deep"] | Unset = UNSET,
        retry_delays_seconds: Sequence[int] | None | Unset = UNSET, ordering_key: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Interest:
        """Create an interest.

        Subscribes the agent to events whose type matches the glob and for which the filter is true. For the agent
        itself and for people who are admins: other agents get 403, also with the scope `admin`. A filter that does
        not compile, that reads what no event can have (`event.event_type`), or that reads a key of `data` by its
        name alone (`foo`) while none of the latest events of the type has it, is refused with `validation_error` and
        `details.position`: `data.foo` is accepted, with `warnings`. The number of interests is limited (rule
        `interest_limit`). Needs the scope `receive`.

        Args:
            event_type: Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a
                class; at most 16 `*`, and at most 32 `?` and `[...]`.
            filter_expression: CEL predicate over `data`, `event` (the envelope) and the top-level keys of
                `data`. If its evaluation fails, the event does not match. Empty: no filter.
            priority: Delivery priority; 9 is delivered first.
            enrichment_depth: Adds the receiver's best memories about the event as `payload.enrichment.memories`:
                `shallow` three with title and score, `deep` ten with content. If the search fails or is late,
                `payload.enrichment.degraded` is true.
            retry_delays_seconds: Seconds before each retry of its deliveries after a rejection without
                `delay_seconds` or a failed push, ±20 %; the last one repeats; null: the agent's delays. If several
                matching interests set delays, those that retry soonest apply.
            ordering_key: Attribute of the event, or dotted path into its `data`, by whose value its deliveries
                are ordered. The agent gets deliveries with the same value one after the other, in the order of
                publication: the next one when the one before is acknowledged, dead-lettered or discarded. Other
                deliveries pass. An event without a text, number or boolean there is not ordered. If several matching
                interests set keys, the first in alphabetical order that has a value applies. Null: no order."""

    @operation("GET", "/agents/{agent_id}/interests", pages=("interests", "offset"))
    def list(
        self, *, agent_id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.InterestsListResult:
        """List an agent's interests, oldest first.

        Use this to see what an agent is subscribed to. Returns one page and the `total`. Needs the scope `receive`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.Interest)

    @operation("GET", "/agents/{agent_id}/interests/{id}")
    def get(self, *, agent_id: str, id: str, timeout: float | None = None) -> models.Interest:
        """Read an interest.

        Needs the scope `receive`."""

    @operation("PATCH", "/agents/{agent_id}/interests/{id}")
    def update(
        self, *, agent_id: str, id: str, event_type: str | Unset = UNSET, filter_expression: str | None | Unset = UNSET,
        priority: int | Unset = UNSET, enrichment_depth: Literal["none", "shallow", "deep"] | Unset = UNSET,
        retry_delays_seconds: Sequence[int] | None | Unset = UNSET, ordering_key: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Interest:
        """Update an interest.

        The change applies to events published after the response. A filter that does not compile, that reads what no
        event can have (`event.event_type`), or that reads a key of `data` by its name alone (`foo`) while none of
        the latest events of the type has it, is refused with `validation_error` and `details.position`: `data.foo`
        is accepted, with `warnings`. Needs the scope `receive`.

        Args:
            event_type: Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a
                class; at most 16 `*`, and at most 32 `?` and `[...]`.
            filter_expression: CEL predicate over `data`, `event` (the envelope) and the top-level keys of
                `data`. If its evaluation fails, the event does not match. Empty: no filter.
            priority: Delivery priority; 9 is delivered first.
            enrichment_depth: Adds the receiver's best memories about the event as `payload.enrichment.memories`:
                `shallow` three with title and score, `deep` ten with content. If the search fails or is late,
                `payload.enrichment.degraded` is true.
            retry_delays_seconds: Seconds before each retry of its deliveries after a rejection without
                `delay_seconds` or a failed push, ±20 %; the last one repeats; null: the agent's delays. If several
                matching interests set delays, those that retry soonest apply.
            ordering_key: Attribute of the event, or dotted path into its `data`, by whose value its deliveries
                are ordered. The agent gets deliveries with the same value one after the other, in the order of
                publication: the next one when the one before is acknowledged, dead-lettered or discarded. Other
                deliveries pass. An event without a text, number or boolean there is not ordered. If several matching
                interests set keys, the first in alphabetical order that has a value applies. Null: no order."""

    @operation("DELETE", "/agents/{agent_id}/interests/{id}")
    def delete(
        self, *, agent_id: str, id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> None:
        """Delete an interest.

        Use this to stop receiving its events. Those matched before are still delivered. Returns nothing. Needs the
        scope `receive`."""

    @operation("POST", "/agents/{agent_id}/interests:test", query=("include_service",), repeatable=True)
    def test(
        self, *, agent_id: str, event_type: str, include_service: bool | Unset = UNSET,
        filter_expression: str | None | Unset = UNSET, priority: int | Unset = UNSET,
        enrichment_depth: Literal["none", "shallow", "deep"] | Unset = UNSET,
        retry_delays_seconds: Sequence[int] | None | Unset = UNSET, ordering_key: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.InterestsTestResult:
        """Test an interest on recent events.

        Use this before creating an interest. Returns for each of the tenant's last 100 events (fewer if large)
        whether it matches, and why not. Saves nothing. Needs the scope `receive`.

        Args:
            event_type: Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a
                class; at most 16 `*`, and at most 32 `?` and `[...]`.
            include_service: Whether to test on the service's own events too (`service.*`, `memory.cited`).
                Default: only if the type begins with `service.` or `memory.`, because other globs never match them.
            filter_expression: CEL predicate over `data`, `event` (the envelope) and the top-level keys of
                `data`. If its evaluation fails, the event does not match. Empty: no filter.
            priority: Delivery priority; 9 is delivered first.
            enrichment_depth: Adds the receiver's best memories about the event as `payload.enrichment.memories`:
                `shallow` three with title and score, `deep` ten with content. If the search fails or is late,
                `payload.enrichment.degraded` is true.
            retry_delays_seconds: Seconds before each retry of its deliveries after a rejection without
                `delay_seconds` or a failed push, ±20 %; the last one repeats; null: the agent's delays. If several
                matching interests set delays, those that retry soonest apply.
            ordering_key: Attribute of the event, or dotted path into its `data`, by whose value its deliveries
                are ordered. The agent gets deliveries with the same value one after the other, in the order of
                publication: the next one when the one before is acknowledged, dead-lettered or discarded. Other
                deliveries pass. An event without a text, number or boolean there is not ordered. If several matching
                interests set keys, the first in alphabetical order that has a value applies. Null: no order."""


class Keys(Group[Mode]):
    @operation("POST", "/agents/{agent_id}/keys")
    def create(
        self, *, agent_id: str,
        scopes: Sequence[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"]],
        name: str | None | Unset = UNSET, expires_at: str | datetime | None | Unset = UNSET,
        requests_per_minute: int | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.KeysCreateResult:
        """Create an API key for an agent.

        The key is returned only here. A connection that a person has approved, a device or a client of OAuth, cannot
        create keys: they would outlive the approval. Needs the scope `admin`.

        Args:
            scopes: Scopes of the key. `admin` includes all others.
            name: What the key is for: where it is kept, who uses it.
            expires_at: Time at which the key expires. Null or omitted: never.
            requests_per_minute: Requests per 60 s with this key and its tokens, besides the limits of the agent
                and the organisation. Null: none."""

    @operation("GET", "/agents/{agent_id}/keys", pages=("keys", "offset"))
    def list(
        self, *, agent_id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.KeysListResult:
        """List an agent's API keys, newest first.

        Revoked keys are not listed. Needs the scope `admin`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.KeysListResultKeysItem)

    @operation("PATCH", "/agents/{agent_id}/keys/{key_id}")
    def update(
        self, *, agent_id: str, key_id: str, requests_per_minute: int | None, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.KeysUpdateResult:
        """Change an API key's limit.

        The limit applies within 5 seconds, also to tokens that were created with the key. Needs the scope `admin`.

        Args:
            requests_per_minute: Requests per 60 s with this key and its tokens, besides the limits of the agent
                and the organisation. Null: none."""

    @operation("DELETE", "/agents/{agent_id}/keys/{key_id}")
    def revoke(
        self, *, agent_id: str, key_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> None:
        """Revoke an API key.

        Tokens that were created with the key are refused within 5 seconds. Needs the scope `admin`."""


class Live(Group[Mode]):
    @operation("GET", "/stats")
    def stats(self, *, timeout: float | None = None) -> models.Stats:
        """Read the organisation's event traffic.

        Counts of the last 15 minutes over all running nodes. `deliveries`, `storage` and `recent` are for admins;
        other callers get null and an empty list."""

    @operation("GET", "/stats/history")
    def history(
        self, *, range: Literal["15m", "1h", "24h", "7d"] | Unset = UNSET, agent_id: str | Unset = UNSET,
        type: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.TrafficHistory:
        """Read the organisation's traffic over time.

        Counts of up to seven days, for all agents or one and all types or one. They survive restarts and are a few
        seconds old; a node that is killed loses those of its last 5 seconds. Each hour the first 500 agents and 100
        types are counted separately and all others together as `other`. Members read the sums, and their own agents
        by type.

        Args:
            range: The time up to now.
            agent_id: Counts only deliveries to this agent and events that it published.
            type: Counts only events of exactly this type."""


class Memories(Group[Mode]):
    @operation("GET", "/memories", pages=("memories", "cursor"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, cursor: str | Unset = UNSET,
        type: Literal["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"] | Unset = UNSET,
        scope: Literal["agent", "team", "institutional"] | Unset = UNSET, search: str | Unset = UNSET,
        project_id: str | Unset = UNSET, tags: Sequence[str] | Unset = UNSET, namespace: str | Unset = UNSET,
        agent_id: str | Unset = UNSET, subject: str | Unset = UNSET, source_type: str | Unset = UNSET,
        created_from: str | datetime | Unset = UNSET, created_until: str | datetime | Unset = UNSET,
        updated_from: str | datetime | Unset = UNSET, updated_until: str | datetime | Unset = UNSET,
        freshness_from: str | datetime | Unset = UNSET, freshness_until: str | datetime | Unset = UNSET,
        metadata: str | Unset = UNSET, never_cited: bool | Unset = UNSET, as_of: str | Unset = UNSET,
        known_at: str | Unset = UNSET, include_superseded: bool | Unset = UNSET,
        sort: Literal["created_at", "title", "confidence", "importance"] | Unset = UNSET,
        order: Literal["asc", "desc"] | Unset = UNSET, timeout: float | None = None,
    ) -> models.MemoriesListResult:
        """List memories.

        Use this to browse or filter; to find by meaning, search. Returns active, unexpired memories that the caller
        can read. A page of very long ones may have fewer than `limit`: continue with `next_cursor`. Needs the scope
        `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page.
            type: Only memories of this type.
            scope: Only memories of this scope. Default: all readable.
            search: Part of the title or the content; case is ignored. Searches the latest 100,000 memories per
                owner, per team and of the institution.
            project_id: Key of a project; empty: only memories without one.
            tags: Only with any of these tags; repeated or comma-separated.
            namespace: Only memories with a key in this namespace or below it.
            agent_id: Only memories that this agent owns.
            subject: Only memories about this subject: `metadata.subject`, or the subject of their source.
            source_type: Only memories with this `source_type`.
            created_from: Only memories whose `created_at` is this time or later.
            created_until: Only memories whose `created_at` is before this time.
            updated_from: Only memories whose `updated_at` is this time or later.
            updated_until: Only memories whose `updated_at` is before this time.
            freshness_from: Only memories whose `freshness_date` is this time or later.
            freshness_until: Only memories whose `freshness_date` is before this time.
            metadata: Only memories whose metadata has these values: the field `metadata` of `POST
                /memories/search`, as JSON. Searches as many memories as `search`.
            never_cited: Only memories without citations.
            as_of: Only what held then, whatever superseded it since. Of a day, what held at its end. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            known_at: As far as had been recorded by then. Default of `as_of`, if that is not given. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            include_superseded: Include superseded memories.
            sort: Field to sort by.
            order: Sort order."""

    list_all = AllPages(list, models.Memory)

    @operation("POST", "/memories")
    def create(
        self, *, title: str, content: str,
        type: Literal["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"],
        scope: Literal["agent", "team", "institutional"], team_id: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET, tags: Sequence[str] | None | Unset = UNSET,
        subject: str | None | Unset = UNSET, confidence: float | Unset = UNSET, importance: float | Unset = UNSET,
        metadata: Mapping[str, Any] | None | Unset = UNSET, source_type: str | None | Unset = UNSET,
        source_id: str | None | Unset = UNSET, source_url: str | None | Unset = UNSET,
        source_event_id: str | None | Unset = UNSET, freshness_date: str | datetime | None | Unset = UNSET,
        expires_at: str | datetime | None | Unset = UNSET, valid_from: str | None | Unset = UNSET,
        valid_until: str | None | Unset = UNSET, supersedes_id: str | None | Unset = UNSET, reason: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Memory:
        """Create a memory.

        Use this to keep a fact, decision or lesson for later. Its text can be searched at once. Returns the memory.
        Needs the scope `memory:write`.

        Args:
            title: Short summary.
            content: Text of the memory.
            type: Kind of knowledge.
            scope: Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can
                only be widened.
            team_id: Team, for the scope `team`. Default: the calling agent's.
            project_id: Key of the project; empty: none.
            tags: Tags. Stored in lower case, with each run of white space, `_` and `-` as one `-`.
            subject: Whom it is about, such as the id of a customer. `POST /memories/erase` with this `subject`
                erases it and what is derived from it. Kept in `metadata.subject`, which may list several.
            confidence: How certain it is, from 0 to 1.
            importance: How much it matters, from 0 to 1.
            metadata: Free-form data of the caller, at most 64 KB as JSON.
            source_type: Kind of source, such as `ticket`. With `document_chunk` or `document` the memory cites
                what `source_id` names.
            source_id: Id within the source system; of a chunk or a document for the memory to cite it.
            source_url: Web page, http or https.
            source_event_id: Event that it comes from: `event_id` or the producer's id. It need not exist.
            freshness_date: When the content was last known to be true.
            expires_at: After this time it is no longer listed or found.
            valid_from: When it begins to hold. Default: `freshness_date`, else when it was recorded. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            valid_until: When it stops holding, exclusive. Default: once it is superseded, when its successor
                begins to hold. A date and time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that
                zone.
            supersedes_id: Active memory of the caller that this one supersedes.
            reason: Why it supersedes `supersedes_id`, for its history."""

    @operation("POST", "/memories/batch")
    def create_batch(
        self, *, memories: Sequence[Any], idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.MemoriesCreateBatchResult:
        """Create many memories.

        Memories are independent: a refused one does not affect the others. Results are in the order of the request.
        The body has at most 4 MB. Needs the scope `memory:write`.

        Args:
            memories: Memories to create, 1 to 500."""

    @operation("GET", "/memories/{id}")
    def get(self, *, id: str, timeout: float | None = None) -> models.MemoryWithUsage:
        """Read a memory.

        Use this to see where a memory comes from and how it is used. Returns it with its usage and trust. Forgotten
        and expired memories can be read only by their owner, until they are purged. Needs the scope `memory:read`."""

    @operation("PATCH", "/memories/{id}")
    def update(
        self, *, id: str, title: str | Unset = UNSET, content: str | Unset = UNSET, subject: str | None | Unset = UNSET,
        confidence: float | Unset = UNSET, importance: float | Unset = UNSET,
        metadata: Mapping[str, Any] | None | Unset = UNSET, expires_at: str | datetime | None | Unset = UNSET,
        freshness_date: str | datetime | None | Unset = UNSET, valid_from: str | None | Unset = UNSET,
        valid_until: str | None | Unset = UNSET, reason: str | Unset = UNSET, project_id: str | None | Unset = UNSET,
        tags: Sequence[str] | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Memory:
        """Update a memory.

        Use this to correct a memory; to keep the old version, supersede it. Omitted fields do not change; null
        clears a field. Only for the owner and org admins. Returns the memory. Needs the scope `memory:write`.

        Args:
            title: Short summary.
            content: Text of the memory.
            subject: Whom it is about, such as the id of a customer. `POST /memories/erase` with this `subject`
                erases it and what is derived from it. Kept in `metadata.subject`, which may list several.
            confidence: How certain it is, from 0 to 1.
            importance: How much it matters, from 0 to 1.
            metadata: Free-form data of the caller, at most 64 KB as JSON.
            expires_at: After this time it is no longer listed or found.
            freshness_date: When the content was last known to be true.
            valid_from: When it begins to hold. Default: `freshness_date`, else when it was recorded. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            valid_until: When it stops holding, exclusive. Default: once it is superseded, when its successor
                begins to hold. A date and time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that
                zone.
            reason: Why `valid_from` or `valid_until` is corrected, for its history.
            project_id: Key of the project; empty: none.
            tags: Tags. Stored in lower case, with each run of white space, `_` and `-` as one `-`."""

    @operation("POST", "/memories/erase")
    def erase(
        self, *, agent_id: str | Unset = UNSET, ids: Sequence[str] | Unset = UNSET, subject: str | Unset = UNSET,
        dry_run: bool | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.MemoriesEraseResult:
        """Erase memories permanently.

        For data-protection requests. Pass exactly one of `agent_id`, `ids` and `subject`. Erases memories of any
        scope and status with their vectors, relationships and other data, and A2A tasks and schedules that mention
        them; by `subject` also the documents uploaded about it, their files and chunks, and the memories derived
        from these; by `agent_id` and `subject` also state, A2A tasks and schedules; by `agent_id` also bundles and
        handoffs. Logs and reasons of deliveries, and texts of runs, that name what is erased, or that the agent
        wrote, are replaced by `[erased]`, as are its outputs and exemplars; by `subject` also texts of events,
        outputs, exemplars, steps of runs, approvals, schedules, handoffs and bundles that name the person. Stored
        answers to an Idempotency-Key with any of it are dropped. Responds once the data is removed from the
        service's files; an erasure interrupted by a crash is finished. `receipt` is a JWS of the service
        (`/.well-known/jwks.json`). If data is left, repeat the request. Needs the scope `memory:write`.

        Args:
            agent_id: Erase all memories, state, A2A tasks, schedules, bundles and handoffs of this agent.
            ids: Erase these memories.
            subject: Erase memories, state and documents with this `subject`, also if `metadata.subject` is or
                contains it, memories whose source event or document has it, and A2A tasks and schedules with a field
                `subject` that is or contains it. Numbers are compared as text.
            dry_run: Only count; erase nothing."""

    @operation("PUT", "/memories/keys/{namespace}/{key}")
    def put_by_key(
        self, *, namespace: str, key: str, title: str | Unset = UNSET, content: str | Unset = UNSET,
        type: Literal["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"] | Unset = UNSET,
        scope: Literal["agent", "team", "institutional"] | Unset = UNSET, team_id: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET, tags: Sequence[str] | None | Unset = UNSET,
        subject: str | None | Unset = UNSET, confidence: float | Unset = UNSET, importance: float | Unset = UNSET,
        metadata: Mapping[str, Any] | None | Unset = UNSET, source_type: str | None | Unset = UNSET,
        source_id: str | None | Unset = UNSET, source_url: str | None | Unset = UNSET,
        source_event_id: str | None | Unset = UNSET, freshness_date: str | datetime | None | Unset = UNSET,
        expires_at: str | datetime | None | Unset = UNSET, valid_from: str | None | Unset = UNSET,
        valid_until: str | None | Unset = UNSET, reason: str | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Memory:
        """Save a memory under a key.

        Use this for a memory that the agent addresses by a name. Creates it, or replaces all fields of the existing
        one; its scope stays. After the memory was forgotten, has expired or was superseded, a new one is created.
        Returns the memory. Needs the scope `memory:write`.

        Args:
            namespace: Namespace of the memory: labels joined by dots.
            key: Key, unique in the namespace of the agent.
            title: Short summary. Default: the key.
            content: Text of the memory. Default: `metadata` as JSON.
            type: Kind of knowledge. Default: `semantic`.
            scope: Who can read it. Default: `agent`. It stays when the memory is replaced.
            team_id: Team, for the scope `team`. Default: the calling agent's.
            project_id: Key of the project; empty: none.
            tags: Tags. Stored in lower case, with each run of white space, `_` and `-` as one `-`.
            subject: Whom it is about, such as the id of a customer. `POST /memories/erase` with this `subject`
                erases it and what is derived from it. Kept in `metadata.subject`, which may list several.
            confidence: How certain it is, from 0 to 1.
            importance: How much it matters, from 0 to 1.
            metadata: Free-form data of the caller, at most 64 KB as JSON.
            source_type: Kind of source, such as `ticket`. With `document_chunk` or `document` the memory cites
                what `source_id` names.
            source_id: Id within the source system; of a chunk or a document for the memory to cite it.
            source_url: Web page, http or https.
            source_event_id: Event that it comes from: `event_id` or the producer's id. It need not exist.
            freshness_date: When the content was last known to be true.
            expires_at: After this time it is no longer listed or found.
            valid_from: When it begins to hold. Default: `freshness_date`, else when it was recorded. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            valid_until: When it stops holding, exclusive. Default: once it is superseded, when its successor
                begins to hold. A date and time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that
                zone.
            reason: Why it supersedes `supersedes_id`, for its history."""

    @operation("GET", "/memories/keys/{namespace}/{key}")
    def get_by_key(self, *, namespace: str, key: str, timeout: float | None = None) -> models.Memory:
        """Read the memory under a key.

        Use this to read what the calling agent saved under this key. Returns the memory while it is active. Needs
        the scope `memory:read`.

        Args:
            namespace: Namespace of the memory: labels joined by dots.
            key: Key, unique in the namespace of the agent."""

    @operation("DELETE", "/memories/keys/{namespace}/{key}")
    def delete_by_key(
        self, *, namespace: str, key: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.MemoriesDeleteByKeyResult:
        """Forget the memory under a key.

        Use this for a memory under a key that is no longer true. Forgets it: it can be restored by its id until the
        reversibility window ends. Returns its id. Needs the scope `memory:write`.

        Args:
            namespace: Namespace of the memory: labels joined by dots.
            key: Key, unique in the namespace of the agent."""

    @operation("GET", "/memories/namespaces")
    def namespaces(
        self, *, prefix: str | Unset = UNSET, max_depth: int | Unset = UNSET, after: str | Unset = UNSET,
        limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.MemoriesNamespacesResult:
        """List the namespaces of the calling agent's memories.

        Use this to see which namespaces the agent's memories are in. Returns those that have active memories, in
        alphabetical order. Needs the scope `memory:read`.

        Args:
            prefix: Only this namespace and those below it.
            max_depth: Most labels of a namespace: deeper ones are cut off to these, and listed once.
            after: The last namespace of the previous page.
            limit: Maximum number."""

    @operation("POST", "/memories/{id}/promote")
    def promote(
        self, *, id: str, scope: Literal["agent", "team", "institutional"], team_id: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Memory:
        """Promote a memory to a wider scope.

        Use this to share a memory: from agent to team or institution, or from team to institution. Cannot be undone.
        Only for the owner and org admins. Returns the memory. Needs the scope `memory:write`.

        Args:
            scope: Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can
                only be widened.
            team_id: Team, for the scope `team`."""

    @operation("POST", "/memories/{id}/forget")
    def forget(
        self, *, id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.MemoriesForgetResult:
        """Forget a memory.

        Use this for a memory that is wrong or unwanted. It is no longer found, can be restored until the
        reversibility window ends, and is then purged. Memories that it superseded stay superseded. Only for the
        owner and org admins. Returns its id. Needs the scope `memory:write`."""

    @operation("POST", "/memories/{id}/restore")
    def restore(self, *, id: str, idempotency_key: str | None = None, timeout: float | None = None) -> models.Memory:
        """Restore a forgotten memory.

        Use this to undo forgetting a memory. Returns it to its previous status, within the reversibility window.
        Only for the owner and org admins. Needs the scope `memory:write`."""

    @operation("POST", "/memories/{id}/supersede")
    def supersede(
        self, *, id: str, superseded_by_id: str, reason: str | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.MemoriesSupersedeResult:
        """Supersede a memory by another.

        Use this if a newer memory makes this one obsolete. The successor must be at least as visible; neither may be
        superseded or forgotten. Only for the owner of the superseded memory and org admins. Returns both ids. Needs
        the scope `memory:write`.

        Args:
            superseded_by_id: The successor.
            reason: Why, for its history."""

    @operation("GET", "/memories/{id}/lineage")
    def lineage(self, *, id: str, timeout: float | None = None) -> models.MemoriesLineageResult:
        """Read the lineage of a memory.

        Use this to see where a memory comes from. Returns the memories merged into it, directly or indirectly, and
        the one that it superseded. Needs the scope `memory:read`."""

    @operation("GET", "/memories/{id}/history")
    def history(self, *, id: str, timeout: float | None = None) -> models.MemoryHistory:
        """Read what a memory said over time.

        Use this to see what held when, who changed it and why. Returns the memory with the versions that it
        superseded and those that superseded it, newest first: those that the caller can read, 200 at most. Needs the
        scope `memory:read`."""

    @operation("POST", "/memories/search", query=("expect",), repeatable=True)
    def search(
        self, *, query: str, expect: str | Unset = UNSET,
        scope: Literal["agent", "team", "institutional"] | Unset = UNSET,
        memory_types: Sequence[Literal["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"]] | Unset = UNSET,
        limit: int | Unset = UNSET, min_score: float | Unset = UNSET, project_id: str | None | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET, namespace: str | Unset = UNSET, agent_id: str | Unset = UNSET,
        subject: str | Unset = UNSET, source_type: str | Unset = UNSET, created_from: str | datetime | Unset = UNSET,
        created_until: str | datetime | Unset = UNSET, updated_from: str | datetime | Unset = UNSET,
        updated_until: str | datetime | Unset = UNSET, freshness_from: str | datetime | Unset = UNSET,
        freshness_until: str | datetime | Unset = UNSET, metadata: Mapping[str, Any] | Unset = UNSET,
        as_of: str | Unset = UNSET, known_at: str | Unset = UNSET, include_possible: bool | Unset = UNSET,
        include_superseded: bool | Unset = UNSET, explain: bool | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.MemoriesSearchResult:
        """Search memories by words and by meaning.

        Use this before answering or deciding. Returns the readable memories that best match the query; near-ties
        rank agent, then team, then institutional. If the query's embedding is late, only words count and the result
        is `degraded`. Needs the scope `memory:read`.

        Args:
            query: Question or keywords.
            expect: With `explain`: a memory for which the plan says where it was dropped, and why.
            scope: Only memories of this scope. Default: all readable.
            memory_types: Only these types.
            limit: Maximum number of results.
            min_score: Minimum score.
            project_id: Key of a project; empty: only memories without one.
            tags: Only memories with any of these tags.
            namespace: Only memories with a key in this namespace or below it.
            agent_id: Only memories that this agent owns.
            subject: Only memories about this subject: `metadata.subject`, or the subject of their source.
            source_type: Only memories with this `source_type`.
            created_from: Only memories whose `created_at` is this time or later.
            created_until: Only memories whose `created_at` is before this time.
            updated_from: Only memories whose `updated_at` is this time or later.
            updated_until: Only memories whose `updated_at` is before this time.
            freshness_from: Only memories whose `freshness_date` is this time or later.
            freshness_until: Only memories whose `freshness_date` is before this time.
            metadata: Only memories whose `metadata` has these values: for each key a text, number or boolean, or
                an object with `in`, `gt`, `gte`, `lt` and `lte`. Bounds are numbers, or dates for texts that are
                dates. A list matches if one of its values does. At most 10 keys of up to 64 characters without dots
                and dollar signs; nested keys cannot be named.
            as_of: Only what held then, whatever superseded it since. Of a day, what held at its end. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            known_at: As far as had been recorded by then. Default of `as_of`, if that is not given. A date and
                time (RFC 3339), or a date: that day in UTC, or with `+hh:mm` in that zone.
            include_possible: Include results whose `match` is `possible`.
            include_superseded: Include superseded memories. A question that names a time in the past finds those
                that held then anyway.
            explain: Returns the search plan too, as `plan`."""

    @operation("POST", "/memories/{id}/cite")
    def cite(
        self, *, id: str, originating_query_id: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Cite a memory as useful.

        Call this when a memory helped. Citations by others than the owner raise its rank for 30 days; one counts per
        caller, memory and day (UTC). Published as `memory.cited`. Returns nothing. Needs the scope `memory:read`.

        Args:
            originating_query_id: `originating_query_id` of the search that found the memory."""

    @operation("GET", "/memories/{id}/citations")
    def citations(self, *, id: str, timeout: float | None = None) -> models.MemoriesCitationsResult:
        """List the document passages that a memory comes from.

        Use this to check a memory against its sources. Returns passages of documents that the caller can read, and
        whether they are stale. Needs the scope `memory:read`."""

    @operation("GET", "/agents/{agent_id}/activity", pages=("activity", "offset"))
    def activity(
        self, *, agent_id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.MemoriesActivityResult:
        """Read an agent's citations of the last 30 days, and those of its memories.

        For the agent itself, its owner, and admins. Newest first. Needs the scope `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    activity_all = AllPages(activity, models.Activity)

    @operation("GET", "/memories/health")
    def health(self, *, timeout: float | None = None) -> models.MemoryHealth:
        """Read the health of the memories that the caller may read.

        Use this to find what needs care: returns the number of duplicates, orphans, stale and unembedded memories
        among the readable ones that changed last, at most 100,000. Needs the scope `memory:read`."""


class Merges(Group[Mode]):
    @operation("POST", "/memories/merge-proposals")
    def propose(
        self, *, memory_a_id: str, memory_b_id: str, resolution_note: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.MergeProposal:
        """Propose to merge two memories.

        Use this for two memories that say the same; an org admin decides. The caller must be able to read both.
        Returns the proposal; an open one by the service for the same memories is taken over. Needs the scope
        `memory:write`.

        Args:
            memory_a_id: One of the memories.
            memory_b_id: The other memory.
            resolution_note: Reason for the proposal or the decision."""

    @operation("GET", "/memories/merge-proposals", pages=("merge_proposals", "offset"))
    def list(
        self, *, status: Literal["open", "resolved", "rejected"] | Unset = UNSET, offset: int | Unset = UNSET,
        limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.MergesListResult:
        """List merge proposals, newest first.

        Use this before proposing a merge. Returns proposals whose memories the caller can both read; for org admins,
        all. Needs the scope `memory:read`.

        Args:
            status: Status of the proposal.
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.MergeProposal)

    @operation("GET", "/memories/merge-proposals/{id}")
    def get(self, *, id: str, timeout: float | None = None) -> models.MergeProposal:
        """Read a merge proposal.

        Needs the scope `memory:read`."""

    @operation("POST", "/memories/merge-proposals/{id}/resolve")
    def resolve(
        self, *, id: str, surviving_memory_id: str, resolution_note: str | None | Unset = UNSET,
        merged_content: str | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.MergeProposal:
        """Merge two memories.

        The other memory gets the status `merged`. The surviving memory must be at least as visible as the other,
        otherwise 422, rule `scope_only_widens`. Needs the scope `memory:write`.

        Args:
            surviving_memory_id: Memory to keep: `memory_a_id` or `memory_b_id`.
            resolution_note: Reason for the proposal or the decision.
            merged_content: New content of the surviving memory. Default: unchanged."""

    @operation("POST", "/memories/merge-proposals/{id}/reject")
    def reject(
        self, *, id: str, resolution_note: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.MergeProposal:
        """Reject a merge proposal.

        Both memories stay as they are. Needs the scope `memory:write`.

        Args:
            resolution_note: Reason for the proposal or the decision."""


class Nodes(Group[Mode]):
    @operation("GET", "/nodes")
    def list(self, *, timeout: float | None = None) -> models.NodesListResult:
        """List the nodes with what is wrong with them.

        Each node reports its version, clock, links, indexes, queues and disk. A node that does not report within 5
        s, or of a version before this operation, is a problem."""

    @operation("GET", "/installation")
    def installation(self, *, timeout: float | None = None) -> models.Installation:
        """Read the modes of the installation."""

    @operation("PATCH", "/installation")
    def update_installation(
        self, *, maintenance: bool | Unset = UNSET, reason: str | None | Unset = UNSET,
        log_level: Literal["trace", "debug", "info", "warn", "error", "fatal"] | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Installation:
        """Begin or end maintenance, or set the log level, on all nodes.

        Takes effect before the answer, without a restart, and outlives restarts. During maintenance everything can
        be read; writes get `503 service_unavailable`, except those of the operator, signing in and its renewal, and
        what receives or settles deliveries. New connections of devices and clients wait. Connectors leave messages
        at their brokers, schedules wait. Events accepted before are still delivered.

        Args:
            maintenance: Whether writes are refused.
            reason: Why, for the callers whose writes are refused.
            log_level: Least severity to log. Null: `LOG_LEVEL` of each node applies."""


class Oauth(Group[Mode]):
    @operation("POST", "/oauth/request", repeatable=True)
    def read_request(
        self, *, query: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.AuthorizationRequest:
        """Read what a client asks a person to approve.

        For the console's page. An unknown client and a redirect URI that it has not registered are refused. Other
        mistakes are in `refusal`, with the address that reports them to the client.

        Args:
            query: The query of the authorization request as the client sent it, or `user_code=` and a device's
                code."""

    @operation("POST", "/oauth/decision")
    def decide(
        self, *, query: str, decision: Literal["approve", "deny"], agent_id: str | Unset = UNSET,
        scopes: Sequence[Literal["send", "receive", "memory:read", "memory:write", "channel:read", "channel:write", "admin"]] | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.OauthDecideResult:
        """Approve or deny a client's request.

        Approved, the client acts as the agent, with the chosen scopes. For the agent's owner and org admins. The
        answer says where to send the browser; null for a device, which asks by itself.

        Args:
            query: The query of the authorization request as the client sent it, or `user_code=` and a device's
                code.
            decision: The decision.
            agent_id: The agent that the client acts as. Required to approve.
            scopes: Granted scopes. Default: all that were requested."""


class Onboarding(Group[Mode]):
    @operation("GET", "/onboarding")
    def get(self, *, timeout: float | None = None) -> models.OnboardingGuidance:
        """Read the next steps to try.

        Use this to see what to set up next. Returns each step's status and a suggested prompt. A step is done once
        anybody in the organisation has done it, and stays done."""

    @operation("POST", "/onboarding/dismiss")
    def dismiss(self, *, idempotency_key: str | None = None, timeout: float | None = None) -> models.OnboardingGuidance:
        """Dismiss the guidance.

        Hides the guidance for the person, or for the owner of the agent. Repeating it changes nothing."""


class Outputs(Group[Mode]):
    @operation("POST", "/outputs")
    def save(
        self, *, body: str, title: str | Unset = UNSET,
        scope: Literal["agent", "team", "institutional"] | Unset = UNSET, team_id: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET, source_type: str | None | Unset = UNSET, output_id: str | Unset = UNSET,
        change_note: str | Unset = UNSET, process_run_id: str | None | Unset = UNSET,
        derived_from_ids: Sequence[str] | Unset = UNSET, references_ids: Sequence[str] | Unset = UNSET,
        supersedes_ids: Sequence[str] | Unset = UNSET, metadata: Mapping[str, Any] | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Output:
        """Save an output, or a new version of one.

        Stores the text byte for byte; it may have any length. With `output_id`, saves a new version: given fields
        replace the existing ones, and earlier versions do not change. In a `text/markdown` request the body is the
        text, and the other fields are in the query. Needs the scope `memory:write`.

        Args:
            body: Text in Markdown.
            title: Title. Default: the first heading or line of the text.
            scope: Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). Set by
                the first save; default `agent`.
            team_id: Team, for the scope `team`. Default: the calling agent's.
            project_id: Key of the project.
            source_type: Kind of output, as the caller names it.
            output_id: Output to save a new version of. Default: a new output.
            change_note: What this version changes.
            process_run_id: Run that it belongs to.
            derived_from_ids: Outputs that it was derived from. Ids or slugs; unreadable ones are ignored.
            references_ids: Outputs that it refers to. Ids or slugs; unreadable ones are ignored.
            supersedes_ids: Outputs that it supersedes. Ids or slugs; unreadable ones are ignored.
            metadata: Free-form data of the caller."""

    @operation("GET", "/outputs", pages=("outputs", "cursor"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, cursor: str | Unset = UNSET,
        scope: Literal["agent", "team", "institutional"] | Unset = UNSET, project_id: str | Unset = UNSET,
        process_run_id: str | Unset = UNSET, tags: Sequence[str] | Unset = UNSET, sort: str | Unset = UNSET,
        order: str | Unset = UNSET, timeout: float | None = None,
    ) -> models.OutputsListResult:
        """List outputs.

        Use this to browse or filter; to find by meaning, search. Returns readable outputs without their texts. Needs
        the scope `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            cursor: `next_cursor` of the previous page.
            scope: Only outputs of this scope.
            project_id: Key of a project; empty: only outputs without one.
            process_run_id: Only outputs of this run.
            tags: Only with any of these tags; repeated or comma-separated.
            sort: `created_at` (default) or `title`.
            order: `asc` or `desc`. Default: newest first, or titles from A."""

    list_all = AllPages(list, models.Output)

    @operation("GET", "/outputs/{output_id}")
    def get(self, *, output_id: str, version: int | Unset = UNSET, timeout: float | None = None) -> models.Output:
        """Read an output.

        Returns the output with its text; with `version`, the text and title of that version. Needs the scope
        `memory:read`.

        Args:
            output_id: Id or slug of the output.
            version: Version number. Default: the current one."""

    @operation("PATCH", "/outputs/{output_id}")
    def update(
        self, *, output_id: str, project_id: str | None | Unset = UNSET, tags: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.OutputsUpdateResult:
        """Change an output's project or tags.

        Use this to file an output in another project; its text does not change. A null `project_id` removes it from
        its project. Only people can set tags. Returns both. Needs the scope `memory:write`.

        Args:
            output_id: Id or slug of the output.
            project_id: Key of the project.
            tags: Tags. Stored in lower case, with each run of white space, `_` and `-` as one `-`."""

    @operation("DELETE", "/outputs/{output_id}")
    def delete(self, *, output_id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete an output with all its versions.

        Use this to delete an output permanently: the text of every version is deleted. Only its owner and admins can
        delete it. Returns nothing. Needs the scope `memory:write`.

        Args:
            output_id: Id or slug of the output."""

    @operation("GET", "/outputs/{output_id}/versions")
    def list_versions(self, *, output_id: str, timeout: float | None = None) -> models.OutputsListVersionsResult:
        """List an output's versions, newest first.

        Use this to see how an output changed. Returns titles, authors and change notes, without the texts. Needs the
        scope `memory:read`.

        Args:
            output_id: Id or slug of the output."""

    @operation("GET", "/outputs/{output_id}/versions/{version_num}")
    def get_version(self, *, output_id: str, version_num: str, timeout: float | None = None) -> models.OutputVersion:
        """Read a version of an output.

        Use this to compare versions. Returns the version's text, title and author. Needs the scope `memory:read`.

        Args:
            output_id: Id or slug of the output.
            version_num: Number or id of the version."""

    @operation("GET", "/outputs/{output_id}/export", document=True, file=True)
    def export(
        self, *, output_id: str, format: Literal["md", "html", "pdf", "docx"] | Unset = UNSET,
        timeout: float | None = None,
    ) -> bytes:
        """Download an output as a file.

        For people. Returns the current version. `md`: as saved; `html`: without active content; `pdf` and `docx`:
        only if the operator enables them with `OUTPUT_EXPORT`, otherwise 404. In a PDF, boxes stand for letters that
        no installed font has: the header `Warning` names some.

        Args:
            output_id: Id or slug of the output.
            format: File format."""

    @operation("POST", "/outputs/{output_id}/email")
    def email(
        self, *, output_id: str, to: str, subject: str | Unset = UNSET,
        attach_format: Literal["md", "html", "pdf", "docx"] | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.OutputsEmailResult:
        """Send an output by e-mail.

        For people. The e-mail contains the text; `attach_format` also attaches it as a file. Returns 404 if the
        operator has disabled e-mail, and 503 if no mail server is configured.

        Args:
            output_id: Id or slug of the output.
            to: E-mail address of the recipient.
            subject: Subject of the e-mail. Default: the output's title.
            attach_format: Format of the attachment."""

    @operation("POST", "/outputs/search", repeatable=True)
    def search(
        self, *, query: str, scope: Literal["agent", "team", "institutional"] | Unset = UNSET,
        min_score: float | Unset = UNSET, limit: int | Unset = UNSET, project_id: str | Unset = UNSET,
        include_superseded: bool | Unset = UNSET, include_archived: bool | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.OutputsSearchResult:
        """Search outputs by words and by meaning.

        Returns the readable outputs that best match the query, each with its best passage. Superseded outputs,
        ranked below their successors, and those of archived projects are included only on request. Needs the scope
        `memory:read`.

        Args:
            query: Question or keywords.
            scope: Only outputs of this scope.
            min_score: Minimum score.
            limit: Maximum number of results.
            project_id: Only outputs of the project with this key.
            include_superseded: Include superseded outputs.
            include_archived: Include outputs of archived projects."""


class Projects(Group[Mode]):
    @operation("GET", "/projects", pages=("projects", "offset"))
    def list(
        self, *, status: Literal["active", "completed", "archived"] | Unset = UNSET, offset: int | Unset = UNSET,
        limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.ProjectsListResult:
        """List projects, by key.

        Use this to find the `key` that other tools take as `project_id`. Returns one page and the `total`. Needs the
        scope `memory:read`.

        Args:
            status: Status of the project.
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.Project)

    @operation("POST", "/projects")
    def create(
        self, *, key: str, name: str | Unset = UNSET,
        status: Literal["active", "completed", "archived"] | Unset = UNSET, target_date: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Project:
        """Create a project.

        Memories, outputs and runs are assigned to a project by its `key`. Needs the scope `admin`.

        Args:
            key: Key of the project, passed to other operations as `project_id`. Letters, digits, `.`, `_` and
                `-`; not a UUID. Immutable.
            name: Display name.
            status: Status of the project.
            target_date: Date, or date and time (RFC 3339), by which the project is due; null: none."""

    @operation("PATCH", "/projects/{key}")
    def update(
        self, *, key: str, name: str | Unset = UNSET,
        status: Literal["active", "completed", "archived"] | Unset = UNSET, target_date: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Project:
        """Rename, date, complete or archive a project.

        Omitted fields do not change; a null `target_date` removes the date. Needs the scope `admin`.

        Args:
            key: Key of the project, passed to other operations as `project_id`. Letters, digits, `.`, `_` and
                `-`; not a UUID. Immutable.
            name: Display name.
            status: Status of the project.
            target_date: Date, or date and time (RFC 3339), by which the project is due; null: none."""


class Relationships(Group[Mode]):
    @operation("POST", "/memories/{id}/relationships")
    def create(
        self, *, id: str, target_memory_id: str, relationship_type: str, strength: float | Unset = UNSET,
        metadata: Mapping[str, Any] | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Relationship:
        """Create a relationship between two memories.

        Use this to link memories that belong together. Returns the relationship; an existing one of the same type is
        `conflict`. Needs the scope `memory:write`.

        Args:
            target_memory_id: Memory that the relationship points to.
            relationship_type: One of the types listed by `GET /relationship-types`. New types may be added.
            strength: Strength; 1 is strongest.
            metadata: Free-form data of the caller, at most 16 KB as JSON."""

    @operation("GET", "/memories/{id}/relationships", pages=("relationships", "offset"))
    def list(
        self, *, id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.RelationshipsListResult:
        """List the relationships of a memory, both directions, oldest first.

        Use this to see what a memory is linked to. Returns direct relationships to memories that the caller can read
        and that are not forgotten or expired. Types in capitals, such as `SUPERSEDES` and `DERIVED_FROM`, are
        recorded by the service. Needs the scope `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.Relationship)

    @operation("DELETE", "/memories/{id}/relationships/{rel_id}")
    def delete(self, *, id: str, rel_id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete a relationship.

        Only its creator, the owner of its source memory, and org admins can delete it. Relationships recorded by the
        service cannot be deleted. Needs the scope `memory:write`."""

    @operation("GET", "/memories/{id}/graph")
    def graph(
        self, *, id: str, depth: int | Unset = UNSET, include_superseded: bool | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.RelationshipsGraphResult:
        """Read the graph around a memory.

        Use this to see how memories connect over several hops. Returns readable memories, nearest first, and the
        relationships between them. Needs the scope `memory:read`.

        Args:
            depth: Number of hops.
            include_superseded: Include superseded and merged memories."""

    @operation("GET", "/relationship-types")
    def types(self, *, timeout: float | None = None) -> models.RelationshipsTypesResult:
        """List relationship types.

        Use this before creating a relationship. Returns the types with their meanings and inverses. Needs the scope
        `memory:read`."""


class Rotation(Group[Mode]):
    @operation("GET", "/rotation")
    def read(self, *, timeout: float | None = None) -> models.InstallationKeys:
        """Read the state of the installation's keys."""

    @operation("POST", "/rotation")
    def start(
        self, *, keys: Sequence[Literal["secret", "signing"]] | Unset = UNSET, at_once: bool | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.InstallationKeys:
        """Replace the installation's keys.

        Stored secrets are encrypted with the new secret key in the background, while requests are served. A new
        signing key is published for ten minutes, then signs; tokens of the former one are valid until they expire.

        Args:
            keys: `secret`: encrypts stored secrets. `signing`: signs tokens. Default: both, or `signing` if
                `SECRET_KEY` is set.
            at_once: After a leak: the new signing key signs now, and every token of the former ones ends."""

    @operation("POST", "/rotation/finish")
    def finish(self, *, idempotency_key: str | None = None, timeout: float | None = None) -> models.InstallationKeys:
        """Remove the former secret keys.

        Only once no stored secret is encrypted with them. Former keys in settings are removed there."""


class Runs(Group[Mode]):
    @operation("POST", "/runs")
    def create(
        self, *, goal: str, project_id: str | None | Unset = UNSET, success_criteria: Sequence[str] | Unset = UNSET,
        values: Mapping[str, Any] | Unset = UNSET, ambiguity_score: float | None | Unset = UNSET,
        ambiguity_notes: Sequence[Mapping[str, Any]] | Unset = UNSET,
        steps: Sequence[Mapping[str, Any]] | Unset = UNSET, template_id: str | None | Unset = UNSET,
        step_assignments: Sequence[Mapping[str, Any]] | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Run:
        """Create a run.

        Use this for work in several steps. Copies the steps of a template, or takes given ones; returns the run. A
        run has at most 10000 changes and 4 MB of notes and evidence (rule `run_limit`); then it can only be closed.
        Needs the scope `memory:write`.

        Args:
            goal: What the run must achieve.
            project_id: Key of the project.
            success_criteria: Conditions under which the goal is achieved.
            values: At most 50 texts, numbers and truth values, which filters of steps read as
                `run.values.<name>`.
            ambiguity_score: How unclear the goal is, on the caller's scale.
            ambiguity_notes: What is unclear about the goal.
            steps: Steps; not with `template_id`.
            template_id: `id` of a template version; not with `steps`.
            step_assignments: People for the template's steps; only with `template_id`."""

    @operation("GET", "/runs", pages=("", "offset"))
    def list(
        self, *, status: Literal["active", "completed", "closed"] | Unset = UNSET, project_id: str | Unset = UNSET,
        template_slug: str | Unset = UNSET, search: str | Unset = UNSET, offset: int | Unset = UNSET,
        limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> List[models.Run]:
        """List the tenant's runs, newest first.

        Returns all runs of the tenant as an array, or at most `limit`; the header `X-Total-Count` has their number.
        Needs the scope `memory:read`.

        Args:
            status: Only this status.
            project_id: Key of a project; empty: only runs without one.
            template_slug: Only runs of this process template, in any of its versions.
            search: Part of the goal; case is ignored.
            offset: Results to skip.
            limit: Maximum number of results. Default: all."""

    list_all = AllPages(list, models.Run)

    @operation("GET", "/runs/{run_id}")
    def get(self, *, run_id: str, timeout: float | None = None) -> models.RunWithAttempts:
        """Read a run, its steps and their attempts.

        Use this to see everything about a run; for the caller's next step, read its position. Returns the run with
        its steps and attempts. Needs the scope `memory:read`."""

    @operation("GET", "/runs/{run_id}/position")
    def position(self, *, run_id: str, timeout: float | None = None) -> models.Position:
        """Read a run's progress and the caller's next step.

        Use this to decide what to do next. `my_next` is the first ready step assigned to the caller (for agents: to
        the owner), else the first unassigned one. Needs the scope `memory:read`."""

    @operation("POST", "/runs/{run_id}/close")
    def close(
        self, *, run_id: str, outcome: Literal["achieved", "partially_achieved", "abandoned"],
        note: str | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Run:
        """Close a run with an outcome.

        Use this to end a run, finished or not: its steps can no longer change. Returns the run; one that is already
        closed is `conflict`. Needs the scope `memory:write`.

        Args:
            outcome: Result of the run.
            note: Reason or summary."""

    @operation("GET", "/runs/{run_id}/retrospective")
    def retrospective(self, *, run_id: str, timeout: float | None = None) -> models.RunsRetrospectiveResult:
        """Read the times and evidence of a closed run's steps.

        Use this to learn from a closed run. Returns for each step `elapsed_seconds` from ready to done,
        `active_seconds` while in progress; null if a step did not get that far. Reopened steps count each time. An
        open run is `conflict`. Needs the scope `memory:read`."""

    @operation("GET", "/runs/{run_id}/history")
    def history(
        self, *, run_id: str, include: Literal["actions"] | Unset = UNSET, timeout: float | None = None,
    ) -> models.RunsHistoryResult:
        """List the completions of steps, in order.

        Use this to see who did what: returns each completion with its author, time, attested criteria and artifacts,
        also those of steps that were reopened since (`reopened_at`). Needs the scope `memory:read`.

        Args:
            include: Adds `actions`: also starts, attestations, skips, reopenings, assignments and handoffs."""

    @operation("GET", "/runs/{run_id}/status-document", document=True)
    def status_document(self, *, run_id: str, timeout: float | None = None) -> str:
        """Read a run as a Markdown document.

        Use this to report on a run. Returns the same bytes until the run changes. Needs the scope `memory:read`."""

    @operation("POST", "/runs/{run_id}/artifacts")
    def register_artifact(
        self, *, run_id: str, kind: str, pointer: Mapping[str, Any], step_record_id: str | None | Unset = UNSET,
        mime_type: str | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.RunArtifact:
        """Register an artifact of a run.

        Use this to record a result of a step, wherever it is. Returns the artifact; its pointer is stored, never
        followed. A run has at most 1000 artifacts (rule `run_limit`). Needs the scope `memory:write`.

        Args:
            kind: Kind of artifact, as the run's steps expect it.
            pointer: Where the content is. Never followed.
            step_record_id: Attempt, completion, skip or reopening that it belongs to.
            mime_type: Media type of the content."""

    @operation("GET", "/runs/{run_id}/artifacts", pages=("artifacts", "offset"))
    def list_artifacts(
        self, *, run_id: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.RunsListArtifactsResult:
        """List a run's artifacts, oldest first.

        Use this to find a run's results. Returns a page of kinds, pointers and, for completed steps, content hashes.
        Needs the scope `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_artifacts_all = AllPages(list_artifacts, models.RunArtifact)

    @operation("POST", "/runs/{run_id}/exemplars")
    def attach_exemplar(
        self, *, run_id: str, exemplar_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.RunsAttachExemplarResult:
        """Attach an exemplar to a run.

        Use this to give a run an example to follow. An attached exemplar cannot be deleted; attaching it again
        changes nothing. Returns the exemplars of the run. Needs the scope `memory:write`."""

    @operation("POST", "/runs/{run_id}/handoff-offers")
    def offer_handoff(
        self, *, run_id: str, step_key: str, handoff_id: str | None | Unset = UNSET, note: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.HandoffOffer:
        """Offer a step's result to its successors.

        Use this when a step's work is done and a successor must accept it. Returns the open offer. A run has at most
        1000 offers, with 4 MB of notes (rule `run_limit`). Needs the scope `memory:write`.

        Args:
            step_key: Key of the step.
            handoff_id: Handoff of the caller. It stays private: inform others in `note`.
            note: Message to the successors."""

    @operation("GET", "/runs/{run_id}/handoff-offers")
    def list_offers(self, *, run_id: str, timeout: float | None = None) -> models.RunsListOffersResult:
        """List a run's handoff offers, oldest first.

        Use this to find an open offer to accept or decline. Returns all, with their status. Needs the scope
        `memory:read`."""

    @operation("POST", "/runs/{run_id}/handoff-offers/{offer_id}/accept")
    def accept_offer(
        self, *, run_id: str, offer_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.RunsAcceptOfferResult:
        """Accept an offer.

        Call this to take over the work. Returns the offer and the attempt. Completes the offering step and starts an
        attempt on an unfinished successor: the one assigned to the caller (for agents: to the owner), else the first
        unassigned one. `forbidden` if all are assigned to others, or if a person accepts their own offer; `attempt`
        is null while the successor waits for other steps. Needs the scope `memory:write`."""

    @operation("POST", "/runs/{run_id}/handoff-offers/{offer_id}/decline")
    def decline_offer(
        self, *, run_id: str, offer_id: str, note: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.HandoffOffer:
        """Decline an offer.

        Use this if the offered result is not good enough yet. The offering step stays open, so that its worker can
        improve it and offer it again. Returns the offer. Needs the scope `memory:write`.

        Args:
            note: Reason for declining."""

    @operation("POST", "/runs/{run_id}/steps/start")
    def start_step(
        self, *, run_id: str, step_key: str, handoff_id: str | None | Unset = UNSET,
        bundle_id: str | None | Unset = UNSET, notes: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.StepAttempt:
        """Start a step.

        Call this before working on a step. Returns the attempt and the step's specialist. Not exclusive: `warning`
        names other open attempts. `step_not_ready` while a dependency is unfinished. Needs the scope `memory:write`.

        Args:
            step_key: Key of the step.
            handoff_id: Handoff to continue: the caller's, or one offered in the run.
            bundle_id: Bundle of the caller to start with.
            notes: Notes on the attempt."""

    @operation("POST", "/runs/{run_id}/steps/complete")
    def complete_step(
        self, *, run_id: str, step_key: str, criterion_key: str | None | Unset = UNSET,
        what_makes_this_done: str | None | Unset = UNSET,
        artifact_contents: Sequence[Mapping[str, Any]] | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RunsCompleteStepResult:
        """Complete a step, or attest one of its criteria.

        Call this when a step is done. With `criterion_key`, attests one criterion; the last one completes the step,
        and until then `completed_step_key` is null. Needs the scope `memory:write`.

        Args:
            step_key: Key of the step.
            criterion_key: Key of a criterion. Default: all.
            what_makes_this_done: Evidence that the step is done.
            artifact_contents: Content of registered artifacts, to be stored as evidence."""

    @operation("POST", "/runs/{run_id}/steps/skip")
    def skip_step(
        self, *, run_id: str, step_key: str, reason: str, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RunsSkipStepResult:
        """Skip a step.

        Use this for a step that is not needed. Dependent steps no longer wait for it. Returns the step, and the
        steps that are ready now. Needs the scope `memory:write`.

        Args:
            step_key: Key of the step.
            reason: Reason, shown in the run."""

    @operation("POST", "/runs/{run_id}/steps/reopen")
    def reopen_step(
        self, *, run_id: str, step_key: str, reason: str, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RunsReopenStepResult:
        """Reopen a completed or skipped step.

        Use this if a step's result must be redone. Ready successors are blocked again; later steps do not change,
        but it returns them. A completed run becomes active again. Needs the scope `memory:write`.

        Args:
            step_key: Key of the step.
            reason: Reason, shown in the run."""

    @operation("POST", "/runs/{run_id}/steps/assign")
    def assign_step(
        self, *, run_id: str, step_key: str, assigned_user_id: str | None, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RunsAssignStepResult:
        """Assign a step to a person.

        Use this to set who does a step; null: nobody. Open attempts and the completion mode do not change. Returns
        the step. Needs the scope `memory:write`.

        Args:
            step_key: Key of the step.
            assigned_user_id: Person to assign; null: nobody."""


class Schedules(Group[Mode]):
    @operation("POST", "/schedules")
    def create(
        self, *, name: str, event: Mapping[str, Any], cron: str | None | Unset = UNSET, time_zone: str | Unset = UNSET,
        at: str | datetime | None | Unset = UNSET, on_missed: Literal["skip", "run_once", "run_all"] | Unset = UNSET,
        paused: bool | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Schedule:
        """Create a schedule.

        Use this to publish an event at times to come: repeatedly (`cron`), or once (`at`). The caller is the
        publisher. Each tick is published exactly once, whatever fails meanwhile. To delay a single event, publish it
        with `notbefore` instead. The number of schedules is limited (rule `schedule_limit`). Returns the schedule.
        Needs the scope `send`.

        Args:
            name: Display name.
            event: The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are
                extension attributes.
            cron: Five fields: minute, hour, day of month, month, day of week. Names (`MON-FRI`), steps (`*/15`),
                `L` and `#` are understood, and `@daily` and the like. If neither day of month nor day of week is
                `*`, a day that matches one of them is due, as in crontab: `0 9 13 * FRI` on the 13th and on Fridays.
                With a plus sign both must match: `0 9 13 * +FRI`. Ranges count up: `FRI-SUN,MON` instead of
                `FRI-MON`.
            time_zone: IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks
                change; one that it repeats is due once, or every time if the hour is a range.
            at: Instead of `cron`: the only time to publish (RFC 3339).
            on_missed: How missed ticks are handled: those that could not be published within a minute, such as
                when the service was down or the owner inactive. `run_once`: the latest is published late. `run_all`:
                the latest 100 are. `skip`: none is.
            paused: While true, nothing is published, and no tick is missed."""

    @operation("GET", "/schedules", pages=("schedules", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, search: str | Unset = UNSET,
        owner_id: str | Unset = UNSET, status: Literal["active", "paused", "ended"] | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.SchedulesListResult:
        """List schedules, oldest first.

        Use this to find a schedule. Returns a page of the caller's schedules, for admins of all, with the `total`.
        Their events are without `data`: read a schedule for that. Needs the scope `send`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            search: Part of the name; case is ignored.
            owner_id: Only those of this agent or user.
            status: Only those with this status."""

    list_all = AllPages(list, models.Schedule)

    @operation("GET", "/schedules/{schedule_id}")
    def get(self, *, schedule_id: str, timeout: float | None = None) -> models.Schedule:
        """Read a schedule.

        Use this to see when a schedule is due next. Returns it, with its latest runs and errors. Needs the scope
        `send`."""

    @operation("PATCH", "/schedules/{schedule_id}")
    def update(
        self, *, schedule_id: str, name: str | Unset = UNSET, event: Mapping[str, Any] | Unset = UNSET,
        cron: str | None | Unset = UNSET, time_zone: str | Unset = UNSET, at: str | datetime | None | Unset = UNSET,
        on_missed: Literal["skip", "run_once", "run_all"] | Unset = UNSET, paused: bool | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Schedule:
        """Change, pause or resume a schedule.

        Use this to change some of its fields. `cron` replaces `at`, and the reverse. A change of the timing, and
        `paused: false`, apply from now on: earlier ticks are over. `event` is replaced as a whole. Returns the
        schedule. Needs the scope `send`.

        Args:
            name: Display name.
            event: The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are
                extension attributes.
            cron: Five fields: minute, hour, day of month, month, day of week. Names (`MON-FRI`), steps (`*/15`),
                `L` and `#` are understood, and `@daily` and the like. If neither day of month nor day of week is
                `*`, a day that matches one of them is due, as in crontab: `0 9 13 * FRI` on the 13th and on Fridays.
                With a plus sign both must match: `0 9 13 * +FRI`. Ranges count up: `FRI-SUN,MON` instead of
                `FRI-MON`.
            time_zone: IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks
                change; one that it repeats is due once, or every time if the hour is a range.
            at: Instead of `cron`: the only time to publish (RFC 3339).
            on_missed: How missed ticks are handled: those that could not be published within a minute, such as
                when the service was down or the owner inactive. `run_once`: the latest is published late. `run_all`:
                the latest 100 are. `skip`: none is.
            paused: While true, nothing is published, and no tick is missed."""

    @operation("DELETE", "/schedules/{schedule_id}")
    def delete(self, *, schedule_id: str, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Delete a schedule.

        Use this to end it permanently; to stop it for a while, pause it. Events that it has published are still
        delivered. Returns nothing. Needs the scope `send`."""

    @operation("POST", "/schedules/{schedule_id}:run")
    def run(
        self, *, schedule_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.PublishResult:
        """Publish a schedule's event now.

        Use this to publish in addition to the ticks, also while the schedule is paused or has ended. Returns the
        event's id. Needs the scope `send`."""

    @operation("POST", "/schedules:test", repeatable=True)
    def test(
        self, *, cron: str | None | Unset = UNSET, time_zone: str | Unset = UNSET,
        at: str | datetime | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.SchedulesTestResult:
        """Test when a schedule is due.

        Use this before creating a schedule. Returns when it is due, in words and its next five ticks, or what is
        wrong with it. Saves nothing. Needs the scope `send`.

        Args:
            cron: Five fields: minute, hour, day of month, month, day of week. Names (`MON-FRI`), steps (`*/15`),
                `L` and `#` are understood, and `@daily` and the like. If neither day of month nor day of week is
                `*`, a day that matches one of them is due, as in crontab: `0 9 13 * FRI` on the 13th and on Fridays.
                With a plus sign both must match: `0 9 13 * +FRI`. Ranges count up: `FRI-SUN,MON` instead of
                `FRI-MON`.
            time_zone: IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks
                change; one that it repeats is due once, or every time if the hour is a range.
            at: Instead of `cron`: the only time to publish (RFC 3339)."""


class Sessions(Group[Mode]):
    @operation("GET", "/agents/{agent_id}/sessions")
    def list(
        self, *, agent_id: str, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.SessionsListResult:
        """List an agent's connected devices and clients, most recent first.

        For the agent itself, its owner, or callers with the scope `admin`. Devices with a revoked key are listed
        until `SESSION_RETENTION_DAYS` after they were last seen.

        Args:
            limit: Maximum number of results."""

    @operation("DELETE", "/agents/{agent_id}/sessions/{session_id}")
    def delete(
        self, *, agent_id: str, session_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> None:
        """Disconnect a device or client.

        Revokes its key. Its tokens are refused within 5 seconds. Needs the scope `admin`."""

    @operation("POST", "/sessions/{session_id}/heartbeat")
    def heartbeat(
        self, *, session_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.SessionsHeartbeatResult:
        """Report that a device is alive.

        Call this with a token of the session's key, at most once a minute."""


class Specialists(Group[Mode]):
    @operation("PUT", "/specialists/{name}")
    def write(
        self, *, name: str, system_prompt: str, memory_search_directives: str | None | Unset = UNSET,
        output_format_rules: str | None | Unset = UNSET, description: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Specialist:
        """Write a specialist's next version.

        The first write creates the specialist. Earlier versions do not change. Needs the scope `admin`.

        Args:
            name: Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`.
            system_prompt: Instructions for the agent that loads it.
            memory_search_directives: What to search the memories for, and how.
            output_format_rules: Format of the agent's results.
            description: Free text, for display."""

    @operation("GET", "/specialists")
    def list(self, *, timeout: float | None = None) -> models.SpecialistsListResult:
        """List specialists by name.

        Use this to find a specialist to load. Returns their names, descriptions and latest versions. Needs the scope
        `memory:read`."""

    @operation("POST", "/specialists/{name}/load")
    def load(
        self, *, name: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> Union[models.Specialist, models.SpecialistNotLoaded]:
        """Load a specialist's latest version.

        Use this to work as a specialist. Returns its prompt and rules; if it does not exist or is unavailable, the
        result has `error`. Needs the scope `memory:read`.

        Args:
            name: Name of the specialist."""

    @operation("POST", "/specialists/{name}/unload")
    def unload(
        self, *, name: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.SpecialistsUnloadResult:
        """Unload a specialist.

        Call this after working as a specialist. It only records the end: instructions already in the conversation
        stay there. Returns the specialist's name. Needs the scope `memory:read`.

        Args:
            name: Name of the specialist."""

    @operation("GET", "/specialists/{name}/versions", pages=("versions", "offset"))
    def versions(
        self, *, name: str, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.SpecialistsVersionsResult:
        """List a specialist's versions, newest first.

        A page of long versions may have fewer than `limit`: continue with `offset` until `total`. Needs the scope
        `memory:read`.

        Args:
            name: Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`.
            offset: Results to skip.
            limit: Maximum number of results."""

    versions_all = AllPages(versions, models.SpecialistsVersionsResultVersionsItem)


class State(Group[Mode]):
    @operation("PUT", "/state/{namespace}/{key}")
    def put(
        self, *, namespace: str, key: str, value: str, subject: str | None | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET, expires_at: str | datetime | None | Unset = UNSET,
        if_version: int | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.StateEntry:
        """Save state under a key.

        Use this for what a program must find again exactly: a checkpoint, a cursor, the messages of a session. It is
        private to the agent, and no search finds it. Creates the entry or replaces it. Returns it without its value.
        Needs the scope `memory:write`.

        Args:
            namespace: Namespace of the entry: labels joined by dots.
            key: Key, unique in the namespace of the agent.
            value: The value: a text, such as JSON.
            subject: Whom it is about, such as the id of a customer. `POST /memories/erase` with this `subject`
                erases it and what is derived from it. Kept in `metadata.subject`, which may list several.
            metadata: Any fields, at most 64 KB as JSON.
            expires_at: The entry is deleted then. Default: it stays.
            if_version: Save only if the entry has this version; 0: only if it does not exist. Otherwise 409."""

    @operation("POST", "/state/{namespace}")
    def put_many(
        self, *, namespace: str, entries: Sequence[Mapping[str, Any]], idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.StatePutManyResult:
        """Save several entries of state.

        Creates or replaces each entry. Values of more than 65536 characters are saved one by one. Needs the scope
        `memory:write`.

        Args:
            namespace: Namespace of the entry: labels joined by dots.
            entries: Entries with different keys."""

    @operation("GET", "/state/{namespace}/{key}")
    def get(self, *, namespace: str, key: str, timeout: float | None = None) -> models.StateEntry:
        """Read state under a key.

        Use this to read what the agent saved under this key. Returns the entry with its value. Needs the scope
        `memory:read`.

        Args:
            namespace: Namespace of the entry: labels joined by dots.
            key: Key, unique in the namespace of the agent."""

    @operation("DELETE", "/state/{namespace}/{key}")
    def delete(
        self, *, namespace: str, key: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> None:
        """Delete state under a key.

        Use this to remove the entry that the agent saved under this key; it cannot be restored. Returns nothing.
        Needs the scope `memory:write`.

        Args:
            namespace: Namespace of the entry: labels joined by dots.
            key: Key, unique in the namespace of the agent."""

    @operation("GET", "/state/{namespace}")
    def list(
        self, *, namespace: str, prefix: str | Unset = UNSET, after: str | Unset = UNSET, before: str | Unset = UNSET,
        order: Literal["asc", "desc"] | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.StateListResult:
        """List the state in a namespace.

        Use this to find entries by the order of their keys. Returns them with their values. A page is shorter than
        `limit` if the values are long. Needs the scope `memory:read`.

        Args:
            namespace: Namespace of the entry: labels joined by dots.
            prefix: Only keys that begin so.
            after: Only keys that sort after this one.
            before: Only keys that sort before this one.
            order: Order of the keys, by code point.
            limit: Maximum number."""

    @operation("DELETE", "/state/{namespace}")
    def clear(
        self, *, namespace: str, prefix: str | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.StateClearResult:
        """Delete the state in a namespace.

        Deletes all entries of the namespace, or those whose keys begin with `prefix`; not those of namespaces below
        it. Needs the scope `memory:write`.

        Args:
            namespace: Namespace of the entry: labels joined by dots.
            prefix: Only keys that begin so."""

    @operation("GET", "/state")
    def namespaces(
        self, *, prefix: str | Unset = UNSET, max_depth: int | Unset = UNSET, after: str | Unset = UNSET,
        limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.StateNamespacesResult:
        """List the namespaces of the calling agent's state.

        Needs the scope `memory:read`.

        Args:
            prefix: Only this namespace and those below it.
            max_depth: Most labels of a namespace: deeper ones are cut off to these, and listed once.
            after: The last namespace of the previous page.
            limit: Maximum number."""


class Teams(Group[Mode]):
    @operation("POST", "/teams")
    def create(
        self, *, name: str, description: str | None | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Team:
        """Create a team.

        Needs the scope `admin`.

        Args:
            name: Display name.
            description: Free text, for display."""

    @operation("GET", "/teams", pages=("teams", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.TeamsListResult:
        """List teams by name.

        Needs the scope `admin`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.Team)

    @operation("DELETE", "/teams/{team_id}")
    def delete(
        self, *, team_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.TeamsDeleteResult:
        """Delete a team.

        Its agents leave it and are not deleted. Content that they shared with the team stays: its authors and admins
        still read it, and can promote or delete it; the agents that left no longer do. The name can be used again.
        Needs the scope `admin`."""


class Templates(Group[Mode]):
    @operation("POST", "/process-templates")
    def author(
        self, *, name: str, slug: str, steps: Sequence[Mapping[str, Any]], description: str | None | Unset = UNSET,
        goal_template: str | None | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.ProcessTemplate:
        """Create a process template, or a new version of one.

        Use this for a process that runs repeat. An existing slug gets a new version; earlier ones do not change.
        Returns the version, whose `id` creates runs. Needs the scope `memory:write`.

        Args:
            name: Display name.
            slug: Slug of the template; its versions share it.
            steps: Steps of the template
            description: Free text, for display.
            goal_template: Describes the goal of its runs; nothing in it is substituted."""

    @operation("GET", "/process-templates", pages=("", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> List[models.TemplateSummary]:
        """List the latest version of every process template, by slug.

        Use this to find a process for a run. Returns names, descriptions and step counts, without the steps; of all,
        or of at most `limit`. The header `X-Total-Count` has their number. Needs the scope `memory:read`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results. Default: all."""

    list_all = AllPages(list, models.TemplateSummary)

    @operation("GET", "/process-templates/{slug}")
    def get(
        self, *, slug: str, version_num: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.ProcessTemplate:
        """Read a process template.

        Use this before creating a run. Returns the steps, and the `id` to create runs with. Needs the scope
        `memory:read`.

        Args:
            slug: Slug of the template; its versions share it.
            version_num: Version. Default: the latest."""


class Tenants(Group[Mode]):
    @operation("POST", "/tenants")
    def create(
        self, *, slug: str, name: str, admin_email: str, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TenantsCreateResult:
        """Create a tenant with its first admin and agent.

        The admin's password and the agent's API key are returned only here.

        Args:
            slug: Name of the tenant in URLs: at most 63 lower-case letters, digits and inner hyphens.
            name: Display name.
            admin_email: E-mail address of the first admin."""

    @operation("GET", "/tenants", pages=("tenants", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.TenantsListResult:
        """List tenants.

        Args:
            offset: Results to skip.
            limit: Maximum number of results."""

    list_all = AllPages(list, models.Tenant)

    @operation("GET", "/tenants/usage", pages=("tenants", "offset"))
    def usage(
        self, *, hours: int | Unset = UNSET,
        sort: Literal["cpu_ms", "requests", "events", "deliveries", "dead_letters", "searches", "stored_bytes"] | Unset = UNSET,
        offset: int | Unset = UNSET, limit: int | Unset = UNSET, timeout: float | None = None,
    ) -> models.TenantsUsageResult:
        """List tenants by their use of the service.

        Counts of the current hour and the ones before it, largest first; `stored_bytes` is the present size. Nodes
        add their counts within a minute.

        Args:
            hours: Hours to add up, the current one included.
            sort: By what the list is sorted, largest first.
            offset: Results to skip.
            limit: Maximum number of results."""

    usage_all = AllPages(usage, models.TenantUsage)

    @operation("PATCH", "/tenants/{tenant_id}")
    def update(
        self, *, tenant_id: str, status: Literal["active", "suspended"] | Unset = UNSET,
        storage_quota_mb: int | None | Unset = UNSET, requests_per_minute: int | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Tenant:
        """Suspend or activate a tenant, or change its storage quota or its limit of requests.

        Tokens of a suspended tenant are refused within 5 seconds; its data is kept. Earlier sessions and connections
        stay ended when it is active again: people sign in, and devices and clients are approved again. A tenant over
        its quota can read, delete and acknowledge; requests that would store more get `422 business_rule_violation`,
        rule `storage_quota`.

        Args:
            status: `suspended`: all tokens of the tenant are refused.
            storage_quota_mb: Storage quota in megabytes (10^6 bytes). 0: no quota. Null: `TENANT_STORAGE_MB`
                applies.
            requests_per_minute: Requests per 60 s of all its callers together, within 5 seconds. 0: no limit.
                Null: `TENANT_RATE_LIMIT_PER_MINUTE` applies."""

    @operation("DELETE", "/tenants/{tenant_id}")
    def erase(
        self, *, tenant_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.TenantsEraseResult:
        """Erase a tenant and all its data.

        Irreversible: the data is removed from the service's files too. Returns a receipt, a JWT signed with the
        service's token key (see /.well-known/jwks.json). If an erasure is interrupted, repeat the request to finish
        it."""

    @operation("GET", "/limits")
    def limits(self, *, timeout: float | None = None) -> models.Limits:
        """Read the organisation's limits.

        Limits come from the installation's settings, except those that the operator set for the organisation. The
        `X-RateLimit-*` headers give the remaining requests."""

    @operation("POST", "/tenants/{tenant_id}/export", repeatable=True)
    def export(
        self, *, tenant_id: str, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.TenantsExportResult:
        """Begin an export of a tenant.

        Returns what `npm run admin -- tenants export` then reads page by page: `collections`, in the order in which
        they must be imported."""

    @operation("POST", "/tenants/{tenant_id}/export/rows", repeatable=True)
    def export_rows(
        self, *, tenant_id: str, collection: str, after: str | None | Unset = UNSET, key: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.TenantsExportRowsResult:
        """Export a page of a tenant's rows.

        Rows in the order of their ids, as NDJSON. `blobs`: hashes of the contents that they refer to. `next`: where
        the next page begins; null after the last.

        Args:
            collection: Name of a collection of rows.
            after: `next` of the page before; null for the first.
            key: 32 bytes in base64 that encrypt the secrets on their way; null: secrets are left out."""

    @operation("POST", "/tenants/{tenant_id}/export/content", repeatable=True)
    def export_content(
        self, *, tenant_id: str, hash: str, from_: int | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TenantsExportContentResult:
        """Export a part of a content.

        The bytes from `from`. `next`: where the next part begins; null after the last.

        Args:
            hash: SHA-256 in hex.
            from_: Its first byte."""

    @operation("POST", "/tenants/import", repeatable=True)
    def import_(
        self, *, tenant: Mapping[str, Any], export_id: str, complete: bool | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.TenantsImportResult:
        """Begin or complete an import of a tenant.

        Begins with the tenant in the status `importing`, which nobody can use; with `complete` it becomes active,
        unless rows were refused since it last began. `done`: it was imported from this export already. A tenant that
        exists otherwise is refused: erase it first.

        Args:
            tenant: The tenant, as its export began.
            export_id: Names the export: an import that was begun continues with the same one.
            complete: Whether everything has been imported."""

    @operation("POST", "/tenants/{tenant_id}/import/rows", repeatable=True)
    def import_rows(
        self, *, tenant_id: str, collection: str, rows: str, key: str | None | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.TenantsImportRowsResult:
        """Import a page of a tenant's rows.

        Adds the rows that are missing, with their ids, to a tenant in the status `importing`; at most 2000. `same`:
        rows that were imported already. `refused`: rows that do not fit their collection or name another tenant's
        row, with the field, and those whose id or unique field another row has. `unset`: rows whose secrets must be
        set again.

        Args:
            collection: Name of a collection of rows.
            rows: Rows as NDJSON.
            key: 32 bytes in base64 that encrypt the secrets on their way; null: secrets are left out."""

    @operation("POST", "/tenants/{tenant_id}/import/content", repeatable=True)
    def import_content(
        self, *, tenant_id: str, content: str | Unset = UNSET, parts: Sequence[str] | Unset = UNSET,
        hash: str | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.TenantsImportContentResult:
        """Import a content or a part of one.

        Stores `content`, or the concatenation of earlier `parts`, and returns its `hash`. With `hash` alone: whether
        it is stored already. It is kept while the tenant is being imported.

        Args:
            content: Bytes in base64.
            parts: Hashes of parts stored before, in order.
            hash: SHA-256 in hex."""


class Users(Group[Mode]):
    @operation("POST", "/users")
    def create(
        self, *, email: str, display_name: str | Unset = UNSET, role: Literal["admin", "member"] | Unset = UNSET,
        password: str | Unset = UNSET, idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.UsersCreateResult:
        """Invite a person.

        If `password` is omitted, one is generated and returned, only here. Needs the scope `admin`.

        Args:
            email: E-mail address, used to sign in.
            display_name: Display name.
            role: `admin` has every scope and the actions reserved for people; `member` has every scope except
                `admin`.
            password: Password of at least 12 characters."""

    @operation("GET", "/users", pages=("users", "offset"))
    def list(
        self, *, offset: int | Unset = UNSET, limit: int | Unset = UNSET, search: str | Unset = UNSET,
        timeout: float | None = None,
    ) -> models.UsersListResult:
        """List people, oldest first.

        Needs the scope `admin`.

        Args:
            offset: Results to skip.
            limit: Maximum number of results.
            search: Part of the name or the e-mail; case is ignored."""

    list_all = AllPages(list, models.User)

    @operation("PATCH", "/users/{user_id}")
    def update(
        self, *, user_id: str, display_name: str | Unset = UNSET, role: Literal["admin", "member"] | Unset = UNSET,
        status: Literal["active", "disabled"] | Unset = UNSET, reset_password: bool | Unset = UNSET,
        reset_totp: bool | Unset = UNSET, unlink_identity: bool | Unset = UNSET, idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.UsersUpdateResult:
        """Change a person: name, role, status, or how they sign in.

        Omitted fields do not change. Disabling a person or resetting the password revokes their tokens within 5
        seconds. Nobody can disable or demote themselves, so an organisation keeps an admin. Needs the scope `admin`.

        Args:
            display_name: Display name.
            role: `admin` has every scope and the actions reserved for people; `member` has every scope except
                `admin`.
            status: `disabled`: the person cannot sign in.
            reset_password: `true` generates a new password, returned once.
            reset_totp: `true` removes the second factor.
            unlink_identity: `true` unlinks the identity of the provider; the next sign-in links one again."""

    @operation("DELETE", "/users/{user_id}")
    def delete(
        self, *, user_id: str, shared: Literal["keep", "erase"] | Unset = UNSET, agents_to: str | Unset = UNSET,
        idempotency_key: str | None = None, timeout: float | None = None,
    ) -> models.Deleted:
        """Delete a person permanently.

        Sessions, password, second factor and linked identity end first. Then the person's private memories,
        schedules and A2A tasks are erased, and the account. Their agents get the owner `agents_to`, or none. Shared
        memories stay, unless `shared` is `erase`. The audit log keeps what they did. Nobody can delete themselves,
        and an organisation keeps an admin. A deletion interrupted by a crash is finished. Needs the scope `admin`.

        Args:
            shared: Whether memories that were shared with a team or the organisation stay.
            agents_to: The next owner of the person's agents."""


class Api(Generic[Mode]):
    """Every operation of the service: `client.<domain>.<operation>(…)`."""

    def __init__(self, caller: Caller) -> None:
        self.a2a = A2a[Mode](caller)
        self.a2a_tasks = A2aTasks[Mode](caller)
        self.agents = Agents[Mode](caller)
        self.approvals = Approvals[Mode](caller)
        self.audit = Audit[Mode](caller)
        self.auth = Auth[Mode](caller)
        self.bundles = Bundles[Mode](caller)
        self.channels = Channels[Mode](caller)
        self.connectors = Connectors[Mode](caller)
        self.deliveries = Deliveries[Mode](caller)
        self.demo = Demo[Mode](caller)
        self.devices = Devices[Mode](caller)
        self.documents = Documents[Mode](caller)
        self.events = Events[Mode](caller)
        self.exemplars = Exemplars[Mode](caller)
        self.findings = Findings[Mode](caller)
        self.gateway = Gateway[Mode](caller)
        self.handoffs = Handoffs[Mode](caller)
        self.ingest = Ingest[Mode](caller)
        self.interests = Interests[Mode](caller)
        self.keys = Keys[Mode](caller)
        self.live = Live[Mode](caller)
        self.memories = Memories[Mode](caller)
        self.merges = Merges[Mode](caller)
        self.nodes = Nodes[Mode](caller)
        self.oauth = Oauth[Mode](caller)
        self.onboarding = Onboarding[Mode](caller)
        self.outputs = Outputs[Mode](caller)
        self.projects = Projects[Mode](caller)
        self.relationships = Relationships[Mode](caller)
        self.rotation = Rotation[Mode](caller)
        self.runs = Runs[Mode](caller)
        self.schedules = Schedules[Mode](caller)
        self.sessions = Sessions[Mode](caller)
        self.specialists = Specialists[Mode](caller)
        self.state = State[Mode](caller)
        self.teams = Teams[Mode](caller)
        self.templates = Templates[Mode](caller)
        self.tenants = Tenants[Mode](caller)
        self.users = Users[Mode](caller)
