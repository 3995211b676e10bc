import { createHash } from 'node:crypto';
import { ICON } from './icon.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

/** A file that the page loads. It is text in the program, so that whatever holds the program holds it. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly text: string;
}

/** The page's files by path. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  '/status.css': toAsset('text/css; charset=utf-8', STYLE),
  '/status.js': toAsset('text/javascript; charset=utf-8', SCRIPT),
  '/status.svg': toAsset('image/svg+xml', ICON),
};

function toAsset(type: string, text: string): Asset {
  return { type, text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}
