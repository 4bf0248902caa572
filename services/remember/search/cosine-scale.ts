import type { Embedder } from "../../../connectors/embedders/embedder.ts";

/** Questions and their answers; any other pair of them is unrelated. */
const PAIRS: [question: string, answer: string][] = [
  ["When does the ferry leave?", "The ferry to the island leaves at seven."],
  ["How much were interest rates raised?", "Interest rates were raised by a quarter of a percent."],
  ["How long do I boil the potatoes?", "Boil the potatoes until they are soft."],
  ["How is the patient's blood pressure?", "The patient's blood pressure is back to normal."],
  ["How did our team play in the final?", "Our team lost the final in overtime."],
  ["What must be done after changing the certificate?", "Restart the server after changing its certificate."],
  ["When are owls awake?", "Owls are active at night and sleep during the day."],
  ["How old is the cathedral?", "The cathedral was built in the twelfth century."],
];

/** Mean cosines of a question with other answers, and with its own. */
interface Means {
  unrelated: number;
  related: number;
}

/** The means of the bundled embedder. */
const USUAL: Means = { unrelated: 0.085, related: 0.599 };
const MOST_UNRELATED = 0.9;
/** The least share of the way from unrelated to equal: an embedder below it knows nothing of these texts. */
const LEAST_RELATED = 0.15;

/** A cosine of one embedder and the one of another that says the same, ascending. */
type Anchors = [from: number, to: number][];

/**
 * Translates an embedder's cosines into those of the bundled one, for which weights and thresholds were chosen. Unrelated
 * texts have a cosine of 0.1 with one model and 0.7 with another, a question and its answer 0.6 or 0.9; equal texts
 * have 1 with all.
 */
export class CosineScale {
  readonly #embedder: Pick<Embedder, "embedQuery" | "embedTexts"> | null;
  #means = USUAL;
  #measuring: Promise<void> | null = null;

  constructor(embedder: Pick<Embedder, "embedQuery" | "embedTexts"> | null) {
    this.#embedder = embedder;
  }

  /** Returns the translation by what is known, and measures in the background until that succeeds. */
  get(): (cosine: number) => number {
    void this.#measure();
    return translation(anchors(this.#means));
  }

  /** Returns the embedder's cosine that says what this one of the bundled embedder does. */
  async toOwn(usual: number): Promise<number> {
    await this.#measure();
    return translation(anchors(this.#means).map(([own, of]) => [of, own]))(usual);
  }

  #measure(): Promise<void> {
    const embedder = this.#embedder;
    if (!embedder) return Promise.resolve();
    this.#measuring ??= measure(embedder).then(
      (means) => {
        this.#means = means;
      },
      () => {
        this.#measuring = null;
      },
    );
    return this.#measuring;
  }
}

async function measure(embedder: Pick<Embedder, "embedQuery" | "embedTexts">): Promise<Means> {
  const answers = await embedder.embedTexts(PAIRS.map(([, answer]) => answer));
  const questions = await Promise.all(PAIRS.map(([question]) => embedder.embedQuery(question)));
  const all = questions.flatMap((question, i) =>
    answers.map((answer, j) => ({ isOwn: i === j, cosine: cosine(question, answer) })),
  );
  // An embedder may make nothing of a text: its vector is all zeros.
  const known = all.filter((each) => !Number.isNaN(each.cosine));
  const mean = (some: typeof all) => some.reduce((sum, each) => sum + each.cosine, 0) / some.length || 0;
  return {
    unrelated: Math.min(MOST_UNRELATED, mean(known.filter(({ isOwn }) => !isOwn))),
    related: mean(known.filter(({ isOwn }) => isOwn)),
  };
}

function anchors({ unrelated, related }: Means): Anchors {
  const lead = (related - unrelated) / (1 - unrelated);
  const middle: Anchors = lead >= LEAST_RELATED ? [[related, USUAL.related]] : [];
  return [[unrelated, USUAL.unrelated], ...middle, [1, 1]];
}

/** Interpolates between anchors, and continues the first line below them. */
function translation(anchors: Anchors): (cosine: number) => number {
  const lines = anchors.slice(1).map(([x, y], i) => {
    const [x0, y0] = anchors[i] as Anchors[0];
    return { until: x, x0, y0, slope: (y - y0) / (x - x0) };
  });
  return (cosine) => {
    const { x0, y0, slope } =
      lines.find(({ until }) => cosine <= until) ?? (lines.at(-1) as (typeof lines)[0]);
    return y0 + (cosine - x0) * slope;
  };
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, each, i) => sum + each * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
