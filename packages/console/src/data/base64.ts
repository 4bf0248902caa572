/** Returns a file's bytes in standard base64. */
export function base64(file: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done((reader.result as string).replace(/^[^,]*,/, ""));
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
}
