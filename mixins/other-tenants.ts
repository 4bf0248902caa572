/** Pause of looks for other tenants after one that found nothing. */
const LOOK_MS = 1_000;
/** Limit of consecutive looks, each for tenants that none before it found. */
const MAX_LOOKS = 8;

interface OfTenant {
  tenant_id: string;
}

type Others = { tenant_id?: { $nin: string[] } };
type Find<Row> = (others: Others) => Promise<Row[]>;

/**
 * Finds the oldest rows and, if they fill a batch, the oldest of other tenants too, so that no backlog of one tenant
 * blocks the others. A look for others scans the whole backlog, so after one that found nothing the next is a second
 * later.
 *
 * @param find returns the oldest rows, `batch` at most, excluding some tenants
 * @returns a `find` that returns at least `batch` rows if there may be more
 */
export function withOtherTenants<Row extends OfTenant>(
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
