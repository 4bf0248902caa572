/** @needs codingtools */
import { expect, test } from "@jest/globals";
import { hasCodingTools } from "../support/coding-tools.ts";
import { settle } from "../support/settle.ts";
import { canUnshare, channelSessions, startChannel, startToolSessions } from "../support/tool-sessions.ts";

const ACKNOWLEDGE = "mcp__sensorium__deliveries_ack";
const TYPE = "com.example.ci.failed";

/** Acknowledges a delivery of the channel, if there is one that it has not. */
function acknowledge({ messages }: { messages: unknown }) {
  const said = JSON.stringify(messages);
  const [, id] = /<channel [^>]*delivery_id=\\"([\w-]+)\\"/.exec(said) ?? [];
  if (!id || said.includes("tool_result")) return undefined;
  return { name: ACKNOWLEDGE, input: { delivery_ids: [id] } };
}

// The preview is off without a flag that Claude Code asks its maker for: here it is set, and nothing can be asked.
const alone = hasCodingTools() && (await canUnshare()) ? test : test.skip;

alone("an idle session of Claude Code is woken by an event, and acknowledges it", async () => {
  const there = await startToolSessions(...channelSessions({ call: acknowledge }));
  try {
    const { agent: me } = await there.agent.auth.me();
    await there.agent.interests.create({ agent_id: me?.id as string, event_type: TYPE });
    const session = await startChannel(there, [ACKNOWLEDGE]);
    const { event_id } = await there.agent.publish({ type: TYPE, source: "urn:t", data: { branch: "main" } });
    await settle(async () => (await there.agent.events.get({ event_id })).deliveries.acknowledged === 1);
    expect(JSON.stringify(there.model.steps().at(0)?.body.messages)).toContain('\\"branch\\": \\"main\\"');
    await session.end("SIGTERM");
  } finally {
    await there.stop();
  }
});
