// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// MaxInstanceNameLength is how long an Instance's name may be, so that the name
// of its preflight Job, the longest that Kubernetes limits to 63 characters,
// fits with a hash of up to 12. A CEL rule of the Instance says the same.
const MaxInstanceNameLength = 40

// ServerName is the name of the Deployment and of all that stands around it
// under the same name: Service, ServiceAccount, NetworkPolicy and
// PodDisruptionBudget.
func ServerName(instance *v1alpha1.Instance) string { return instance.Name }

// DataName is the name of the claim for the volume of embedded storage.
func DataName(instance *v1alpha1.Instance) string { return instance.Name + "-data" }

// ConfigName is the name of the ConfigMap with the server's configuration.
func ConfigName(instance *v1alpha1.Instance) string { return instance.Name + "-config" }

// CredentialsName is the name of the Secret with the credentials of all
// applications, as the server reads them.
func CredentialsName(instance *v1alpha1.Instance) string { return instance.Name + "-credentials" }

// ApplicationSecretName is the name of the Secret with the id and key of one
// application, as people and clients read them.
func ApplicationSecretName(instance *v1alpha1.Instance, application string) string {
	return instance.Name + "-app-" + application
}

// SigningKeysName is the name of the Secret with the keys that sign tokens.
func SigningKeysName(instance *v1alpha1.Instance) string { return instance.Name + "-signing-keys" }

// TLSName is the name of the Secret with the certificate that the server uses.
// whoever issued it. It is not <instance>-tls: people like to call the one that
// they bring so.
func TLSName(instance *v1alpha1.Instance) string { return instance.Name + "-serving-tls" }

// PreflightName is the name of the preflight Job with this hash.
func PreflightName(instance *v1alpha1.Instance, hash string) string {
	return instance.Name + "-preflight-" + hash
}

// URL is the address of the Instance inside the cluster.
func URL(instance *v1alpha1.Instance) string {
	return fmt.Sprintf("https://%s.%s.svc", ServerName(instance), instance.Namespace)
}

// DNSNames are the names under which the Instance is reached inside the
// cluster, for its certificate. The cluster's own domain is left out: it
// differs between clusters, and clients reach the Instance without it.
func DNSNames(instance *v1alpha1.Instance) []string {
	name := ServerName(instance)
	return []string{
		fmt.Sprintf("%s.%s.svc", name, instance.Namespace),
		fmt.Sprintf("%s.%s", name, instance.Namespace),
		name,
	}
}
