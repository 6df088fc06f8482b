export * from '../types/auth/index.js';
