/**
 * What makes vectors of texts. All vectors of a model have the same number of components; they are all 0 of a text that
 * it makes nothing of.
 */
export interface Embedder {
  /** Tells vectors of different makers apart; two with the same name are comparable. */
  readonly model: string;
  /** How many texts are best given at once when nobody waits for them. */
  readonly batch: number;
  /** How many such batches are best asked for at a time. */
  readonly batchesAtOnce: number;
  /** How many queries are best asked for at a time. */
  readonly queriesAtOnce: number;
  /** How long somebody who waits should give it for one query now, in milliseconds. */
  readonly patience: number;
  /** The vector of a query: it passes everything that nobody waits for. */
  embedQuery(text: string): Promise<Float32Array>;
  /** Vectors of texts in their order; long ones are shortened or averaged as the model needs. */
  embedTexts(texts: string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Milliseconds after which a search goes on without the vector of its query. */
export const PATIENCE_MS = 150;
