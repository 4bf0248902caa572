import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { isFault } from "../../../lib/contract/faults.ts";

/**
 * Waits for a call, and converts its faults that A2A names.
 *
 * @param final builds the error for a task that is final
 */
export async function translated<T>(
  call: Promise<T>,
  task_id = "",
  final = (message: string): Error => new UnsupportedOperationError(message),
): Promise<T> {
  try {
    return await call;
  } catch (err) {
    if (!isFault(err)) throw err;
    const { resource_type } = err.data as { resource_type?: string };
    if (resource_type === "push_notification_config") throw new TaskNotFoundError(err.message);
    if (err.type === "not_found") throw new TaskNotFoundError(`There is no task ${task_id} of yours.`);
    if (err.type === "conflict") throw final(err.message);
    if (["validation_failed", "validation_error", "payload_too_large"].includes(err.type)) {
      throw new RequestMalformedError(err.message);
    }
    throw err;
  }
}
