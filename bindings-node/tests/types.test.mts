/** What the types allow and refuse: the compiler checks it, as each `@ts-expect-error` has to be one. */

import { test } from 'node:test';
import type { ClientEvent, HttpServer, Json, ServerEvent, ServerSettings } from 'barewire/sansio';
import { connected, MODERN } from './pair.mjs';

test('events are told apart by their type', () => {
  const read = (event: ServerEvent): Json | undefined => {
    switch (event.type) {
      case 'toolCalled':
        return event.arguments;
      case 'requestCancelled':
        // @ts-expect-error it has no arguments
        return event.arguments as string;
      case 'disconnected':
        return event.reason.message;
      default:
        return undefined;
    }
  };
  connected(MODERN).settle().server.forEach(read);
});

export function unused(event: ClientEvent, server: HttpServer): ServerSettings {
  // @ts-expect-error clients are not told of calls
  if (event.type === 'toolCalled') throw new Error();
  // @ts-expect-error events do not change
  if (event.type === 'ready') event.revision = '';
  // @ts-expect-error results are text
  server.respond(1, {});
  // @ts-expect-error a name of no level
  server.log(1, 'loud', '1');
  // @ts-expect-error there is no such list
  server.publishListChanged('roots');
  // @ts-expect-error a seed is needed
  return { name: '', version: '', clockOrigin: 0 };
}
