/** The words of a text, as in words`one two`. */
export const words = ([text = ""]: TemplateStringsArray): string[] => text.split(/\s+/).filter(Boolean);
