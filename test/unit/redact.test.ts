import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { redact } from "../../lib/text/redact.ts";

const KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";

test.each([
  ["export API_KEY=abcdef123456", "export API_KEY=[redacted]"],
  ['{"password": "correct horse"}', '{"password": [redacted]}'],
  ['{"pwd":"a \\" b","n":1}', '{"pwd":[redacted],"n":1}'],
  ["password=ab&next=1", "password=[redacted]&next=1"],
  ['{\\"token\\":\\"abc\\",\\"n\\":1}', '{\\"token\\":[redacted],\\"n\\":1}'],
  ['{\\\\\\"client_secret\\\\\\": \\\\\\"a b\\\\\\"}', '{\\\\\\"client_secret\\\\\\": [redacted]}'],
  ['{"token":"cut off at the e', '{"token":[redacted]'],
  ["%22token%22%3A%22abc%22%7D", "%22token%22%3A[redacted]%7D"],
  ["{ 'apiKey' => 'abc' }", "{ 'apiKey' => [redacted] }"],
  ["<db:password>a b</db:password>", "<db:password>[redacted]</db:password>"],
  ["curl -H 'Authorization: Bearer abc.def-ghi'", "curl -H 'Authorization: Bearer [redacted]'"],
  ["authorization: Basic YTpi", "authorization: Basic [redacted]"],
  ["got Basic dXNlcjpwYXNzd29yZA==", "got Basic [redacted]"],
  [
    'Authorization: Digest username="m", nonce="a,b", nc=01\nHost: x',
    "Authorization: Digest [redacted]\nHost: x",
  ],
  ['{"Authorization":"Digest a=\\"m\\", response=\\"r\\""}', '{"Authorization":"Digest [redacted]"}'],
  [
    "Authorization: AWS4-HMAC-SHA256 Credential=a/b/c, SignedHeaders=host;date, Signature=fe5f",
    "Authorization: AWS4-HMAC-SHA256 [redacted]",
  ],
  ['["authorization", "my own key"]', '["authorization", "[redacted]"]'],
  ["Set-Cookie: sid=a; Path=/; HttpOnly\nHost: x", "Set-Cookie: [redacted]\nHost: x"],
  ["curl -H 'Cookie: a=b; c=d' -v", "curl -H 'Cookie: [redacted]' -v"],
  ['{\\"set-cookie\\":[\\"a=b\\",\\"c=d\\"],\\"n\\":1}', '{\\"set-cookie\\":[[redacted]],\\"n\\":1}'],
  ["psql postgres://me:hunter22@db/x", "psql postgres://me:[redacted]@db/x"],
  ["https:\\/\\/abc@host\\/", "https:\\/\\/[redacted]@host\\/"],
  ["curl -u me:pass https://x.example", "curl -u me:[redacted] https://x.example"],
  ["ak_live_0123456789abcdef0123456789abcdef", "[redacted]"],
  ["use sk-ant-api03-abcdefgh now", "use [redacted] now"],
  ["gh auth --token ghx123456 login", "gh auth --token [redacted] login"],
  ["--password 'two words' -v", "--password [redacted] -v"],
  ["-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----!", "[redacted]!"],
  ["-----BEGIN PGP PRIVATE KEY BLOCK-----\\nabc", "[redacted]"],
  [`${KEY}\n${KEY}\n-----END PRIVATE KEY-----\nnext`, "[redacted]\nnext"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF", "[redacted]"],
  ...[
    ...["the token bucket, max_tokens: 4096", '{"total_tokens": 1234567}', "basic understanding of it"],
    ...[
      ...["signature verification failed", "Unexpected token } in JSON", "the cookie was set"],
      "GET http://a.example:80/@b",
    ],
  ].map((same) => [same, same] as [string, string]),
])("redacts %s", (text, redacted) => {
  expect(redact(text)).toBe(redacted);
  expect(redact(redacted)).toBe(redacted);
});

test("the client's copies are those of the service", () => {
  for (const name of ["quoted", "redact"]) {
    const [note, ...copy] = readFileSync(`packages/client/generated/${name}.ts`, "utf8").split("\n");
    expect(note).toContain("npm run openapi");
    expect(copy.join("\n")).toBe(readFileSync(`lib/text/${name}.ts`, "utf8"));
  }
});
