import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CloudEvent } from "cloudevents";

interface Recorded {
  name: string;
  payload: { action?: string; repository?: { full_name?: string } };
}

/** Webhooks of GitHub, one a line: a part of the MIT-licensed package `@octokit/webhooks-examples`. */
const RECORDED = join(import.meta.dirname, "github.jsonl");

/** Returns every recorded payload as a CloudEvent `com.github.<event>.<action>`, created by the CloudEvents SDK. */
export function githubEvents(run: string): CloudEvent<unknown>[] {
  const recorded = readFileSync(RECORDED, "utf8").trim().split("\n");
  return recorded.map((line, index) => {
    const { name, payload } = JSON.parse(line) as Recorded;
    return new CloudEvent({
      id: `${run}-${index}`,
      type: ["com.github", name, payload.action].filter(Boolean).join("."),
      source: `https://github.com/${payload.repository?.full_name ?? ""}`,
      subject: payload.repository?.full_name ?? name,
      time: new Date().toISOString(),
      datacontenttype: "application/json",
      data: payload,
    });
  });
}
