import samples from "@octokit/webhooks-examples" with { type: "json" };
import { CloudEvent } from "cloudevents";

interface Sample {
  name: string;
  examples: { action?: string; repository?: { full_name?: string } }[];
}

/** Returns every sample payload as a CloudEvent `com.github.<event>.<action>`, created by the CloudEvents SDK. */
export function githubEvents(run: string): CloudEvent<unknown>[] {
  return (samples as unknown as Sample[]).flatMap(({ name, examples }) =>
    examples.map(
      (payload, index) =>
        new CloudEvent({
          id: `${run}-${name}-${index}`,
          type: ["com.github", name, payload.action].filter(Boolean).join("."),
          source: `https://github.com/${payload.repository?.full_name ?? ""}`,
          subject: payload.repository?.full_name ?? name,
          time: new Date().toISOString(),
          datacontenttype: "application/json",
          data: payload,
        }),
    ),
  );
}
