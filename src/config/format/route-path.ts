/** Why a text is not the path of a route. What could be spelt in two ways is refused, so that a path has one spelling. */
export function whyNotRoutePath(text: string): string | undefined {
  if (!text.startsWith('/')) return 'must begin with /';
  if (/[?#]/.test(text)) return 'must not have a query or fragment';
  if (text.includes('%')) return 'must not be percent-encoded; encoded spellings never match';
  if (text.includes('//')) return 'must not contain //';
  if (/[;\\]/.test(text)) return 'must not contain ; or \\';
  if (/[^\u0021-\u007e]/.test(text)) return 'must be visible ASCII';
  if (/["<>^`{|}]/.test(text)) return 'must not contain any of " < > ^ ` { | }; clients encode them';
  if (text.split('/').some((segment) => segment === '.' || segment === '..')) return 'must not contain . or .. segments';
  return undefined;
}
