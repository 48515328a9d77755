# The engine as a container: helmdeck-memory with its only native dependency, run by a non-root account.
#
#     docker build -t helmdeck-memory .
#
# It writes only to /data and /tmp, so it runs with a read-only root. See docs/howto/run-the-server.md.

FROM node:24.21.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build/build.ts --force

FROM node:24.21.0-slim
ENV NODE_ENV=production \
    OPENCLAW_STATE_DIR=/data
WORKDIR /app
COPY --from=build /build/LICENSE /build/dist/THIRD_PARTY_NOTICES.md ./
COPY --from=build /build/dist/helmdeck-memory.mjs /build/dist/cli.mjs /build/dist/model-process.mjs /build/dist/notes-thread.mjs ./dist/
COPY --from=build /build/dist/chunks ./dist/chunks
# Everything else is in the bundle; these packages have native binaries, and the built-in model.
COPY --from=build /build/node_modules/better-sqlite3 ./node_modules/better-sqlite3
COPY --from=build /build/dist/model ./node_modules/@helmdeck/helmdeck-memory-model
RUN install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 3848
# Healthy while memory works, not only while the process runs.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3848/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As in cli/helmdeck-memory-main.ts: without the options, a server takes a tenth more memory after thousands of stores.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=50", "/app/dist/helmdeck-memory.mjs"]
CMD ["serve", "--host", "0.0.0.0"]
