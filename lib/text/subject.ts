/** Returns the equivalent encodings of a subject: an accented letter is one character in NFC and two in NFD. */
export function writings(subject: string): string[] {
  return [...new Set([subject, subject.normalize("NFC"), subject.normalize("NFD")])];
}
