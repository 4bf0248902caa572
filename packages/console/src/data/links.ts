/** Whether an address is safe as a link: others, such as `javascript:`, could run code in this page. */
export function isWebLink(address: string): boolean {
  return URL.canParse(address) && ["http:", "https:"].includes(new URL(address).protocol);
}
