# The image with the embedder of about 100 languages: the one of deploy/Dockerfile, which SERVER names, with Python and the model.
# docker build -f deploy/multilingual.Dockerfile --build-arg SERVER=sensorium -t sensorium:multilingual .
ARG SERVER
FROM $SERVER
USER root
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*
ENV EMBEDDER=multilingual MULTILINGUAL_DIR=/app/multilingual
RUN node bin/server.js embedder add multilingual
USER node
