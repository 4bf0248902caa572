import { terms } from "../../lib/text/terms.ts";
import { serving } from "./serving.ts";

/** A service of vectors in OpenAI's form whose vectors are alike where texts share words. */
export interface TestEmbedder extends AsyncDisposable {
  /** The value of `EMBEDDER_URL`. */
  url: string;
  /** How it answers from now on. */
  behave(how: Partial<Behaviour>): void;
  /** Texts that it was given so far. */
  texts: string[];
  stop(): Promise<void>;
}

interface Behaviour {
  status: number;
  dims: number;
  /** It answers nothing until it may. */
  holds: boolean;
  /** Makes the vectors, in place of words that count. */
  by: ((texts: string[]) => Promise<ArrayLike<number>[]>) | null;
}

const DIMS = 64;

export async function startEmbedder(): Promise<TestEmbedder> {
  const behaviour: Behaviour = { status: 200, dims: DIMS, holds: false, by: null };
  const texts: string[] = [];
  let held: (() => void)[] = [];
  const { url, close } = await serving(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] };
    if (behaviour.holds) await new Promise<void>((resolve) => held.push(resolve));
    const { status, dims, by } = behaviour;
    texts.push(...input);
    const vectors = by ? await by(input) : input.map((text) => vectorOf(text, dims));
    const data = vectors.map((vector, index) => ({ index, embedding: Array.from(vector) }));
    res.writeHead(status, { "content-type": "application/json" });
    res.end(JSON.stringify(status === 200 ? { data } : { error: { message: "out of order" } }));
  });
  return {
    url: `${url}/v1`,
    behave(how) {
      Object.assign(behaviour, how);
      if (behaviour.holds) return;
      for (const release of held) release();
      held = [];
    },
    texts,
    stop: close,
    [Symbol.asyncDispose]: close,
  };
}

/** Each word of a text counts in one component; and in all of them something, so that no vector is all zeros. */
function vectorOf(text: string, dims: number): number[] {
  const vector: number[] = new Array(dims).fill(0.01);
  for (const term of terms(text)) {
    let hash = 2166136261;
    for (const character of term) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
    const at = (hash >>> 0) % dims;
    vector[at] = (vector[at] as number) + 1;
  }
  return vector;
}
