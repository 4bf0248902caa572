/** Returns the equivalent encodings of a subject: an accented letter is one character in NFC and two in NFD. */
export function writings(subject: string): string[] {
  return [...new Set([subject, subject.normalize("NFC"), subject.normalize("NFD")])];
}

/** Whether a value of JSON has a field `subject`, however deep, that is or contains one of these. */
export function namesSubject(value: unknown, subjects: ReadonlySet<string>): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, each]) =>
      (key === "subject" && [each].flat().some((one) => subjects.has(String(one)))) ||
      namesSubject(each, subjects),
  );
}
