export * from '../types/stdio.js';
