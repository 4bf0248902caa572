import { TOTP } from "otpauth";

const PERIOD_MS = 30_000;

/** The code of an authenticator app that has scanned the address. @param steps from now, each of 30 seconds */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: Date.now() + steps * PERIOD_MS });
}

/** A code that is wrong at any time near. */
export function wrongCode(secret: string): string {
  const near = [-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps));
  const [code] = ["000000", "111111", "222222", "333333", "444444", "555555"].filter(
    (each) => !near.includes(each),
  );
  return code as string;
}
