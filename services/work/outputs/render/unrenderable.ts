/** Thrown if a format cannot hold a text; the message gives the reason, in words that follow "As pdf this text ". */
export class Unrenderable extends Error {}
