import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { Clock } from '../../contract/clock.js';
import type { Limits } from '../../contract/limits.js';
import type { ErrorCode } from '../../errors/codes.js';
import { ArrivingRequest } from '../request/body.js';
import { Connection, connectionOf, LINGER_MS, linger, ownSocket, rawRefusal } from './connection.js';
import { startSweep } from './sweep.js';
import { validateHead } from './validate-head.js';

export type TlsSettings = SecureContextOptions & Pick<TlsOptions, 'requestCert' | 'rejectUnauthorized'>;

export interface AdmissionOptions {
  readonly limits: Limits;
  /** False: one request a connection. */
  readonly keep_alive: boolean;
  readonly tls: TlsSettings | undefined;
  readonly clock: Clock;
}

/** What the admission tells. `request` gets every head that the parser completed, with the lint's verdict. */
export interface AdmissionEvents {
  request(connection: Connection, request: IncomingMessage, response: ServerResponse, fault: ErrorCode | undefined): void;
  /** A refusal that no request flow saw, because there was no whole head. Counts and logs it; returns its request id. */
  refused(code: ErrorCode, socket: Socket): string;
  dropped(): void;
}

/**
 * The native server: node:http with every arrival limit held and every connection on record.
 * Nothing listens for `data` on a healthy socket, so the parser keeps the handle.
 */
export class Admission {
  readonly server: Server;
  readonly connections = new Set<Connection>();
  /** While true each answer closes its connection. */
  closing = false;
  /** Called after each connection that is gone. */
  gone: (() => void) | undefined;
  readonly #options: AdmissionOptions;
  readonly #events: AdmissionEvents;
  readonly #sweep: { stop(): void };
  readonly #handshakes = new Map<string, Connection>();

  constructor(options: AdmissionOptions, events: AdmissionEvents) {
    this.#options = options;
    this.#events = events;
    this.server = createNode(options);
    this.#listen();
    this.#sweep = startSweep(this.connections, options.limits, options.clock, {
      refuse: (connection, code) => this.refuseRaw(connection, code),
      late: (connection) => this.#late(connection),
    });
  }

  /** Answers without a ServerResponse, then lingers. For heads that never became a request. */
  refuseRaw(connection: Connection, code: ErrorCode): void {
    if (connection.dead) return;
    const { socket, response, work } = connection;
    connection.work = undefined;
    const request_id = this.#events.refused(code, socket);
    if (socket.writable && response?.headersSent !== true) socket.write(rawRefusal(code, request_id));
    this.linger(connection);
    work?.closed(false);
  }

  /** Half-closes, discards what still comes within bounds, then destroys (RFC 9112 section 9.6). */
  linger(connection: Connection): void {
    linger(connection, this.#options.clock.mono_ms() + LINGER_MS);
  }

  /** The last gate admitted the request: its body may come now. `late` runs once when it is late. */
  admitBody(connection: Connection, late: () => void): void {
    const { request } = connection;
    if (connection.dead || request === undefined || request.complete) return;
    if (connection.expects_continue) connection.response?.writeContinue();
    connection.phase = 'body';
    connection.body_at_ms = connection.seen_at_ms = this.#options.clock.mono_ms();
    connection.late = late;
  }

  /** Stops the sweep; call after the last connection is gone. */
  stop(): void {
    this.#sweep.stop();
  }

  #listen(): void {
    const server = this.server;
    const secure = this.#options.tls !== undefined;
    server.on('connection', (socket: Socket) => this.#accept(socket, secure));
    if (secure) server.on('secureConnection', (socket: Socket) => this.#secured(socket));
    server.on('drop', () => this.#events.dropped());
    server.on('request', (request: ArrivingRequest, response) => this.#request(request, response, false));
    server.on('checkContinue', (request: ArrivingRequest, response) => this.#request(request, response, true));
    server.on('checkExpectation', (request: ArrivingRequest, response: ServerResponse) => {
      const connection = connectionOf(request.socket);
      if (connection === undefined || connection.response !== undefined) this.#request(request, response, false);
      else this.refuseRaw(connection, 'EXPECTATION_FAILED');
    });
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      const connection = connectionOf(socket);
      if (connection !== undefined) this.refuseRaw(connection, 'BAD_REQUEST');
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#clientError(error, socket));
  }

  #accept(socket: Socket, secure: boolean): void {
    const connection = new Connection(socket, this.#options.clock.mono_ms());
    this.connections.add(connection);
    // CONNECT takes Node's own error listener away: a reset would then end the process.
    socket.on('error', ignore);
    if (!secure) return this.#own(connection, socket);
    connection.phase = 'handshake';
    const peer = peerKey(socket);
    this.#handshakes.set(peer, connection);
    socket.on('close', () => {
      if (this.#handshakes.get(peer) === connection) this.#handshakes.delete(peer);
      this.#remove(connection);
    });
  }

  #secured(socket: Socket): void {
    const peer = peerKey(socket);
    const connection = this.#handshakes.get(peer);
    if (connection === undefined) return void socket.destroy();
    this.#handshakes.delete(peer);
    connection.socket = socket;
    connection.phase = 'head';
    connection.seen_at_ms = this.#options.clock.mono_ms();
    socket.on('error', ignore);
    this.#own(connection, socket);
  }

  #own(connection: Connection, socket: Socket): void {
    ownSocket(socket, connection);
    socket.on('close', () => this.#remove(connection));
    const destroySoon = socket.destroySoon;
    // Node destroys right after a closing answer; with body bytes still coming that resets the answer away.
    socket.destroySoon = () => {
      if (connection.request !== undefined && !connection.request.complete && !socket.destroyed) this.linger(connection);
      else destroySoon.call(socket);
    };
  }

  #remove(connection: Connection): void {
    this.connections.delete(connection);
    this.gone?.();
  }

  #request(request: ArrivingRequest, response: ServerResponse, expects_continue: boolean): void {
    const connection = connectionOf(request.socket);
    if (connection === undefined || connection.dead) return;
    if (connection.response !== undefined) {
      // Pipelined: never dispatched; the connection closes after the first answer.
      connection.closing = true;
      if (!connection.response.headersSent) connection.response.shouldKeepAlive = false;
      return;
    }
    connection.request = request;
    connection.response = response;
    connection.phase = 'gate';
    connection.expects_continue = expects_continue;
    if (this.closing || !this.#options.keep_alive) response.shouldKeepAlive = false;
    const fault = validateHead(request, this.#options.limits, connection.socket.bytesRead - connection.base, connection);
    if (connection.chunked) request.meterChunks(connection.base + connection.head_bytes);
    response.on('close', () => this.#answered(connection));
    this.#events.request(connection, request, response, fault);
  }

  #answered(connection: Connection): void {
    const { socket, request, response, work } = connection;
    connection.late = connection.work = undefined;
    work?.closed(response?.writableFinished === true);
    if (connection.dead || socket.destroyed) return;
    if (request?.complete !== true) return this.linger(connection);
    connection.request = connection.response = undefined;
    const told = response?.shouldKeepAlive !== true;
    if (connection.closing || (this.closing && told) || !this.#options.keep_alive) return void socket.end();
    connection.nextHead();
    connection.head_at_ms = connection.seen_at_ms = this.#options.clock.mono_ms();
    // The head of this answer went out before the drain began: the client may be sending its next request.
    if (this.closing) this.#options.clock.timer(NEXT_HEAD_MS, () => this.#quiet(connection));
  }

  /** No whole head came on a connection that a drain could not announce the end of. */
  #quiet(connection: Connection): void {
    if (connection.dead || connection.response !== undefined) return;
    if (connection.socket.bytesRead === connection.base) connection.socket.end();
    else this.refuseRaw(connection, 'DRAINING');
  }

  #late(connection: Connection): void {
    const late = connection.late;
    connection.late = undefined;
    connection.phase = 'running';
    late?.();
  }

  #clientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection === undefined) return void socket.destroy();
    if (connection.dead) return;
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || !socket.writable) return void socket.destroy();
    if (connection.response !== undefined && connection.request?.complete === true) {
      // Junk behind a whole request: its answer still goes out.
      connection.closing = true;
      if (!connection.response.headersSent) connection.response.shouldKeepAlive = false;
      socket.pause();
      return;
    }
    this.refuseRaw(connection, error.code === 'HPE_HEADER_OVERFLOW' ? 'HEAD_TOO_LARGE' : 'BAD_REQUEST');
  }
}

/** How long a draining gateway waits for a request that a client sent before it could know of the drain; it gets 503 instead of a reset. */
const NEXT_HEAD_MS = 250;

function createNode(options: AdmissionOptions): Server {
  const settings: ServerOptions<typeof ArrivingRequest> = {
    IncomingMessage: ArrivingRequest,
    maxHeaderSize: options.limits.max_header_bytes,
    // The sweep holds every deadline; Node's own would answer in another shape.
    requestTimeout: 0,
    headersTimeout: 0,
    connectionsCheckingInterval: 2 ** 30,
    keepAliveTimeout: 0,
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
  };
  const server =
    options.tls === undefined
      ? createServer(settings)
      : createTlsServer({ ...settings, ...options.tls, handshakeTimeout: options.limits.head_timeout_ms });
  server.maxConnections = options.limits.max_connections;
  // One more than allowed is kept, so that rawHeaders shows the excess.
  server.maxHeadersCount = options.limits.max_header_count + 1;
  return server;
}

function peerKey(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

function ignore(): void {}
