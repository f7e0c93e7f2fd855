#!/usr/bin/env bash
# Builds the images and installs the chart and the sample Instance in the current kubectl
# context. On kind and k3d, the script loads the images into the cluster. On any other cluster,
# it pushes them to a registry and references them by the digests that the registry returns:
#
#   IMAGE_REGISTRY=registry.example/anamnesis make deploy
#
# If TAG is set, the script builds nothing and uses the existing images
# $IMAGE_REGISTRY/apiserver:$TAG and $IMAGE_REGISTRY/operator:$TAG. It references existing and
# loaded images by tag, because loaded images have no digest.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "make deploy: $*" >&2; exit 1; }

command -v kubectl >/dev/null || fail "kubectl not found; install it from https://kubernetes.io/docs/tasks/tools/"
context=$(kubectl config current-context 2>/dev/null) || fail "kubectl has no current context; select one with 'kubectl config use-context'"
echo "cluster: $context"

registry=${IMAGE_REGISTRY:-localhost/anamnesis}
tag=${TAG:-$(git rev-parse --short=12 HEAD)}

build() {
  command -v docker >/dev/null || fail "docker not found; build the images elsewhere and set IMAGE_REGISTRY and TAG"
  for name in apiserver operator; do
    docker build --target "$name" --build-arg "REVISION=$(git rev-parse HEAD)" --tag "$registry/$name:$tag" .
  done
}

# The digests of pushed images; empty for images that were not pushed.
operator_digest=""
apiserver_digest=""

# Pushes an image and prints the digest that the registry returns.
push() {
  docker push "$registry/$1:$tag" >&2
  local digest
  digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$registry/$1:$tag" | sed -n "s|^$registry/$1@||p" | head -n 1)
  [ -n "$digest" ] || fail "no digest returned by the registry for $registry/$1:$tag"
  echo "$digest"
}

publish() {
  case $context in
    kind-*) for name in apiserver operator; do kind load docker-image --name "${context#kind-}" "$registry/$name:$tag"; done ;;
    k3d-*) for name in apiserver operator; do k3d image import --cluster "${context#k3d-}" "$registry/$name:$tag"; done ;;
    *)
      apiserver_digest=$(push apiserver)
      operator_digest=$(push operator)
      ;;
  esac
}

if [ -z "${TAG:-}" ]; then
  case $context in
    kind-* | k3d-*) ;;
    *) [ -n "${IMAGE_REGISTRY:-}" ] || fail "context $context is neither kind nor k3d: set IMAGE_REGISTRY to a registry that the cluster can pull from" ;;
  esac
  build
  publish
fi

server=$registry/apiserver:$tag
[ -z "$apiserver_digest" ] || server=$registry/apiserver@$apiserver_digest

go run -modfile=hack/tools/go.mod helm.sh/helm/v3/cmd/helm upgrade --install anamnesis charts/anamnesis \
  --namespace anamnesis-system --create-namespace --wait --timeout 180s \
  --set-string "image.repository=$registry/operator" --set-string "image.tag=$tag" \
  --set-string "image.digest=$operator_digest" \
  --set-string "serverImage.repository=$registry/apiserver" --set-string "serverImage.tag=$tag" \
  --set-string "serverImage.digest=$apiserver_digest"
kubectl apply --filename config/samples/demo.yaml
kubectl wait --namespace anamnesis-demo --for="jsonpath={.status.server.image}=$server" --timeout=180s instance/demo
kubectl wait --namespace anamnesis-demo --for=condition=Ready --timeout=180s instance/demo
kubectl get --namespace anamnesis-demo instances

cat <<'TEXT'

To access the Instance, run

  kubectl port-forward --namespace anamnesis-demo service/demo 8443:443

The Secret demo-serving-tls contains the CA certificate in ca.crt. The Secret
demo-app-default contains the credentials.
TEXT
