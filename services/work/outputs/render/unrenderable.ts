/** A text that a format cannot hold; the message says why, in words that follow "As pdf this text ". */
export class Unrenderable extends Error {}
