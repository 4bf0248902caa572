import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Blobs, BlobWrite, type InUse, writingBlobs } from "../../storage/blobs/blobs.ts";

/** Where blobs are kept; `open` gives an empty place. */
type BlobsUnderTest = { name: string; open(inUse: InUse): Promise<{ blobs: Blobs; stop(): Promise<void> }> };

const nobody = async () => [];

/** The contract of every blob storage. */
export function blobsSuite({ name, open }: BlobsUnderTest): void {
  describe(`blobs in ${name}`, () => {
    let blobs: Blobs;
    let inUse: InUse = nobody;
    let stop: () => Promise<void>;
    beforeAll(async () => {
      ({ blobs, stop } = await open((tenant_id, hashes) => inUse(tenant_id, hashes)));
    });
    afterAll(() => stop());

    test.each([0, 1, 300_000, 3_000_000])("%i bytes come back as they went in", async (size) => {
      const bytes = randomBytes(size);
      const ref = await blobs.put(new BlobWrite("tn_a"), bytes);
      expect(ref).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{64}$/), size });
      expect((await blobs.get("tn_a", ref.hash)).equals(bytes)).toBe(true);
      expect((await buffer(await blobs.stream("tn_a", ref.hash))).equals(bytes)).toBe(true);
    });

    test("a stream is addressed as the same bytes at once are", async () => {
      const parts = [randomBytes(400_000), randomBytes(7), randomBytes(0), randomBytes(300_000)];
      const streamed = await blobs.put(new BlobWrite("tn_a"), Readable.from(parts));
      const whole = Buffer.concat(parts);
      expect(await blobs.put(new BlobWrite("tn_a"), whole)).toEqual(streamed);
      expect((await blobs.get("tn_a", streamed.hash)).equals(whole)).toBe(true);
    });

    test("is read from any byte, also of a later chunk", async () => {
      const bytes = Buffer.from(Uint8Array.from({ length: 1_300_000 }, (_, n) => n % 251));
      const { hash } = await blobs.put(new BlobWrite("tn_from"), bytes);
      for (const from of [0, 1, 524_288, 1_048_576, 1_299_999])
        expect((await buffer(await blobs.stream("tn_from", hash, from))).equals(bytes.subarray(from))).toBe(
          true,
        );
    });

    test("a stream that breaks off leaves nothing that can be found", async () => {
      const bytes = randomBytes(1000);
      async function* broken() {
        yield bytes;
        throw new Error("cut off");
      }
      await expect(blobs.put(new BlobWrite("tn_b"), broken())).rejects.toThrow("cut off");
      expect(await blobs.releaseAll("tn_b")).toBe(0);
      const { hash } = await blobs.put(new BlobWrite("tn_other"), bytes);
      await expect(blobs.get("tn_b", hash)).rejects.toThrow("has no blob");
    });

    test("the same bytes of two tenants are two blobs", async () => {
      const { hash } = await blobs.put(new BlobWrite("tn_a"), Buffer.from("shared"));
      await expect(blobs.get("tn_c", hash)).rejects.toThrow("has no blob");
      await blobs.put(new BlobWrite("tn_c"), Buffer.from("shared"));
      expect(await blobs.erase("tn_c")).toBe(1);
      await expect(blobs.stream("tn_c", hash)).rejects.toThrow("has no blob");
      expect(await blobs.get("tn_a", hash)).toEqual(Buffer.from("shared"));
    });

    describe("release", () => {
      const put = (tenant_id: string, text: string) =>
        writingBlobs(blobs, tenant_id, (write) => {
          inUse = async (_tenant, hashes) => hashes;
          return blobs.put(write, Buffer.from(text));
        });
      afterEach(() => {
        inUse = nobody;
      });

      test("deletes what no row references, which can be stored again; skips missing ones", async () => {
        const [gone, used] = [await put("tn_d", "gone"), await put("tn_d", "used")];
        await put("tn_e", "gone");
        inUse = async () => [used.hash];
        expect(await blobs.release("tn_d", [gone.hash, used.hash, "0".repeat(64)])).toBe(1);
        await expect(blobs.get("tn_d", gone.hash)).rejects.toThrow("has no blob");
        expect(await blobs.get("tn_d", used.hash)).toEqual(Buffer.from("used"));
        expect(await blobs.get("tn_e", gone.hash)).toEqual(Buffer.from("gone"));
        await put("tn_d", "gone");
        expect(await blobs.get("tn_d", gone.hash)).toEqual(Buffer.from("gone"));
      });

      test("leaves what a write in progress keeps, which releases it when it ends", async () => {
        const { hash } = await put("tn_f", "kept");
        await writingBlobs(blobs, "tn_f", async (write) => {
          await blobs.put(write, Buffer.from("kept"));
          inUse = nobody;
          expect(await blobs.release("tn_f", [hash])).toBe(0);
          expect(await blobs.get("tn_f", hash)).toEqual(Buffer.from("kept"));
        });
        await expect(blobs.get("tn_f", hash)).rejects.toThrow("has no blob");
      });

      test("leaves what is put, and then referenced, while it looks for references", async () => {
        const { hash } = await put("tn_g", "raced");
        inUse = async () => {
          await put("tn_g", "raced");
          return [];
        };
        expect(await blobs.release("tn_g", [hash])).toBe(0);
        expect(await blobs.get("tn_g", hash)).toEqual(Buffer.from("raced"));
      });

      test("of everything keeps what rows reference", async () => {
        const [gone, used] = [await put("tn_h", "left by a crash"), await put("tn_h", "referenced")];
        inUse = async () => [used.hash];
        expect(await blobs.releaseAll("tn_h")).toBe(1);
        await expect(blobs.get("tn_h", gone.hash)).rejects.toThrow("has no blob");
        expect(await blobs.get("tn_h", used.hash)).toEqual(Buffer.from("referenced"));
        expect(await blobs.tenants()).toContain("tn_h");
      });

      test("that cannot ask for references deletes nothing", async () => {
        const { hash } = await put("tn_i", "kept");
        inUse = async () => {
          throw new Error("nobody answers");
        };
        await expect(blobs.releaseAll("tn_i")).rejects.toThrow("nobody answers");
        expect(await blobs.get("tn_i", hash)).toEqual(Buffer.from("kept"));
      });
    });

    test.each(["", "..", "../../secret.key", "A".repeat(64), "0".repeat(63)])(
      "there is none under %j",
      (hash) => expect(blobs.get("tn_a", hash)).rejects.toThrow(/no blob|not a valid blob name/),
    );

    test("the same bytes put many times at once are there", async () => {
      const bytes = randomBytes(10_000);
      const refs = await Promise.all(
        Array.from({ length: 8 }, () => blobs.put(new BlobWrite("tn_a"), bytes)),
      );
      expect(new Set(refs.map(({ hash }) => hash)).size).toBe(1);
      expect((await blobs.get("tn_a", refs[0]?.hash as string)).equals(bytes)).toBe(true);
    });
  });
}
