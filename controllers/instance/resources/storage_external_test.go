// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func withCARef(reference v1alpha1.CABundleReference) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.CARef = &reference }
}

// serverPodSpec returns the pod spec of the Deployment as the API server decodes it.
func serverPodSpec(t *testing.T, in Input) corev1.PodSpec {
	t.Helper()
	var template corev1.PodTemplateSpec
	decode(t, BuildDeployment(in).Spec.Template, &template)
	return template.Spec
}

func TestDatabaseURLSecretKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"": "url", "url": "url", "uri": "uri"} {
		in := externalInput(func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.SecretRef.Key = key })
		reference := containerEnv(serverPodSpec(t, in))["ANAMNESIS_DATABASE"].ValueFrom.SecretKeyRef
		if reference.Name != "acme-db" || reference.Key != want {
			t.Errorf("key %q: got reference to key %s of Secret %s", key, reference.Key, reference.Name)
		}
	}
}

func containerEnv(pod corev1.PodSpec) map[string]corev1.EnvVar {
	variables := map[string]corev1.EnvVar{}
	for _, variable := range pod.Containers[0].Env {
		variables[variable.Name] = variable
	}
	return variables
}

func TestDatabaseCAIsMounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reference v1alpha1.CABundleReference
		want      corev1.VolumeSource
	}{
		"a Secret": {
			v1alpha1.CABundleReference{Name: "ca"},
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "ca", Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}, DefaultMode: new(int32(0o440)),
			}},
		},
		"a Secret, defaulted": {
			v1alpha1.CABundleReference{Kind: "Secret", Name: "ca", Key: "ca.crt"},
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "ca", Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}, DefaultMode: new(int32(0o440)),
			}},
		},
		"a ConfigMap under another key": {
			v1alpha1.CABundleReference{Kind: "ConfigMap", Name: "rds", Key: "global-bundle.pem"},
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "rds"}, Items: []corev1.KeyToPath{{Key: "global-bundle.pem", Path: "ca.crt"}},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := serverPodSpec(t, externalInput(withCARef(test.reference)))
			got := map[string]corev1.VolumeSource{}
			for _, volume := range pod.Volumes {
				got[volume.Name] = volume.VolumeSource
			}
			if diff := cmp.Diff(test.want, got["database-ca"]); diff != "" {
				t.Errorf("volume (-want +got):\n%s", diff)
			}
		})
	}
}

// TestServerTrustsDatabaseCA follows the environment variable to the mounted file, and
// lets the server's PostgreSQL library read both as it does in a pod.
func TestServerTrustsDatabaseCA(t *testing.T) {
	pod := serverPodSpec(t, externalInput(withCARef(v1alpha1.CABundleReference{Name: "ca"})))
	variable := containerEnv(pod)["PGSSLROOTCERT"]
	mounted := ""
	for _, mount := range pod.Containers[0].VolumeMounts {
		if mount.Name == "database-ca" && mount.ReadOnly {
			mounted = filepath.Join(mount.MountPath, "ca.crt")
		}
	}
	if mounted == "" || variable.Value != mounted {
		t.Fatalf("the CA bundle is mounted at %q, but PGSSLROOTCERT is %q", mounted, variable.Value)
	}

	certificate, encoded := selfSigned(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	clearPostgresEnv(t.Setenv, t.TempDir())
	t.Setenv(variable.Name, file)
	config, err := pgconn.ParseConfig("postgres://user@db.example/acme?sslmode=verify-full")
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	if !trusted.Equal(config.TLSConfig.RootCAs) || config.TLSConfig.InsecureSkipVerify || config.TLSConfig.ServerName != "db.example" {
		t.Errorf("the server does not verify the database's certificate and hostname with the given CA alone")
	}
}

func selfSigned(t *testing.T) (*x509.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: encoded})
}
