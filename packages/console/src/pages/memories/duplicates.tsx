import { Link } from "react-router";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { Copy } from "../../ui/icons.tsx";

/** Wait for a pause in writing before searching. */
const PAUSE_MS = 600;
/** Fewer characters are similar to too much. */
const MIN_LENGTH = 12;
const MAX_QUERY = 2000;
const MOST_SHOWN = 3;
/** Cosine of the texts: rewordings of one fact have 0.76 to 0.88, other facts about the same subject at most 0.66. */
const ALIKE = 0.75;

interface Props {
  title: string;
  content: string;
}

/** While a memory is written: memories that may already say the same. */
export function Duplicates({ title, content }: Props) {
  const text = `${title} ${content}`.trim().slice(0, MAX_QUERY);
  const found = useLoad(
    async (signal) => {
      if (text.length < MIN_LENGTH) return [];
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      signal.throwIfAborted();
      const { results } = await api.memories.search({ query: text, limit: MOST_SHOWN }, { signal });
      return results.filter(({ sources }) => (sources.vector ?? 0) >= ALIKE).map(({ memory }) => memory);
    },
    [text],
  );
  return (
    <div role="status">
      {found.data && found.data.length > 0 && (
        <div className="notice warn">
          <Copy aria-hidden size={16} />
          <span>
            Looks like{" "}
            {found.data.map(({ id, title: known }, at) => (
              <span key={id}>
                {at > 0 && ", "}
                <Link to={`/memories/${id}`} target="_blank">
                  {known}
                </Link>
              </span>
            ))}
            . You can edit or supersede an existing memory instead.
          </span>
        </div>
      )}
    </div>
  );
}
