# Three stages: npm's cache, its tools and what builds the console stay behind in the first two.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The image has Node 24 itself; the optional dependencies of what runs are Node for hosts that have not.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json ./
# With the optional ones: what bundles the console is a binary for the platform.
RUN npm ci --ignore-scripts
COPY client client
COPY console console
COPY tsconfig.json ./
RUN npm run console:build

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY . .
COPY --from=console /app/console/dist console/dist
# What is compiled at a start is kept in the image, or every new container would do it again.
RUN npm run prepare --silent && mkdir -p /data node_modules/.cache && chown -R node:node /data node_modules/.cache
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# What `npm start` runs, without npm: one process less.
CMD ["node", "--max-semi-space-size=8", "--expose-gc", "start.js"]
