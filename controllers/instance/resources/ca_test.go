// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestBuildCASecret(t *testing.T) {
	t.Parallel()
	files, annotations := map[string][]byte{"tls.crt": []byte("certificate")}, map[string]string{"anamnesis.dev/rotated": "1"}
	got := BuildCASecret(embeddedInput(), files, annotations)
	assertSecret(t, got, "acme-serving-authority", corev1.SecretTypeTLS)
	if diff := cmp.Diff(files, got.Data); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(annotations, got.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestBuildCAConfigMap(t *testing.T) {
	t.Parallel()
	in := embeddedInput()
	if got := BuildCAConfigMap(in); got != nil {
		t.Errorf("public CA: got %v, want nil", got)
	}
	in.CABundle = []byte("authority")
	assertYAML(t, BuildCAConfigMap(in), `
apiVersion: v1
kind: ConfigMap
metadata:
  name: acme-ca
  namespace: tenants
  labels:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/managed-by: anamnesis-operator
data:
  ca.crt: authority
`)
}
