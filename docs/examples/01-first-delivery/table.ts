interface Row {
  name: string;
  expected: { type: string }[];
  received: string[];
}

/** Prints the counts per receiver and kind of event, and fails if they do not add up. */
export function printCounts(rows: Row[]): void {
  for (const { name, expected, received } of rows) {
    console.log(`${name}: ${received.length} of ${expected.length}`);
    const wanted = countByKind(expected.map(({ type }) => type));
    for (const [kind, count] of countByKind(received)) {
      console.log(`  ${kind.padEnd(32)} ${String(count).padStart(4)} of ${wanted.get(kind) ?? 0}`);
      if (count !== wanted.get(kind)) process.exitCode = 1;
    }
    if (received.length !== expected.length) process.exitCode = 1;
    console.log();
  }
  console.log(process.exitCode ? "The counts do not add up." : "The counts add up.");
}

/** Counts each `com.github.<event>`, in alphabetical order. */
function countByKind(types: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of types.sort()) {
    const kind = type.split(".").slice(2, 3).join(".");
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
