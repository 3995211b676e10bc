// A separate program: it waits at the other end of a pipe of the gateway, which closes however the gateway ends, and
// then ends the process groups that are left: SIGTERM, and SIGKILL two seconds later. A line of input is +GROUP or -GROUP.
const groups = new Set<number>();
let held = '';

function signal(name: 'SIGTERM' | 'SIGKILL'): void {
  for (const group of groups) {
    try {
      process.kill(-group, name);
    } catch {
      groups.delete(group);
    }
  }
}

// What is sent to a whole service is for the gateway, which ends its children itself.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);
process.stdin.setEncoding('utf8');
process.stdin.on('error', () => undefined);
process.stdin.on('data', (text: string) => {
  const lines = (held + text).split('\n');
  held = lines.pop() ?? '';
  for (const line of lines) groups[line.startsWith('+') ? 'add' : 'delete'](Number(line.slice(1)));
});
process.stdin.on('close', () => {
  signal('SIGTERM');
  if (groups.size === 0) process.exit();
  setTimeout(() => {
    signal('SIGKILL');
    process.exit();
  }, 2000);
});
