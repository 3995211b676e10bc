/** What a language's `trim()` drops and HTTP does not (RFC 9110 section 5.6.3: SP and HTAB alone), and what other readers pass over. As the bytes of a field value are read: latin1. */
export const ODD_SPACES: Readonly<Record<string, string>> = {
  'U+00A0 in latin1': '\xa0',
  'U+0085 in latin1': '\x85',
  'U+00AD, which host names drop': '\xad',
  'U+00A0 in UTF-8': '\xc2\xa0',
  'U+FEFF in UTF-8': '\xef\xbb\xbf',
  'U+2003 in UTF-8': '\xe2\x80\x83',
  'vertical tab': '\x0b',
  'form feed': '\x0c',
};

/** `value` with each odd space behind it, in front of it and at both ends. */
export function withOddSpaces(value: string): { readonly what: string; readonly sent: string }[] {
  return Object.entries(ODD_SPACES).flatMap(([name, odd]) => [
    { what: `${name} behind`, sent: value + odd },
    { what: `${name} in front`, sent: odd + value },
    { what: `${name} at both ends, inside of spaces`, sent: ` ${odd}${value}${odd} ` },
  ]);
}
