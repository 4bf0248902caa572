/** Downloads content as a file. */
export function saveFile(content: string | Blob, name: string): void {
  const blob = typeof content === "string" ? new Blob([content]) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
