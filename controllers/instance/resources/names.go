// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// maxLabelLength is what Kubernetes allows for a label's value and for the
	// name of a Service or a Job.
	maxLabelLength = 63
	// preflightInfix stands between an Instance's name and the hash in the name
	// of its preflight Job, the longest of the names that are limited.
	preflightInfix = "-preflight-"
	// hashLength is the number of hexadecimal digits of a hash in a name.
	hashLength = 12

	// MaxInstanceNameLength is how long an Instance's name may be, so that the
	// names of all its objects fit. A CEL rule of the Instance says the same.
	MaxInstanceNameLength = maxLabelLength - len(preflightInfix) - hashLength
)

// ServerName is the name of the Deployment and of all that stands around it
// under the same name: Service, ServiceAccount, NetworkPolicy and
// PodDisruptionBudget.
func ServerName(instance *v1alpha1.Instance) string { return instance.Name }

// DataClaimName is the name of the claim for the volume of embedded storage.
func DataClaimName(instance *v1alpha1.Instance) string { return instance.Name + "-data" }

// ConfigMapName is the name of the ConfigMap with the server's configuration.
func ConfigMapName(instance *v1alpha1.Instance) string { return instance.Name + "-config" }

// CredentialsSecretName is the name of the Secret with the credentials of all
// applications, as the server reads them.
func CredentialsSecretName(instance *v1alpha1.Instance) string {
	return instance.Name + "-credentials"
}

// ApplicationSecretName is the name of the Secret with the id and key of one
// application, as clients read them.
func ApplicationSecretName(instance *v1alpha1.Instance, application string) string {
	return instance.Name + "-app-" + application
}

// SigningKeysSecretName is the name of the Secret with the keys that sign
// tokens.
func SigningKeysSecretName(instance *v1alpha1.Instance) string {
	return instance.Name + "-signing-keys"
}

// TLSSecretName is the name of the Secret with the certificate that the server
// uses: the one that the spec refers to, else the one that the operator makes.
func TLSSecretName(instance *v1alpha1.Instance) string {
	if instance.Spec.TLS != nil {
		return instance.Spec.TLS.SecretRef.Name
	}
	return instance.Name + "-tls"
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
