/** Checks the titles of commits: imperative, at most 72 characters. Merges are left to git. */
import { execFileSync } from "node:child_process";

/** A date, not a commit: it also works in shallow clones and after a rebase. */
const SINCE = "2026-11-23T00:00:00Z";
const MAX_LENGTH = 72;

const PAST = /(?<!e)ed$/i;
const GERUND = /[aeiouy].*ing$/i;
const THIRD_PERSON = /[^aisu]s$/i;
const OTHERS =
  /^(A|An|All|Better|Built|Did|Gave|Got|Had|Held|It|Kept|Made|More|New|No|Now|Ran|Sent|Some|The|This|Took|Was|Were|Wrote)$/;
const IMPERATIVE = /^(Embed|Shed)$/;

/** Returns what is wrong with a title; null if nothing is. */
export function faultOf(title: string): string | null {
  // Git writes these.
  if (/^(Revert|Reapply) "/.test(title)) return null;
  const [verb = ""] = title.split(/,? /);
  if (title.length > MAX_LENGTH) return `has ${title.length} characters; at most ${MAX_LENGTH} are allowed`;
  if (/[.!,;:]$/.test(title)) return "ends in a punctuation mark; leave it out";
  if (!/^[A-Z][A-Za-z-]*$/.test(verb))
    return `starts with "${verb}"; start with a capitalised verb, as in "Fix"`;
  if (OTHERS.test(verb) || (isInflected(verb) && !IMPERATIVE.test(verb))) {
    return `starts with "${verb}"; start with an imperative, as in "Fix", not "Fixed" or "Fixes"`;
  }
  return null;
}

function isInflected(verb: string): boolean {
  return PAST.test(verb) || GERUND.test(verb) || THIRD_PERSON.test(verb);
}

if (import.meta.main) check();

function check(): void {
  const faults = titles().flatMap((line) => {
    const [, commit, title = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    const fault = faultOf(title);
    return fault ? [`${commit} "${title}" ${fault}`] : [];
  });
  if (faults.length === 0) return;
  console.error(`${faults.join("\n")}\nChange the titles with \`git rebase -i\` or \`git commit --amend\`.`);
  process.exitCode = 1;
}

function titles(): string[] {
  try {
    const log = ["log", "--no-merges", `--since=${SINCE}`, "--format=%h %s"];
    return execFileSync("git", log, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
      .split("\n")
      .filter(Boolean);
  } catch (error) {
    console.log(
      `Titles of commits are not checked: ${(error as Error).message.split("\n").slice(0, 2).join(" ")}`,
    );
    return [];
  }
}
