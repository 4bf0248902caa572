/** Retry interval after a failure that may pass, such as an outage. */
export const RETRY_MS = 5000;
