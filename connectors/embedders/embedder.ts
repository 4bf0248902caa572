/**
 * Computes vectors of texts. All vectors of a model have the same number of components, which are all 0 for a text that
 * the model cannot interpret.
 */
export interface Embedder {
  /** Identifies the model; vectors with the same name are comparable. */
  readonly model: string;
  /** The best number of texts per call when nobody waits for them. */
  readonly batch: number;
  /** The best number of concurrent batches. */
  readonly batchesAtOnce: number;
  /** The best number of concurrent queries. */
  readonly queriesAtOnce: number;
  /** How long a waiting caller should allow for one query now, in milliseconds. */
  readonly patience: number;
  /** Returns the vector of a query, ahead of all work that nobody waits for. */
  embedQuery(text: string): Promise<Float32Array>;
  /** Returns vectors of texts in order; shortens or averages long ones, and reports those that the service refuses. */
  embedTexts(texts: string[], report?: RefusedText): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Called with the index of a refused text, and how many characters of it have a vector: 0 if none. */
export type RefusedText = (index: number, kept: number) => void;

/** Milliseconds after which a search continues without its query's vector. */
export const PATIENCE_MS = 150;
