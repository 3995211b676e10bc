import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startChild, untilListening } from '../parts/child.js';
import { findTool } from '../parts/tool.js';
import type { Row } from './row.js';

/** nginx with one worker and kept-alive upstream connections. */
export const nginx: Row = {
  name: 'nginx',
  guarded: false,
  async open({ upstream_port, folder }) {
    const command = findTool('nginx', ['/usr/sbin/nginx'], 'apt-get install nginx');
    const home = folder('nginx');
    const port = await freePort();
    writeFileSync(join(home, 'nginx.conf'), config(port, upstream_port, home));
    const child = startChild(command, ['-p', home, '-c', join(home, 'nginx.conf'), '-e', 'stderr']);
    await untilListening(port);
    return { port, child };
  },
};

const config = (port: number, upstream: number, home: string): string => `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${home}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${home}/body;
  proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi;
  scgi_temp_path ${home}/scgi;
  keepalive_requests 100000000;
  upstream mcp { server 127.0.0.1:${upstream}; keepalive 64; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://mcp;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
