import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../contract/clock.js';
import { retryAfter } from '../errors/retry-after.js';
import type { Explanation } from '../explain/explain.js';
import type { Question } from '../explain/question.js';
import type { OpsPages } from '../listener/ops.js';
import type { Status } from '../status/status.js';
import { Asker, type ExplainAnswer } from './asker.js';
import { ASSETS, type Asset } from './assets.js';
import { explainPage, statusPage } from './document.js';
import type { FormValues } from './explain-form.js';
import { explanationOf, noExplanation } from './explanation.js';
import type { Html } from './html.js';
import { Live } from './live.js';
import { renderParts } from './parts.js';
import { readQuestion } from './question.js';
import { isOwnHost, isOwnPost, wantsHtml } from './request-checks.js';

export interface PageOptions {
  /** False: JSON only. */
  readonly page: boolean;
  readonly explain: boolean;
  readonly allowed_hosts: readonly string[];
}

export interface PageDeps {
  readonly clock: Clock;
  /** Reads the state. */
  read(): Status;
  /** Asks the gates of the config in force. */
  explain(question: Question): Promise<Explanation>;
}

const MAX_FORM_BYTES = 65_536;
const GET = 'GET, HEAD';

/** `/status` on the ops listener: JSON for programs, a page for people, live while they look. Nothing is rendered unasked. */
export function createPage(options: PageOptions, deps: PageDeps): OpsPages {
  const explains = options.page && options.explain;
  const live = new Live({ clock: deps.clock, render: () => renderParts(deps.read()) });
  const asker = new Asker((question) => deps.explain(question), deps.clock);

  const addExplain = (app: FastifyInstance): void => {
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    app.get('/status/explain', async (_request, reply) => sendHtml(reply, explainPage(deps.read(), {}, undefined)));
    app.post('/status/explain', { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
      if (!isOwnPost(request.headers)) return fail(reply, 403, 'ORIGIN_NOT_ALLOWED', 'A page of another origin may not ask.');
      if (typeof request.body !== 'string') return fail(reply, 415, 'BAD_REQUEST', 'Send a form, application/x-www-form-urlencoded.');
      const read = readQuestion(request.body);
      const answer: ExplainAnswer | { readonly status: 400; readonly why: string } =
        'fault' in read ? { status: 400, why: read.fault } : await asker.ask(read.question);
      reply.header('vary', 'accept').code('status' in answer ? answer.status : 200);
      if (wantsHtml(request.headers.accept)) return sendHtml(reply, answerPage(deps.read(), read.asked, answer));
      if ('status' in answer) return fail(reply, answer.status, 'NOT_EXPLAINED', answer.why);
      return sendJson(reply, answer.explanation);
    });
  };

  const addPage = (app: FastifyInstance): void => {
    for (const [path, asset] of Object.entries(ASSETS)) app.get(path, async (request, reply) => sendAsset(request, reply, asset));
    app.get('/status/events', { exposeHeadRoute: false }, async (_request, reply) => {
      if (live.watch(reply.raw)) return reply.hijack();
      return fail(
        reply.header('retry-after', retryAfter(10)),
        503,
        'OVERLOADED',
        'There are too many watchers; reload the page for new numbers.',
      );
    });
    app.addHook('preClose', async () => live.close());
    if (explains) addExplain(app);
  };

  return {
    allow: {
      '/status': GET,
      '/status.json': GET,
      ...(options.page && { '/status/events': 'GET', ...Object.fromEntries(Object.keys(ASSETS).map((path) => [path, GET])) }),
      ...(explains && { '/status/explain': `${GET}, POST` }),
    },
    add(app) {
      void app.register(async (scope) => {
        scope.addHook('onRequest', async (request, reply) => {
          if (isOwnHost(request.headers.host, options.allowed_hosts)) return undefined;
          return fail(reply, 403, 'HOST_NOT_ALLOWED', 'This name is not known; add it to ops.allowed_hosts, or call an address.');
        });
        scope.get('/status', async (request, reply) => {
          reply.header('vary', 'accept');
          if (!options.page || !wantsHtml(request.headers.accept)) return sendJson(reply, deps.read());
          return sendHtml(reply, statusPage(deps.read(), explains));
        });
        scope.get('/status.json', async (_request, reply) => sendJson(reply, deps.read()));
        if (options.page) addPage(scope);
      });
    },
  };
}

function answerPage(status: Status, asked: FormValues, answer: ExplainAnswer | { readonly why: string }): Html {
  return explainPage(status, asked, 'why' in answer ? noExplanation(answer.why) : explanationOf(answer.explanation));
}

function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json').send(JSON.stringify(value));
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function sendHtml(reply: FastifyReply, page: Html): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('x-frame-options', 'DENY')
    .header('referrer-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .send(page.toString());
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, { type, etag, text }: Asset): FastifyReply {
  reply.header('etag', etag).header('cache-control', 'no-cache').header('cross-origin-resource-policy', 'same-origin');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).send(text);
}

function fail(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return sendJson(reply.code(status), { error: { code, message } });
}
