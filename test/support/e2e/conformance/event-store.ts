import type { EventStore } from '@modelcontextprotocol/server';

type Message = Parameters<EventStore['storeEvent']>[1];

/** Keeps the events of one session's streams so that a client can come back for them with `Last-Event-ID`. */
export function createEventStore(): EventStore {
  const events: { readonly id: string; readonly stream: string; readonly message: Message }[] = [];
  return {
    async storeEvent(stream, message) {
      const id = `${stream}.${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(last, { send }) {
      const from = events.findIndex(({ id }) => id === last);
      const stream = events[from]?.stream ?? '';
      for (const event of events.slice(from + 1)) {
        // An event that opens a stream holds no message.
        if (event.stream === stream && Object.keys(event.message).length > 0) await send(event.id, event.message);
      }
      return stream;
    },
  };
}
