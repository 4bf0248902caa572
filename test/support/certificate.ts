import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A self-signed certificate of `localhost` in PEM, and its key. */
export type Certificate = { cert: string; key: string };

const SEQUENCE = 0x30;
const SET = 0x31;
const DAY_MS = 86_400_000;

/** Encodes a value of ASN.1 in DER. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length: size } = body;
  // The shortest form, without which Go refuses it.
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const ECDSA_SHA256 = der(SEQUENCE, oid("2a8648ce3d040302"));
const NAME = der(SEQUENCE, der(SET, der(SEQUENCE, oid("550403"), der(0x0c, Buffer.from("localhost")))));
/** subjectAltName: the DNS name `localhost`. */
const EXTENSIONS = der(
  0xa3,
  der(SEQUENCE, der(SEQUENCE, oid("551d11"), der(0x04, der(SEQUENCE, der(0x82, Buffer.from("localhost")))))),
);

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

/** Creates one for a day (RFC 5280). */
export function newCertificate(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)]);
  const content = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_SHA256,
    NAME,
    der(SEQUENCE, time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    NAME,
    publicKey.export({ format: "der", type: "spki" }),
    EXTENSIONS,
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", content, privateKey));
  const base64 = der(SEQUENCE, content, ECDSA_SHA256, signature).toString("base64");
  const lines = base64.match(/.{1,64}/g)?.join("\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: "pem", type: "pkcs8" }) as string,
  };
}
