/** How long nobody looks for what other tenants have, when the last look found nothing. */
const LOOK_MS = 1_000;
/** Such looks in a row, each for tenants that none before it found. */
const MAX_LOOKS = 8;

interface OfTenant {
  tenant_id: string;
}

type Others = { tenant_id?: { $nin: string[] } };
type Find<Row> = (others: Others) => Promise<Row[]>;

/**
 * Finds what is oldest, and where that fills a batch, what is oldest of other tenants too: a tenant's backlog keeps
 * nobody waiting, however long it is. A look for others passes over all of the backlog; so where none was found, the
 * next is a second later.
 *
 * @param find gives the oldest rows, `batch` at most, without those of some tenants
 * @returns a `find` that gives at least `batch` rows where there may be more
 */
export function othersToo<Row extends OfTenant>(
  find: Find<Row>,
  batch: number,
  now = () => performance.now(),
): Find<Row> {
  let lookAt = Number.NEGATIVE_INFINITY;
  return async (others) => {
    const rows = await find(others);
    if (rows.length < batch || now() < lookAt) return rows;
    const found = [...rows];
    const known = new Set([...(others.tenant_id?.$nin ?? []), ...tenantsOf(rows)]);
    for (let last = rows, looks = 0; last.length === batch && looks < MAX_LOOKS; looks++) {
      last = await find({ tenant_id: { $nin: [...known] } });
      found.push(...last);
      for (const tenant_id of tenantsOf(last)) known.add(tenant_id);
    }
    if (found.length === rows.length) lookAt = now() + LOOK_MS;
    return found;
  };
}

const tenantsOf = (rows: OfTenant[]): string[] => rows.map(({ tenant_id }) => tenant_id);
