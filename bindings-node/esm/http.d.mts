export * from '../types/http.js';
