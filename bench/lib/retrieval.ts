/** How well a ranked list answers a question, each 0..1. */
export interface Quality {
  recall5: number;
  recall10: number;
  /** Gain discounted by the logarithm of the rank, as a share of a perfect order's. */
  ndcg10: number;
  /** Whether any wanted id is among the first ten. */
  hit10: number;
}

/** @param found distinct ids, best first @param wanted the expected ids, at least one */
export function quality(found: readonly string[], wanted: ReadonlySet<string>): Quality {
  const hits = found.slice(0, 10).map((id) => wanted.has(id));
  const among = (first: number) => hits.slice(0, first).filter(Boolean).length;
  const gain = hits.reduce((sum, hit, rank) => sum + (hit ? discount(rank) : 0), 0);
  const perfect = Array.from({ length: Math.min(10, wanted.size) }, (_, rank) => discount(rank));
  return {
    recall5: among(5) / wanted.size,
    recall10: among(10) / wanted.size,
    ndcg10: gain / perfect.reduce((sum, each) => sum + each, 0),
    hit10: among(10) > 0 ? 1 : 0,
  };
}

function discount(rank: number): number {
  return 1 / Math.log2(rank + 2);
}

/** The mean over questions. */
export function meanQuality(all: readonly Quality[]): Quality {
  const mean = (of: (each: Quality) => number) => all.reduce((sum, each) => sum + of(each), 0) / all.length;
  return {
    recall5: mean(({ recall5 }) => recall5),
    recall10: mean(({ recall10 }) => recall10),
    ndcg10: mean(({ ndcg10 }) => ndcg10),
    hit10: mean(({ hit10 }) => hit10),
  };
}
