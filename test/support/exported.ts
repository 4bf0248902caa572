/** Markdown with all that an export has to show, and what no export may run. */
export const BODY = `# Résumé Σ Жук

Some **bold**, *slanted*, \`code\` and [a link](https://example.com/?a=1&b=2) &amp; more.

1. First
2. Second
   - [x] nested

> Quoted

| A | B |
|---|---|
| 1 | 2 |

\`\`\`js
if (a < b) run();
\`\`\`

<script>alert("run")</script><img src="x" onerror="alert(1)"><a href="javascript:alert(2)">go</a>
[bad](javascript:alert(3)) <iframe src="https://evil.example"></iframe>
`;

/** Returns a function that exports an output, by default this one. */
export function exporterOf(url: string, token: string, id: string) {
  const headers = { authorization: `Bearer ${token}` };
  return async (format: string, of = id) => {
    const response = await fetch(`${url}/outputs/${of}/export?format=${format}`, { headers });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status !== 200) throw new Error(new TextDecoder().decode(bytes));
    return { headers: response.headers, bytes };
  };
}
