// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestBuildAuthoritySecret(t *testing.T) {
	t.Parallel()
	files, annotations := map[string][]byte{"tls.crt": []byte("certificate")}, map[string]string{"anamnesis.dev/rotated": "1"}
	got := BuildAuthoritySecret(embedded(), files, annotations)
	wantSecret(t, got, "acme-serving-authority", corev1.SecretTypeTLS)
	if diff := cmp.Diff(files, got.Data); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(annotations, got.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}
