// The same objects for `import` as for `require`, so that a process never has two of one class.
export * from '../dist/http.js';
