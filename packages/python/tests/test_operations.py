"""
Calls every operation of the client on the real server: whatever one sends, the service has to understand, and whatever
it answers, the client. The rows depend on those before them.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from real_server import OPERATOR_TOKEN, Server

from sensorium import ApiError, Sensorium
from sensorium._group import Group, Method

TYPE = "com.example.called"
EVENT = {"specversion": "1.0", "source": "urn:t", "type": TYPE}
LONG_AGO = "2020-01-01T00:00:00.000Z"
TOMORROW = (datetime.now(timezone.utc) + timedelta(days=1)).isoformat()
ABSENT = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f"
MEMORY = {"content": "By hand.", "type": "semantic", "scope": "institutional"}
STEPS = [{"step_key": "a"}, {"step_key": "b", "completion_mode": "handoff_accepted"}, {"step_key": "c"}]
MAPPING = {"entity": "lead", "action": "made"}

Row = tuple[str, dict[str, Any], Any]

# What extensions add: `ROWS`, and if these need something `prepare(made, agent, agent_id, key)`, which makes it.
EXTENSIONS = Path(__file__).parents[3] / "extensions"
KITS = [runpy.run_path(str(file)) for file in sorted(EXTENSIONS.glob("*/test/python/operations.py"))]

# Who calls what: A the agent, P its org admin, U another person, D a device, O the operator, N nobody. With a name
# after it, the answer has that name, too. `$name.field` is a field of an answer. What is expected is the answer's
# text or a part of its fields, where a list has each of the items, or `!` and the code of the error.
ROWS: list[Row] = [
    # agents, keys, teams
    ("P teams.create", {"name": "Night", "description": "Late."}, {"name": "Night", "description": "Late."}),
    ("P teams.create spare_team", {"name": "Gone"}, {"name": "Gone"}),
    ("P teams.list", {"limit": 9}, {"teams": [{"name": "Night"}]}),
    ("P teams.delete", {"team_id": "$spare_team.id"}, {"agents_removed": 0}),
    ("P agents.create own", {"name": "Adder", "delivery_mode": "poll", "a2a": True}, {"name": "Adder", "a2a": True}),
    ("P agents.create spare", {"name": "Gone", "delivery_mode": "sse"}, {"delivery_mode": "sse"}),
    ("P agents.list", {"search": "Adder"}, {"agents": [{"name": "Adder"}], "total": 1}),
    ("P agents.list_own", {"limit": 9}, {"agents": [{"name": "Adder"}]}),
    ("P agents.get", {"agent_id": "$own.id"}, {"name": "Adder", "status": "active"}),
    ("P agents.update", {"agent_id": "$own.id", "retry_budget": 1}, {"retry_budget": 1}),
    ("P agents.set_status", {"agent_id": "$spare.id", "status": "inactive"}, {"status": "inactive"}),
    ("P agents.rotate_signing_secret", {"agent_id": "$own.id"}, {"signing_secret": ...}),
    (
        "P keys.create spare_key",
        {"agent_id": "$spare.id", "scopes": ["send"], "name": "k"},
        {"key": ..., "scopes": ["send"]},
    ),
    ("P keys.list", {"agent_id": "$spare.id"}, {"keys": [{"name": "k"}]}),
    (
        "P keys.update",
        {"agent_id": "$spare.id", "key_id": "$spare_key.id", "requests_per_minute": 7},
        {"requests_per_minute": 7},
    ),
    ("P keys.revoke", {"agent_id": "$spare.id", "key_id": "$spare_key.id"}, None),
    ("P agents.delete", {"agent_id": "$spare.id"}, {"erased": {"api_keys": 1}}),
    # events and deliveries
    ("A interests.create interest", {"agent_id": "$me.id", "event_type": TYPE, "priority": 1}, {"event_type": TYPE}),
    ("A interests.list", {"agent_id": "$me.id"}, {"interests": [{"event_type": TYPE}]}),
    ("A interests.get", {"agent_id": "$me.id", "id": "$interest.id"}, {"event_type": TYPE}),
    ("A interests.update", {"agent_id": "$me.id", "id": "$interest.id", "priority": 2}, {"priority": 2}),
    ("A events.publish event", {"event": {**EVENT, "id": "e1"}}, {"status": "accepted"}),
    ("A events.publish later", {"event": {**EVENT, "id": "e2", "notbefore": TOMORROW}}, {"status": "accepted"}),
    ("A events.cancel", {"event_id": "$later.event_id"}, None),
    ("A events.get", {"event_id": "$event.event_id"}, {"payload": {"id": "e1"}}),
    ("A events.list", {"type": TYPE}, {"events": [{"event_id": "$event.event_id"}]}),
    ("A events.retry", {"event_id": "$event.event_id"}, "!conflict"),
    ("A events.types", {"search": "called"}, {"types": [{"type": TYPE}]}),
    ("A events.type", {"type": TYPE}, {"type": TYPE}),
    ("A interests.test", {"agent_id": "$me.id", "event_type": TYPE}, {"tested": 1, "matched": 1}),
    ("A deliveries.poll polled", {"wait": 20}, {"deliveries": [{"payload": {"id": "e1"}}]}),
    ("A deliveries.extend", {"delivery_ids": ["$polled.deliveries.0.id"], "seconds": 300}, {"extended": 1}),
    ("A deliveries.stats", {}, {"pending": 1}),
    ("A deliveries.list", {"agent_id": "$me.id"}, {"deliveries": [{"event": {"event_id": "$event.event_id"}}]}),
    (
        "A deliveries.explain",
        {"agent_id": "$me.id", "event_id": "$event.event_id"},
        {"reasons": [{"reason": "in_flight"}]},
    ),
    (
        "A deliveries.nack",
        {"delivery_ids": ["$polled.deliveries.0.id"], "dead_letter": True, "reason": "no", "log": "a log"},
        {"nacked": 1, "dead_lettered": 1},
    ),
    ("P deliveries.log", {"agent_id": "$me.id", "delivery_id": "$polled.deliveries.0.id"}, {"log": "a log"}),
    ("A deliveries.dead_letters", {"type": TYPE}, {"items": [{"dlq_reason": "no"}]}),
    ("A deliveries.dead_letter_groups", {"type": TYPE}, {"groups": [{}]}),
    ("A deliveries.replay_many", {"type": TYPE, "dry_run": True}, {"status": "dry_run", "count": 1}),
    ("A deliveries.discard_many", {"type": TYPE, "dry_run": True}, {"status": "dry_run", "count": 1}),
    ("A deliveries.replay", {"id": "$polled.deliveries.0.id"}, {"status": "accepted"}),
    ("A deliveries.next next", {"wait": 20}, {"deliveries": [{"payload": {"id": "e1"}}]}),
    ("A deliveries.ack", {"delivery_ids": ["$next.deliveries.0.id"]}, {"acknowledged": 1}),
    ("A deliveries.discard", {"id": "dlv_absent"}, "!not_found"),
    ("P deliveries.drain", {"agent_id": "$me.id"}, {"discarded": 0, "in_flight": 0}),
    ("P deliveries.count_replay", {"agent_id": "$me.id", "from_": LONG_AGO}, {"matched": 1, "deliverable": 0}),
    ("P deliveries.start_replay replay", {"agent_id": "$me.id", "from_": LONG_AGO}, {"agent_id": "$me.id"}),
    ("P deliveries.replays", {"agent_id": "$me.id"}, {"replays": [{"id": "$replay.id"}]}),
    (
        "P deliveries.get_replay",
        {"agent_id": "$me.id", "replay_id": "$replay.id"},
        {"id": "$replay.id", "from": LONG_AGO},
    ),
    ("P deliveries.cancel_replay", {"agent_id": "$me.id", "replay_id": ABSENT}, "!not_found"),
    ("A interests.delete", {"agent_id": "$me.id", "id": "$interest.id"}, None),
    # channels
    ("A channels.create channel", {"name": "Orders"}, {"name": "Orders"}),
    ("A channels.list", {"search": "Orders"}, {"channels": [{"name": "Orders"}]}),
    ("A channels.get", {"channel_id": "$channel.id"}, {"name": "Orders"}),
    ("A channels.update", {"channel_id": "$channel.id", "description": "All"}, {"description": "All"}),
    ("A channels.add_member", {"channel_id": "$channel.id"}, {"agent_id": "$me.id"}),
    ("A channels.list_members", {"channel_id": "$channel.id"}, {"members": [{"agent_id": "$me.id"}]}),
    ("A channels.remove_member", {"channel_id": "$channel.id", "agent_id": "$me.id"}, None),
    (
        "A channels.create_feed feed",
        {"channel_id": "$channel.id", "event_type_glob": "com.fed.*"},
        {"event_type_glob": "com.fed.*"},
    ),
    ("A channels.list_feeds", {"channel_id": "$channel.id"}, {"feeds": [{"event_type_glob": "com.fed.*"}]}),
    ("A channels.delete_feed", {"channel_id": "$channel.id", "feed_id": "$feed.id"}, None),
    ("A channels.delete", {"channel_id": "$channel.id"}, None),
    # schedules
    (
        "A schedules.create schedule",
        {"name": "Yearly", "cron": "0 0 1 1 *", "event": {"type": "com.example.due"}},
        {"name": "Yearly", "cron": "0 0 1 1 *"},
    ),
    ("A schedules.list", {"search": "Yearly"}, {"schedules": [{"name": "Yearly"}]}),
    ("A schedules.get", {"schedule_id": "$schedule.id"}, {"name": "Yearly"}),
    ("A schedules.update", {"schedule_id": "$schedule.id", "paused": True}, {"paused": True}),
    ("A schedules.run", {"schedule_id": "$schedule.id"}, {"status": "accepted"}),
    ("A schedules.test", {"cron": "0 12 * * *", "time_zone": "Europe/Berlin"}, {"next": ...}),
    ("A schedules.delete", {"schedule_id": "$schedule.id"}, None),
    # memories
    ("A memories.create one", {"title": "One", **MEMORY}, {"title": "One", "content": "By hand."}),
    ("P memories.create two", {"title": "Two", **MEMORY}, {"title": "Two"}),
    ("A memories.create three", {"title": "Three", **MEMORY}, {"title": "Three"}),
    (
        "A memories.create_batch",
        {"memories": [{"title": "Many", **MEMORY}]},
        {"results": [{"status": 201, "memory": {"title": "Many"}}]},
    ),
    ("A memories.list", {"search": "Two", "sort": "created_at"}, {"memories": [{"title": "Two"}]}),
    ("A memories.get", {"id": "$two.id"}, {"title": "Two", "usage": {"cite_count_30d": 0}}),
    ("A memories.update", {"id": "$one.id", "tags": ["Hall 7"]}, {"tags": ["hall-7"]}),
    ("A memories.put_by_key", {"namespace": "n.a", "key": "k", "content": "Kept."}, {"content": "Kept."}),
    ("A memories.get_by_key", {"namespace": "n.a", "key": "k"}, {"content": "Kept.", "title": "k"}),
    ("A memories.namespaces", {"prefix": "n"}, {"namespaces": ["n.a"]}),
    ("A memories.delete_by_key", {"namespace": "n.a", "key": "k"}, {"forgotten": True}),
    ("A memories.search", {"query": "By hand", "limit": 9}, {"results": ...}),
    ("A memories.cite", {"id": "$two.id"}, None),
    ("A memories.citations", {"id": "$two.id"}, {"citations": [], "total": 0}),
    ("A memories.history", {"id": "$two.id"}, {"versions": [{"id": "$two.id", "valid": {"until": None}}]}),
    ("A memories.lineage", {"id": "$two.id"}, {"memory_id": "$two.id", "superseded": False}),
    ("P memories.activity", {"agent_id": "$me.id"}, {"activity": [{"kind": "cite", "memory_id": "$two.id"}]}),
    ("P memories.health", {}, {"duplicate_count": 0, "decay_distribution": {"over_365d": 0}}),
    ("P findings.browse", {"limit": 9}, {"findings": [{"title": "Two"}]}),
    ("A findings.list", {"limit": 50, "mark_read": False}, {"findings": [{"title": "Two"}], "cold_start": True}),
    (
        "A relationships.create edge",
        {"id": "$two.id", "target_memory_id": "$three.id", "relationship_type": "related_to"},
        {"relationship_type": "related_to"},
    ),
    ("A relationships.list", {"id": "$two.id"}, {"relationships": [{"target_memory_id": "$three.id"}]}),
    ("A relationships.graph", {"id": "$two.id", "depth": 2}, {"nodes": [{"title": "Two"}, {"title": "Three"}]}),
    ("A relationships.types", {}, {"relationship_types": [{"name": "supports"}]}),
    ("A relationships.delete", {"id": "$two.id", "rel_id": "$edge.id"}, None),
    (
        "A merges.propose merge",
        {"memory_a_id": "$two.id", "memory_b_id": "$three.id", "resolution_note": "Same"},
        {"status": "open", "resolution_note": "Same"},
    ),
    ("P merges.list", {"status": "open"}, {"merge_proposals": [{"resolution_note": "Same"}]}),
    ("P merges.get", {"id": "$merge.id"}, {"status": "open"}),
    ("P merges.reject", {"id": "$merge.id", "resolution_note": "No"}, {"status": "rejected"}),
    ("P merges.resolve", {"id": "$merge.id", "surviving_memory_id": "$two.id"}, "!conflict"),
    ("A memories.create private", {"title": "P", **MEMORY, "scope": "agent"}, {"scope": "agent"}),
    ("A memories.promote", {"id": "$private.id", "scope": "institutional"}, {"scope": "institutional"}),
    ("A memories.forget", {"id": "$private.id"}, {"forgotten": True}),
    ("A memories.restore", {"id": "$private.id"}, {"status": "active"}),
    ("A memories.supersede", {"id": "$private.id", "superseded_by_id": "$three.id"}, {"superseded_by": "$three.id"}),
    ("P memories.erase", {"ids": ["$private.id"], "dry_run": True}, {"dry_run": True, "erased": {"memories": 1}}),
    # documents
    (
        "A documents.upload document",
        {"file_content": "SGVsbG8=", "filename": "hello.txt", "mime_type": "text/plain"},
        {"accepted": True},
    ),
    ("A documents.get read", {"document_id": "$document.document_id"}, {"filename": "hello.txt"}),
    ("A documents.list", {"limit": 9}, {"documents": [{"filename": "hello.txt"}]}),
    ("A documents.content", {"document_id": "$document.document_id"}, b"Hello"),
    (
        "A documents.upload json",
        {"file_content": "eyJwaWVyIjogNC4wfQ==", "filename": "pier.json", "mime_type": "application/json"},
        {"accepted": True},
    ),
    ("A documents.content", {"document_id": "$json.document_id"}, b'{"pier": 4.0}'),
    (
        "A documents.list_chunks",
        {"document_id": "$document.document_id", "source_id": "$read.ingestion_source_id"},
        {"total": ...},
    ),
    ("A documents.search", {"query": "Hello"}, {"results": ...}),
    ("A documents.retry", {"document_id": ABSENT}, "!not_found"),
    (
        "A documents.delete",
        {"document_id": "$document.document_id", "source_id": "$read.ingestion_source_id"},
        {"deleted": True},
    ),
    # handoffs, bundles, outputs, exemplars, projects, specialists, templates
    ("A handoffs.save handoff", {"name": "ledger", "payload": {"next_action": "Close"}}, {"name": "ledger"}),
    ("A handoffs.list", {"q": "ledger"}, [{"name": "ledger"}]),
    ("A handoffs.resume", {"query": "ledger"}, "Close"),
    ("A handoffs.get", {"id": "$handoff.id"}, {"name": "ledger"}),
    ("A handoffs.export", {"id": "$handoff.id"}, "ledger"),
    ("A handoffs.pin", {"id": "$handoff.id"}, {"pinned_at": ...}),
    ("A handoffs.unpin", {"id": "$handoff.id"}, {"pinned_at": None}),
    ("P handoffs.list_of_agent", {"agent_id": "$me.id"}, {"handoffs": [{"name": "ledger"}]}),
    ("P handoffs.get_of_agent", {"agent_id": "$me.id", "id": "$handoff.id"}, {"name": "ledger"}),
    ("A handoffs.delete", {"id": "$handoff.id"}, None),
    ("A bundles.assemble bundle", {"query": "Two"}, {"id": ...}),
    ("A bundles.get", {"id": "$bundle.id"}, {"id": "$bundle.id"}),
    ("A bundles.brief", {"id": "$bundle.id"}, "#"),
    ("P bundles.list_of_agent", {"agent_id": "$me.id"}, {"bundles": [{"id": "$bundle.id"}]}),
    ("P bundles.get_of_agent", {"agent_id": "$me.id", "id": "$bundle.id"}, {"id": "$bundle.id"}),
    ("P projects.create", {"key": "led", "name": "Ledger"}, {"key": "led", "name": "Ledger"}),
    ("P projects.list", {"limit": 9}, {"projects": [{"key": "led"}]}),
    ("P projects.update", {"key": "led", "name": "Ledgers"}, {"name": "Ledgers"}),
    ("A outputs.save output", {"body": "# Notes\n", "title": "Notes"}, {"title": "Notes"}),
    ("A outputs.list", {"limit": 9}, {"outputs": [{"title": "Notes"}]}),
    ("A outputs.get", {"output_id": "$output.id"}, {"body": "# Notes\n"}),
    ("A outputs.update", {"output_id": "$output.id", "project_id": "led"}, {"project_id": "led"}),
    ("A outputs.list_versions", {"output_id": "$output.id"}, {"versions": [{"version_num": 1}]}),
    ("A outputs.get_version", {"output_id": "$output.id", "version_num": 1}, {"body": "# Notes\n"}),
    ("P outputs.export", {"output_id": "$output.id", "format": "md"}, "# Notes"),
    ("P outputs.email", {"output_id": "$output.id", "to": "a@example.com"}, "!not_found"),
    ("A outputs.search", {"query": "Notes"}, {"results": ...}),
    ("A outputs.delete", {"output_id": "$output.id"}, None),
    (
        "A exemplars.create exemplar",
        {"display_name": "Letter", "filename": "l.md", "content": "# Dear"},
        {"byte_size": 6},
    ),
    ("A exemplars.list", {"limit": 9}, [{"display_name": "Letter"}]),
    ("A exemplars.get", {"exemplar_id": "$exemplar.id"}, {"display_name": "Letter"}),
    ("A exemplars.rename", {"exemplar_id": "$exemplar.id", "display_name": "Note"}, {"display_name": "Note"}),
    ("P exemplars.download", {"exemplar_id": "$exemplar.id"}, "# Dear"),
    ("P specialists.write", {"name": "closer", "system_prompt": "You close."}, {"name": "closer", "version_num": 1}),
    ("A specialists.list", {}, {"specialists": [{"name": "closer"}]}),
    ("A specialists.load", {"name": "closer"}, {"system_prompt": "You close."}),
    ("A specialists.unload", {"name": "closer"}, {"unloaded": True}),
    ("A specialists.versions", {"name": "closer"}, {"versions": [{"version_num": 1}]}),
    ("A templates.author", {"name": "Ship", "slug": "ship", "steps": STEPS[1:2]}, {"slug": "ship", "version_num": 1}),
    ("A templates.list", {"limit": 9}, [{"slug": "ship"}]),
    ("A templates.get", {"slug": "ship"}, {"name": "Ship"}),
    # runs
    ("A runs.create run", {"goal": "Ship", "steps": STEPS}, {"goal": "Ship", "status": "active"}),
    ("A runs.list", {"search": "Ship"}, [{"goal": "Ship"}]),
    ("A runs.get", {"run_id": "$run.id"}, {"goal": "Ship"}),
    ("A runs.position", {"run_id": "$run.id"}, {"run": {"goal": "Ship"}}),
    (
        "A runs.register_artifact",
        {"run_id": "$run.id", "kind": "document", "pointer": {"display_name": "Plan"}},
        {"kind": "document"},
    ),
    ("A runs.list_artifacts", {"run_id": "$run.id"}, {"artifacts": [{"kind": "document"}]}),
    (
        "A runs.attach_exemplar",
        {"run_id": "$run.id", "exemplar_id": "$exemplar.id"},
        {"exemplar_ids": ["$exemplar.id"]},
    ),
    ("A exemplars.referrers", {"exemplar_id": "$exemplar.id"}, {"referrers": [{"resource_id": "$run.id"}]}),
    ("A runs.start_step", {"run_id": "$run.id", "step_key": "a", "notes": "Begun"}, {"notes": "Begun"}),
    (
        "A runs.complete_step",
        {"run_id": "$run.id", "step_key": "a", "what_makes_this_done": "It is packed."},
        {"completed_step": {"step_key": "a"}},
    ),
    ("A runs.reopen_step", {"run_id": "$run.id", "step_key": "a", "reason": "No"}, {"reason": "No"}),
    ("A runs.skip_step", {"run_id": "$run.id", "step_key": "a", "reason": "Yes"}, {"reason": "Yes"}),
    (
        "P runs.assign_step",
        {"run_id": "$run.id", "step_key": "c", "assigned_user_id": "$person.id"},
        {"assigned_step": {"step_key": "c"}},
    ),
    ("A runs.offer_handoff offer", {"run_id": "$run.id", "step_key": "b"}, {"status": "open"}),
    ("A runs.list_offers", {"run_id": "$run.id"}, {"offers": [{"step_key": "b"}]}),
    ("P runs.decline_offer", {"run_id": "$run.id", "offer_id": "$offer.id"}, {"status": "declined"}),
    ("A runs.offer_handoff again", {"run_id": "$run.id", "step_key": "b"}, {"status": "open"}),
    ("P runs.accept_offer", {"run_id": "$run.id", "offer_id": "$again.id"}, {"offer": {"status": "accepted"}}),
    ("A runs.history", {"run_id": "$run.id"}, {"items": ...}),
    ("A runs.status_document", {"run_id": "$run.id"}, "Ship"),
    ("A runs.close", {"run_id": "$run.id", "outcome": "abandoned"}, {"outcome": "abandoned"}),
    ("A runs.retrospective", {"run_id": "$run.id"}, {"items": [{"step_key": "a", "status": "skipped"}]}),
    ("A exemplars.delete", {"exemplar_id": "$exemplar.id"}, "!conflict"),
    # approvals
    ("A approvals.ask approval", {"title": "Ship?", "question": "Ready?"}, {"status": "open", "title": "Ship?"}),
    ("A approvals.ask other", {"title": "Wait?", "question": "Long?"}, {"status": "open"}),
    ("P approvals.list", {"status": "open"}, {"approvals": [{"title": "Ship?"}]}),
    ("P approvals.get", {"id": "$approval.id"}, {"title": "Ship?"}),
    ("P approvals.evidence", {"id": "$approval.id"}, {"evidence": []}),
    ("P approvals.answer", {"id": "$approval.id", "choice": "approve"}, {"status": "answered"}),
    ("P approvals.receipt", {"id": "$approval.id"}, {"id": "$approval.id", "receipt": ...}),
    ("A approvals.cancel", {"id": "$other.id"}, {"status": "canceled"}),
    *(row for kit in KITS for row in kit["ROWS"]),
    # webhooks and connectors
    ("P ingest.create_webhook webhook", {"name": "W", "source": "crm", "mapping": MAPPING}, {"name": "W"}),
    ("P ingest.list_webhooks", {"limit": 9}, {"webhooks": [{"name": "W"}]}),
    ("P ingest.update_webhook", {"webhook_id": "$webhook.id", "name": "V"}, {"name": "V"}),
    ("P ingest.rotate_webhook", {"webhook_id": "$webhook.id"}, {"signing_secret": ...}),
    (
        "P ingest.test_mapping",
        {"source": "crm", "mapping": MAPPING, "payload": {"lead": 1}},
        {"event": {"type": "com.crm.lead.made", "data": {"lead": 1}}},
    ),
    (
        "P ingest.test_webhook",
        {"webhook_id": "$webhook.id", "payload": {"lead": 1}},
        {"event": {"type": "com.crm.lead.made", "data": {"lead": 1}}},
    ),
    ("P ingest.list_requests", {"webhook_id": "$webhook.id"}, {"requests": []}),
    ("N ingest.receive", {"tenant_slug": "none", "raw": b"{}", "headers": {}}, "!authentication_failed"),
    (
        "N ingest.receive_from",
        {"tenant_slug": "none", "source": "crm", "raw": b"{}", "headers": {}},
        "!authentication_failed",
    ),
    ("N ingest.verify", {"tenant_slug": "none", "raw": b"", "headers": {}}, "!method_not_allowed"),
    ("N ingest.verify_for", {"tenant_slug": "none", "source": "crm", "raw": b"", "headers": {}}, "!method_not_allowed"),
    ("N ingest.validate_", {"tenant_slug": "none", "raw": b"", "headers": {}}, {"allowed_origin": None}),
    (
        "N ingest.validate_for",
        {"tenant_slug": "none", "source": "crm", "raw": b"", "headers": {}},
        {"allowed_origin": None},
    ),
    ("P ingest.delete_webhook", {"webhook_id": "$webhook.id"}, None),
    (
        "P connectors.create connector",
        {
            **{"name": "C", "kind": "amqp091", "url": "amqp://broker.invalid", "queue": "q"},
            **{"source": "crm", "mapping": MAPPING, "paused": True},
        },
        {"name": "C"},
    ),
    ("P connectors.list", {"limit": 9}, {"connectors": [{"name": "C"}]}),
    ("P connectors.get", {"connector_id": "$connector.id"}, {"paused": True}),
    ("P connectors.update", {"connector_id": "$connector.id", "name": "B"}, {"name": "B"}),
    ("P connectors.delete", {"connector_id": "$connector.id"}, None),
    # devices and their sessions
    ("P devices.issue device", {"agent_id": "$own.id"}, {"user_code": ...}),
    ("P devices.status", {"agent_id": "$own.id"}, {"state": "waiting"}),
    ("N devices.look_up", {"code": "$device.user_code"}, {"agent_id": "$own.id"}),
    (
        "N devices.claim claim",
        {"user_code": "$device.user_code", "client_info": {"name": "t", "version": "1", "host": "h"}},
        {"claim_id": ...},
    ),
    (
        "P devices.confirm",
        {"agent_id": "$own.id", "claim_id": "$claim.claim_id", "action": "approve"},
        {"state": "approved"},
    ),
    ("N devices.complete session", {"claim_id": "$claim.claim_id"}, {"agent_id": "$own.id"}),
    ("D sessions.heartbeat", {"session_id": "$session.session_id"}, {"last_seen_at": ...}),
    ("P sessions.list", {"agent_id": "$own.id"}, {"sessions": [{"session_id": "$session.session_id"}]}),
    ("P sessions.delete", {"agent_id": "$own.id", "session_id": "$session.session_id"}, None),
    # people, signing in
    ("P users.create user", {"email": "u@example.com", "password": "pass-word-1234"}, {"email": "u@example.com"}),
    ("P users.list", {"search": "u@example.com"}, {"users": [{"email": "u@example.com"}]}),
    ("P users.update", {"user_id": "$user.id", "display_name": "Uma"}, {"display_name": "Uma"}),
    ("N auth.login", {"email": "u@example.com", "password": "pass-word-1234"}, {"access_token": ...}),
    ("N auth.token", {"api_key": "$key.own"}, {"access_token": ...}),
    ("U auth.me", {}, {"user": {"display_name": "Uma"}}),
    ("U auth.sign_in_ways", {}, {"password": True, "identity": None}),
    ("U auth.begin_totp", {"password": "pass-word-1234"}, {"secret": ...}),
    ("U auth.confirm_totp", {"code": "000000"}, "!validation_error"),
    ("U auth.remove_totp", {"password": "pass-word-1234"}, None),
    ("U auth.logout", {}, None),
    ("P auth.password", {"current_password": "wrong", "new_password": "pass-word-5678"}, "!validation_error"),
    (
        "N auth.start_session",
        {"email": "u@example.com", "password": "pass-word-1234"},
        {"user": {"email": "u@example.com"}},
    ),
    ("N auth.session", {}, {"user": {"email": "u@example.com"}}),
    ("N auth.renew_session", {}, "!forbidden"),
    ("N auth.end_session", {}, "!forbidden"),
    ("N auth.methods", {}, {"password": True, "oidc": None}),
    ("N auth.begin_oidc", {}, "!not_found"),
    ("N auth.finish_oidc", {"query": "code=a&state=b"}, "!not_found"),
    ("N auth.jwks", {}, {"keys": ...}),
    ("P users.delete", {"user_id": "$user.id"}, {"id": "$user.id"}),
    ("P onboarding.get", {}, {"dismissed_at": None, "steps": [{"key": "publish_event", "status": "done"}]}),
    ("P onboarding.dismiss", {}, {"dismissed_at": ...}),
    ("P audit.list", {"action": "users.create"}, {"entries": [{"action": "users.create"}]}),
    ("P audit.export", {"action": "users.create"}, ",users.create,"),
    ("P live.stats", {}, {"series": {"seconds": 10}}),
    ("P live.history", {"range": "1h"}, {"range": "1h", "step_seconds": 60}),
    # OAuth
    ("P oauth.read_request", {"query": "response_type=code&client_id=none"}, "!validation_error"),
    ("P oauth.decide", {"query": "response_type=code&client_id=none", "decision": "deny"}, "!validation_error"),
    # the installation
    ("N gateway.healthz", {}, {"status": "ok"}),
    ("N gateway.readyz", {}, {"status": ...}),
    ("O gateway.metrics", {}, "http_requests_in_flight"),
    ("N gateway.openapi", {}, {"openapi": "3.1.0"}),
    ("N gateway.docs", {}, "<html"),
    ("N gateway.llms", {}, "# Sensorium"),
    ("O nodes.list", {}, {"nodes": ...}),
    ("O nodes.installation", {}, {"maintenance": None}),
    ("O nodes.update_installation", {"log_level": "warn"}, {"log_level": "warn"}),
    ("O rotation.read", {}, {"signing_keys": [{"state": "signing"}]}),
    ("O rotation.start", {}, {"signing_keys": [{"state": "signing"}]}),
    ("O rotation.finish", {}, "!conflict"),
    ("P tenants.limits", {}, {"largest_bytes": {"event": 1048576}}),
    (
        "O tenants.create tenant",
        {"slug": "other", "name": "Other", "admin_email": "o@example.com"},
        {"tenant": {"slug": "other", "status": "active"}},
    ),
    ("O tenants.list", {"limit": 9}, {"tenants": [{"slug": "other"}]}),
    ("O tenants.usage", {"hours": 1}, {"tenants": ...}),
    ("O tenants.update", {"tenant_id": "$tenant.tenant.id", "status": "suspended"}, {"status": "suspended"}),
    ("O tenants.export", {"tenant_id": "$tenant.tenant.id"}, {"tenant": {"slug": "other"}}),
    ("O tenants.export_rows", {"tenant_id": "$tenant.tenant.id", "collection": "users"}, {"rows": "o@example.com"}),
    ("O tenants.export_content", {"tenant_id": "$tenant.tenant.id", "hash": "a" * 64}, "!not_found"),
    ("O tenants.import_", {"tenant": {"slug": "other"}, "export_id": "none"}, "!validation_failed"),
    ("O tenants.import_rows", {"tenant_id": "tn_absent", "collection": "users", "rows": []}, "!validation_failed"),
    ("O tenants.import_content", {"tenant_id": "tn_absent", "content": "SGVsbG8="}, "!not_found"),
    ("O tenants.erase", {"tenant_id": "$tenant.tenant.id"}, {"tenant_id": "$tenant.tenant.id", "erased": {"users": 1}}),
]


@pytest.fixture(scope="module")
def made(server: Server) -> Iterator[dict[str, Any]]:
    """The answers by name, and the clients that call."""
    operator = Sensorium(server.url, token=OPERATOR_TOKEN)
    tenant = operator.tenants.create(slug="called", name="Called", admin_email="admin@called.example")
    agent, key = Sensorium(server.url, tenant.agent.api_key), tenant.agent.api_key
    login = agent.auth.login(email=tenant.admin.email, password=tenant.admin.password)
    person = Sensorium(server.url, token=login.access_token)
    nobody = Sensorium(server.url, anonymous=True)
    made: dict[str, Any] = {"A": agent, "P": person, "O": operator, "N": nobody, "url": server.url}
    made |= {"me": agent.auth.me().agent, "person": person.auth.me().user, "key": {"own": key}}
    for kit in KITS:
        kit.get("prepare", nothing)(made, agent, tenant.agent.id, key)
    announced = agent.deliveries.poll(wait=20).deliveries
    agent.deliveries.ack(delivery_ids=[each.id for each in announced])
    yield made
    for each in made.values():
        if isinstance(each, Sensorium):
            each.close()


def nothing(*_: object) -> None:
    """What an extension prepares that needs nothing."""


def filled(value: Any, made: dict[str, Any]) -> Any:
    """The value with what answers have."""
    if isinstance(value, dict):
        return {name: filled(each, made) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, made) for each in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    name = next(name for name in sorted(made, key=len, reverse=True) if value[1:].startswith(f"{name}."))
    found = made[name]
    for key in value[len(name) + 2 :].split("."):
        found = found[int(key)] if key.isdigit() else found[key] if isinstance(found, dict) else getattr(found, key)
    return found


def has(answer: Any, part: Any) -> bool:
    if part is ...:
        return answer is not None
    if isinstance(part, dict):
        return isinstance(answer, dict) and all(name in answer and has(answer[name], part[name]) for name in part)
    if isinstance(part, list) and part:
        return isinstance(answer, list) and all(any(has(each, item) for each in answer) for item in part)
    if isinstance(part, (str, bytes)) and isinstance(answer, type(part)):
        return part in answer  # type: ignore[operator]
    return bool(answer == part)


def plain(answer: Any) -> Any:
    if isinstance(answer, list):
        return [plain(each) for each in answer]
    return answer.model_dump(mode="json", by_alias=True) if hasattr(answer, "model_dump") else answer


def caller(who: str, made: dict[str, Any]) -> Sensorium:
    if who not in made:
        source = {"U": "auth.login", "D": "session"}[who]
        made[who] = Sensorium(made["url"], token=made[source].access_token)
    client: Sensorium = made[who]
    return client


@pytest.mark.parametrize(("call", "params", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_calls(made: dict[str, Any], call: str, params: dict[str, Any], expected: Any) -> None:
    who, operation, *names = call.split(" ")
    group, name = operation.split(".")
    method = getattr(getattr(caller(who, made), group), name)
    expected = filled(expected, made)
    if isinstance(expected, str) and expected.startswith("!"):
        with pytest.raises(ApiError) as refused:
            method(**filled(params, made))
        assert refused.value.code == expected[1:]
        return
    answer = method(**filled(params, made))
    made[names[0] if names else operation] = answer
    assert has(plain(answer), expected), plain(answer)


def test_nothing_is_left_out() -> None:
    client = Sensorium("http://127.0.0.1", "k")
    groups = {name: type(group) for name, group in vars(client).items() if isinstance(group, Group)}
    declared = {
        f"{name}.{each}" for name, group in groups.items() for each, m in vars(group).items() if isinstance(m, Method)
    }
    assert declared - {call.split(" ")[1] for call, _, _ in ROWS} == set()
