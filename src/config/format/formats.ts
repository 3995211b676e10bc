import { whyNotHeaderValue, whyNotIdentityHeader, whyNotPassedHeader, whyNotStaticHeader } from './header.js';
import { whyNotAuthority, whyNotCidr, whyNotHost, whyNotOrigin } from './network.js';
import { whyNotProcessText, whyNotVariableName } from './process.js';
import { whyNotRoutePath } from './route-path.js';
import { whyNotDialedUrl, whyNotPlainUrl, whyNotPublicUrl, whyNotUpstreamUrl } from './url.js';

/** Formats that the schema names: each says why a text does not have it, without repeating the text. */
export const FORMATS: Readonly<Record<string, (text: string) => string | undefined>> = {
  authority: whyNotAuthority,
  cidr: whyNotCidr,
  'dialed-url': whyNotDialedUrl,
  'header-value': whyNotHeaderValue,
  host: whyNotHost,
  'identity-header': whyNotIdentityHeader,
  'listed-origin': whyNotOrigin,
  'passed-header': whyNotPassedHeader,
  'plain-url': whyNotPlainUrl,
  'process-text': whyNotProcessText,
  'public-url': whyNotPublicUrl,
  'route-path': whyNotRoutePath,
  'session-key': (text) =>
    text.length < 16 ? 'must have at least 16 characters, better 32 and more, e.g. from: openssl rand -base64 32' : undefined,
  'static-header': whyNotStaticHeader,
  'upstream-url': whyNotUpstreamUrl,
  'variable-name': whyNotVariableName,
};
