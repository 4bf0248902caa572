import type { MemoriesEraseResult } from "../../../../client/index.ts";
import { fullTime, number } from "../../data/format.ts";
import { saveFile } from "../../data/save-file.ts";
import { capitalised } from "../../data/text.ts";
import { Button } from "../../ui/button.tsx";
import { Download } from "../../ui/icons.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Secret } from "../../ui/text.tsx";

/** Rows of each kind, omitting kinds without any. */
export function Counts({ erased }: { erased: MemoriesEraseResult["erased"] }) {
  const counts = Object.entries(erased).flatMap(([kind, count]) => (count ? [{ kind, count }] : []));
  const shown = counts.map(({ kind, count }) => [capitalised(kind), bold(count)]);
  return <Facts of={counts.length > 0 ? Object.fromEntries(shown) : { Rows: "None" }} />;
}

const bold = (count: number) => <strong className="num">{number(count)}</strong>;

/** The erased data and the proof. */
export function Receipt({ result, again }: { result: MemoriesEraseResult; again(): void }) {
  const { erased_at, erased, receipt } = result;
  return (
    <Card title="Erased" actions={<Button onClick={again}>Erase more data</Button>}>
      <div className="stack" role="status">
        {erased_at && <p>Erased {fullTime(erased_at)}. The audit log records it.</p>}
        <Counts erased={erased} />
        {receipt && (
          <>
            <Secret
              label="Receipt"
              value={receipt}
              note="A JWT signed by the service. Verify it with the keys at /.well-known/jwks.json."
            />
            <div className="row">
              <Button icon={Download} onClick={() => saveFile(receipt, `erasure-${erased_at}.jwt`)}>
                Download receipt
              </Button>
            </div>
          </>
        )}
      </div>
    </Card>
  );
}
