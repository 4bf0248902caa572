import type { Page } from "playwright-core";

/** Resolves when the current page is drawn. */
export const DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Where the focus is; null on nothing. */
interface Stop {
  element: string;
  /** Which of the stops' elements it is: to know when the walk comes round. */
  id: number;
  /** In the page, had nothing been scrolled. */
  top: number;
  bottom: number;
  left: number;
  right: number;
  /** The element that does not scroll with the page: positions are compared within the same one. */
  frame: number;
  marked: boolean;
  covered: boolean;
}

/** Puts the focus where it is on a page that was just opened, and notes what there is to be led to. */
const BEGIN = `{
  window.walked = new Map();
  const within = document.querySelector("dialog[open]") ?? document.body;
  window.offered = [...within.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")];
  const start = document.createElement("span");
  start.tabIndex = -1;
  within.prepend(start);
  start.focus();
  start.remove();
}`;

const LOOK = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body || element.matches("dialog")) return null;
  const idOf = (each) => walked.get(each) ?? walked.set(each, walked.size).get(each);
  // A framed field and a hidden radio button are outlined by an element around them.
  const around = [element, element.parentElement, element.parentElement?.parentElement];
  // That of a row's link is around the row.
  if (element.matches(".opens")) around.push(element.closest("tr, li"));
  const outlined = around.findLast((each) => {
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(each ?? document.body);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 1 && !/, 0\\)$/.test(outlineColor);
  });
  const seen = outlined ?? element;
  const { top, bottom, left, right } = seen.getBoundingClientRect();
  // A link may go over several lines, and not be in the middle of them.
  const [line] = seen.getClientRects();
  const middle = Math.min(line.top + line.height / 2, innerHeight - 1);
  const at = document.elementFromPoint(line.left + line.width / 2, middle);
  let scrolled = 0;
  for (let each = seen.parentElement; each; each = each.parentElement) scrolled += each.scrollTop;
  const frame = element.closest(".sidebar, .topbar, .react-flow, .tabs, dialog, .skip") ?? document.body;
  return {
    element: element.outerHTML.slice(0, 160),
    id: idOf(element), frame: idOf(frame),
    top: top + scrolled, bottom: bottom + scrolled, left, right,
    marked: outlined !== undefined,
    covered: !seen.contains(at),
  };
})()`;

/**
 * Returns controls that Tab did not reach. Controls that appeared meanwhile on live pages may be missing. One radio
 * button or tab counts for its group.
 */
const MISSED = `offered
  .filter((each) => each.isConnected && each.tabIndex >= 0 && !each.disabled && !(each.type === "radio" && !each.checked))
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !walked.has(each))
  .map((each) => each.outerHTML.slice(0, 160))`;

/** A date is a field of four stops, with a time of seven. */
const MOST_INSIDE = 7;

/** More than any page of the tests has. */
const MOST_STOPS = 400;

/**
 * Walks the page, or the dialog that is open, with Tab from its beginning to its end.
 *
 * @returns what is wrong on the way: a stop that looks like no stop, or stands behind something; one that comes out of
 * its turn; a place that one cannot leave, or does not get to
 */
export async function walkByTab(page: Page): Promise<string[]> {
  await page.evaluate(BEGIN);
  const found: string[] = [];
  const walked: Stop[] = [];
  let presses = 0;
  for (;;) {
    await page.keyboard.press("Tab");
    const stop = await look(page);
    if (!stop || stop.id === walked[0]?.id) break;
    const last = walked.at(-1);
    presses = stop.id === last?.id ? presses + 1 : 0;
    if (presses > 0 && presses < MOST_INSIDE) continue;
    if (!stop.marked) found.push(`no mark of the focus: ${stop.element}`);
    if (stop.covered) found.push(`out of sight: ${stop.element}`);
    if (last && isBackwards(last, stop)) found.push(`out of turn: ${stop.element}\n  after ${last.element}`);
    if (walked.some(({ id }) => id === stop.id) || walked.length === MOST_STOPS) {
      found.push(`no way on: ${stop.element}`);
      break;
    }
    walked.push(stop);
  }
  const missed = (await page.evaluate(MISSED)) as string[];
  return [...found, ...missed.map((element) => `never reached: ${element}`)];
}

/** Looks again where something is covered: until the next frames it may still be scrolled to. */
async function look(page: Page): Promise<Stop | null> {
  const stop = (await page.evaluate(LOOK)) as Stop | null;
  if (!stop?.covered) return stop;
  await page.evaluate(DRAWN);
  return (await page.evaluate(LOOK)) as Stop | null;
}

/** Upwards is forwards to the next column alone. */
function isBackwards(last: Stop, stop: Stop): boolean {
  if (last.frame !== stop.frame) return false;
  const above = stop.bottom <= last.top;
  const leftwards = stop.right <= last.left && stop.top < last.bottom && last.top < stop.bottom;
  return (above && stop.left < last.right) || leftwards;
}
