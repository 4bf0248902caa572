import { appendFile, readFile } from "node:fs/promises";
import type { MemoriesSearchParams } from "../generated/types.ts";
import { type Command, type Context, text, word } from "./command.ts";
import { readContent, readObject } from "./input.ts";
import { age, formatTable } from "./table.ts";
import { Failure, UsageError } from "./usage.ts";

/** As many results as recall is measured in. */
const LIMIT = 10;
const SHOWN_RUNS = 12;
const BARS = "▁▂▃▄▅▆▇█";

/** A line of the file: a question, and ids or parts of the texts of the memories that answer it; none: no memory does. */
interface Question {
  question: string;
  answers: string[];
  as_of?: string;
}

/** Figures of a run, as a line of the trend. */
interface Figures {
  at: string;
  /** The parameters of its searches. */
  params: object;
  questions: number;
  /** Shares of the questions with an answer; null without any. */
  hit1: number | null;
  hit5: number | null;
  recall10: number | null;
  /** Questions without an answer that got a likely one, and questions whose answer was not found. */
  false_answers: number;
  missing_answers: number;
}

interface Outcome {
  question: Question;
  /** The places of its answers among the results, from 0; -1: not found. */
  places: number[];
  /** The first result, if it is likely. */
  likely: string | null;
}

export const evaluate: Command = {
  takes: "QUESTIONS",
  does:
    'Measures search with questions of yours, a JSON object a line: {"question": …, "answers": [ids or parts of ' +
    'texts]}, no answers if no memory has one, and "as_of" if it asks for the past.',
  options: {
    params: { value: "JSON", means: "further parameters of all searches" },
    against: { value: "JSON", means: "other parameters, to compare with" },
    trend: {
      value: "FILE",
      means: "keeps the figures of each run, a JSON object a line; default: QUESTIONS with .trend at its end",
    },
    "no-trend": { means: "neither reads nor keeps them" },
    verbose: { means: "shows each question whose answer is not the first result" },
  },
  examples: ["eval questions.jsonl", `eval questions.jsonl --against '{"min_score": 0.3}'`],
  async run(context) {
    const file = word(context, 0, "QUESTIONS");
    const questions = parseQuestions(file, await readContent(context.host, file === "-" ? "-" : `@${file}`));
    const runs: { figures: Figures; outcomes: Outcome[] }[] = [];
    for (const name of ["params", "against"]) {
      const given = text(context, name);
      if (given === undefined && name === "against") continue;
      const params = given === undefined ? {} : await readObject(context.host, given, `--${name}`);
      const outcomes = await askAll(context, questions, params);
      runs.push({ outcomes, figures: measure(params, outcomes) });
    }
    const trendFile = context.options["no-trend"] ? null : (text(context, "trend") ?? `${file}.trend`);
    const trend = file === "-" || trendFile === null ? [] : await keep(context, trendFile, runs[0]?.figures);
    const figures = runs.map((run) => run.figures);
    context.print({ runs: figures, trend }, () =>
      [
        formatFigures(figures),
        ...(context.options.verbose ? runs.map(({ outcomes }) => formatWrong(outcomes)) : []),
        ...(trend.length > 1 ? [formatTrend(trend)] : []),
      ].join("\n\n"),
    );
  },
};

/** @throws UsageError that names the line */
function parseQuestions(file: string, content: string): Question[] {
  const lines = content.split("\n").map((line, i) => ({ line, n: i + 1 }));
  const questions = lines
    .filter(({ line }) => line.trim() !== "")
    .map(({ line, n }) => parseLine(file, line, n));
  if (questions.length === 0) throw new UsageError(`${file} has no questions.`);
  return questions;
}

function parseLine(file: string, line: string, n: number): Question {
  let parsed: Partial<Question> | null = null;
  try {
    parsed = JSON.parse(line);
  } catch {
    // Reported below.
  }
  const { question, answers = [], as_of } = parsed ?? {};
  const isRight =
    typeof question === "string" &&
    Array.isArray(answers) &&
    answers.every((each) => typeof each === "string");
  if (!isRight)
    throw new UsageError(
      `${file}, line ${n}: expected {"question": "…", "answers": ["id or part of a text"]}.`,
    );
  return { question, answers, ...(as_of !== undefined && { as_of }) };
}

async function askAll(context: Context, questions: Question[], params: object): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const question of questions) {
    const asked = {
      ...{ query: question.question, limit: LIMIT, include_possible: true },
      ...(question.as_of !== undefined && { as_of: question.as_of }),
      ...params,
    } as MemoriesSearchParams;
    const { results } = await context.client.memories.search(asked, { signal: context.signal });
    const [first] = results;
    outcomes.push({
      question,
      places: question.answers.map((answer) => results.findIndex(({ memory }) => answers(memory, answer))),
      likely: first?.match === "likely" ? first.memory.title : null,
    });
  }
  return outcomes;
}

function answers(
  { id, title, content }: { id: string; title: string; content: string },
  answer: string,
): boolean {
  return id === answer || `${title}\n${content}`.toLowerCase().includes(answer.toLowerCase());
}

function measure(params: object, outcomes: Outcome[]): Figures {
  const answerable = outcomes.filter(({ places }) => places.length > 0);
  const mean = (of: (outcome: Outcome) => number) =>
    answerable.length === 0 ? null : answerable.reduce((sum, each) => sum + of(each), 0) / answerable.length;
  const within = (most: number) => (outcome: Outcome) => Number(found(outcome).some((place) => place < most));
  return {
    ...{ at: new Date().toISOString(), params, questions: outcomes.length },
    ...{ hit1: mean(within(1)), hit5: mean(within(5)) },
    recall10: mean((outcome) => found(outcome).length / outcome.places.length),
    false_answers: outcomes.filter(({ places, likely }) => places.length === 0 && likely !== null).length,
    missing_answers: answerable.filter((outcome) => found(outcome).length === 0).length,
  };
}

const found = ({ places }: Outcome) => places.filter((place) => place >= 0);

/** Appends a run to the file; returns all of them, oldest first. @throws Failure */
async function keep({ host }: Context, file: string, figures: Figures | undefined): Promise<Figures[]> {
  const path = host.pathOf(file);
  try {
    if (figures) await appendFile(path, `${JSON.stringify(figures)}\n`);
    const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line.trim() !== "");
    return lines.map((line) => JSON.parse(line) as Figures);
  } catch (err) {
    throw new Failure(`${file}: the trend cannot be kept: ${(err as Error).message}`, "unreadable_file");
  }
}

const percent = (share: number | null) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);

function formatFigures(runs: Figures[]): string {
  return formatTable(runs, [
    ["PARAMETERS", ({ params }) => JSON.stringify(params)],
    ["QUESTIONS", ({ questions }) => questions],
    ["HIT@1", ({ hit1 }) => percent(hit1)],
    ["HIT@5", ({ hit5 }) => percent(hit5)],
    ["RECALL@10", ({ recall10 }) => percent(recall10)],
    ["FALSE ANSWERS", ({ false_answers }) => false_answers],
    ["MISSING ANSWERS", ({ missing_answers }) => missing_answers],
  ]);
}

function formatWrong(outcomes: Outcome[]): string {
  const wrong = outcomes.filter(({ places, likely }) =>
    places.length === 0 ? likely !== null : !places.includes(0),
  );
  if (wrong.length === 0) return "Every question has its answer first.";
  return formatTable(wrong, [
    ["QUESTION", ({ question }) => question.question],
    [
      "PLACES",
      ({ places }) => places.map((place) => (place < 0 ? "–" : place + 1)).join(", ") || "none expected",
    ],
    ["LIKELY", ({ likely }) => likely],
  ]);
}

/** The latest runs, and a bar for each. */
function formatTrend(trend: Figures[]): string {
  const latest = trend.slice(-SHOWN_RUNS);
  const bars = (of: (figures: Figures) => number | null) =>
    latest.map((each) => BARS[Math.round((of(each) ?? 0) * (BARS.length - 1))]).join("");
  const chart = [
    `hit@1      ${bars(({ hit1 }) => hit1)}`,
    `hit@5      ${bars(({ hit5 }) => hit5)}`,
    `recall@10  ${bars(({ recall10 }) => recall10)}`,
  ];
  const table = formatTable(latest.toReversed(), [
    ["RUN", ({ at }) => age(at)],
    ["HIT@1", ({ hit1 }) => percent(hit1)],
    ["HIT@5", ({ hit5 }) => percent(hit5)],
    ["RECALL@10", ({ recall10 }) => percent(recall10)],
    ["FALSE", ({ false_answers }) => false_answers],
    ["MISSING", ({ missing_answers }) => missing_answers],
  ]);
  return `${table}\n\n${chart.join("\n")}`;
}
