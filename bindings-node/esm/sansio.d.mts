export * from '../types/sansio/index.js';
