const attested = { completion_mode: "attestation" as const };

/** The steps to a release note: two steps depend on the first, and two more on both of them. */
export const RELEASE_NOTE = {
  name: "Release note",
  slug: "release-note",
  description: "From an outline to an approved text.",
  goal_template: "A release note that readers understand",
  steps: [
    { step_key: "outline", title: "Outline the note", ...attested },
    { step_key: "facts", title: "Gather the facts", depends_on: ["outline"], ...attested },
    { step_key: "draft", title: "Write a draft", depends_on: ["outline"], ...attested },
    {
      step_key: "edit",
      title: "Edit the draft",
      depends_on: ["facts", "draft"],
      completion_criteria: [
        { key: "true", description: "Every figure is one of the facts." },
        { key: "short", description: "It has at most three sentences." },
      ],
      ...attested,
    },
    { step_key: "approve", title: "Approve the note", depends_on: ["edit"], ...attested },
  ],
};
