/** Stands for a space. */
const SPACE = "\u2581";
/** The first pieces of the vocabulary are not text; one of them stands for everything unknown. */
const RESERVED = 6;
const UNKNOWN = 0;
const LETTER = /\p{L}/u;
/** With a digit it is a UUID, a hash or a part number, and no word of any language. */
const CODE = /[\w-]+/g;
const DIGIT = /\d/;
/** The logarithm of the probability of an unknown letter: like that of a letter that is seldom alone. */
const UNKNOWN_SCORE = -6;

interface Piece {
  id: number;
  /** The logarithm of its probability. */
  score: number;
}

interface Encoded {
  /** The numbers of the text's pieces; each unknown stretch is one piece. */
  ids: number[];
  /** How unlikely its words are for the model: minus the logarithm of their probability, per character. */
  surprise: number;
}

/** Cuts a text into its most probable pieces (SentencePiece, unigram language model). */
export class Tokenizer {
  /** The pieces, and null for what only begins one. */
  readonly #pieces = new Map<string, Piece | null>();
  readonly #lengths: number[];
  readonly #scores: number[];
  /** Whether they count as words: numbers and punctuation are unlikely in every language. */
  readonly #areWords: boolean[];

  /** @param vocabulary the pieces with their scores; a piece's number is its position */
  constructor(vocabulary: readonly [string, number][]) {
    this.#lengths = vocabulary.map(([piece]) => piece.length);
    this.#areWords = vocabulary.map(([piece], id) => id === UNKNOWN || LETTER.test(piece));
    this.#scores = vocabulary.map(([, score], id) => (id === UNKNOWN ? UNKNOWN_SCORE : score));
    for (const [id, [piece, score]] of vocabulary.entries()) {
      if (id < RESERVED) continue;
      this.#pieces.set(piece, { id, score });
      for (let end = 1; end < piece.length; end++) {
        const beginning = piece.slice(0, end);
        if (!this.#pieces.has(beginning)) this.#pieces.set(beginning, null);
      }
    }
  }

  encode(text: string): Encoded {
    const spaced = (SPACE + text.normalize("NFKC")).replaceAll(" ", SPACE);
    const last = this.#lastPieces(spaced);
    const codes = new Uint8Array(spaced.length);
    for (const { index, 0: code } of spaced.matchAll(CODE))
      if (DIGIT.test(code)) codes.fill(1, index, index + code.length);
    const ids: number[] = [];
    let characters = 0;
    let score = 0;
    for (let end = spaced.length; end > 0; ) {
      const id = last[end] as number;
      if (id !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(id);
      if (this.#areWords[id] && !codes[end - 1]) {
        characters += this.#lengths[id] as number;
        score += this.#scores[id] as number;
      }
      end -= this.#lengths[id] as number;
    }
    return { ids: ids.reverse(), surprise: characters ? -score / characters : 0 };
  }

  /** Returns, for each end of a prefix, the last piece of the prefix's best cut. */
  #lastPieces(text: string): Int32Array {
    const best = new Float64Array(text.length + 1);
    const last = new Int32Array(text.length + 1);
    const offer = (end: number, id: number, score: number) => {
      if (best[end] !== 0 && score < (best[end] as number)) return;
      best[end] = score;
      last[end] = id;
    };
    for (let from = 0; from < text.length; from++) {
      let isKnown = false;
      for (let end = from + 1; end <= text.length; end++) {
        const piece = this.#pieces.get(text.slice(from, end));
        if (piece === undefined) break;
        if (piece === null) continue;
        isKnown = true;
        offer(end, piece.id, (best[from] as number) + piece.score);
      }
      if (!isKnown) offer(from + 1, UNKNOWN, best[from] as number);
    }
    return last;
  }
}
