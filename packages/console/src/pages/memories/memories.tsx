import { useState } from "react";
import { useSearchParams } from "react-router";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { GitMerge, HeartPulse, Plus } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { Filters, filtersOf } from "./filters.tsx";
import { Found } from "./found.tsx";
import { Listed } from "./listed.tsx";
import { RememberDialog } from "./remember.tsx";
import "./memories.css";

/** Memories of agents and people: listed, or searched by words and meaning. */
export function Memories() {
  const [search] = useSearchParams();
  const [adding, setAdding] = useState(false);
  const filters = filtersOf(search);
  return (
    <Page
      title="Memories"
      lead="Memories of agents and people that you can read."
      actions={
        <>
          <ButtonLink to="/memories/merges" icon={GitMerge}>
            Merge proposals
          </ButtonLink>
          <ButtonLink to="/memories/health" icon={HeartPulse}>
            Health
          </ButtonLink>
          <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
            Create memory
          </Button>
        </>
      }
    >
      <Filters />
      {filters.q ? (
        <Found filters={filters} />
      ) : (
        <Listed filters={filters} remember={() => setAdding(true)} />
      )}
      {adding && <RememberDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}
