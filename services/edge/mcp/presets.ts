/** The sets of tools that have a name; the domains of each. `core`: those whose contract says so. */
export const PRESETS: Record<string, readonly string[]> = {
  core: [],
  sense: ["events", "interests", "deliveries", "channels", "findings"],
  remember: ["memories", "merges", "relationships", "documents", "bundles", "handoffs", "findings", "state"],
  work: ["runs", "templates", "handoffs", "outputs", "exemplars", "specialists", "projects"],
  all: [],
};

/** What is listed if nobody chooses. */
export const DEFAULT_PRESET = "core";
