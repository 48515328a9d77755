/** Replaces `pg-native`, which `pg` loads only on request: a bundled program has no libpq binary. */
export default undefined;
