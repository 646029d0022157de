# The program `stickler` in a small image. Not built yet: no container runtime was available.
#
#   docker build -t stickler .
#   docker run --rm -i stickler run --url https://example.com/mcp
#
# A server that is started with `run -- COMMAND` must be in the image too; use this one as a stage of its own:
#   COPY --from=stickler /usr/local/bin/stickler /usr/local/bin/

FROM rust:1.95-alpine AS build
# SQLite is compiled from source.
RUN apk add --no-cache build-base
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package stickler-cli --features otel

FROM scratch
# The program has its own root certificates and writes no files unless an option says so.
COPY --from=build /src/target/release/stickler /usr/local/bin/stickler
COPY LICENSE-APACHE LICENSE-MIT /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/stickler"]
CMD ["--help"]
