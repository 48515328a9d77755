/** In place of `pg-native`, which `pg` loads only where it is asked for: a program that is bundled brings no binary of libpq's. */
export default undefined;
