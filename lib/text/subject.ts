/** The ways to write a subject that look the same: a name with accents is one character each here, and two there. */
export function writings(subject: string): string[] {
  return [...new Set([subject, subject.normalize("NFC"), subject.normalize("NFD")])];
}
