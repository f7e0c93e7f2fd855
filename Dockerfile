# syntax=docker/dockerfile:1@sha256:ecfaec9ed6d810b56388c508f4121597bfbba70d41a6dfeee4d8cad5f295fc32

# Two images from one build:
#
#   docker build --target apiserver -t ghcr.io/anamnesis-dev/apiserver:0.1.0 .
#   docker build --target operator  -t ghcr.io/anamnesis-dev/operator:0.1.0 .
#
# --build-arg VERSION=v0.1.0 and --build-arg REVISION=$(git rev-parse HEAD) set the output of
# `--version`, because the build has no access to the repository.
#
# BASE may be any image that can run static binaries, including `scratch`: the CA certificates
# come from the build stage, and the user is numeric. Images are pinned by the digest of their
# index; the tag is for readers. To update a digest: `crane digest golang:1.26.8`.
ARG BASE=gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3
ARG GO_IMAGE=golang:1.26.8@sha256:3c3e25a4da13fd0478eed2df1eb35a0e667094a7124d3993a6a1d30f71c17e79

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api api
COPY apiserver apiserver
COPY controllers controllers
COPY version version
ARG TARGETOS
ARG TARGETARCH
ARG VERSION
ARG REVISION
ARG PACKAGE=github.com/anamnesis-dev/anamnesis/version
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags="-s -w -X ${PACKAGE}.version=${VERSION} -X ${PACKAGE}.revision=${REVISION}" -o /out/apiserver ./apiserver && \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags="-s -w -X ${PACKAGE}.version=${VERSION} -X ${PACKAGE}.revision=${REVISION}" -o /out/operator ./controllers
# The release files do not depend on the platform, so the content compiler runs on the build
# platform.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go run ./apiserver model build --out /out/models && \
    chmod -R a+rX /out/models

FROM ${BASE} AS apiserver
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/apiserver /apiserver
COPY --from=build /out/models /models
USER 65532:65532
EXPOSE 8443 8081
ENTRYPOINT ["/apiserver"]
CMD ["serve"]

FROM ${BASE} AS operator
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/operator /operator
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/operator"]
