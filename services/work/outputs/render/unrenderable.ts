/**
 * Thrown if a format cannot hold a text; the message gives the reason, in words that follow "As pdf this text ". Its name
 * identifies it, because the package of the exports has a class of its own.
 */
export class Unrenderable extends Error {
  override name = "Unrenderable";
}
