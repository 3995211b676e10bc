export { type Static, type TSchema, Type } from 'typebox';
