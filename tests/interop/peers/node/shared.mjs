// What both npm peer servers say, so that they cannot drift apart.
import { setTimeout as sleep } from 'node:timers/promises';

export const WATCHED = 'test://watched-resource';
export const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEgAF/qMh9kgAAAABJRU5ErkJggg==';
// A wave file without samples.
const SOUND = Buffer.concat([
    Buffer.from('RIFF$\0\0\0WAVEfmt '),
    Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0]),
    Buffer.from('data\0\0\0\0')
]);
export const SIMPLE = 'This is a simple text response for testing.';
export const FAILURE = 'This tool intentionally returns an error for testing';
export const LOG_LINES = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
export const USER_SCHEMA = {
    type: 'object',
    properties: { username: { type: 'string' }, email: { type: 'string' } },
    required: ['username', 'email']
};

export const text = value => ({ content: [{ type: 'text', text: value }] });

const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const embedded = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } });
// The results of the tools that only return content.
export const CONTENT = {
    test_image_content: { content: [image] },
    test_audio_content: { content: [{ type: 'audio', data: SOUND.toString('base64'), mimeType: 'audio/wav' }] },
    test_embedded_resource: {
        content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')]
    },
    test_multiple_content_types: {
        content: [
            { type: 'text', text: 'Multiple content types test:' },
            image,
            embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')
        ]
    }
};

export const samplingParams = prompt => ({
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    maxTokens: 100
});

export const userResponse = ({ action, content }) =>
    text(`User response: ${action}${action === 'accept' ? ` ${JSON.stringify(content)}` : ''}`);

export const promptMessage = value => ({
    messages: [{ role: 'user', content: { type: 'text', text: value } }]
});

const WORDS = ['testValue1', 'testValue2', '123', 'other'];
export const suggestions = value => WORDS.filter(word => word.startsWith(value));

let cancelledCalls = 0;
export const cancellations = () => text(String(cancelledCalls));

// Waits, unless the signal of the request is raised: that is counted.
export function sleepUnlessCancelled(seconds, signal) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => resolve(text('slept')), seconds * 1000);
        const stop = () => {
            clearTimeout(timer);
            cancelledCalls += 1;
            reject(new Error('cancelled'));
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop);
    });
}

// Waits a little after each report: the npm clients lose a notification that arrives in one read with
// the answer it belongs to.
export async function reportProgress(progressToken, notify, progress, total) {
    if (progressToken !== undefined) {
        await notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
        await sleep(10);
    }
}
