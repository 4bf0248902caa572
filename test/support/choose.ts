/** Whether `npm test -- WORD …` runs a test file. */
export interface Choosable {
  path: string;
  /** The name of its suite. */
  suite: string;
  /** Its processor time. */
  seconds: number;
  /** Whether only `npm run test:all` runs it, unless it or its suite is named. */
  isLonger: boolean;
  /** Whether it belongs to what has changed. */
  isChanged: boolean;
}

/** The suites of `npm test -- quick`, and the seconds of processor that a file may take there. */
const QUICK = { suites: ["unit", "packages"], fileSeconds: 1.5 };

/**
 * Whether the words choose the file: names of suites, which match whole, `quick`, `changed`, parts of paths; none for all
 * that a change must pass.
 *
 * @param suites names of all suites
 */
export function isChosen(file: Choosable, words: readonly string[], suites: readonly string[]): boolean {
  if (words.length === 0) return !file.isLonger;
  return words.some((word) => {
    if (word === "changed") return file.isChanged && !file.isLonger;
    if (word === "quick")
      return QUICK.suites.includes(file.suite) && file.seconds <= QUICK.fileSeconds && !file.isLonger;
    return suites.includes(word) ? file.suite === word : file.path.includes(word);
  });
}
