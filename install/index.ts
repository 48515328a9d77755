/** The module's public surface: the installer as a program calls it. */
export { install } from "./installer.ts";
