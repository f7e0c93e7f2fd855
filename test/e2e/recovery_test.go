// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestMissingSecretDoesNotBlockScaling references a missing certificate and adds a
// replica in the same edit: the new pod starts, all pods serve the current
// certificate, and the new one is served as soon as it exists.
func TestMissingSecretDoesNotBlockScaling(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "scale")
	n := createReadyInstance(t, namespace, "grown", externalSpec(t, namespace))
	before := n.podNames()
	n.edit(func(s *v1alpha1.InstanceSpec) {
		s.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "brought"}}
		s.Replicas = 3
	})
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionFalse, "TLSSecretNotFound")
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(And(HaveLen(3), ContainElements(before)))
	NewWithT(t).Eventually(func() int32 { return n.get().Status.ReadyReplicas }, defaultTimeout, "500ms").Should(BeEquivalentTo(3))
	n.newAPIClient("h2").mustDiagnose(t)

	brought := newCertificateSecret(t, n.host())
	brought.ObjectMeta = metav1.ObjectMeta{
		Namespace: namespace, Name: "brought",
		Labels: map[string]string{v1alpha1.WatchLabel: "true"},
	}
	if err := kubeClient.Create(t.Context(), brought); err != nil {
		t.Fatal(err)
	}
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	address := n.relay()
	NewWithT(t).Eventually(func() (string, error) { return servedCertificate(address, n.host()) }, defaultTimeout, "1s").
		Should(Equal(string(brought.Data[corev1.TLSCertKey])), "the certificate that was brought")
	if after := n.podNames(); len(after) != 3 {
		t.Errorf("got pods %v, want 3", after)
	}
}

// newCertificateSecret creates a self-signed certificate for a name.
func newCertificateSecret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{
		corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
	}}
}

// servedCertificate returns the PEM-encoded certificate that a relayed server
// presents.
func servedCertificate(address, name string) (string, error) {
	conn, err := tls.Dial("tcp", address, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	shown := conn.ConnectionState().PeerCertificates[0]
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: shown.Raw})), nil
}

// TestFailedRolloutRecovers stops the database and edits the pod template. New pods do
// not become ready and the rollout is abandoned, while the old pods keep serving. Once
// the database is back, the operator retries the same edit without intervention.
func TestFailedRolloutRecovers(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "recovery")
	database := startPostgres(t)
	spec := database.instanceSpec(namespace)
	spec.Rollout = &v1alpha1.RolloutSpec{Deadline: metav1.Duration{Duration: time.Minute}}
	n := createReadyInstance(t, namespace, "recovered", spec)
	before := n.podNames()
	api := n.newAPIClient("h2")
	api.mustDiagnose(t)

	database.stop()
	n.edit(increaseMemory)
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionFalse, "RolloutFailed")
	failed := n.get().Status.Rollout
	if failed.FailureReason != v1alpha1.FailureReasonDatabase {
		t.Errorf("unavailable database: got failure reason %q (%s), want Database", failed.FailureReason, failed.FailureMessage)
	}
	n.waitFor(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, "DatabaseUnreachable")
	api.mustDiagnose(t)
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(Equal(before), "the pods that served before")
	generation := n.get().Generation

	database.start()
	waitForNewPods(t, n, before)
	n.newAPIClient("h2").mustDiagnose(t)
	recovered := n.get()
	if recovered.Generation != generation {
		t.Errorf("spec was changed: got generation %d, want %d", recovered.Generation, generation)
	}
	if recovered.Status.Rollout.FailedTemplateHash != "" || meta.IsStatusConditionTrue(recovered.Status.Conditions, v1alpha1.ConditionStalled) {
		t.Errorf("status still reports a failure: %+v", recovered.Status)
	}
}
